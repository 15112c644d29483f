"""`numlite optimize`: every option once, and one line for what is wrong."""

from pathlib import Path

import pytest
from numlite.cli.main import cli, run_command
from numlite.converter.ir import read_graph
from numlite.converter.plugins import unregister_plugin

from ..converter.saved_model import saved_models
from ..converter.saved_model.saved_models import new_model, write_model
from .c_plugins import compiled
from .optimized import Net


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    net = Net()
    x = net.x(2, 3)
    total = net.op("AddV2", net.op("Neg", net.op("Neg", x)), net.op("AddV2", net.c(1), net.c(2)))
    net.out(net.op("Identity", total))
    path = tmp_path / "graph.pb"
    path.write_bytes(net.graph_def.SerializeToString())
    return path


def run(*arguments: object) -> int:
    return run_command(cli, ["optimize", *map(str, arguments)])


@pytest.mark.parametrize("suffix", ["pb", "pbtxt", "tfg"])
def test_it_writes_by_suffix(graph: Path, tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"out.{suffix}"
    assert run(graph, "-o", output, "--fetches", "y0", "--feeds", "x0") == 0
    if suffix == "tfg":
        assert "tfg" in output.read_text()
    else:
        assert {node.op for node in read_graph(output).node} == {"Placeholder", "AddV2", "Const", "Identity"}


@pytest.mark.parametrize(
    "options",
    [
        ["--optimizers", "pruning,constfold"],
        ["--set", "arithmetic_optimization=off", "--set", "min_graph_nodes=2"],
        ["--aggressive", "--target", "numlite"],
        ["--iterations", "1", "--timeout-ms", "100000", "--min-graph-nodes", "-1"],
        ["--device", "/CPU:0"],
        ["--set", "stages.remove_involution=off", "--set", "stages.convert_pow=off"],
    ],
    ids=" ".join,
)
def test_options(graph: Path, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(graph, "--fetches", "y0", *options) == 0
    shown = capsys.readouterr().out
    assert "constfold" in shown and "evaluate 1" in shown
    assert ("arithmetic" in shown) is (
        not {"pruning,constfold", "arithmetic_optimization=off"} & set(options)
    )


def test_a_config_is_read_from_a_file(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.pbtxt"
    path.write_text("optimizers: 'debug_stripper'")
    assert run(graph, "--fetches", "y0", "--config", path) == 0
    assert "debug_stripper" in capsys.readouterr().out


def test_a_plugin_runs_unless_it_is_left_out(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from numlite.converter.plugins import OptimizerPlugin\n"
        "class CommandLinePlugin(OptimizerPlugin):\n"
        "    api_version = (0, 0, 1)\n"
        "    device_type = 'COMMAND_LINE'\n"
        "    configs = {}\n"
        "    def optimize(self, item, properties, library):\n"
        "        return None\n"
    )
    for more, runs in (
        (["--plugin", path], True),
        (["--no-plugin", "CommandLinePlugin"], False),
        (["--no-plugins"], False),
    ):
        assert run(graph, "--fetches", "y0", "--device", "/COMMAND_LINE:0", *more) == 0
        assert ("CommandLinePlugin" in capsys.readouterr().out) is runs


def test_a_node_is_explained(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = next(node.name for node in read_graph(graph).node if node.op == "Neg" and node.input[0] != "x0")
    assert run(graph, "--fetches", "y0", "--explain", name) == 0
    shown = capsys.readouterr().out
    assert f"{name}: arithmetic.remove_involution in iteration 0" in shown and f"{name}: it is gone" in shown


def test_the_list_names_optimizers_and_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list") == 0
    shown = capsys.readouterr().out
    assert "memory (memory_optimization): on by default" in shown and "    convert_pow\n" in shown


def test_the_list_names_plugins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "listed.py"
    path.write_text(
        "from numlite.converter.plugins import OptimizerPlugin\n"
        "class ListedPlugin(OptimizerPlugin):\n"
        "    api_version, device_type, configs = (0, 0, 1), 'LISTED', {}\n"
        "    def optimize(self, item, properties, library):\n"
        "        return None\n"
    )
    try:
        assert run("--list", "--plugin", path) == 0
    finally:
        unregister_plugin("ListedPlugin")
    assert "plugin ListedPlugin: on devices of type LISTED" in capsys.readouterr().out


def test_the_table_has_the_bytes_of_constants(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(graph, "--fetches", "y0", "--optimizers", "constfold", "--iterations", 1) == 0
    [row] = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("constfold")]
    nodes, edges, held = (list(map(int, row[at : at + 2])) for at in (2, 4, 6))
    assert nodes[1] < nodes[0] and edges[1] < edges[0] and held == [8, 4]


def test_a_signature_of_a_saved_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its inputs are fed, its outputs fetched; one that is not there, or not named, is one line."""
    meta_graph, nodes = new_model("serve")
    saved_models.add(nodes, "Placeholder", "x", dtype=saved_models.FLOAT, shape=(2,))
    saved_models.constant(nodes, "one", [1.0, 1.0])
    for name, op, inputs in (("neg", "Neg", ("x",)), ("plus", "AddV2", ("x", "one"))):
        saved_models.add(nodes, op, name, *inputs, T=saved_models.FLOAT)
    for name, node in (("negated", "neg"), ("increased", "plus")):
        saved_models.signature(meta_graph, name, {"x": "x:0"}, {"y": f"{node}:0"})
    folder, output = write_model(tmp_path / "model", meta_graph), tmp_path / "out.pb"
    for name, ops in (("negated", {"Placeholder", "Neg"}), ("increased", {"Placeholder", "Const", "AddV2"})):
        assert run(folder, "--signature", name, "--min-graph-nodes", -1, "-o", output) == 0
        assert {node.op for node in read_graph(output).node} - {"Identity"} == ops
    capsys.readouterr()
    for more, message in (
        (["--signature", "no_such"], "no_such"),
        ([], "negated"),
        (["--signature", "negated", "--fetches", "y"], "--signature is for a SavedModel"),
    ):
        assert run(folder, *more) != 0
        assert message in one_line(capsys)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--fetches: a graph must have some, got none"),
        (["--fetches", "no_such"], "preserved nodes must be in the graph, got ['no_such']"),
        (["--fetches", "y0", "--optimizers", "no_such"], "--optimizers: there is no 'no_such'"),
        (
            ["--fetches", "y0", "--set", "experimental_conditional_code_motion=on"],
            "experimental_conditional_code_motion: is not built",
        ),
        (["--fetches", "y0", "--set", "no_such=on"], "keys must be of"),
        (["--fetches", "y0", "--set", "stages.convert_po=off"], "no 'convert_po': convert_pow"),
        (["--fetches", "y0", "--set", "stages.no_such=off"], "no 'no_such': numlite optimize --list names"),
        (["--fetches", "y0", "--set", "stages=off"], "stages: must be a dictionary of rules' names"),
        (["--fetches", "y0", "--plugin", "no_such.so"], "no_such.so': the file must be readable"),
        (["--fetches", "y0", "--plugin", "no_such.py"], "no_such.py"),
        (["--fetches", "y0", "--set", "remapping=often"], "remapping: toggle: must be one of"),
        (["--fetches", "y0", "--set", "remapping"], "--set: must be FIELD=VALUE"),
        (["--fetches", "y0", "--device", "here"], "--device: must name a type"),
        (["--fetches", "y0", "-o", "out.txt"], "--output: must end in .pb, .pbtxt or .tfg"),
        (["--fetches", "y0", "--signature", "s"], "--signature is for a SavedModel"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_wrong_is_one_line(
    graph: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(graph, *options) != 0
    assert message in capsys.readouterr().err


def test_a_plugin_that_is_no_library_is_one_line(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "text.so"
    path.write_text("hello")
    assert run(graph, "--fetches", "y0", "--plugin", path) != 0
    assert "must be a shared library (ELF), got b'hell'" in one_line(capsys)


def test_a_plugin_that_lacks_a_symbol_is_one_line(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its C++ classes of TensorFlow are named, and none of it has run."""
    path = compiled("kernels", "foreign", "-DFOREIGN")
    assert run(graph, "--fetches", "y0", "--plugin", path) != 0
    assert "_ZN10tensorflow8GraphDefC1Ev" in one_line(capsys)


def test_a_time_that_is_over_is_one_line(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passed = iter(range(1 << 20))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("numlite.converter.optimizers.passes.time.monotonic", lambda: next(passed))
        assert run(graph, "--fetches", "y0", "--timeout-ms", "1") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert lines == [
        "warning: meta_optimizer_timeout_ms: 1 ms were over before pruning; passes left out: 12",
    ]


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The only line of stderr."""
    [line] = capsys.readouterr().err.splitlines()
    return line
