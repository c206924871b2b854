"""A run is recorded in a block and sent when the block ends, however it ends."""

import httpx
import pytest

from memserver_client import ConnectionFailed, EpisodeClosed, InvalidRequest

ID = "01890000-0000-7000-8000-0000000000aa"
STORED = {"id": ID, "change_id": ID, "position": 1, "existing": False, "credited": 2}
FOUND = {
    "retrieval_id": ID,
    "items": [],
    "text": "",
    "tokens": 0,
    "token_counter": "c",
    "budget_tokens": 800,
    "policy": "p",
    "left_out": {},
}


@pytest.fixture
def begin(server, memory):
    server.answers = [httpx.Response(201, json=STORED)]

    def begun(**task):
        return memory.episode(goal="boil water", type="heat", namespace="lab", **task)

    return begun


class Kaboom(Exception):
    pass


def play(episode, *, finish=None, then=None):
    """A run of one step that finishes and breaks as told."""
    with episode:
        episode.step(action="heat pot")
        if finish is not None:
            episode.finish(**finish)
        if then is not None:
            raise then


def test_a_finished_episode_is_sent_once_as_one_trajectory(server, begin):
    with begin(agent="a1", environment="kitchen", template_id="t7") as episode:
        episode.step(observation="a pot", action="fill pot", reward=0.5, tool="hand")
        episode.step(action="heat pot")
        episode.finish(score=1.0, success=True, source="judge", used=[ID])
        assert server.requests == []

    (request,) = server.requests
    assert (request.method, request.url.path) == ("POST", "/v1/trajectories")
    assert server.bodies() == [
        {
            "id": str(episode.id),
            "namespace": "lab",
            "task": {
                "goal": "boil water",
                "type": "heat",
                "environment": "kitchen",
                "template_id": "t7",
            },
            "agent": "a1",
            "steps": [
                {
                    "observation": "a pot",
                    "action": "fill pot",
                    "reward": 0.5,
                    "metadata": {"tool": "hand"},
                },
                {"observation": "", "action": "heat pot"},
            ],
            "outcome": {"score": 1.0, "success": True, "source": "judge"},
            "used": [ID],
        }
    ]
    assert episode.receipt.credited == 2


def test_a_retrieve_inside_asks_with_the_goal_and_names_the_run(server, begin):
    server.answers = [httpx.Response(200, json=FOUND), httpx.Response(201, json=STORED)]

    with begin() as episode:
        assert episode.retrieve(budget_tokens=800).budget_tokens == 800

    asked = server.bodies()[0]
    assert asked == {
        "query": "boil water",
        "namespace": "lab",
        "k": 10,
        "budget_tokens": 800,
        "task_type": "heat",
        "trajectory_id": str(episode.id),
    }


def test_a_retrieve_inside_may_ask_something_else(server, begin):
    server.answers = [httpx.Response(200, json=FOUND), httpx.Response(201, json=STORED)]

    with begin() as episode:
        episode.retrieve("find the stove", k=3, kinds=["skill"])

    asked = server.bodies()[0]
    assert (asked["query"], asked["k"], asked["kinds"]) == ("find the stove", 3, ["skill"])


def test_leaving_without_finish_sends_no_outcome(server, begin):
    with begin() as episode:
        episode.step(action="look")

    assert "outcome" not in server.bodies()[0]
    assert "metadata" not in server.bodies()[0]


def test_an_exception_records_a_failed_run_and_goes_on(server, begin):
    episode = begin()
    with pytest.raises(Kaboom, match="the pot broke"):
        play(episode, then=Kaboom("the pot broke"))

    (sent,) = server.bodies()
    assert sent["outcome"] == {"score": 0.0, "success": False, "source": "agent"}
    assert sent["metadata"] == {"error": {"class": "Kaboom", "message": "the pot broke"}}
    assert len(sent["steps"]) == 1
    assert episode.receipt is not None


def test_an_exception_after_finish_leaves_the_outcome_and_tells_the_error(server, begin):
    with pytest.raises(Kaboom):
        play(begin(), finish={"score": 1, "success": True}, then=Kaboom("while cleaning up"))

    (sent,) = server.bodies()
    assert sent["outcome"]["success"] is True
    assert sent["metadata"]["error"]["message"] == "while cleaning up"


def test_an_interruption_is_no_verdict_on_the_task(server, begin):
    with pytest.raises(KeyboardInterrupt):
        play(begin(), then=KeyboardInterrupt())

    (sent,) = server.bodies()
    assert "outcome" not in sent
    assert sent["metadata"]["error"]["class"] == "KeyboardInterrupt"


def test_the_users_exception_wins_over_a_failed_sending(server, begin):
    server.answers = [httpx.ConnectError("refused")]

    episode = begin()
    with pytest.raises(Kaboom) as caught:
        play(episode, then=Kaboom("first"))

    (note,) = caught.value.__notes__
    assert str(episode.id) in note
    assert "refused" in note
    assert episode.receipt is None


def test_a_failed_sending_is_raised_and_the_run_can_be_sent_again(server, begin, memory):
    server.answers = [httpx.ConnectError("refused")]

    episode = begin()
    with pytest.raises(ConnectionFailed):
        play(episode, finish={"score": 0.5, "success": False})

    server.requests.clear()
    server.answers = [httpx.Response(201, json=STORED)]
    memory.add_trajectory(episode.run)
    assert server.bodies()[0]["id"] == str(episode.id)
    assert server.bodies()[0]["outcome"]["score"] == 0.5


def test_finishing_twice_is_an_error_and_keeps_the_first_outcome(server, begin):
    with begin() as episode:
        episode.finish(score=1.0, success=True)
        with pytest.raises(EpisodeClosed, match="finish twice"):
            episode.finish(score=0.0, success=False)

    assert server.bodies()[0]["outcome"]["score"] == 1.0


@pytest.mark.parametrize(
    "late",
    [
        lambda episode: episode.step(action="look"),
        lambda episode: episode.finish(score=1, success=True),
        lambda episode: episode.__enter__(),
    ],
    ids=["step", "finish", "enter"],
)
def test_after_the_block_nothing_more_is_recorded(server, begin, late):
    with begin() as episode:
        pass

    with pytest.raises(EpisodeClosed):
        late(episode)
    assert len(server.requests) == 1


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan"), "high"])
def test_a_score_outside_zero_to_one_is_refused_where_it_is_given(begin, score):
    with begin() as episode:
        with pytest.raises(InvalidRequest, match="score"):
            episode.finish(score=score, success=True)
        episode.finish(score=1.0, success=True)


@pytest.mark.parametrize(
    "value", [float("nan"), object(), "\ud800", {1, 2}], ids=lambda value: type(value).__name__
)
def test_metadata_that_cannot_be_sent_is_refused_at_its_step(server, begin, value):
    with begin() as episode:
        with pytest.raises(InvalidRequest, match="JSON"):
            episode.step(action="look", seen=value)
        episode.step(action="look")

    assert server.bodies()[0]["steps"] == [{"observation": "", "action": "look"}]


def test_an_empty_goal_is_refused_at_once(server, memory):
    with pytest.raises(InvalidRequest, match=r"task\.goal"):
        memory.episode(goal="", namespace="lab")
    assert server.requests == []
