"""How far a shadow agrees with what was served."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

from memserver.domain.decisions import Considered, Decision, Shadowed
from memserver.domain.policies import BUILT_IN
from memserver.domain.scope import Namespace
from memserver.services.policies.overview import Agreement, agreement

HERE = Namespace(1, uuid4(), "here")
A, B, C, D = (uuid4() for _ in range(4))


def served(*packed: UUID, shadows: tuple[Shadowed, ...]) -> Decision:
    return Decision(
        id=uuid4(),
        tenant=HERE.tenant,
        namespaces=(HERE,),
        verb="retrieve",
        query="open the door",
        task_type=None,
        trajectory_id=None,
        schema=1,
        policy=BUILT_IN,
        candidates=tuple(
            Considered(one, (), rank=rank, packed=True) for rank, one in enumerate(packed, 1)
        ),
        created_at=datetime(2026, 5, 4, tzinfo=UTC),
        shadows=shadows,
    )


def test_it_is_the_mean_part_of_what_was_served_that_the_shadow_would_have_served() -> None:
    log = (
        served(A, B, shadows=(Shadowed("mine", (B, A, C)),)),
        served(A, B, shadows=(Shadowed("mine", (C, B, A)),)),
        served(A, B, shadows=(Shadowed("mine", (C, D, A)),)),
    )
    assert agreement("mine", log) == Agreement(3, 0, 0.5)


def test_another_shadow_and_a_decision_before_it_do_not_count() -> None:
    log = (
        served(A, shadows=()),
        served(A, shadows=(Shadowed("other", (B,)), Shadowed("mine", (A,)))),
    )
    assert agreement("mine", log) == Agreement(1, 0, 1.0)
    assert agreement("nobody's", log) == Agreement(0, 0, None)


def test_failures_are_counted_and_are_no_disagreement() -> None:
    failed = served(A, shadows=(Shadowed("mine", (), "KeyError"),))
    assert agreement("mine", (failed,)) == Agreement(1, 1, None)
    agreed = replace(failed, shadows=(Shadowed("mine", (A,)),))
    assert agreement("mine", (failed, agreed)) == Agreement(2, 1, 1.0)


def test_an_empty_answer_is_agreed_with_by_nobody() -> None:
    assert agreement("mine", (served(shadows=(Shadowed("mine", ()),)),)) == Agreement(1, 0, None)
