"""What tenants use of chat models: a bound that parallel callers keep to."""

from concurrent.futures import ThreadPoolExecutor

from memserver.domain.ports.model_use import ModelUse
from tests.contract.store.world import World

DAY, NEXT_DAY = "2026-05-01", "2026-05-02"


def reserve(world: World, tokens: int, *, day: str = DAY, most: int = 1_000) -> bool:
    tenant = world.tenant.id
    return world.store.write(lambda tx: tx.reserve_model_tokens(tenant, day, tokens, most=most))


def use(world: World, day: str = DAY) -> ModelUse:
    with world.store.reading() as reader:
        return reader.model_use(world.tenant.id, day)


def test_what_fits_is_counted_and_what_does_not_changes_nothing(world: World) -> None:
    assert reserve(world, 600)
    assert not reserve(world, 401)
    assert reserve(world, 400)

    assert use(world) == ModelUse(world.tenant.id, DAY, tokens=1_000, calls=2)


def test_every_day_starts_at_zero(world: World) -> None:
    reserve(world, 1_000)

    assert use(world, NEXT_DAY) == ModelUse(world.tenant.id, NEXT_DAY)
    assert reserve(world, 1_000, day=NEXT_DAY)


def test_settling_puts_what_was_spent_in_place_of_what_was_reserved(world: World) -> None:
    reserve(world, 700)

    world.store.write(
        lambda tx: tx.settle_model_tokens(world.tenant.id, DAY, reserved=700, spent=120)
    )

    assert use(world).tokens == 120


def test_callers_that_reserve_at_once_never_get_more_than_there_is(world: World) -> None:
    with ThreadPoolExecutor(16) as threads:
        given = list(threads.map(lambda _: reserve(world, 90), range(64)))

    assert sum(given) == 11
    assert use(world) == ModelUse(world.tenant.id, DAY, tokens=990, calls=11)
