"""The command `memserver-train`, as it is typed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memserver_trainers import main
from memserver_trainers.config import keys_of
from memserver_trainers.recipes import RECIPES, load_recipe
from tests.unit.trainers.made import dataset

FEW = ["--max-steps", "5", "--rank", "2", "--batch-size", "8"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("data")).folder


def test_importing_the_command_loads_no_torch() -> None:
    script = (
        "import sys, memserver_trainers;"
        "print([n for n in ('torch', 'numpy', 'rich') if n in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_json_is_one_line_on_stdout(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["case-value", "--data", str(data), "--out", str(out), *FEW, "--json"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    assert (said["recipe"], said["steps"], said["policy"]) == ("case-value", 5, str(out / "policy"))


def test_a_config_file_with_options_over_it(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'data = "{data}"\nout = "{tmp_path}/out"\nmax_steps = 9\nrank = 2\n')
    assert main(["case-value", str(file), "--max-steps=4"]) == 0
    assert "steps: 4" in capsys.readouterr().out.splitlines()


def test_a_refusal_is_one_line_and_exit_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["case-value", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    [line] = printed.err.splitlines()
    assert "not a dataset folder" in line


def test_an_unknown_key_in_the_file_names_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.toml").write_text("paitence = 3\n")
    assert main(["case-value", str(tmp_path / "config.toml")]) == 1
    assert "did you mean 'patience'?" in capsys.readouterr().err


def test_an_unknown_option_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["case-value", "--max-step", "3"])
    assert stopped.value.code == 2
    assert "did you mean '--max-steps'?" in capsys.readouterr().err


def test_an_unknown_recipe_is_refused_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["case-values"]) == 2
    assert "case-value" in capsys.readouterr().err


def test_no_argument_shows_the_recipes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    printed = capsys.readouterr().out
    assert all(name in printed for name in RECIPES)


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_key_of_a_recipe_is_an_option(
    recipe: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([recipe, "--help"])
    printed = capsys.readouterr().out
    options = [key.option for key in keys_of(load_recipe(recipe).Config).values()]
    assert [option for option in options if option not in printed] == []


def test_a_missing_library_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "memserver_trainers.case_value", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["case-value", "--help"]) == 1
    assert "memserver[train]" in capsys.readouterr().err
