"""The command `memserver-train RECIPE [CONFIG.toml] [options]`: the options are the config's keys,
so a recipe that gains a key has gained its option."""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from memserver_trainers.config import Key, keys_of, read_config
from memserver_trainers.errors import TrainingError, UnknownKey
from memserver_trainers.recipes import RECIPES, Recipe, Run, load_recipe

REPORT_TO = ("none", "tensorboard")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one recipe. The summary goes to stdout, everything else to stderr. Exit status 1 for a
    refusal, which is one line on stderr, and 2 for a misuse."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments else "--help"
    if name.startswith("-"):
        _overview().parse_args(arguments or ["--help"])
        return 2
    if name not in RECIPES:
        known = ", ".join(RECIPES)
        print(f"memserver-train knows no recipe {name!r}; it knows: {known}", file=sys.stderr)
        return 2
    try:
        return _run(name, load_recipe(name), arguments[1:])
    except TrainingError as error:
        print(f"memserver-train: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("memserver-train: stopped; --resume auto goes on from here", file=sys.stderr)
        return 130


def _run(name: str, recipe: Recipe, arguments: Sequence[str]) -> int:
    keys = keys_of(recipe.Config)
    parser = build_parser(name, keys)
    given, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.error(_about(unknown[0], parser))
    said = {
        key: keys[key].parsed(text)
        for key, text in vars(given).items()
        if key in keys and text is not None
    }
    config = read_config(recipe.Config, given.config_file, said)
    run = Run(
        now=datetime.now(UTC),
        dry_run=given.dry_run,
        resume=given.resume,
        report_to=given.report_to,
    )
    summary = {"recipe": name, **recipe.train(config, run)}
    print(json.dumps(summary) if given.json else _for_people(summary))
    return 0


def _about(unknown: str, parser: argparse.ArgumentParser) -> str:
    if not unknown.startswith("--"):
        return f"unexpected argument: {unknown}"
    known = re.findall(r"--[a-z-]+", parser.format_usage())
    return str(UnknownKey(unknown.partition("=")[0], known, where="the command line"))


def build_parser(name: str, keys: Mapping[str, Key]) -> argparse.ArgumentParser:
    """The options of one recipe: those of every run, then one for each key of its config."""
    parser = argparse.ArgumentParser(
        prog=f"memserver-train {name}", description=RECIPES[name], allow_abbrev=False
    )
    parser.add_argument(
        "config_file", metavar="CONFIG.toml", nargs="?", type=Path, help="keys and their values"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check the data, take 2 steps on the CPU, save nothing",
    )
    parser.add_argument(
        "--resume",
        default="never",
        metavar="auto|never|PATH",
        help="auto goes on from the checkpoint in the out folder if there is one (default: never)",
    )
    parser.add_argument(
        "--report-to", choices=REPORT_TO, default="none", help="event files under the out folder"
    )
    parser.add_argument("--json", action="store_true", help="the summary as one line of JSON")
    group = parser.add_argument_group("config", "each also a key of the TOML file")
    for key in keys.values():
        default = "" if key.default is None else f" (default: {_said(key.default)})"
        group.add_argument(
            key.option, dest=key.name, metavar=key.kind.__name__.upper(), help=key.help + default
        )
    return parser


def _overview() -> argparse.ArgumentParser:
    recipes = "\n".join(f"  {name:<12} {line}" for name, line in RECIPES.items())
    return argparse.ArgumentParser(
        prog="memserver-train",
        usage="memserver-train RECIPE [CONFIG.toml] [options]",
        description="Learn a policy from exported decisions.",
        epilog=f"recipes:\n{recipes}\n\nmemserver-train RECIPE --help lists a recipe's options",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _for_people(summary: Mapping[str, object], indent: str = "") -> str:
    lines = []
    for name, value in summary.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}:", _for_people(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {value}")
    return "\n".join(lines)
