"""NaN in maxima and minima, which stays where it is asked for, in every runtime and arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite import interpreter as numlite_api
from numlite.cli.convert_model import command
from numlite.cli.main import run_command
from numlite.converter import Converter

from ..graphs import checked, operators, sine_graph

litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
NAN = np.nan
KEEPING = {"maximum": np.maximum, "minimum": np.minimum}


def _reducing(name: str, body: str, given: str, shape: str) -> str:
    return f"""func.func @main(%x: tensor<5x6xf32>) -> tensor<{shape}xf32> {{
  %s = stablehlo.constant dense<{"0xFF800000" if name == "maximum" else "0x7F800000"}> : tensor<f32>
  %y = "stablehlo.{body}"(%x, %s) ({{^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.{name} %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>}}) {{{given}}}
    : (tensor<5x6xf32>, tensor<f32>) -> tensor<{shape}xf32>
  return %y : tensor<{shape}xf32>}}"""


def _elements(name: str) -> str:
    return f"""func.func @main(%x: tensor<5x6xf32>, %z: tensor<5x6xf32>) -> tensor<5x6xf32> {{
  %y = stablehlo.{name} %x, %z : tensor<5x6xf32>
  return %y : tensor<5x6xf32>}}"""


CLAMP = """func.func @main(%x: tensor<5x6xf32>, %z: tensor<5x6xf32>, %w: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %y = stablehlo.clamp %x, %z, %w : tensor<5x6xf32>
  return %y : tensor<5x6xf32>}"""
WINDOW = (
    "window_dimensions = array<i64: 2, 3>, window_dilations = array<i64: {}>, "
    "padding = dense<0> : tensor<2x2xi64>"
)


def _windows(x: np.ndarray, name: str, dilation: int) -> np.ndarray:
    rows, columns = 5 - dilation, 6 - 2 * dilation
    parts = [x[dilation * i :, dilation * j :][:rows, :columns] for i in range(2) for j in range(3)]
    return KEEPING[name].reduce(parts)


def _case(kind: str, name: str) -> tuple[str, Any]:
    """The program, and what it gives."""
    if kind == "elements":
        return _elements(name), KEEPING[name]
    if kind == "axis":
        text = _reducing(name, "reduce", "dimensions = array<i64: 1>", "5")
        return text, lambda x: KEEPING[name].reduce(x, axis=1)
    if kind == "all":
        text = _reducing(name, "reduce", "dimensions = array<i64: 0, 1>", "").replace("<xf32>", "<f32>")
        return text, lambda x: KEEPING[name].reduce(x, axis=None)
    dilation = 1 if kind == "pool" else 2
    shape = f"{5 - dilation}x{6 - 2 * dilation}"
    text = _reducing(name, "reduce_window", WINDOW.format(f"{dilation}, {dilation}"), shape)
    return text, lambda x: _windows(x, name, dilation)


def _inputs(count: int) -> list[np.ndarray]:
    """Each with NaN at places of its own, and at one that all have."""
    random = np.random.default_rng(11)
    given = [random.standard_normal((5, 6)).astype(np.float32) for _ in range(count)]
    for place, x in enumerate(given):
        x[place, place + 1] = x[4, 5] = NAN
    return given


def _run(api: Any, content: bytes, inputs: Sequence[np.ndarray], by_reference: bool) -> np.ndarray:
    kinds = api.OpResolverType
    kind = kinds.BUILTIN_REF if by_reference else kinds.AUTO
    interpreter = api.Interpreter(model_content=content, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    return np.array(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("kind", ["elements", "axis", "all", "pool", "dilated"])
def test_nan_is_kept(kind: str, name: str) -> None:
    text, wanted = _case(kind, name)
    content = checked(Converter.from_stablehlo(text, keep_nan=True).convert())
    given = _inputs(2 if kind == "elements" else 1)
    assert np.isnan(wanted(*given)).any()
    for x in (given, [np.nan_to_num(each) for each in given]):
        for api in (numlite_api, litert):
            for by_reference in (False, True):
                np.testing.assert_array_equal(_run(api, content, x, by_reference), wanted(*x))


def test_nan_is_kept_by_bounds_that_are_computed() -> None:
    content = checked(Converter.from_stablehlo(CLAMP, keep_nan=True).convert())
    low, x, high = _inputs(3)
    high += 1
    wanted = np.minimum(np.maximum(x, low), high)
    for api in (numlite_api, litert):
        for by_reference in (False, True):
            found = _run(api, content, [low, x, high], by_reference)
            np.testing.assert_array_equal(found, wanted)


def test_only_where_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = _elements("maximum")
    assert operators(Converter.from_stablehlo(text).convert()) == ["MAXIMUM"]
    path, output = tmp_path / "net.mlir", tmp_path / "net.tflite"
    path.write_text(text)
    assert run_command(command, [str(path), "-o", str(output), "--keep-nan"]) == 0
    assert operators(output.read_bytes()).count("SELECT") == 2
    graph = tmp_path / "graph.pb"
    graph.write_bytes(sine_graph().graph_def.SerializeToString())
    capsys.readouterr()
    assert run_command(command, [str(graph), "-o", str(output), "--keep-nan"]) == 2
    assert "--keep-nan: only for a StableHLO program" in capsys.readouterr().err


def test_nan_beside_a_constant() -> None:
    text = (
        _elements("minimum")
        .replace(", %z: tensor<5x6xf32>", "")
        .replace("  %y =", "  %z = stablehlo.constant dense<2.5> : tensor<5x6xf32>\n  %y =")
    )
    content = Converter.from_stablehlo(text, keep_nan=True).convert()
    [x] = _inputs(1)
    for api in (numlite_api, litert):
        for by_reference in (False, True):
            np.testing.assert_array_equal(_run(api, content, [x], by_reference), np.minimum(x, 2.5))
