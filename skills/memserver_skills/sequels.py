"""What comes next, by a library of procedures: each a few lines with slots, of which the last
ones done are looked for and the one after them is foretold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memserver.domain.items import Form, SkillBody
from memserver_skills.goal_templates import WIDEST
from memserver_skills.grounding import bind, fill
from memserver_skills.plans import Rated
from memserver_skills.structures import operation
from memserver_skills.words import FUNCTION_WORDS, SLOT, words

Procedure = tuple[str, ...]
"""Two lines or more: after all but the last comes the last. A slot stands for the same words in
all of them."""

LOOKED_BACK = 4
STEPPED = frozenset({Form.WORKFLOW.value, Form.DEMONSTRATION.value})


@dataclass(frozen=True, slots=True)
class Forecast:
    """`line` has slots left where the history does not say what fills them; `matched` is how many
    of the last actions the procedure explains."""

    line: str
    matched: int
    procedure: Procedure


class Forecasting:
    """Remembers which action a line fits: the same few are compared again and again. One a piece
    of work; what it holds goes with it."""

    def __init__(self) -> None:
        self._bound: dict[tuple[str, str], Mapping[str, str] | None] = {}

    def predict(self, history: Sequence[str], library: Sequence[Procedure]) -> Forecast | None:
        """By the procedure that explains most of the last actions; of equals the first in the
        library. None where none explains even the last one."""
        best: Forecast | None = None
        for procedure in library:
            found = self.forecast(history, procedure)
            if found is not None and (best is None or found.matched > best.matched):
                best = found
        return best

    def forecast(self, history: Sequence[str], procedure: Procedure) -> Forecast | None:
        """What one procedure has follow, where it fits best."""
        best: Forecast | None = None
        if not history:
            return None
        for place in range(len(procedure) - 1):
            matched, values = self._matched(history, procedure[: place + 1])
            if matched > (best.matched if best else 0):
                best = Forecast(fill(procedure[place + 1], values), matched, procedure)
        # A rule of few lines says after what it holds: all of that has to have been done.
        if best is not None and len(procedure) <= 3 and best.matched < len(procedure) - 1:
            return None
        return best

    def comes_true(self, forecast: Forecast | None, action: str) -> bool:
        """Whether the action is the one foretold. What the history could not say may be anything;
        the kind of the action never may."""
        if forecast is None or SLOT.match(forecast.line):
            return False
        return self._bind(forecast.line, action) is not None

    def accuracy(self, library: Sequence[Procedure], tasks: Iterable[Sequence[str]]) -> float:
        """The share of actions, from the second of each task on, that are foretold; 0 where
        there are none."""
        hits = total = 0
        for actions in tasks:
            for place in range(1, len(actions)):
                total += 1
                history = actions[max(0, place - LOOKED_BACK) : place]
                hits += self.comes_true(self.predict(history, library), actions[place])
        return hits / total if total else 0.0

    def _matched(self, history: Sequence[str], lines: Sequence[str]) -> tuple[int, dict[str, str]]:
        """How many of the last actions are the last lines, one by one, with one meaning a slot."""
        values: dict[str, str] = {}
        matched = 0
        for line, action in zip(reversed(lines), reversed(history), strict=False):
            bound = self._bind(line, action)
            if bound is None or any(
                values.get(name, value).casefold() != value.casefold()
                for name, value in bound.items()
            ):
                break
            values.update(bound)
            matched += 1
        return matched, values

    def _bind(self, line: str, action: str) -> Mapping[str, str] | None:
        key = (line, action)
        if key not in self._bound:
            same_kind = operation(SLOT.sub("", line)) == operation(action)
            widths = dict.fromkeys(SLOT.findall(line), WIDEST)
            self._bound[key] = bind(line, action, widths=widths) if same_kind else None
        return self._bound[key]


def library_of(bank: Sequence[Rated], *, but: str) -> tuple[Procedure, ...]:
    """The procedures of a bank, the best believed first; those that the method `but` made are
    left out."""
    found: list[tuple[float, int, Procedure]] = []
    for rated in bank:
        version = rated.entry.version
        body = version.body
        if (
            isinstance(body, SkillBody)
            and body.form in STEPPED
            and len(body.steps) > 1
            and version.method != but
        ):
            lines = tuple(step.action for step in body.steps)
            found.append((-rated.belief.lower_bound, rated.item.int, lines))
    return tuple(lines for _, _, lines in sorted(found))


def generalised(actions: Sequence[str], *, keep: frozenset[str] = frozenset()) -> Procedure:
    """The actions with their things as slots, the same thing as the same slot; those in `keep`
    stay words. A thing is what neither opens an action nor carries grammar."""
    names: dict[str, str] = {}
    lines: list[str] = []
    for action in actions:
        out: list[str] = []
        for part in _parts(action):
            if not part.thing or part.text in keep:
                out.append(part.text)
            else:
                out.append("{" + names.setdefault(part.text, _name(len(names))) + "}")
        lines.append(" ".join(out))
    return tuple(lines)


def things(action: str) -> tuple[str, ...]:
    return tuple(part.text for part in _parts(action) if part.thing)


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    thing: bool


def _parts(action: str) -> list[_Part]:
    """The words of an action, those of one thing together."""
    parts: list[_Part] = []
    for place, word in enumerate(words(action)):
        thing = place > 0 and word.form not in FUNCTION_WORDS
        if thing and parts and parts[-1].thing and len(parts[-1].text.split()) < WIDEST:
            parts[-1] = _Part(f"{parts[-1].text} {word.form}", True)
        else:
            parts.append(_Part(word.form, thing))
    return parts


def _name(number: int) -> str:
    return f"thing_{number + 1}"


def rules_for(history: Sequence[str], action: str) -> frozenset[Procedure]:
    """Rules that would have foretold the action: after one action or two, with all things open
    or one of the last action's as it is."""
    rules: set[Procedure] = set()
    for back in (1, 2):
        if len(history) >= back:
            lines = (*history[len(history) - back :], action)
            rules.add(generalised(lines))
            rules.update(
                generalised(lines, keep=frozenset({thing})) for thing in things(history[-1])
            )
    return frozenset(rules)
