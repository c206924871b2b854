"""Conditions on a proposed call and the state of its task: small, declarative JSON, decided in
bounded time without running anything that a caller wrote.

A condition is an object, all of whose entries must hold:

    {"state.refunded": {"eq": true}, "any": [{"arg.amount": {"gt": 100}}, {"not": {...}}]}

A key is `state.KEY` (the ledger), `arg.NAME` (an argument, `arg.a.b` within objects), `calls.NAME`
(how often the session recorded a call of that name), or one of `all`, `any` and `not`. Tests are
eq, ne, in, exists, lt, lte, gt, gte and prefix; an operand is a constant, or `{"arg": NAME}` or
`{"state": KEY}`, which stand for that value.

Answers are three-valued. What is missing is equal to nothing and in no order. What is there but
cannot be compared, such as a word with a number, leaves the condition undecided, and an undecided
rule blocks: a value of the wrong type must not be a way around it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memserver.domain.errors import InvalidRule

MOST_NODES = 100
MOST_DEPTH = 8
MOST_CHOICES = 100
MOST_CHARACTERS = 1_000
REFERENCES = ("arg", "state")
SOURCES = ("state", "arg", "calls")

Decided = bool | None
"""None where it cannot be decided."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """A proposed call, and the state that it meets: ledger, and how often each call was made."""

    name: str
    arguments: Mapping[str, Any]
    ledger: Mapping[str, Any]
    calls: Mapping[str, int]


class _Missing:
    """No value, which JSON's null is not."""


_MISSING = _Missing()


def holds(condition: Mapping[str, Any], at: Circumstances) -> Decided:
    """Whether a condition of a valid shape holds."""
    return _all(_entry(key, asked, at) for key, asked in condition.items())


def check_shape(condition: Any, where: str) -> None:
    """Raises `InvalidRule` that names the place where it is no condition."""
    _Shape().condition(condition, where, depth=1)


# --- deciding ----------------------------------------------------------------------------


def _entry(key: str, asked: Any, at: Circumstances) -> Decided:
    match key:
        case "all":
            return _all(holds(one, at) for one in asked)
        case "any":
            return _negated(_all(_negated(holds(one, at)) for one in asked))
        case "not":
            return _negated(holds(asked, at))
        case _:
            value = _value(key, at)
            return _all(
                TESTS[test](value, _operand(operand, at)) for test, operand in asked.items()
            )


def _all(answers: Iterable[Decided]) -> Decided:
    seen = list(answers)
    if False in seen:
        return False
    return None if None in seen else True


def _negated(answer: Decided) -> Decided:
    return None if answer is None else not answer


def _value(path: str, at: Circumstances) -> Any:
    source, _, name = path.partition(".")
    match source:
        case "state":
            return at.ledger.get(name, _MISSING)
        case "calls":
            return at.calls.get(name, 0)
        case _:
            found: Any = at.arguments
            for part in name.split("."):
                if not isinstance(found, Mapping) or part not in found:
                    return _MISSING
                found = found[part]
            return found


def _operand(operand: Any, at: Circumstances) -> Any:
    if isinstance(operand, Mapping):
        ((source, name),) = operand.items()
        return _value(f"{source}.{name}", at)
    return operand


def _equal(value: Any, wanted: Any) -> bool:
    """As JSON values: true is not 1, and 1 is 1.0."""
    if (
        value is _MISSING
        or wanted is _MISSING
        or isinstance(value, bool) != isinstance(wanted, bool)
    ):
        return False
    if _is_list(value) and _is_list(wanted):
        return len(value) == len(wanted) and all(map(_equal, value, wanted))
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        return value.keys() == wanted.keys() and all(_equal(value[k], wanted[k]) for k in value)
    return bool(value == wanted)


def _in(value: Any, wanted: Any) -> Decided:
    if value is _MISSING or wanted is _MISSING:
        return False
    return any(_equal(value, one) for one in wanted) if _is_list(wanted) else None


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Decided]:
    def test(value: Any, wanted: Any) -> Decided:
        if value is _MISSING or wanted is _MISSING:
            return False
        both_numbers = _is_number(value) and _is_number(wanted)
        both_words = isinstance(value, str) and isinstance(wanted, str)
        return compare(value, wanted) if both_numbers or both_words else None

    return test


def _begins(value: Any, wanted: Any) -> Decided:
    if value is _MISSING or wanted is _MISSING:
        return False
    if not isinstance(value, str) or not isinstance(wanted, str):
        return None
    return value.startswith(wanted)


TESTS: dict[str, Callable[[Any, Any], Decided]] = {
    "eq": _equal,
    "ne": lambda value, wanted: not _equal(value, wanted),
    "in": _in,
    "exists": lambda value, wanted: (value is not _MISSING) is wanted,
    "lt": _ordered(lambda value, wanted: bool(value < wanted)),
    "lte": _ordered(lambda value, wanted: bool(value <= wanted)),
    "gt": _ordered(lambda value, wanted: bool(value > wanted)),
    "gte": _ordered(lambda value, wanted: bool(value >= wanted)),
    "prefix": _begins,
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


# --- the shape ---------------------------------------------------------------------------


class _Shape:
    """One walk over a condition, which counts what it has seen."""

    def __init__(self) -> None:
        self._nodes = 0

    def condition(self, found: Any, where: str, *, depth: int) -> None:
        if not isinstance(found, Mapping) or not found:
            raise InvalidRule(where, "must be an object with at least one entry")
        if depth > MOST_DEPTH:
            raise InvalidRule(where, f"nests deeper than {MOST_DEPTH} levels")
        for key, asked in found.items():
            self._count(where)
            at = f"{where}.{key}"
            match key:
                case "all" | "any":
                    if not isinstance(asked, list) or not asked:
                        raise InvalidRule(at, "must be a list of conditions")
                    for number, one in enumerate(asked):
                        self.condition(one, f"{at}.{number}", depth=depth + 1)
                case "not":
                    self.condition(asked, at, depth=depth + 1)
                case _:
                    self._tests(key, asked, where, at)

    def _tests(self, key: str, asked: Any, where: str, at: str) -> None:
        source, _, name = key.partition(".")
        if source not in SOURCES or not name or len(key) > MOST_CHARACTERS:
            raise InvalidRule(
                where, f"{key[:80]!r} is none of state.KEY, arg.NAME, calls.NAME, all, any, not"
            )
        if not isinstance(asked, Mapping) or not asked:
            raise InvalidRule(at, "must be an object of tests, such as {'eq': true}")
        for test, operand in asked.items():
            self._count(at)
            if test not in TESTS:
                raise InvalidRule(at, f"{test[:80]!r} is no test; there are {', '.join(TESTS)}")
            self._operand(test, operand, f"{at}.{test}")

    def _operand(self, test: str, operand: Any, at: str) -> None:
        if test == "exists":
            if not isinstance(operand, bool):
                raise InvalidRule(at, "must be true or false")
        elif isinstance(operand, Mapping):
            if (
                len(operand) != 1
                or next(iter(operand)) not in REFERENCES
                or not _is_name(next(iter(operand.values())))
            ):
                raise InvalidRule(at, "refers to a value by {'arg': NAME} or {'state': KEY}")
        elif test == "in":
            if not isinstance(operand, list) or not 0 < len(operand) <= MOST_CHOICES:
                raise InvalidRule(at, f"must be a list of 1 to {MOST_CHOICES} constants")
            for one in operand:
                self._constant(one, at)
        else:
            self._constant(operand, at)
            if test == "prefix" and not isinstance(operand, str):
                raise InvalidRule(at, "must be a string")
            if test in ("lt", "lte", "gt", "gte") and (
                operand is None or isinstance(operand, bool)
            ):
                raise InvalidRule(at, "must be a number or a string")

    def _constant(self, value: Any, at: str) -> None:
        self._count(at)
        if value is not None and not isinstance(value, str | int | float | bool):
            raise InvalidRule(at, "must be a string, a number, true, false or null")
        if isinstance(value, str) and len(value) > MOST_CHARACTERS:
            raise InvalidRule(at, f"has more than {MOST_CHARACTERS:,} characters")

    def _count(self, at: str) -> None:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise InvalidRule(at, f"the condition has more than {MOST_NODES} parts")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MOST_CHARACTERS
