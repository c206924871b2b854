"""The verb route: which agent a task is given to, by what agents did with the skills it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.errors import ItemNotFound, NoAgents
from memserver.domain.items import Entry, Kind, Status
from memserver.domain.ports import Reader, Store
from memserver.domain.scope import Namespace, Scope
from memserver.services.rated import rated_items
from memserver.services.retrieval.query import Query
from memserver.services.retrieval.retrieve import Retrieve
from memserver_skills.beliefs.utility import counting
from memserver_skills.routing.choosing import Scored, scores
from memserver_skills.routing.handbook import Handbook, Observation

NEEDED_AT_MOST = 10


@dataclass(frozen=True, slots=True)
class Routed:
    """The agents, the best first, and the skills that the task needs with their weights.
    `retrieval_id` is the retrieve that found them, where a goal was given."""

    scored: tuple[Scored, ...]
    needs: Mapping[UUID, float]
    titles: Mapping[UUID, str]
    retrieval_id: UUID | None


class Routing:
    def __init__(self, store: Store, retrieve: Retrieve) -> None:
        self._store = store
        self._retrieve = retrieve

    def __call__(
        self,
        scope: Scope,
        namespace: Namespace,
        *,
        goal: str | None,
        skills: Sequence[UUID] | None,
        agents: Sequence[str] | None,
        cost_weight: float,
        task_type: str | None = None,
    ) -> Routed:
        """The skills are those named, in equal parts, or those that a retrieve finds for the
        goal, by their fused scores. Agents are those named, or all that are known. Raises
        `ItemNotFound`, `NoAgents`."""
        retrieval_id: UUID | None = None
        needs = dict.fromkeys(skills or (), 1.0)
        if goal is not None:
            found = self._retrieve(
                scope,
                Query(
                    text=goal,
                    namespaces=(namespace.path,),
                    kinds=(Kind.SKILL.value,),
                    k=NEEDED_AT_MOST,
                    task_type=task_type,
                ),
            )
            retrieval_id = found.retrieval_id
            needs = {one.candidate.id: one.candidate.fused for one in found.packed}
        with self._store.reading() as reader:
            entries = reader.items_by_id(scope, list(needs))
            for skill in needs:
                if skill not in entries or not _is_offered(entries[skill]):
                    raise ItemNotFound(skill)
            handbook = handbook_of(reader, scope, namespace, also=list(needs))
        candidates = list(agents) if agents else list(handbook.agents)
        if not candidates:
            raise NoAgents(namespace.path)
        return Routed(
            scores(handbook, needs, candidates, cost_weight=cost_weight),
            needs,
            {skill: entry.version.title for skill, entry in entries.items()},
            retrieval_id,
        )


def _is_offered(entry: Entry) -> bool:
    return entry.item.kind is Kind.SKILL and entry.item.status is Status.ACTIVE


def handbook_of(
    reader: Reader, scope: Scope, namespace: Namespace, *, also: Sequence[UUID] = ()
) -> Handbook:
    """What the agents of a namespace did with its skills in use (and `also` with these), by the
    runs that the evidence came from."""
    heads = {
        rated.version: rated.item
        for rated in rated_items(reader, scope, namespace)
        if rated.entry.item.kind is Kind.SKILL
    }
    known = set(heads.values())
    others = reader.items_by_id(scope, [item for item in also if item not in known])
    heads |= {entry.version.id: entry.item.id for entry in others.values()}
    evidence = reader.lineage_evidence(scope, list(heads))
    outcomes = [
        (heads[version], piece)
        for version, pieces in evidence.items()
        for piece in counting(pieces)
        if piece.cause is not None
    ]
    runs = reader.runs_in_brief(scope, [p.cause for _, p in outcomes if p.cause is not None])
    observations = []
    for skill, piece in outcomes:
        run = runs.get(piece.cause) if piece.cause is not None else None
        if run is not None and run.agent:
            cost = None if run.outcome is None else run.outcome.cost
            observations.append(Observation(run.agent, skill, piece.value, piece.weight, cost))
    return Handbook.of(observations)
