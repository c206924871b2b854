"""docs/training.md names every recipe, option and key, with the default that the code has."""

import re
from pathlib import Path

import pytest

from memserver_trainers.command import build_parser
from memserver_trainers.config import RunConfig, keys_of
from memserver_trainers.recipes import RECIPES, load_recipe

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "training.md").read_text()


def table(title: str) -> dict[str, str]:
    """First cell to second cell of the table under a heading."""
    sections = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)
    text = dict(zip(sections[1::2], sections[2::2], strict=True))[title]
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \|", text, flags=re.MULTILINE)
    return {name: value.strip("`") for name, value in rows}


def said(default: object) -> str:
    return "—" if default is None else str(default)


def test_every_option_of_a_run_is_on_the_page() -> None:
    parser = build_parser("case-value", {})
    options = set(re.findall(r"--[a-z-]+", parser.format_usage()))
    assert set(table("The command")) == options


def test_every_key_of_every_recipe_is_on_the_page_with_its_default() -> None:
    keys = keys_of(RunConfig)
    assert table("Keys of every recipe") == {key.name: said(key.default) for key in keys.values()}


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_keys_of_a_recipe_are_on_the_page(recipe: str) -> None:
    keys = keys_of(load_recipe(recipe).Config)
    own = {
        key.name: said(key.default) for key in keys.values() if key.name not in keys_of(RunConfig)
    }
    assert table(f"Recipe `{recipe}`") == own
