"""`numlite explore`: what its pages hold. tests/cli/page opens them in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.cli.demo import GRAPH
from numlite.cli.main import cli, run_command
from numlite.cli.page import libraries
from numlite.cli.page.libraries import LibraryError, Package
from numlite.converter import Converter
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .test_graph import TEXT
from .test_shown_text import check_shown, custom_model, evil_graph, runnable_model

DELEGATE = """
from numlite.delegates import SimpleDelegate, SimpleDelegateKernel
class Kernel(SimpleDelegateKernel):
    def init(self, context, params):
        self.nodes = [context.node_and_registration(n) for n in params.nodes_to_replace]
    def invoke(self, context, node):
        for each, _ in self.nodes:
            context.tensor(each.outputs[0]).array()[...] = abs(context.tensor(each.inputs[0]).array())
class Abs(SimpleDelegate):
    name = "Abs"
    def is_node_supported(self, context, node, registration):
        return registration.name == "ABS"
    def create_kernel(self):
        return Kernel()
def create_delegate(**options):
    return Abs()
"""


@pytest.fixture(autouse=True)
def small_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that do nothing, in place of the real ones: what pages hold does not hang on them."""
    package = Package("lib", "1", "", "", "")
    monkeypatch.setattr(libraries, "texts", lambda cache: [(package, "'</script>'", "Free. */")])


def page(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: object) -> dict[str, Any]:
    """The data of the page that the command writes."""
    out = tmp_path / "page.html"
    status = run_command(cli, ["explore", *map(str, arguments), "-o", str(out)])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    assert re.search(r"page\.html: [\d,]+ bytes", captured.out)
    text = out.read_text()
    check_shown(re.sub(r"\\u[0-9a-f]{4}", "", text))
    # Two libraries' and our own scripts, the data, and no way out of them.
    assert text.count("<script") == text.count("</script>") == 12 and "Free. * /" in text
    found: dict[str, Any] = json.loads(text.split('id="document">')[1].split("</script>")[0])
    return found


def digits(tmp_path: Path) -> Path:
    path = tmp_path / "digits.tflite"
    path.write_bytes(Converter.from_graph_def(str(GRAPH)).convert())
    return path


def test_a_model(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = page(capsys, tmp_path, model, "--runs", 3)
    [side] = found["sides"]
    [graph] = side["graphs"]
    assert [box["title"] for box in graph["boxes"]] == ["input", "ADD", "ABS", "output"]
    assert [(line["start"], line["end"]) for line in graph["lines"]] == [(0, 1), (1, 2), (2, 3)]
    assert graph["blocks"] == [[0, 1], [1, 2], [2, 3]]
    # The constant stands inside the operator that uses it.
    assert graph["boxes"][1]["lines"] == ["?x4", "[1, 2, 3, 4]"]
    bias = next(tensor for tensor in graph["tensors"] if tensor["name"] == "bias")
    assert bias["constant"] and bias["bytes"] == 16 and bias["value"] == "[1, 2, 3, 4]"
    measured = side["measured"]
    assert [time["op"] for time in measured["times"]] == ["ADD", "ABS"]
    arena = measured["arena"]
    assert arena["used"] == [32, 48] and arena["bytes"] >= arena["lower_bound"] >= 48
    assert {t for t, low, high in measured["seen"] if low <= high} == {0, 2, 3}
    assert found["comparison"] is None and not side["notes"]


def test_weights_and_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = ModelBuilder()
    x = graph.tensor((1, 4), np.int8, scale=[0.5], zero_point=[-10])
    weights = np.arange(-16, 16, dtype=np.int8).reshape(8, 4)
    w = graph.tensor((8, 4), np.int8, weights, scale=[0.25] * 7 + [2.0], zero_point=[0] * 8)
    y = graph.tensor((1, 8), np.int8, scale=[1.0], zero_point=[0])
    graph.op(tflite.BuiltinOperator.FULLY_CONNECTED, [x, w, -1], [y], tflite.FullyConnectedOptionsT())
    path = tmp_path / "q.tflite"
    path.write_bytes(graph.build([x], [y]))
    [side] = page(capsys, tmp_path, path)["sides"]
    tensors = side["graphs"][0]["tensors"]
    assert tensors[x]["scales"] == {
        "count": 1,
        "axis": 0,
        "scale": [0.5, 0.5],
        "zero_point": [-10, -10],
        "range": [-59.0, 68.5],
    }
    histogram = tensors[w]["histogram"]
    assert (histogram["low"], histogram["high"]) == (-4.0, 30.0) and sum(histogram["counts"]) == 32
    assert histogram["zeros"] == pytest.approx(1 / 32)
    low, high = next((low, high) for t, low, high in side["measured"]["seen"] if t == x)
    assert -59 <= low <= high <= 68.5
    assert dict(map(tuple, side["graphs"][0]["nodes"][0]["details"]))["fused_activation_function"] == "NONE"


def test_two_models_and_two_numerics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = digits(tmp_path), tmp_path / "small.tflite"
    assert run_command(cli, ["quantize", str(first), "-o", str(second)]) == 0
    found = page(capsys, tmp_path, first, second)["comparison"]
    assert (found["first"], found["second"]) == ("digits.tflite", "small.tflite")
    assert found["differences"] and all(5 < each["db"] < 90 for each in found["differences"] if each["db"])
    assert any(each["db"] is not None for each in found["differences"])
    found = page(capsys, tmp_path, first, "--other-resolver", "ref")["comparison"]
    assert found["second"] == "digits.tflite (ref)" and found["differences"]
    assert all(each["node"] == each["other_node"] for each in found["differences"])


def test_partitions_of_a_delegate(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "abs_of_explore.py").write_text(DELEGATE)
    monkeypatch.syspath_prepend(str(tmp_path))
    [side] = page(capsys, tmp_path, model, "--delegate", "abs_of_explore")["sides"]
    measured = side["measured"]
    assert measured["delegate"] == "Abs" and measured["partitions"] == [[1]]
    assert [node for node, _ in measured["left_out"]] == [0]
    assert measured["arena"]["steps"] == [0, -1]


def test_graphs_and_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.mlir"
    path.write_text(TEXT)
    [side] = page(capsys, tmp_path, path)["sides"]
    assert [graph["name"] for graph in side["graphs"]] == ["graph", "half"]
    main, half = side["graphs"]
    assert [node["op"] for node in main["nodes"]] == ["Placeholder", "Mul", "PartitionedCall"]
    assert main["nodes"][2]["calls"] == [["f", 1]] and main["boxes"][1]["lines"] == ["?x4", "2"]
    assert main["boxes"][0]["lines"] == ["x", "f32 ?x4"]
    assert [box["title"] for box in half["boxes"]] == ["input", "Neg", "return"]
    np.save(tmp_path / "x.npy", np.float32([[-1, 0, 2, 3]]))
    [side] = page(capsys, tmp_path, path, "-i", tmp_path / "x.npy")["sides"]
    assert side["notes"] == [] and side["measured"]["arena"] is None
    assert [time["op"] for time in side["measured"]["times"]] == ["Mul", "PartitionedCall"]
    outputs = [node["outputs"][0] for node in main["nodes"]]
    seen = {t: (low, high) for t, low, high in side["measured"]["seen"]}
    assert seen == dict(zip(outputs, [(-1, 3), (-2, 6), (-6, 2)], strict=True))


def test_graphs_that_cannot_run_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.mlir"
    path.write_text(TEXT)
    np.save(tmp_path / "x.npy", np.float32([1, 2]))
    [side] = page(capsys, tmp_path, path, "-i", tmp_path / "x.npy")["sides"]
    assert side["measured"] is None and "must be fed a shape like" in side["notes"][0]
    assert page(capsys, tmp_path, path, "--no-run")["sides"][0]["notes"] == []


def test_a_graph_beside_its_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = page(capsys, tmp_path, GRAPH, digits(tmp_path), "--no-run")
    assert [side["kind"] for side in found["sides"]] == ["GraphDef", "tflite"]
    weights = [t for side in found["sides"] for t in side["graphs"][0]["tensors"] if t["histogram"]]
    assert len(weights) >= 4 and found["comparison"] is None


def test_models_that_do_not_run_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "custom.tflite"
    path.write_bytes(custom_model())
    [side] = page(capsys, tmp_path, path)["sides"]
    assert side["graphs"][0]["nodes"] and side["measured"] is None
    assert side["notes"][0].startswith("not run: ")


@pytest.mark.parametrize(
    "make", [runnable_model, lambda: evil_graph().SerializeToString()], ids=["model", "graph"]
)
def test_names_are_escaped(make: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ("evil.tflite" if make is runnable_model else "evil.pb")
    path.write_bytes(make())
    found = page(capsys, tmp_path, path)
    assert r"\x1b[31m" in json.dumps(found).replace("\\\\", "\\")


def test_what_is_refused(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        ([model, "-o", model], "it is the model itself"),
        ([GRAPH, "--against", "litert", "-o", tmp_path / "x"], "run .tflite models"),
        ([model, "--signature", "abs", "-o", tmp_path / "x"], "are for SavedModels"),
    ):
        assert run_command(cli, ["explore", *map(str, arguments)]) == 2
        assert message in capsys.readouterr().err


def test_a_folder_that_is_no_saved_model_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(cli, ["explore", str(tmp_path), "-o", str(tmp_path / "x.html")]) == 1
    assert capsys.readouterr().err.startswith(f"numlite: {tmp_path}: no SavedModel")


def test_libraries_that_cannot_be_had(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(cache: Path) -> None:
        raise LibraryError("lib 1: no way")

    monkeypatch.setattr(libraries, "texts", refuse)
    assert run_command(cli, ["explore", str(model), "-o", str(tmp_path / "x.html")]) == 1
    assert "explore: the page's libraries must be at hand: lib 1: no way" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()
