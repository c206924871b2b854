"""Lines are numbered as they were stored, and are handed out unharmed."""

import unicodedata
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Step, Task, Trajectory
from memserver.services.grepping.lines import (
    BLOCK,
    SHOWN,
    Line,
    lines_of,
    lines_of_run,
    matches,
    shown,
)
from memserver.services.grepping.pattern import Found, Matcher, Pattern


def test_the_lines_of_a_run_say_where_they_stand() -> None:
    run = Trajectory(
        id=UUID(int=1),
        namespace=Namespace(1, UUID(int=2), "team"),
        task=Task("mend it\nwell"),
        agent="",
        steps=(Step("a desk\r\na lamp", "take lamp"), Step("", "stop")),
        outcome=None,
        used=None,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )

    assert lines_of_run(run) == [
        Line("mend it", 1, "goal"),
        Line("well", 2, "goal"),
        Line("a desk", 1, "observation", 0),
        Line("a lamp", 2, "observation", 0),
        Line("take lamp", 1, "action", 0),
        Line("stop", 1, "action", 1),
    ]


def test_every_matching_line_is_found_in_its_place_across_blocks() -> None:
    lines = lines_of(
        "\n".join(f"line {n} needle" if n % 7 == 0 else "hay" * 20 for n in range(5000))
    )
    found = list(matches(lines, Matcher(Pattern("needle"))))

    assert [index for index, match in found if match] == list(range(0, 5000, 7))
    done = [index for index, match in found if not match]
    assert done == sorted(set(done))
    assert done[-1] == len(lines) - 1
    assert len(done) > 5000 * 50 / BLOCK


@given(
    st.text(st.sampled_from("ab日é\u0301\u0302\u200d😀"), min_size=SHOWN + 1, max_size=3 * SHOWN)
)
def test_a_long_line_is_cut_around_its_match_and_between_whole_characters(line: str) -> None:
    place = len(line) // 2
    cut = shown(line, Found(place, place + 1))

    assert cut.cut
    assert line[cut.offset : cut.offset + len(cut.text)] == cut.text
    assert cut.offset <= place
    assert 0 < len(cut.text) <= 2 * SHOWN
    if cut.offset:
        assert not unicodedata.combining(cut.text[0]) or set(line[: cut.offset]) <= set(
            "\u0301\u0302"
        )


@given(st.text(max_size=SHOWN))
def test_a_line_that_fits_is_shown_as_it_is(line: str) -> None:
    assert shown(line).text == line
