"""convert-model: the file, the table, and one line for every error."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.convert_model import command
from numlite.cli.main import run_command
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue
from numlite.schema.verifier import verify

from ..converter.saved_model.saved_models import FLOAT, add, new_model, signature, write_model
from ..converter.stablehlo.recorded import recorded
from ..onnx_builder import model, node, value


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """y = relu(x + x), as a file."""
    g = GraphBuilder()
    x = g.placeholder("x", [-1, 3])
    g.node("Relu", "y", g.node("AddV2", "sum", x, x))
    path = tmp_path / "graph.pb"
    path.write_bytes(g.graph_def.SerializeToString())
    return path


def test_writes_the_model_and_shows_every_op(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = graph.with_name("model.tflite")
    assert run_command(command, [str(graph), "-o", str(output)]) == 0
    verify(output.read_bytes())
    shown = capsys.readouterr().out
    assert "fused into ADD" in shown and "input" in shown and "sum" in shown
    assert sorted(os.listdir(graph.parent)) == ["graph.pb", "model.tflite"]


def test_shapes_and_arrays(graph: Path) -> None:
    output = graph.with_name("model.tflite")
    arguments = ["--input-shapes", "?,5", "--input-arrays", "x", "--output-arrays", "sum"]
    assert run_command(command, [str(graph), "-o", str(output), *arguments]) == 0
    subgraph = tflite.read(output.read_bytes()).subgraphs[0]
    assert subgraph.tensors[0].shape_signature.tolist() == [-1, 5]
    assert subgraph.tensors[subgraph.outputs[0]].name == "sum"


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (["--input-shapes", "1:2"], "2 shapes for 1 inputs (x)", 2),
        (["--input-shapes", "a"], "sizes must be numbers or ?, got 'a'", 2),
        (["--output-arrays", "z"], "output 'z': the graph has no such node", 1),
        (["--input-arrays", "x,x:0"], "inputs: 'x' is named twice", 1),
        (["-o", ""], "--output: it must name a file", 2),
    ],
)
def test_errors_are_one_line(
    graph: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str, status: int
) -> None:
    output = graph.with_name("model.tflite")
    assert run_command(command, [str(graph), "-o", str(output), *arguments]) == status
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not output.exists()


def test_debug_shows_the_traceback(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph.write_bytes(b"\xff\xff")
    output = str(graph.with_name("model.tflite"))
    assert run_command(command, [str(graph), "-o", output, "--debug"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error and "not a GraphDef" in error


@pytest.mark.parametrize("failing", ["replace", "fdopen"])
def test_an_old_file_stays_when_writing_fails(
    graph: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    output = graph.with_name("model.tflite")
    output.write_bytes(b"old")

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    assert run_command(command, [str(graph), "-o", str(output)]) == 1
    assert capsys.readouterr().err == f"convert-model: {output}: No space left on device\n"
    assert output.read_bytes() == b"old" and sorted(os.listdir(graph.parent)) == ["graph.pb", output.name]


def test_the_graph_is_never_overwritten(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = graph.read_bytes()
    link = graph.with_name("link.pb")
    link.symlink_to(graph)
    for output in (graph, graph.parent / "." / graph.name, link):
        assert run_command(command, [str(graph), "-o", str(output)]) == 2
        assert "--output: it is the graph itself" in capsys.readouterr().err
    assert graph.read_bytes() == content and link.is_symlink()


def test_flex_and_custom_operators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [2])
    g.node("Frobnicate", "y", g.node("Erfinv", "e", x))
    path, output = tmp_path / "graph.pb", tmp_path / "model.tflite"
    path.write_bytes(g.graph_def.SerializeToString())
    assert run_command(command, [str(path), "-o", str(output)]) == 1
    error = capsys.readouterr().err
    assert "Erfinv (node 'e')" in error and "--allow-custom-ops" in error and not output.exists()
    flags = ["--select-tf-ops", "--allow-custom-ops"]
    assert run_command(command, ["--graph-def", str(path), "-o", str(output), *flags]) == 1
    assert "the type of result 0 is not known" in capsys.readouterr().err


def graphs_that_do_not_convert() -> dict[str, tuple[GraphBuilder, str]]:
    unknown, shapeless, wide = GraphBuilder(), GraphBuilder(), GraphBuilder()
    unknown.node("Frobnicate", "y", unknown.placeholder("x", [2]), Tout=AttrValue(type=1))
    filters = shapeless.constant("f", np.ones((1, 1, 3, 1), np.float32))
    x = shapeless.placeholder("x", [1, 8, 8, -1])
    shapeless.node("Conv2D", "y", x, filters, strides=(1, 1, 1, 1), padding="SAME")
    wide.node("Sin", "y", wide.placeholder("x", [2], data_type=2))
    select = "target_spec.supported_ops with OpsSet.SELECT_TF_OPS (--select-tf-ops) would take"
    known = "known input_shapes (--input-shapes) or"
    return {
        "unknown op": (
            unknown,
            "Frobnicate (node 'y'). allow_custom_ops (--allow-custom-ops) would take Frobnicate",
        ),
        "missing shape": (
            shapeless,
            f"Conv2D: the number of input channels must be known (node 'y'). {known} {select} Conv2D",
        ),
        "unsupported type": (wide, f"Sin: SIN does not take float64 (node 'y'). {select} Sin"),
    }


@pytest.mark.parametrize("case", graphs_that_do_not_convert())
def test_what_does_not_convert_is_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, message = graphs_that_do_not_convert()[case]
    path, output = tmp_path / "graph.pb", tmp_path / "model.tflite"
    path.write_bytes(graph.graph_def.SerializeToString())
    assert run_command(command, [str(path), "-o", str(output)]) == 1
    assert capsys.readouterr().err == f"convert-model: 1 node cannot be converted: {message}\n"
    assert not output.exists()
    setting = {"unknown op": ["--allow-custom-ops"], "missing shape": ["--input-shapes", "1,8,8,3"]}
    given = setting.get(case, ["--select-tf-ops"])
    assert run_command(command, [str(path), "-o", str(output), *given]) == 0


def test_a_saved_model_by_its_file(tmp_path: Path) -> None:
    meta_graph, graph_def = new_model()
    add(graph_def, "Placeholder", "x", dtype=FLOAT)
    add(graph_def, "Sin", "y", "x", T=FLOAT)
    signature(meta_graph, "sine", {"x": "x:0"}, {"y": "y:0"})
    folder, output = write_model(tmp_path / "saved", meta_graph), tmp_path / "model.tflite"
    assert run_command(command, [str(folder / "saved_model.pb"), "-o", str(output)]) == 0
    assert tflite.read(output.read_bytes()).signature_defs[0].signature_key == "sine"


def test_verify_and_report(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, page = graph.with_name("model.tflite"), graph.with_name("report.html")
    assert run_command(command, [str(graph), "-o", str(output), "--verify", "3", "--report", str(page)]) == 0
    assert "serving_default y: differs by 0 at most, values up to" in capsys.readouterr().out
    text = page.read_text()
    assert "<td>ADD" in text and "<td>fused into ADD" in text and "x: float32 [?, 3] (x)" in text
    assert "1 operator in" in text and "1 subgraph, from 3 nodes" in text


def test_random_inputs_that_cannot_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [7], data_type=3)
    g.node("InvertPermutation", "y", x)
    path, output = tmp_path / "graph.pb", tmp_path / "model.tflite"
    path.write_bytes(g.graph_def.SerializeToString())
    flags = ["--select-tf-ops", "--no-builtins", "--verify", "1"]
    assert run_command(command, [str(path), "-o", str(output), *flags]) == 1
    assert f"--verify: {output} is written, but random inputs could not be run" in capsys.readouterr().err
    verify(output.read_bytes())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--graph-def", "{graph}"], "one of SOURCE, --graph-def and --saved-model-dir must be given, got 2"),
        (["--no-builtins"], "--no-builtins: only with --select-tf-ops"),
        (["--signature", "f"], "--signature, --tags, --allow-files: only a SavedModel has them"),
    ],
)
def test_wrong_usage(
    graph: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    given = [argument.format(graph=graph) for argument in arguments]
    assert run_command(command, [str(graph), "-o", str(graph.with_name("m.tflite")), *given]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_an_onnx_model_is_known_by_its_content(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [node("Relu", ["x"], "r"), node("Neg", ["r"], "y")]
    made = model(nodes, [value("x", ["n", 3])], [value("y", ["n", 3])])
    path, output = tmp_path / "net.bin", tmp_path / "net.tflite"
    path.write_bytes(made.SerializeToString())
    options = ["--input-shapes", "2,3", "--verify", "1"]
    assert run_command(command, [str(path), "-o", str(output), *options]) == 0
    subgraph = tflite.read(output.read_bytes()).subgraphs[0]
    assert subgraph.tensors[0].shape.tolist() == [2, 3]
    assert subgraph.tensors[subgraph.outputs[0]].name == "y"
    assert "Relu" in capsys.readouterr().out


def test_options_of_other_files_are_wrong_usage_for_onnx(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(
        model([node("Neg", ["x"], "y")], [value("x", [1])], [value("y", [1])]).SerializeToString()
    )
    for option in (["--signature", "a"], ["--input-arrays", "x"], ["--output-arrays", "y"]):
        assert run_command(command, [str(path), "-o", str(tmp_path / "out.tflite"), *option]) == 2


def test_a_stablehlo_program_is_known_by_its_content(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / "net.bin", tmp_path / "net.tflite"
    path.write_bytes(recorded()["open_images export"].program)
    options = ["--input-shapes", "2,6,6,2", "--verify", "1"]
    assert run_command(command, [str(path), "-o", str(output), *options]) == 0
    subgraph = tflite.read(output.read_bytes()).subgraphs[0]
    assert subgraph.tensors[0].shape.tolist() == [2, 6, 6, 2]
    assert "Conv2D" in capsys.readouterr().out
    for option in (["--signature", "a"], ["--input-arrays", "x"], ["--channels-last", "x"]):
        assert run_command(command, [str(path), "-o", str(output), *option]) == 2
