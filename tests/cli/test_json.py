"""What commands print for programs: valid JSON whose every field docs/json.md names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.cli.convert_model import command as convert_command
from numlite.cli.json_output import plain
from numlite.cli.main import cli, run_command
from numlite.cli.run_results import type_name
from numlite.schema import tflite

from ..converter.saved_model.saved_models import FLOAT, add, new_model, signature, write_model
from ..model_builder import ModelBuilder

PAGE = Path(__file__).resolve().parents[2] / "docs" / "json.md"


def documented(command: str) -> set[str]:
    """The fields that the page has for a command, and for all."""
    parts = PAGE.read_text().split("\n## ")
    (section,) = [part for part in parts if part.startswith(f"`{command} --json`")]
    return set(re.findall(r"`([\w.*\[\]]+)`", "\n".join(_cells(parts[0] + section))))


def _cells(text: str) -> Iterator[str]:
    """The first column of tables, and the sentences on other forms of the output."""
    for line in text.splitlines():
        if line.startswith("|"):
            yield line.split("|")[1]
        elif line.startswith("With `--"):
            yield line


def undocumented(value: Any, known: set[str], path: str = "") -> list[str]:
    """The paths of fields that the page does not name."""
    if isinstance(value, dict):
        if f"{path}.*" in known:
            return []
        found = []
        for key, entry in value.items():
            found += undocumented(entry, known, f"{path}.{key}" if path else key)
        return found if value or path in known else [path]
    if isinstance(value, list):
        if path in known:
            return []
        return [missing for entry in value for missing in undocumented(entry, known, f"{path}[]")]
    return [] if path in known or any(name.startswith(f"{path}[]") for name in known) else [path]


def printed(
    capsys: pytest.CaptureFixture[str], *arguments: object, command: Any = cli, status: int = 0
) -> dict[str, Any]:
    assert run_command(command, [*map(str, arguments), "--json"]) == status
    (line,) = capsys.readouterr().out.splitlines()
    content = json.loads(line, parse_constant=pytest.fail)
    name = "convert-model" if command is not cli else arguments[0]
    assert (content["schema"], content["command"]) == (1, name)
    known = documented(name if command is not cli else f"numlite {name}")
    known |= {"outputs[].values", "selection"}
    if isinstance(content.get("selection"), dict):
        content["selection"] = None
    assert undocumented(content, known) == []
    return content


def test_inspect(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(capsys, "inspect", model)
    (graph,) = content["subgraphs"]
    assert [operator["name"] for operator in graph["operators"]] == ["ADD", "ABS"]
    assert graph["tensors"][0]["shape"] == [-1, 4] and graph["tensors"][1]["constant_bytes"] == 16
    assert content["signatures"] == [
        {"key": "abs", "subgraph": 0, "inputs": {"left": 0}, "outputs": {"right": 3}}
    ]
    assert content["memory"]["arena_bytes"] == content["memory"]["lower_bound_bytes"] > 0


def test_inspect_of_other_kinds(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    delegate = "tests.delegates.numpy_delegate:NumpyDelegate"
    (graph,) = printed(capsys, "inspect", model, "--delegate", delegate)["subgraphs"]
    assert graph["total_nodes"] == 2 and graph["delegated_nodes"] + len(graph["left_out"]) == 2
    assert printed(capsys, "inspect", model, "--strict")["findings"] == []
    damaged = tmp_path / "damaged.tflite"
    damaged.write_bytes(model.read_bytes()[:-40])
    assert printed(capsys, "inspect", damaged, "--strict", status=1)["findings"]


def test_inspect_of_what_cannot_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from .test_shown_text import custom_model

    path = tmp_path / "model.tflite"
    path.write_bytes(custom_model())
    assert "Register it" in printed(capsys, "inspect", path)["memory"]["not_planned"]


def test_benchmark(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(capsys, "benchmark", model, "--runs", 3, "--warmup", 2, "--signature", "abs")
    assert content["latency"]["of"] == "runs" and content["latency"]["count"] == 3
    assert content["settings"]["signature"] == "abs"
    assert [row["operator"] for row in content["operators"]] == ["ADD", "ABS"]
    assert [row["bytes"] for row in content["operators"]] == [48, 32]
    assert [row["parameters"] for row in content["operators"]] == [4, 0]
    assert all(value > 0 for value in content["machine_peak"].values())
    assert "operators" not in printed(capsys, "benchmark", model, "--seconds", 0.01, "--no-ops")


def test_benchmark_against_litert(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ai_edge_litert")
    content = printed(capsys, "benchmark", model, "--seconds", 0.02, "--compare", "litert", "--no-ops")
    assert content["litert"]["agrees"] and content["litert"]["ratio"]["median"] > 0


def test_compare(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ..test_model_comparison import affine

    found = printed(capsys, "compare", model, "--other-resolver", "ref")
    assert found["second"] is None and found["compared"] == found["equal"] == 2 and not found["tensors"]
    assert found["first_difference"] is None and all(pair["sqnr_db"] == "inf" for pair in found["outputs"])
    first, second = tmp_path / "first.tflite", tmp_path / "second.tflite"
    first.write_bytes(affine())
    second.write_bytes(affine((2.0, 3.03, 5.0), names="axc"))
    found = printed(capsys, "compare", first, second, "--limit", 45, status=1)
    assert (found["compared"], found["equal"], found["limit_db"]) == (3, 1, 45)
    assert [pair["name"] for pair in found["tensors"]] == ["b", "c"] and len(found["outputs"]) == 1
    assert found["first_difference"] == found["first_below_limit"] == found["tensors"][0]["node"] == 1
    assert 39 < found["tensors"][0]["sqnr_db"] < 41 and found["tensors"][0]["other_name"] == "x"
    found = printed(capsys, "compare", first, second, "--limit", 20, "--all")
    assert len(found["tensors"]) == 3 and found["first_below_limit"] is None


def test_run(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(capsys, "run", model, "--top", 2)
    assert len(content["outputs"][0]["top"][0]) == 2


def test_strings_are_strings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """However long they are, going in and coming out."""
    builder = ModelBuilder()
    x, y = (builder.tensor([2, 2], tflite.TensorType.STRING, name=name) for name in "xy")
    builder.op(tflite.BuiltinOperator.TRANSPOSE, [x, builder.constant([1, 0])], [y])
    path = tmp_path / "strings.tflite"
    path.write_bytes(builder.build([x], [y]))
    content = printed(capsys, "run", path)
    assert [content[kind][0]["type"] for kind in ("inputs", "outputs")] == ["string", "string"]
    content = printed(capsys, "benchmark", path, "--runs", 1, "--no-ops")
    assert content["inputs"] == [{"name": "x", "type": "string", "shape": [2, 2]}]
    assert run_command(cli, ["run", str(path)]) == 0
    assert capsys.readouterr().out.count("string") == 2
    assert type_name(np.zeros(0, np.float32)) == "float32"


def test_select_ops(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(capsys, "select-ops", model, "-o", tmp_path / "ops.json")
    assert {family["name"] for family in content["families"]} >= {"executor"}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    message, graph = new_model()
    add(graph, "Placeholder", "x", dtype=FLOAT, shape=(2,))
    add(graph, "Neg", "y", "x", T=FLOAT)
    signature(message, "serving_default", {"x": "x:0"}, {"y": "y:0"})
    return write_model(tmp_path / "saved", message)


def test_graph(saved: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(capsys, "graph", saved)
    assert content["body"]["ops"] == {"Neg": 1, "Placeholder": 1}
    assert printed(capsys, "graph", saved, "--diff", saved)["differences"] == []
    assert run_command(cli, ["graph", str(saved), "--text", "--json"]) == 2
    assert "--json is for the summary" in capsys.readouterr().err


def test_convert_model(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, page = tmp_path / "model.tflite", tmp_path / "page.html"
    arguments = [saved, "-o", output, "--input-shapes", 2, "--verify", 2, "--report", page]
    content = printed(capsys, *arguments, command=convert_command)
    assert content["bytes"] == output.stat().st_size and page.exists()
    assert content["subgraphs"][0]["operators"] == {"NEG": 1}
    assert content["verified"][0]["largest_difference"] == 0


def test_what_json_cannot_say_is_said_by_texts() -> None:
    values = [np.inf, -np.inf, float("nan"), 1 + 2j, b"a\xff", {"x": (1.5, None)}]
    expected = ["inf", "-inf", "nan", [1.0, 2.0], "a\\xff", {"x": [1.5, None]}]
    assert plain(values) == expected
