"""What only code that awaits can do: many calls at once, and calls that are cancelled."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import httpx
import pytest

from memserver_client import AsyncClock, AsyncEpisode, AsyncMemory, EpisodeClosed

ID = "01890000-0000-7000-8000-0000000000aa"
FOUND = {
    "retrieval_id": ID,
    "items": [],
    "text": "",
    "tokens": 0,
    "token_counter": "c",
    "budget_tokens": None,
    "policy": "p",
    "left_out": {},
}
STORED = {"id": ID, "change_id": ID, "position": 1, "existing": False, "credited": 0}
MORE_THAN_THE_POOL_HOLDS = 150  # httpx opens at most 100 connections


def client(handler, **options: Any) -> AsyncMemory:
    return AsyncMemory("http://memory.test", "k", transport=httpx.MockTransport(handler), **options)


def answered(document: Any, status: int = 200):
    async def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json=document)

    return handler


async def cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


def test_fifty_retrieves_are_under_way_at_once_and_each_gets_its_own_answer():
    async def main() -> None:
        all_there = asyncio.Barrier(50)
        keys = set()

        async def handler(request: httpx.Request) -> httpx.Response:
            keys.add(request.headers["Authorization"])
            async with asyncio.timeout(60):
                await all_there.wait()
            return httpx.Response(200, json={**FOUND, "text": json.loads(request.content)["query"]})

        async with client(handler) as memory:
            asked = (memory.retrieve(f"question {n}", namespace="a") for n in range(50))
            found = await asyncio.gather(*asked)
        assert [each.text for each in found] == [f"question {n}" for n in range(50)]
        assert keys == {"Bearer k"}

    asyncio.run(main())


def test_a_call_cancelled_while_it_waits_for_another_try_tries_no_more():
    async def main() -> None:
        requests = []
        waits = asyncio.Event()

        async def handler(request: httpx.Request) -> httpx.Response:
            requests.append(request)
            return httpx.Response(503) if len(requests) == 1 else httpx.Response(200, json=FOUND)

        async def sleep(seconds: float) -> None:
            waits.set()
            await asyncio.sleep(3600)

        async with client(handler, clock=AsyncClock(sleep=sleep)) as memory:
            task = asyncio.create_task(memory.retrieve("q", namespace="a"))
            await waits.wait()
            await cancelled(task)
            assert len(requests) == 1
            assert (await memory.retrieve("q", namespace="a")).items == []
            assert len(requests) == 2

    asyncio.run(main())


class RealServer:
    """On a real socket: keeps every request waiting until it is told to answer."""

    def __init__(self) -> None:
        self.waiting = 0
        self.answers = False

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.split("content-length: ")[1].split("\r\n")[0])
            await reader.readexactly(length)
            self.waiting += 1
            if self.answers:
                body = json.dumps(FOUND).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
            await reader.read()  # until the client hangs up
        finally:
            writer.close()


def test_cancelled_calls_give_their_connections_back():
    async def main() -> None:
        server = RealServer()
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        async with listening, AsyncMemory(f"http://127.0.0.1:{port}", "k", retries=0) as memory:
            tasks = [
                asyncio.create_task(memory.retrieve("q", namespace="a"))
                for _ in range(MORE_THAN_THE_POOL_HOLDS)
            ]
            async with asyncio.timeout(60):
                while server.waiting < 100:
                    await asyncio.sleep(0.01)
            for task in tasks:
                await cancelled(task)

            server.answers = True
            async with asyncio.timeout(25):
                assert (await memory.retrieve("q", namespace="a")).items == []

    asyncio.run(main())


def test_one_call_that_is_cancelled_leaves_the_others_alone():
    async def main() -> None:
        go = asyncio.Event()

        async def handler(request: httpx.Request) -> httpx.Response:
            await go.wait()
            return httpx.Response(200, json=FOUND)

        async with client(handler) as memory:
            tasks = [asyncio.create_task(memory.retrieve("q", namespace="a")) for _ in range(3)]
            await asyncio.sleep(0)
            await cancelled(tasks[1])
            go.set()
            assert [(await task).items for task in (tasks[0], tasks[2])] == [[], []]

    asyncio.run(main())


def test_waiting_for_long_work_leaves_the_loop_to_others(operation):
    async def main() -> None:
        running = [operation("running")] * 3
        answers = iter([operation("pending"), *running, operation("succeeded")])

        async def handler(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, json=next(answers))

        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.005)

        async with client(handler) as memory:
            busy = asyncio.create_task(other())
            done = await memory.distill(namespace="demo", wait=True)
            await cancelled(busy)
        assert done.state == "succeeded"
        assert turns > 5

    asyncio.run(main())


def test_asyncios_timeout_ends_a_wait_before_the_waits_own(operation):
    async def main() -> None:
        async with client(answered(operation("running"))) as memory:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(memory.wait(ID, timeout=250), 0.2)
            assert (await memory.operation(ID)).state == "running"

    asyncio.run(main())


# --- episodes ----------------------------------------------------------------------------


def recorded(sent: list[Any]):
    async def handler(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(201, json=STORED)

    return handler


async def fails(episode: AsyncEpisode) -> None:
    async with episode:
        episode.step(action="look")
        await asyncio.sleep(0)
        raise LookupError("no pot")


def test_an_exception_in_the_block_records_a_failure_and_goes_on():
    async def main() -> None:
        sent: list[Any] = []
        async with client(recorded(sent)) as memory:
            episode = memory.episode(goal="boil", namespace="a")
            with pytest.raises(LookupError, match="no pot"):
                await fails(episode)
        assert sent[0]["outcome"] == {"score": 0.0, "success": False, "source": "agent"}
        assert sent[0]["metadata"] == {"error": {"class": "LookupError", "message": "no pot"}}
        assert episode.receipt is not None

    asyncio.run(main())


def test_a_task_cancelled_in_the_block_is_no_verdict_and_its_run_is_sent():
    async def main() -> None:
        sent: list[Any] = []
        inside = asyncio.Event()

        async def work(memory: AsyncMemory) -> None:
            async with memory.episode(goal="boil", namespace="a") as episode:
                episode.step(action="look")
                inside.set()
                await asyncio.sleep(3600)

        async with client(recorded(sent)) as memory:
            task = asyncio.create_task(work(memory))
            await inside.wait()
            await cancelled(task)
        assert "outcome" not in sent[0]
        assert sent[0]["metadata"]["error"]["class"] == "CancelledError"
        assert len(sent[0]["steps"]) == 1

    asyncio.run(main())


def test_a_second_cancellation_ends_the_sending_and_the_run_can_still_be_sent():
    async def main() -> None:
        sent: list[Any] = []
        sending, inside = asyncio.Event(), asyncio.Event()
        episodes = []

        async def handler(request: httpx.Request) -> httpx.Response:
            if not sending.is_set():
                sending.set()
                await asyncio.sleep(3600)
            return await recorded(sent)(request)

        async def work(memory: AsyncMemory) -> None:
            async with memory.episode(goal="boil", namespace="a") as episode:
                episodes.append(episode)
                inside.set()
                await asyncio.sleep(3600)

        async with client(handler) as memory:
            task = asyncio.create_task(work(memory))
            await inside.wait()
            task.cancel()
            await sending.wait()
            await cancelled(task)
            (episode,) = episodes
            assert episode.receipt is None
            with pytest.raises(EpisodeClosed):
                episode.step(action="look")
            await memory.add_trajectory(episode.run)
        assert sent[0]["id"] == str(episode.id)

    asyncio.run(main())


def test_episodes_of_many_tasks_keep_apart():
    async def main() -> None:
        sent: list[Any] = []

        async def work(memory: AsyncMemory, n: int) -> None:
            async with memory.episode(goal=f"goal {n}", namespace="a") as episode:
                for _ in range(n):
                    episode.step(action=f"act {n}")
                    await asyncio.sleep(0)
                episode.finish(score=n / 10, success=True)

        async with client(recorded(sent)) as memory:
            await asyncio.gather(*(work(memory, n) for n in range(10)))
        assert len({run["id"] for run in sent}) == 10
        for run in sent:
            n = int(run["task"]["goal"].split()[1])
            assert [step["action"] for step in run["steps"]] == [f"act {n}"] * n
            assert run["outcome"]["score"] == n / 10

    asyncio.run(main())


# --- closing -----------------------------------------------------------------------------


def test_closing_twice_and_at_once_is_harmless():
    async def main() -> None:
        memory = client(answered(FOUND))
        await memory.retrieve("q", namespace="a")
        await asyncio.gather(memory.close(), memory.close())
        async with memory:
            pass
        await memory.close()
        with pytest.raises(RuntimeError, match="closed"):
            await memory.retrieve("q", namespace="a")

    asyncio.run(main())
