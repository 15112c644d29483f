"""`numlite demo`: the classifier is right on images it was not trained on."""

from __future__ import annotations

import re
from pathlib import Path

import numlite
import pytest
from numlite.cli.main import cli, run_command


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "digits.tflite"
    assert run_command(cli, ["demo", "-o", str(path)]) == 0
    shown = capsys.readouterr().out
    accuracy = re.search(r"accuracy: +([\d.]+)%", shown)
    assert accuracy and float(accuracy[1]) > 95
    for expected in ("converted: digits.pb", "latency:", "arena:", "CONV_2D"):
        assert expected in shown
    numlite.Interpreter(path).allocate_tensors()
