"""`numlite graph`: summaries, texts, differences and pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from google.protobuf import text_format
from numlite.cli.graph_layout import layout
from numlite.cli.main import cli, run_command
from numlite.converter.ir import export_graph_def, parse_module
from numlite.converter.source_file import FileKind, file_kind, load_graph
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.graph_def import GraphDef

from ..conftest import SHARED_MODELS

TEXT = """
module {
  tfg.graph #tf_type.version<producer = 24, min_consumer = 12> {
    %Placeholder, %ctl = Placeholder name("x") {dtype = f32, shape = #tf_type.shape<?x4>}
      : () -> (tensor<*xf32>)
    %Const, %ctl_0 = Const name("two") {dtype = f32, value = dense<2.0> : tensor<f32>} : () -> (tensor<*xf32>)
    %Mul, %ctl_1 = Mul(%Placeholder, %Const) name("a<b>") {T = f32}
      : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>)
    %PartitionedCall, %ctl_2 = PartitionedCall(%Mul) [%ctl_0] name("call")
      {Tin = [f32], Tout = [f32], f = #tf_type.func<@half, {}>} : (tensor<*xf32>) -> (tensor<*xf32>)
  }
  tfg.func @half(%a: tensor<*xf32> {tfg.name = "a"})
     -> (tensor<*xf32> {tfg.name = "r"})
  {
    %Neg, %ctl = Neg(%a) name("n") {T = f32} : (tensor<*xf32>) -> (tensor<*xf32>)
    return(%Neg) : tensor<*xf32>
  }
}
"""


@pytest.fixture(params=["pb", "pbtxt", "mlir", "bare pbtxt"])
def graph(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The graph above in each form."""
    proto = export_graph_def(parse_module(TEXT))
    if request.param == "pb":
        path, content = tmp_path / "g.pb", proto.SerializeToString()
    elif request.param == "mlir":
        path, content = tmp_path / "g.mlir", TEXT.encode()
    else:
        path, content = tmp_path / f"g{request.param[4:]}.pbtxt", text_format.MessageToString(proto).encode()
        if request.param == "bare pbtxt":
            path = tmp_path / "g"
    path.write_bytes(content)
    return path


def shown(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> str:
    assert run_command(cli, ["graph", *map(str, arguments)]) == status
    captured = capsys.readouterr()
    return captured.err if status == 1 and captured.err else captured.out


def test_summary(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, graph)
    for line in (
        "graph: 4 nodes, producer 24, min consumer 12",
        "  input  x: f32 ?x4",
        "  output call:0: f32 (PartitionedCall)",
        "1 function",
        "  half: 1 argument, 1 result, 2 nodes",
    ):
        assert line in text.split("\n")
    assert "  Neg      1" in shown(capsys, graph, "--function", "half")


def test_texts(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 'Mul(%Placeholder, %Const) name("a<b>")' in shown(capsys, graph, "--text")
    again = text_format.Parse(shown(capsys, graph, "--to-pbtxt"), GraphDef())
    assert again == export_graph_def(load_graph(graph))
    only = shown(capsys, graph, "--text", "--function", "half")
    assert "tfg.func @half" in only and "tfg.graph" not in only


def test_pictures(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dot = shown(capsys, graph, "--dot")
    assert dot.startswith('digraph "graph" {') and "n1 -> n3 [style=dashed];" in dot
    path = tmp_path / "g.svg"
    assert "bytes" in shown(capsys, graph, "--svg", "-o", path)
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Placeholder", "x", "Mul", "a<b>", "PartitionedCall", "f32"} <= set(texts)
    # The constant stands inside the box that uses it, and that another waits for it says nothing.
    assert "Const" not in texts and "two f32" in "".join(root.itertext())
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == 3
    assert "argument" in shown(capsys, graph, "--svg", "--function", "half")


def test_differences(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, graph, "--diff", graph) == "no difference\n"
    proto = export_graph_def(parse_module(TEXT))
    proto.node[2].name = "renamed"
    proto.node[3].input[0] = "x"
    del proto.node[3].input[1:]
    proto.node[0].attr["shape"].shape.dim[1].size = 5
    proto.library.function[0].node_def[0].op = "Abs"
    proto.library.function.add().signature.name = "new"
    other = tmp_path / "other.pb"
    other.write_bytes(proto.SerializeToString())
    lines = shown(capsys, graph, "--diff", other, status=1).split("\n")
    assert lines[:-1] == [
        "- a<b> (Mul)",
        "+ renamed (Mul)",
        "~ x (Placeholder): shape #tf_type.shape<-1x4> -> #tf_type.shape<-1x5>"
        if graph.suffix != ".mlir"
        else "~ x (Placeholder): shape #tf_type.shape<?x4> -> #tf_type.shape<-1x5>",
        "~ call (PartitionedCall): input 0 a<b> -> x; control input two removed",
        "+ function new",
        "~ function half: n (Neg): op Neg -> Abs",
    ]


def test_wrong_requests(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["graph", str(graph), "--signature", "s"]) == 2
    assert "are for SavedModels" in capsys.readouterr().err
    assert run_command(cli, ["graph", str(graph), "--text", "--dot"]) == 2
    assert "only one of --text and --dot" in capsys.readouterr().err
    assert run_command(cli, ["graph", str(graph), "--function", "none"]) == 2
    assert "there are: half" in capsys.readouterr().err
    assert run_command(cli, ["graph", str(graph), "--text", "-o", str(graph)]) == 2
    damaged = tmp_path / "damaged.pb"
    damaged.write_bytes(b"\x0a\x80\x80\x80")
    assert "not a GraphDef" in shown(capsys, damaged, status=1)
    assert "no SavedModel" in shown(capsys, tmp_path, status=1)


def test_kinds_of_files(tmp_path: Path) -> None:
    for content, kind in (
        (b"", FileKind.GRAPH_DEF),
        (b"\n\x03\n\x01x", FileKind.GRAPH_DEF),
        (b"# a comment\n\nnode { name: 'x' }", FileKind.GRAPH_DEF_TEXT),
        (b"// RUN: nothing\n\nmodule {", FileKind.GRAPH_TEXT),
        (b"tfg.func @f()", FileKind.GRAPH_TEXT),
    ):
        path = tmp_path / "file"
        path.write_bytes(content)
        assert file_kind(path) == kind
    assert file_kind(tmp_path) == FileKind.SAVED_MODEL
    (tmp_path / "file").write_bytes(b"module {\n\xff")
    with pytest.raises(ModelError):
        load_graph(tmp_path / "file")


@pytest.mark.parametrize("cycle", [False, True], ids=["tree", "cycles"])
def test_boxes_of_a_layer_are_apart_and_lines_go_from_layer_to_layer(cycle: bool) -> None:
    count = 60
    lines = [(i, j) for i in range(count) for j in (2 * i + 1, 2 * i + 2) if j < count]
    if cycle:
        lines += [(count - 1, 0), (5, 5), (40, 4)]
    widths = [30.0 + 7 * (i % 5) for i in range(count)]
    found = layout(widths, lines, 10.0)
    for layer in range(found.layers):
        row = sorted((found.x[i], widths[i]) for i in range(count) if found.layer[i] == layer)
        assert all(b[0] - b[1] / 2 - a[0] - a[1] / 2 > 9.99 for a, b in pairwise(row))
        assert all(x - width / 2 > -0.01 and x + width / 2 < found.width + 0.01 for x, width in row)
    for (start, end), route in zip(lines, found.routes, strict=True):
        assert route[0] == (found.x[start], found.layer[start]) and route[-1] == (
            found.x[end],
            found.layer[end],
        )
        assert all(abs(a[1] - b[1]) == 1 for a, b in pairwise(route)) or start == end
    downward = sum(found.layer[a] < found.layer[b] for a, b in lines)
    assert downward == len(lines) - (3 if cycle else 0)


def test_a_picture_has_bounds() -> None:
    with pytest.raises(UnsupportedError, match="20000 boxes and bends"):
        layout([1.0] * 20_001, [], 1.0)


def chain(count: int, uses: Callable[[int], Iterable[int]], tmp_path: Path) -> Path:
    """A graph in which each node uses the ones that uses tells."""
    graph = GraphDef()
    for i in range(count):
        graph.node.add(name=f"n{i}", op="Add" if i else "Placeholder", input=[f"n{j}" for j in uses(i)])
    for node in graph.node:
        node.attr["T" if node.op == "Add" else "dtype"].type = 1
    path = tmp_path / "chain.pb"
    path.write_bytes(graph.SerializeToString())
    return path


def test_long_graphs_stand_in_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A value that all nodes use is named where it goes in, so that no line passes the layers between."""
    path = chain(400, lambda i: (0, i - 1) if i else (), tmp_path)
    out = tmp_path / "x.svg"
    assert "bytes" in shown(capsys, path, "--svg", "-o", out)
    root = ET.fromstring(out.read_text())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert 0.5 < width / height < 3 and height < 4000
    names = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert names.count("n0") > 380
    boxes = [
        tuple(float(element.attrib[key]) for key in ("x", "y", "width", "height"))
        for element in root.iter("{http://www.w3.org/2000/svg}rect")
        if "x" in element.attrib
    ]
    assert len(boxes) == 400
    inside = [x >= 0 and x + w <= width and y >= 0 and y + h <= height for x, y, w, h in boxes]
    assert all(inside)
    for (x, y, w, h), (other_x, other_y, other_w, other_h) in combinations(boxes, 2):
        apart = x + w <= other_x or other_x + other_w <= x or y + h <= other_y or other_y + other_h <= y
        assert apart


@pytest.mark.parametrize(
    "name", ["EfficientNetB0", "InceptionV3", "MobileNetV3Large", "DenseNet121", "NASNetMobile"]
)
def test_networks_of_today(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = SHARED_MODELS.parent / f"convert/graphs/keras_{name}_0.pb"
    if not graph.exists():
        pytest.skip("no ../shared/convert beside the repository")
    out = tmp_path / "x.svg"
    assert "bytes" in shown(capsys, graph, "--svg", "-o", out)
    root = ET.fromstring(out.read_text())
    assert float(root.attrib["width"]) < 6000 and float(root.attrib["height"]) < 15_000
