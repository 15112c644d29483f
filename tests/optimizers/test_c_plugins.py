"""C plugins in processes of their own: each ends in the right result or in PluginError, and the graph of
before stays.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from numlite.converter.ir.export_graph import export_graph_def
from numlite.converter.optimizers.item import GrapplerItem
from numlite.converter.optimizers.properties import GraphProperties
from numlite.converter.plugins import PluginRegistry, load_plugin
from numlite.converter.plugins.choice import RunningPlugin
from numlite.lite.errors import PluginError
from numlite.schema.graph_def import GraphDef

from ..conftest import SHARED_MODELS
from .c_plugins import compiled
from .small_graphs import GRAPH

_TIMEOUT_S = 20.0


@contextmanager
def running(name: str, variant: str = "", timeout_s: float = _TIMEOUT_S) -> Iterator[RunningPlugin]:
    entry = load_plugin(compiled(name, variant), registry=PluginRegistry(), timeout_s=timeout_s)
    plugin = RunningPlugin(entry, {op.name: op for op in entry.ops})
    try:
        yield plugin
    finally:
        plugin.close()


def small_item() -> GrapplerItem:
    return GrapplerItem.from_graph_def(GRAPH, ["x"], ["relu:0"])


def optimized(plugin: RunningPlugin, item: GrapplerItem | None = None) -> GraphDef | None:
    module = plugin.run(item or small_item())
    return None if module is None else export_graph_def(module)


def ops(graph: GraphDef | None) -> dict[str, str]:
    assert graph is not None
    return {node.name: node.op for node in graph.node}


def test_a_graph_comes_back_as_it_was() -> None:
    """That is: it did nothing."""
    with running("behaves") as plugin:
        assert optimized(plugin) is None
        assert optimized(plugin) is None


def test_an_op_is_exchanged() -> None:
    with running("fuses") as plugin:
        assert ops(optimized(plugin)) == {**ops(GRAPH), "relu": "Relu6"}


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        ("unknown_op", "NoSuchOp"),
        ("loses_fetch", "preserved nodes must be in its graph, got none for ['relu']"),
        ("wrong_input", "its graph must import, got:"),
    ],
)
def test_a_graph_that_is_not_one_of_the_same_meaning_is_refused(variant: str, message: str) -> None:
    item = small_item()
    with running("fuses", variant) as plugin, pytest.raises(PluginError) as caught:
        plugin.run(item)
    assert message in str(caught.value)
    assert ops(export_graph_def(item.module)) == ops(GRAPH)


@pytest.mark.parametrize(
    "variant",
    [
        *("no_create", "noisy"),
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in ("null_create", "no_destroy", "no_deallocator", "forks")
        ),
    ],
)
def test_what_is_allowed(variant: str) -> None:
    with running("behaves", variant) as plugin:
        assert optimized(plugin) is None


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        ("nothing", "it must give a graph, got none"),
        pytest.param("empty", "preserved nodes must be in its graph", marks=pytest.mark.long),
        ("garbage", "it must give a GraphDef"),
        pytest.param("null_data", "it must give a graph, got none", marks=pytest.mark.long),
        pytest.param("huge", "buffer: must hold at most", marks=pytest.mark.long),
        pytest.param("truncated", "plugin ", marks=pytest.mark.long),
        ("aborts", "ended by SIGABRT; the end of its stderr: the plugin says why"),
        ("segfaults", "must live through 'optimize', and ended by SIGSEGV"),
        pytest.param("looks_inside", "ended by SIGSEGV", marks=pytest.mark.long),
        ("exits", "ended with status 0"),
        pytest.param("exits3", "ended with status 3", marks=pytest.mark.long),
        pytest.param("pipes", "plugin ", marks=pytest.mark.long),
        ("closes", "plugin "),
    ],
)
def test_what_goes_wrong_is_told_and_the_next_run_starts_anew(variant: str, message: str) -> None:
    item = small_item()
    with running("behaves", variant) as plugin:
        with pytest.raises(PluginError) as caught:
            plugin.run(item)
        assert message in str(caught.value)
        assert ops(export_graph_def(item.module)) == ops(GRAPH)
    with running("behaves") as plugin:
        assert optimized(plugin) is None


@pytest.mark.parametrize("variant", ["sleeps", "spins"])
def test_the_deadline_ends_a_plugin_that_does_not_return(variant: str) -> None:
    late = pytest.raises(PluginError, match=r"it must answer 'optimize' in 0\.5 s, and was ended")
    with running("behaves", variant, timeout_s=0.5) as plugin, late:
        plugin.run(small_item())


def test_a_plugin_whose_process_has_ended_does_not_run_again_in_that_run() -> None:
    with running("behaves", "exits") as plugin:
        for text in ("ended with status 0", "its process has ended in this run"):
            with pytest.raises(PluginError, match=text):
                plugin.run(small_item())


def in_this_process(code: str, *arguments: str) -> tuple[str, str]:
    """stdout and stderr of a process that loads plugins into itself."""
    done = subprocess.run(
        [sys.executable, "-c", _PRELUDE + code, *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


_PRELUDE = """
import sys, json
from google.protobuf import text_format
from numlite.converter.optimizers.item import GrapplerItem
from numlite.converter.plugins.c_graph import CItem
from numlite.converter.plugins.c_optimizer import COptimizer
from numlite.kernels.plugin.shim import shim
from numlite.schema.graph_def import GraphDef
plugin = COptimizer(sys.argv[1])
graph = bytes.fromhex(sys.argv[2])
def optimize(): return plugin.optimize(CItem(graph, ["relu", "x"], ["x"], ["relu:0"], {}))
def alive(): return {"handles": len(plugin.library.host.handles), **shim().live()}
"""


def test_each_status_code() -> None:
    """ABORTED says: did nothing."""
    code = (
        "import os\nfrom numlite.lite.errors import PluginError\n"
        "for code in range(1, 18):\n    os.environ['TEST_CODE'] = str(code)\n"
        "    try: print(optimize())\n    except PluginError as error: print(str(error)[-40:])"
    )
    out, _ = in_this_process(code, compiled("behaves", "status"), GRAPH.SerializeToString().hex())
    names = ["CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"]
    names += ["PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "", "OUT_OF_RANGE"]
    names += ["UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED", "code 17"]
    lines = out.splitlines()
    assert lines[9] == "None" and len(lines) == 17
    for name, line in zip(names, lines, strict=True):
        assert not name or line.endswith(f"asked to ({name})")


def test_wrong_calls_are_statuses() -> None:
    _, said = in_this_process(
        "optimize()", compiled("behaves", "wrong_calls"), GRAPH.SerializeToString().hex()
    )
    lines = [line.partition(": ") for line in said.splitlines()]
    codes = {what: text.split()[0] for what, _, text in lines if text}
    assert codes == {
        **{"null item": "3", "not an item": "3", "null results": "3", "too few": "3", "null lists": "3"},
        **{
            "properties of null": "0",
            "infer null": "3",
            "before infer": "0",
            "infer": "0",
            "infer twice": "9",
        },
        **{"unknown": "0", "null name": "0", "no text": "0", "null buffers": "3", "deleted": "3"},
        **{
            "library of garbage": "3",
            "library": "0",
            "null op": "5",
            "null buffer": "3",
            "not a library": "3",
        },
        "null status": "1",
    }


def test_callbacks_come_from_any_thread() -> None:
    _, said = in_this_process("optimize()", compiled("behaves", "thread"), GRAPH.SerializeToString().hex())
    assert said.splitlines() == ["thread 0"] * 3


def test_an_item_is_of_its_call_alone() -> None:
    code = "optimize(); optimize()"
    _, said = in_this_process(code, compiled("behaves", "item_later"), GRAPH.SerializeToString().hex())
    assert "item of before: 3 handle: must be of CItem, got a handle of nothing that is alive" in said
    assert "properties of before: 1" in said  # they are the plugin's until it deletes them


def test_nothing_is_left_of_a_hundred_runs() -> None:
    code = (
        "before = alive()\n"
        "for _ in range(100):\n    plugin.create(); assert optimize() == graph; plugin.destroy()\n"
        "assert alive() == before, (alive(), before)\nassert not any(before.values()), before"
    )
    _, said = in_this_process(code, compiled("behaves", "counts"), GRAPH.SerializeToString().hex())
    assert said.splitlines()[-1] == "made 100 gone 100 freed 100"


def test_what_a_plugin_leaves_is_seen() -> None:
    code = "optimize(); print(json.dumps(alive()))"
    out, _ = in_this_process(code, compiled("behaves", "leaks"), GRAPH.SerializeToString().hex())
    assert out.strip() == '{"handles": 1, "statuses": 1, "buffers": 1, "tensors": 0, "storages": 0}'


_REGISTER = """
import sys, json
from numlite.converter.plugins.c_optimizer import COptimizer
from numlite.lite.errors import PluginError
found = []
for path in sys.argv[1:]:
    try:
        r = COptimizer(path).registered
        found.append([r.device_type, r.configs_bytes, {k: v.name for k, v in r.configs.items()},
        r.version[1]])
    except PluginError as error:
        found.append(str(error))
print(json.dumps(found))
"""


def registered(variants: Iterable[str]) -> list[Any]:
    """What the plugins register, or the error, all of them in one process."""
    paths = [compiled("registers", variant) for variant in variants]
    done = subprocess.run(
        [sys.executable, "-c", _REGISTER, *paths], capture_output=True, text=True, timeout=60, check=True
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def test_wrong_registrations_are_told_in_tensorflows_words() -> None:
    params, set_to = "TP_OptimizerRegistrationParams", "must be set to TP_OPTIMIZER"
    wrong = {
        "refuses": "TF_InitGraph failed: this plugin refuses (INTERNAL)",
        "size0": f"struct_size field in {params} {set_to}_REGISTRATION_PARAMS_STRUCT_SIZE.",
        "configs_size0": f"struct_size field in TP_OptimizerConfigs {set_to}_CONFIGS_STRUCT_SIZE.",
        "optimizer_size0": f"struct_size field in TP_Optimizer {set_to}_STRUCT_SIZE.",
        "no_device": f"'device_type' field in {params} must be set.",
        "empty_device": f"'device_type' field in {params} must be set.",
        "no_optimize": "'optimize_func' field in TP_Optimizer must be set.",
        "short_optimizer": "'optimize_func' field in TP_Optimizer must be set.",
        "null_structs": "its structs must be there, got a null pointer",
        "major": "its interface must have MAJOR 0 as ours has (0.0.1), got 1.0.1",
        "wrong_state": "configs must be 0, 1 or 2, got {'layout_optimizer': 77}",
    }
    for found, message in zip(registered(wrong), wrong.values(), strict=True):
        assert isinstance(found, str) and message in found


def test_structs_of_other_sizes() -> None:
    both = {"layout_optimizer": "OFF", "remapping": "ON"}
    right: dict[str, tuple[int, dict[str, str], int]] = {
        "": (92, {}, 0),
        "configs92": (92, both, 0),
        "configs88": (88, both, 0),
        "configs20": (20, {"disable_model_pruning": "ON"}, 0),
        "long200": (200, {"layout_optimizer": "OFF"}, 0),
        "own_structs": (224, {"common_subgraph_elimination": "OFF"}, 0),
        "minor": (92, {}, 7),
    }
    for found, (size, configs, minor) in zip(registered(right), right.values(), strict=True):
        assert found == ["TEST_NPU", size, configs, minor]


def test_a_plugin_that_ends_its_process_while_it_registers_is_not_registered() -> None:
    registry = PluginRegistry()
    for variant, message in (("aborts", "ended by SIGABRT"), ("no_device", "'device_type' field in")):
        with pytest.raises(PluginError, match=message):
            load_plugin(compiled("registers", variant), registry=registry, timeout_s=_TIMEOUT_S)
    assert registry.plugins() == []


def test_kernels_alone_are_no_optimizer() -> None:
    with pytest.raises(PluginError, match=r"it must register an optimizer .*, got kernels alone"):
        load_plugin(compiled("kernels"), registry=PluginRegistry(), timeout_s=_TIMEOUT_S)


def test_no_file_and_no_isolation() -> None:
    with pytest.raises(PluginError, match="the file must be readable, got No such file"):
        load_plugin("/nowhere/plugin.so", registry=PluginRegistry())
    with pytest.raises(ValueError, match="isolation: must be one of process, none, got 'thread'"):
        load_plugin("/nowhere/plugin.so", isolation="thread")


def test_the_probe_is_told_what_tensorflow_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("PROBE_LOG", str(log))
    monkeypatch.setenv("PROBE_NODES", "x,relu,nope")
    with running("probe") as plugin:
        assert optimized(plugin) is None
    lines = log.read_text().splitlines()
    small = "[small storage: 3 Not enough storage to hold the requested list of nodes]"
    assert lines[:4] == [
        "init params=56 v=0.0.1 configs=92 optimizer=40",
        "create",
        f"preserve n=2 size=5: relu x {small}",
        f"fetch n=1 size=6: relu:0 {small}",
    ]
    assert " out nope n=0 code=0" in lines and lines[-1] == "destroy"
    assert any(line.startswith("opdef AddV2 code=0 msg= len=68") for line in lines)
    assert any(
        line.startswith("opdef NoSuchOp code=5 msg=Op type not registered 'NoSuchOp' in") for line in lines
    )


@pytest.mark.parametrize("kind", ["function", "session"])
def test_tensorflows_log_of_a_probe_line_by_line(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as the order of names and the tails of messages go."""
    folder = SHARED_MODELS.parent / "convert" / "grappler2" / "plugin"
    if not folder.is_dir():
        pytest.skip("no ../shared/convert/grappler2/plugin beside the repository")
    raw = (folder / f"{kind}.bin").read_bytes()
    graph = raw[8 : 8 + int.from_bytes(raw[:8], "little")]
    wanted = (folder / f"{kind}.txt").read_text().splitlines()
    nodes = dict.fromkeys(line.split()[1] for line in wanted if line.startswith(" in "))
    monkeypatch.setenv("PROBE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("PROBE_NODES", ",".join(nodes))
    names = {
        "function": "['identity_RetVal'], [], ['identity_RetVal']",
        "session": "['x', 'flat'], ['x'], ['flat:0']",
    }
    code = f"plugin.create(); plugin.optimize(CItem(graph, {names[kind]}, {{}})); plugin.destroy()"
    in_this_process(code, compiled("probe"), graph.hex())
    found = _comparable((tmp_path / "log").read_text().splitlines())
    expected = [*_comparable(wanted)[: len(found) - 1], "destroy"]
    assert found == expected and len(found) > 15


def _comparable(lines: list[str]) -> list[str]:
    kept = [line for line in lines if not line.startswith(("init", "optimize"))]
    return [line.partition(" in binary")[0] for line in kept]


def test_no_process_is_left() -> None:
    """Also of a plugin that has processes of its own."""
    before = _children()
    with running("behaves", "forks") as plugin:
        plugin.run(small_item())
        assert _children() > before
        plugin._made._source.close()
    assert _children() == before


def _children() -> int:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return len(file.read().split())


def test_properties_of_the_library_are_those_of_the_item() -> None:
    properties = GraphProperties(small_item())
    properties.infer_statically()
    assert [each.dtype for each in properties.output_properties("relu")] == [1]
