"""`numlite warmup`: it hands over to the kernels' warmup, and reports."""

from __future__ import annotations

import pytest
from numlite.cli import warmup
from numlite.cli.main import cli, run_command
from numlite.kernels.compiled.families import all_families


def test_warmup(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    called: list[tuple[object, ...]] = []
    monkeypatch.setattr(warmup, "warmup", lambda *families: called.append(families))
    assert run_command(cli, ["warmup"]) == 0
    assert called == [(all_families(),)]
    assert f"{len(all_families())} kernel families" in capsys.readouterr().out
