"""`numlite plugins`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from numlite.cli.main import cli, run_command

from ..optimizers.c_plugins import compiled

_PLUGIN = """
from numlite.converter.plugins import OptimizerPlugin, TriState

class ForMyNpu(OptimizerPlugin):
    device_type = "MY_NPU"
    configs = {"remapping": TriState.OFF}

    def optimize(self, item, properties, library):
        return None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMLITE_PLUGIN_PATH", str(tmp_path))
    (tmp_path / "npu.py").write_text(_PLUGIN)
    return tmp_path


def test_a_table_of_what_is_found_and_what_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wrong.so").write_text("text")
    assert run_command(cli, ["plugins"]) == 0
    text = capsys.readouterr().out
    assert "ForMyNpu" in text and "MY_NPU" in text and "remapping OFF" in text and "ready" in text
    assert "must be a shared library (ELF), got b'text'" in text


def test_json_of_a_library(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = compiled("probe")
    assert run_command(cli, ["plugins", "--plugin", path, "--plugin", "nowhere.so", "--json"]) == 0
    mine, probe, missing = json.loads(capsys.readouterr().out)
    assert (mine["name"], mine["isolation"], mine["configs"]) == ("ForMyNpu", "none", {"remapping": "OFF"})
    assert probe == {
        **{"name": "probe", "path": path, "device_type": "CPU", "version": "0.0.1", "configs_bytes": 92},
        **{"configs": {"disable_model_pruning": "ON", "remapping": "OFF"}, "ops": 0, "kernels": 0},
        **{"kernel_ops": 0, "isolation": "process", "unanswered": [], "not_called": [], "status": "ready"},
        "reason": "",
    }
    assert missing["status"] == "failed" and "nowhere.so': the file must be readable" in missing["reason"]


def test_nothing_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NUMLITE_PLUGIN_PATH", raising=False)
    assert run_command(cli, ["plugins"]) == 0
    assert capsys.readouterr().out == "no plugins\n"
