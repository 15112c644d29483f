"""Finding plugins: folders, entry points, and what becomes of those that fail."""

from __future__ import annotations

import logging
import sysconfig
from pathlib import Path

import pytest
from numlite.converter.optimizers.optimize import optimize
from numlite.converter.plugins import OptimizerPlugin, PluginError, PluginRegistry
from numlite.converter.plugins.discovery import add_plugin, discover
from numlite.lite.errors import UnsupportedError

from .c_plugins import compiled
from .small_graphs import GRAPH

PLUGIN = """
from numlite.converter.plugins import OptimizerPlugin

class Mine(OptimizerPlugin):
    device_type = "{device}"

    def optimize(self, item, properties, library):
        for node in item.nodes():
            if node.op == "Relu":
                node.op = "Elu"
        return item.module
"""


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that counts as site-packages, with no plugin in it; nothing in the environment."""
    for name in ("NUMLITE_PLUGINS", "NUMLITE_PLUGIN_PATH"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"purelib": str(place), "platlib": str(place)})
    return place


def found(registry: PluginRegistry) -> list[str]:
    return [entry.name for entry in registry.plugins()]


def test_folders_in_their_order(site_packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, installed = tmp_path / "named", site_packages / "numlite-plugins"
    for number, folder in enumerate((named, installed)):
        folder.mkdir()
        (folder / f"p{number}.py").write_text(
            PLUGIN.replace("Mine", f"P{number}").format(device=f"D{number}")
        )
        (folder / "README.txt").write_text("no plugin")
    monkeypatch.setenv("NUMLITE_PLUGIN_PATH", f"{named}:")
    registry = PluginRegistry()
    discover(registry)
    assert found(registry) == ["P0", "P1"] and not registry.failures
    discover(registry)  # once for each registry
    assert found(registry) == ["P0", "P1"]


def test_tensorflows_plugins_if_asked(site_packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = site_packages / "tensorflow-plugins"
    folder.mkdir()
    (folder / "p.py").write_text(PLUGIN.format(device="D"))
    plain, asked, set_so = PluginRegistry(), PluginRegistry(), PluginRegistry()
    discover(plain)
    discover(asked, tensorflow=True)
    monkeypatch.setenv("NUMLITE_PLUGINS", "tensorflow")
    discover(set_so)
    discover(plain)  # what was not asked before is looked for now
    assert [found(each) for each in (asked, set_so, plain)] == [["Mine"]] * 3


def test_one_that_fails_stops_nobody(
    site_packages: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = site_packages / "numlite-plugins"
    folder.mkdir()
    (folder / "a.py").write_text("import nothing_of_that_name")
    (folder / "b.py").write_text("x = 1")
    (folder / "c.so").write_bytes(b"no library")
    (folder / "d.py").write_text(PLUGIN.format(device="D"))
    (folder / "e.py").write_text(PLUGIN.replace("Mine", "Second").format(device="d"))
    monkeypatch.setenv("NUMLITE_PLUGIN_PATH", str(tmp_path / "nowhere"))
    registry = PluginRegistry()
    with caplog.at_level(logging.WARNING, "numlite"):
        discover(registry)
    assert found(registry) == ["Mine"]
    reasons = {Path(path).name: reason for path, reason in registry.failures.items()}
    assert "it must import, got ModuleNotFoundError" in reasons["a.py"]
    assert "it must have a class derived from OptimizerPlugin, got none" in reasons["b.py"]
    assert "must be a shared library (ELF), got b'no l'" in reasons["c.so"]
    assert "got a second beside 'Mine'" in reasons["e.py"]
    assert "No such file" in reasons["nowhere"]
    assert len(caplog.records) == 5


def test_entry_points(site_packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class, a function that gives one, and the path of a library beside the module."""
    info = site_packages / "npu-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: npu\nVersion: 1\n")
    names = ("A = npu_plugin:A", "b = npu_plugin:make", "c = npu_plugin:LIBRARY", "d = npu_plugin:missing")
    (info / "entry_points.txt").write_text("[numlite.optimizers]\n" + "\n".join(names) + "\n")
    text = PLUGIN.replace("Mine", "A").format(device="A") + PLUGIN.replace("Mine", "B").format(device="B")
    text += "\ndef make(): return B\nLIBRARY = 'libnpu.so'\n"
    (site_packages / "npu_plugin.py").write_text(text)
    (site_packages / "libnpu.so").write_bytes(Path(compiled("registers")).read_bytes())
    monkeypatch.syspath_prepend(str(site_packages))
    registry = PluginRegistry()
    discover(registry)
    assert found(registry) == ["A", "B", "libnpu"]
    assert [entry.device_type for entry in registry.plugins()] == ["A", "B", "TEST_NPU"]
    [(name, reason)] = registry.failures.items()
    assert name == "d (npu_plugin:missing)" and "AttributeError" in reason


def test_a_wrong_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMLITE_PLUGINS", "on")
    with pytest.raises(UnsupportedError, match="must be 'off', 'tensorflow' or not set, got 'on'"):
        discover(PluginRegistry())


def test_what_is_no_plugin() -> None:
    for wrong in (5, object(), ["a.py"]):
        with pytest.raises(PluginError, match="must be a class, a path or a function"):
            add_plugin(PluginRegistry(), wrong)
    with pytest.raises(PluginError, match="must be readable"):
        add_plugin(PluginRegistry(), "/nowhere/a.py")


def test_optimize_takes_plugins(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN.format(device="CPU"))
    settings = {"optimizers": ["pruning"], "min_graph_nodes": -1}

    def op(*plugins: str | type[OptimizerPlugin]) -> str:
        return optimize(GRAPH, ["x"], ["relu"], settings, plugins).graph_def().node[-1].op

    assert op() == "Relu"
    assert op(str(path)) == "Elu"
    assert op(compiled("fuses")) == "Relu6"
