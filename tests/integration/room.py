"""A namespace in which two memories answer one question, and what a test does with the policies
that choose between them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from memserver.domain.decisions import Considered, Decision
from memserver.domain.policies import BUILT_IN, Policy
from memserver.domain.policy.features import NAMES
from memserver.domain.policy.sampling import draw
from memserver.domain.scope import Scope
from memserver.ids import uuid7
from memserver.services.policies.serving import in_canary
from tests.fakes.policies import zipped
from tests.integration.conftest import App, Caller

QUERY = "open the door with a key"
NOTE = "open the door with the red key"
PRINCIPLE = "open the wooden door with some key"
LIKES_NOTES, LIKES_PRINCIPLES = {"kind_note": 5.0}, {"kind_principle": 5.0}

_KIND_PRINCIPLE = NAMES.index("kind_principle")

Score = Callable[[Decision], float]


@dataclass(frozen=True)
class Room:
    """`caller` is an admin of the namespace's tenant. The built-in policy ranks the note first."""

    app: App
    caller: Caller
    namespace: str = field(default_factory=lambda: f"room-{uuid4().hex[:12]}")

    def furnish(self) -> "Room":
        for kind, text in (("note", NOTE), ("principle", PRINCIPLE)):
            self.caller.post(
                "/v1/memories",
                {"namespace": self.namespace, "kind": kind, "body": {"text": text}},
            )
        return self

    @property
    def scope(self) -> Scope:
        return self.app.server.services.access.authenticate(self.caller.key)

    # --- policies

    def send(self, body: bytes, *, caller: Caller | None = None, **more: Any) -> Any:
        return (caller or self.caller)(
            "POST", "/v1/policies", params={"namespace": self.namespace}, content=body, **more
        )

    def register(self, likes: dict[str, float], **more: Any) -> str:
        """The id of a new policy."""
        reply = self.send(zipped(likes, **more))
        assert reply.status_code == 201, reply.text
        return str(reply.json()["policy"]["id"])

    def move(self, policy: str, to: str, **body: Any) -> Any:
        return self.caller("POST", f"/v1/policies/{policy}/{to}", json=body)

    def moved(self, policy: str, to: str, **body: Any) -> dict[str, Any]:
        reply = self.move(policy, to, **body)
        assert reply.status_code == 200, reply.text
        result: dict[str, Any] = reply.json()
        return result

    def force(self, policy: str) -> dict[str, Any]:
        """Promotes it though nothing speaks for it."""
        return self.moved(policy, "promote", override="a test")

    def roll_back(self) -> Any:
        body = {"namespace": self.namespace, "reason": "a test"}
        return self.caller("POST", "/v1/policies/rollback", json=body)

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.caller.get("/v1/policies/status", namespace=self.namespace)
        return found

    def states(self) -> dict[str, str]:
        """Of all its policies, by id."""
        rows = self.caller.rows("/v1/policies", namespace=self.namespace)
        return {row["id"]: row["state"] for row in rows}

    def standing(self, policy: str) -> dict[str, Any]:
        of_it = [one for one in self.status()["policies"] if one["policy"]["id"] == policy]
        return dict(of_it[0])

    # --- what is asked and what comes of it

    def explore(self, **settings: Any) -> Any:
        body = {"namespace": self.namespace, **settings}
        return self.caller("PUT", "/v1/namespaces/exploration", json=body)

    def retrieve(self, **asked: Any) -> dict[str, Any]:
        body = {"query": QUERY, "namespace": self.namespace, **asked}
        found: dict[str, Any] = self.caller.post("/v1/retrieve", body)
        return found

    def kinds(self, **asked: Any) -> list[str]:
        """What is answered, best first."""
        return [item["kind"] for item in self.retrieve(**asked)["items"]]

    def decision(self, reply: dict[str, Any]) -> dict[str, Any]:
        self.settle()
        found: dict[str, Any] = self.caller.get(f"/v1/decisions/{reply['retrieval_id']}")
        return found

    def logged(self, reply: dict[str, Any]) -> Decision:
        self.settle()
        return self.app.server.services.overview.decision(self.scope, UUID(reply["retrieval_id"]))

    def settle(self) -> None:
        """Returns when all decisions so far are in the log: writes keep their order."""
        self.app.server.services.store.write(lambda _: None)

    def look(self) -> None:
        self.app.server.services.housekeeping.look()

    def forget(self) -> None:
        self.app.server.services.housekeeping.forget()

    # --- planting

    def plant(self, like: Decision, count: int, *, score: Score) -> list[Decision]:
        """So many decisions of runs like one that was logged, each drawn anew from its seed, and
        their outcomes."""
        return self._planted([_drawn_again(like) for _ in range(count)], score)

    def plant_trial(
        self, like: Decision, canary: str, *, count: int, scores: tuple[float, float]
    ) -> None:
        """So many runs beside a canary; `scores` are those of its own runs and of the others."""
        with self.app.server.services.store.reading() as reader:
            policy = reader.policy(self.scope, UUID(canary))
        assert policy is not None
        self._planted(
            [_served(like, policy) for _ in range(count)],
            lambda decision: scores[decision.policy != policy.name],
        )

    def plant_runs(self, like: Decision, policy: str, *, count: int, score: float) -> None:
        """So many runs that this policy served."""
        self._planted(
            [replace(_drawn_again(like), policy=policy) for _ in range(count)], lambda _: score
        )

    def plant_at(self, like: Decision, at: datetime) -> Decision:
        """A decision made at another time, of which nothing came."""
        decision = replace(_drawn_again(like), created_at=at)
        self.app.server.services.store.write(lambda tx: tx.add_decision(decision))
        return decision

    def _planted(self, decisions: Sequence[Decision], score: Score) -> list[Decision]:
        store = self.app.server.services.store
        store.write(lambda tx: [tx.add_decision(decision) for decision in decisions])
        runs = [
            {
                "id": str(decision.trajectory_id),
                "task": {"goal": f"open door {number % 40}"},
                "outcome": {"score": score(decision), "success": score(decision) >= 0.5},
                "used": [],
            }
            for number, decision in enumerate(decisions)
        ]
        self.caller.post(
            "/v1/trajectories/batch?wait=false", {"namespace": self.namespace, "trajectories": runs}
        )
        return list(decisions)


def _drawn_again(like: Decision) -> Decision:
    decision = replace(like, id=uuid7(), trajectory_id=uuid7(), created_at=datetime.now(UTC))
    admitted = decision.admitted
    slots = draw(
        [one.score for one in admitted],
        decision.k,
        temperature=decision.temperature,
        exposure_slots=decision.exposure_slots,
        seed=decision.id,
    )
    placed = {admitted[slot.index].id: (rank, slot) for rank, slot in enumerate(slots, 1)}

    def considered(one: Considered) -> Considered:
        rank, slot = placed.get(one.id, (None, None))
        return replace(
            one,
            rank=rank,
            packed=slot is not None,
            slot=None if slot is None else slot.kind.value,
            propensity=0.0 if slot is None else slot.propensity,
        )

    return replace(decision, candidates=tuple(considered(one) for one in decision.candidates))


def _served(like: Decision, canary: Policy) -> Decision:
    decision = _drawn_again(like)
    mine = in_canary(canary, decision.unit)
    return replace(decision, policy=canary.name if mine else BUILT_IN)


def principle_first(decision: Decision) -> float:
    """1 where the decision's first place went to the principle."""
    (first,) = (one for one in decision.candidates if one.rank == 1)
    return first.features[_KIND_PRINCIPLE]


def note_first(decision: Decision) -> float:
    return 1 - principle_first(decision)
