"""A recipe's config is one frozen dataclass: its fields are the keys of the TOML file and the
options of the command, so neither can drift from the other."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from memserver_trainers.errors import InvalidConfig, InvalidValue, MissingKey, UnknownKey

Value = bool | int | float | str | Path

NOT_HASHED = ("data", "out", "device")
"""Places, not choices: the data is known by its own hash, and a run may move to another folder."""

MAY_CHANGE = (*NOT_HASHED, "max_steps")
"""What a resumed run may set anew. No recipe lets the number of steps shape a step before."""

WORDS = {int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """The keys that every recipe has. A recipe adds its own in a subclass, each annotated with
    the line that `--help` prints, and checks ranges in `__post_init__`."""

    data: Annotated[Path, "the dataset folder that `memserver export decisions` wrote"]
    out: Annotated[Path, "the folder of the learned policy, its checkpoint and its events"]
    seed: Annotated[int, "of the weights and of the order of examples"] = 0
    device: Annotated[str, "cpu, cuda, or one of several such as cuda:0"] = "cpu"
    max_steps: Annotated[int, "stop after so many steps"] = 2000

    def __post_init__(self) -> None:
        self.require(self.max_steps >= 1, "max_steps", "at least 1")
        self.require(0 <= self.seed < 2**63, "seed", "from 0 up to 2^63")

    def require(self, holds: bool, key: str, wanted: str) -> None:
        """Raises `InvalidValue` about one of the config's own keys."""
        if not holds:
            raise InvalidValue(key, getattr(self, key), wanted)

    def choices(self) -> dict[str, Any]:
        """What was chosen, without places; values as JSON has them."""
        return {key: value for key, value in asdict(self).items() if key not in NOT_HASHED}

    def sha256(self) -> str:
        """SHA-256 of `choices` in canonical JSON."""
        canonical = json.dumps(self.choices(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


C = TypeVar("C", bound=RunConfig)


@dataclass(frozen=True, slots=True)
class Key:
    """One field of a config: what it is called, what it takes, what it is for."""

    name: str
    kind: type
    help: str
    default: Value | None

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")

    def parsed(self, text: str) -> Value:
        """The value of an option. Raises `InvalidValue`."""
        if self.kind is bool:
            if text not in ("true", "false"):
                raise InvalidValue(self.name, text, WORDS[bool])
            return text == "true"
        try:
            value: Value = self.kind(text)
        except ValueError:
            raise InvalidValue(self.name, text, WORDS[self.kind]) from None
        return value

    def checked(self, value: object) -> Value:
        """The value of a key in TOML, which has types of its own. Raises `InvalidValue`."""
        if self.kind is Path and isinstance(value, str):
            return Path(value)
        if self.kind is float and type(value) is int:
            return float(value)
        if type(value) is not self.kind:
            raise InvalidValue(self.name, value, WORDS.get(self.kind, "a text"))
        assert isinstance(value, bool | int | float | str)
        return value


def keys_of(config: type[RunConfig]) -> dict[str, Key]:
    """Every key of a config class in the order of its fields."""
    hints = get_type_hints(config, include_extras=True)
    found = {}
    for field in fields(config):
        hint = hints[field.name]
        assert get_origin(hint) is Annotated, f"{field.name} has no line for --help"
        kind, line = get_args(hint)
        default = None if field.default is MISSING else field.default
        found[field.name] = Key(field.name, kind, line, default)
    return found


def read_config(config: type[C], file: Path | None, options: Mapping[str, Value]) -> C:
    """The config of a TOML file with what the options say instead. Relative paths are relative
    to where the command runs. Raises a `TrainingError` that names the key."""
    keys = keys_of(config)
    values: dict[str, Any] = {}
    for name, value in (_toml(file) if file else {}).items():
        if name not in keys:
            raise UnknownKey(name, keys, where=str(file))
        values[name] = keys[name].checked(value)
    values |= options
    for name, key in keys.items():
        if key.default is None and name not in values:
            raise MissingKey(name)
    return config(**values)


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidConfig(file, str(error)) from error
