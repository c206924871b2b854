"""What every chat model promises to whoever asks it."""

from concurrent.futures import ThreadPoolExecutor

from memserver.domain.ports.chat import ChatModel

SYSTEM, USER = "Answer in one word.", "What colour is the sky? 你好"


def test_it_answers_in_words_and_says_what_that_took(model: ChatModel) -> None:
    said = model.complete(SYSTEM, USER, max_tokens=6)

    assert said.text.strip()
    assert said.tokens > 0


def test_an_answer_that_ends_at_its_limit_is_said_to_be_cut(model: ChatModel) -> None:
    assert model.complete(SYSTEM, "Count from one to a hundred in words.", max_tokens=3).cut


def test_what_a_call_takes_is_never_more_than_what_is_reserved_for_it(model: ChatModel) -> None:
    most = model.most_tokens(SYSTEM) + model.most_tokens(USER) + 4

    assert model.complete(SYSTEM, USER, max_tokens=4).tokens <= most


def test_a_bound_on_tokens_counts_every_script(model: ChatModel) -> None:
    assert model.most_tokens("你好" * 50) > model.most_tokens("你好") >= 2


def test_the_same_question_has_the_same_answer(model: ChatModel) -> None:
    first, second = (model.complete(SYSTEM, USER, max_tokens=4) for _ in range(2))

    assert first == second


def test_many_threads_may_ask_at_once(model: ChatModel) -> None:
    alone = model.complete(SYSTEM, USER, max_tokens=2)

    with ThreadPoolExecutor(3) as threads:
        said = list(threads.map(lambda _: model.complete(SYSTEM, USER, max_tokens=2), range(3)))

    assert said == [alone] * 3


def test_it_has_a_name(model: ChatModel) -> None:
    assert model.name
