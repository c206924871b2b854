"""What is printed is what was stored, and no command to a terminal."""

import json

import pytest

from memserver.cli.output import print_json


def test_json_holds_no_control_character_and_says_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = {"title": "ä \x1b[2J \x9b2J \x7f \x85 end"}
    print_json(told)
    line = capsys.readouterr().out
    assert line.removesuffix("\n").isprintable()
    assert json.loads(line) == told
