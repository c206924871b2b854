"""The loop that the README shows, by the client that awaits, against a real server process."""

import asyncio
import sys
from collections.abc import Iterator

import pytest

from memserver_bench.soak_server import ServerProcess
from memserver_client import AsyncMemory, NotFound

pytestmark = pytest.mark.slow

NAMESPACE = "demo/alfworld"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    command = [sys.executable, "-m", "tests.integration.cheap_server"]
    server = ServerProcess(command, tmp_path_factory.mktemp("served") / "data")
    server.spawn()
    try:
        server.ready()
        yield server
    finally:
        server.stop()


def test_the_loop_of_the_readme(served: ServerProcess) -> None:
    async def main() -> None:
        async with AsyncMemory(served.url, api_key=served.key) as memory:
            async with memory.episode(
                goal="put some dishsponge on cart", type="pick_and_place", namespace=NAMESPACE
            ) as episode:
                context = await episode.retrieve(budget_tokens=800)
                assert context.budget_tokens == 800
                episode.step(observation="you see a shelf", action="go to shelf")
                episode.finish(score=1.0, success=True)
            assert episode.receipt is not None

            seen = []
            done = await memory.distill(
                namespace=NAMESPACE, wait=True, on_progress=lambda now: seen.append(now.state)
            )
            assert (done.state, seen[-1]) == ("succeeded", "succeeded")

            found = await memory.retrieve("put some towel on cart", namespace=NAMESPACE, k=5)
            (skill,) = [item async for item in memory.items(namespace=NAMESPACE, kind="skill")]
            assert [hit.title for hit in found.items if hit.kind == "skill"] == [skill.title]
            assert all(hit.why for hit in found.items)

            (run,) = [run async for run in memory.trajectories(namespace=NAMESPACE)]
            assert run.id == episode.id
            assert run.outcome is not None
            assert (run.outcome.score, run.outcome.success) == (1.0, True)
            assert [step.action for step in run.steps] == ["go to shelf"]

    asyncio.run(main())


def test_many_tasks_share_one_client(served: ServerProcess) -> None:
    """Each writes, reads what it wrote, and gets the error that is its own."""

    async def work(memory: AsyncMemory, n: int) -> None:
        stored = await memory.remember(
            f"Kettle {n} is loud.", namespace=f"kettles/k{n}", kind="note"
        )
        assert (await memory.item(stored.id)).version.text == f"Kettle {n} is loud."
        found = await memory.retrieve(f"kettle {n}", namespace=f"kettles/k{n}")
        assert [hit.id for hit in found.items] == [stored.id]
        await memory.delete_item(stored.id)
        with pytest.raises(NotFound):
            await memory.item(stored.id)

    async def main() -> None:
        async with AsyncMemory(served.url, served.key) as memory:
            await asyncio.gather(*(work(memory, n) for n in range(20)))

    asyncio.run(main())


def test_lists_go_on_over_pages_and_may_be_left_early(served: ServerProcess) -> None:
    async def main() -> None:
        async with AsyncMemory(served.url, served.key) as memory:
            runs = [{"task": {"goal": f"goal {n}"}} for n in range(250)]
            receipt = await memory.add_trajectories(runs, namespace="many")
            listed = [run.id async for run in memory.trajectories(namespace="many")]
            assert sorted(listed) == sorted(receipt.ids)
            async for run in memory.trajectories(namespace="many"):
                assert run.id in receipt.ids
                break

    asyncio.run(main())
