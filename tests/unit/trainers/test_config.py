"""A config class is the schema of its TOML file and of its options at once."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from memserver_trainers.config import RunConfig, keys_of, read_config
from memserver_trainers.errors import InvalidConfig, InvalidValue, MissingKey, UnknownKey

PLACES: dict[str, Any] = {"data": Path("d"), "out": Path("o")}


@dataclass(frozen=True, kw_only=True)
class Config(RunConfig):
    learning_rate: Annotated[float, "of the optimiser"] = 0.1
    shuffle: Annotated[bool, "each epoch"] = True


def toml(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return file


def test_a_file_gives_values_and_options_overrule_it(tmp_path: Path) -> None:
    file = toml(tmp_path, 'data = "d"\nout = "o"\nlearning_rate = 1\nshuffle = false\nseed = 3\n')
    read = read_config(Config, file, {"seed": 4})
    assert read == Config(**PLACES, learning_rate=1.0, shuffle=False, seed=4)
    assert isinstance(read.learning_rate, float)


def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(UnknownKey, match="did you mean 'learning_rate'") as refused:
        read_config(Config, toml(tmp_path, "lerning_rate = 1\n"), PLACES)
    assert refused.value.nearest == "learning_rate"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("learning_rate", '"fast"'),
        ("seed", "1.5"),
        ("seed", "true"),
        ("shuffle", "1"),
        ("data", "3"),
        ("max_steps", "0"),
        ("seed", "-1"),
    ],
)
def test_a_value_of_the_wrong_kind_or_range_names_its_key(
    tmp_path: Path, key: str, text: str
) -> None:
    given = {name: value for name, value in PLACES.items() if name != key}
    with pytest.raises(InvalidValue) as refused:
        read_config(Config, toml(tmp_path, f"{key} = {text}\n"), given)
    assert refused.value.key == key


def test_an_options_text_is_read_by_the_keys_kind() -> None:
    keys = keys_of(Config)
    assert keys["shuffle"].parsed("false") is False
    assert keys["learning_rate"].parsed("1e-3") == 0.001
    assert keys["data"].parsed("a/b") == Path("a/b")
    with pytest.raises(InvalidValue):
        keys["shuffle"].parsed("no")


def test_a_key_without_a_default_must_be_given() -> None:
    with pytest.raises(MissingKey, match="out is not given"):
        read_config(Config, None, {"data": Path("d")})


@pytest.mark.parametrize("text", ["learning_rate = ", None])
def test_a_file_that_is_no_toml_or_not_there_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "config.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InvalidConfig, match=r"config\.toml"):
        read_config(Config, file, PLACES)


def test_the_hash_follows_what_was_chosen_and_not_where_it_lies() -> None:
    config = Config(**PLACES)
    assert replace(config, out=Path("elsewhere"), device="cuda").sha256() == config.sha256()
    assert replace(config, learning_rate=0.2).sha256() != config.sha256()
