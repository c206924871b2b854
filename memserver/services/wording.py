"""A chat model words what a distiller found. The rules' own wording is what counts: it says whether
there is anything new, and it stays wherever the model's does not say the same."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from uuid import UUID

from memserver.domain.items import Body, Entry, Form, SkillBody, Status, content_hash
from memserver.domain.trajectories import Trajectory
from memserver.services.asking import Asking
from memserver.services.wording_forms import FORMS, SYSTEM
from memserver_skills.proposals import Proposal
from memserver_skills.same_meaning import TITLE, faults, things_of
from memserver_skills.words import shorten

WORDED_FROM = "worded_from"
"""Under this key a version's metadata keeps the hash of the rules' wording that its own stands
for, and `KEPT_FROM` that of one for which the model had none that says the same: either way the
model is not asked again until the runs say something else."""
KEPT_FROM = "kept_from"

MOST_QUESTIONS = 50
"""A step of a distillation asks no more; what is left keeps the rules' wording until the next."""
ANSWER_TOKENS = 1_000
MOST_STEPS = 40
LONGEST_STEP = 300
ENDS = ("budget spent", "unavailable")


@dataclass(frozen=True, slots=True)
class Worded:
    """The proposals in the order given. `reworded` have the model's words, for `refused` it had
    none that could be taken, `left` it was not asked about: there were too many, or it answers no
    more."""

    proposals: tuple[Proposal, ...]
    reworded: int = 0
    refused: int = 0
    left: int = 0

    def report(self) -> dict[str, Any]:
        return {"reworded": self.reworded, "refused": self.refused, "left": self.left}


def as_worded(proposal: Proposal, known: Entry | None) -> Proposal | None:
    """The proposal in the words that its item has for it, or with the note that it keeps its own;
    None where nobody has tried to word it yet."""
    if known is None or known.version.method != proposal.method:
        return None
    said, metadata = content_hash(proposal.title, proposal.body), known.version.metadata
    if metadata.get(WORDED_FROM) == said:
        return replace(
            proposal,
            title=known.version.title,
            body=known.version.body,
            metadata={**proposal.metadata, WORDED_FROM: said},
        )
    if metadata.get(KEPT_FROM) == said:
        return _with(proposal, KEPT_FROM)
    return None


class Wording:
    """Must not be used inside a transaction: a model takes seconds."""

    def __init__(self, asking: Asking, *, most: int = MOST_QUESTIONS) -> None:
        self._asking = asking
        self._most = most

    def word(
        self,
        tenant: UUID,
        proposals: Sequence[tuple[Proposal, Entry | None]],
        runs: Mapping[UUID, Trajectory],
    ) -> Worded:
        """Each proposal with the item that it is a version of, where there is one. What is worded
        already, or is not going to be written, is not asked about."""
        made: list[Proposal] = []
        asked = reworded = refused = left = 0
        ended = False
        for proposal, known in proposals:
            worded = as_worded(proposal, known)
            if worded is not None or not _wanted(proposal, known):
                made.append(worded or proposal)
                continue
            if ended or asked >= self._most:
                left += 1
                made.append(proposal)
                continue
            asked += 1
            answer = self._ask(tenant, proposal, runs)
            if isinstance(answer, str) and answer in ENDS:
                ended = True
                left += 1
                made.append(proposal)
            elif isinstance(answer, str):
                refused += 1
                made.append(_with(proposal, KEPT_FROM))
            else:
                reworded += 1
                made.append(answer)
        return Worded(tuple(made), reworded, refused, left)

    def _ask(
        self, tenant: UUID, proposal: Proposal, runs: Mapping[UUID, Trajectory]
    ) -> Proposal | str:
        """The proposal reworded, or why not."""
        form = FORMS[type(proposal.body)]
        answer = self._asking.asked(
            tenant, SYSTEM, _shown(proposal), form, max_tokens=ANSWER_TOKENS
        )
        if answer.value is None:
            return answer.outcome
        before, after = _said(proposal), answer.value.model_dump()
        sources = (runs[s.trajectory_id] for s in proposal.sources if s.trajectory_id in runs)
        found = faults(before, after, things=things_of(sources))
        if found:
            return str(found[0])
        title = after.pop(TITLE)
        reworded = replace(proposal, title=title, body=replace(proposal.body, **after))
        said = content_hash(proposal.title, proposal.body)
        return replace(reworded, metadata={**proposal.metadata, WORDED_FROM: said})


def _wanted(proposal: Proposal, known: Entry | None) -> bool:
    if type(proposal.body) not in FORMS or _is_program(proposal.body):
        return False
    if known is None:
        return True
    return known.item.status is Status.ACTIVE and known.version.method == proposal.method


def _is_program(body: Body) -> bool:
    return isinstance(body, SkillBody) and body.form == Form.CODE


def _with(proposal: Proposal, key: str) -> Proposal:
    said = content_hash(proposal.title, proposal.body)
    return replace(proposal, metadata={**proposal.metadata, key: said})


def _said(proposal: Proposal) -> dict[str, str]:
    """What may be worded, by field."""
    return {TITLE: proposal.title, **dict(_texts(proposal.body))}


def _texts(body: Body) -> Iterator[tuple[str, str]]:
    wanted = FORMS[type(body)].model_fields
    for field in fields(body):
        if field.name in wanted:
            yield field.name, getattr(body, field.name)


def _shown(proposal: Proposal) -> str:
    shown: dict[str, Any] = {"kind": proposal.kind.value, **_said(proposal)}
    if isinstance(proposal.body, SkillBody) and proposal.body.steps:
        steps = proposal.body.steps[:MOST_STEPS]
        shown["steps"] = [shorten(step.action, LONGEST_STEP) for step in steps]
    return json.dumps(shown, ensure_ascii=False)
