"""The command group: help, errors in one line, exit status."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from numlite.cli.main import COMMANDS, cli, one_line, run_command


@click.command("broken")
@click.option("--debug", is_flag=True)
@click.option("--error", default="ValueError")
def broken(debug: bool, error: str) -> None:
    raise {"ValueError": ValueError, "KeyError": KeyError, "Interrupt": KeyboardInterrupt}[error](
        "first\nsecond"
    )


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, arguments) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, [name, "--help"]) == 0
    assert name in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from numlite.cli.main import cli, run_command\n"
        "run_command(cli, ['--help']); run_command(cli, ['benchmark', '--help'])\n"
        "print([m for m in ('numpy', 'numba', 'llvmlite', 'rich') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["nonsense"], 2, "nonsense"),
        (["run"], 2, "MODEL"),
        (["run", "no such file"], 2, "no such file"),
        (["run", __file__], 1, "TFL3"),
        (["run", __file__, "--threads", "0"], 2, "--threads"),
        (["inspect", __file__], 1, "TFL3"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(cli, arguments) == status
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("numlite: ") and shown.err.count("\n") == 1
    assert says in shown.err


def test_debug_shows_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(broken, ["--debug"]) == 1
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "test_main.py" in shown
    assert run_command(broken, []) == 1
    assert capsys.readouterr().err == "broken: first second\n"


def test_unexpected_errors_name_their_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(broken, ["--error", "KeyError"]) == 1
    assert "KeyError" in capsys.readouterr().err


def test_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(broken, ["--error", "Interrupt"]) == 130
    assert capsys.readouterr().err == "broken: interrupted\n"


def test_a_reader_that_goes_away_ends_it_quietly(model: Path) -> None:
    code = "from numlite.cli.main import main; main()"
    shell = f"{sys.executable} -c '{code}' inspect {model} | true; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert result.returncode in (0, 1) and result.stderr == ""


def test_long_messages_keep_their_first_and_last_line() -> None:
    assert one_line("what failed:\n" + "  detail\n" * 20 + "the reason") == "what failed: ... the reason"
    assert one_line("two\nlines") == "two lines"


def test_a_first_run_without_a_terminal_says_in_one_line_what_takes_so_long(
    model: Path, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "numlite", "run", str(model)]
    env = {**os.environ, "NUMLITE_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run(words, env=env, capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert re.fullmatch(r"numlite: Compiling kernels: \d+ families, once per machine\n", first.stderr)
    assert second.stderr == "" and "Compiling" not in first.stdout


@pytest.mark.parametrize("given", [None, "3"])
def test_quantizing_leaves_linear_algebra_in_one_thread(
    given: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if given is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
    for name in ("inspect", "quantize"):
        before = os.environ.get("OPENBLAS_NUM_THREADS")
        assert run_command(cli, [name, "--help"]) == 0
        expected = before if name != "quantize" else given or "1"
        assert os.environ.get("OPENBLAS_NUM_THREADS") == expected
