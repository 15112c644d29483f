"""compare_models: equal is equal, a change shows where it begins, quantized numbers count as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numlite
import numpy as np
import pytest
from numlite.cli.main import cli, run_command
from numlite.model_comparison import compare_models
from numlite.schema import tflite

from .model_builder import ModelBuilder

Op = tflite.BuiltinOperator


def affine(steps: tuple[float, ...] = (2.0, 3.0, 5.0), names: Sequence[str] = "abcdef") -> bytes:
    """x * 2 * 3 * 5, a product each."""
    model = ModelBuilder()
    x = last = model.tensor((2, 3), name="x")
    for name, step in zip(names, steps, strict=False):
        y = model.tensor((2, 3), name=name)
        operands = [last, model.constant(np.float32(step).reshape(1))]
        model.op(Op.MUL, operands, [y], tflite.MulOptionsT())
        last = y
    return model.build([x], [last])


def quantized() -> bytes:
    """x + x, in int8 of scale 1/64 and 1/32."""
    model = ModelBuilder()
    x = model.tensor((2, 3), "int8", name="x", scale=1 / 64, zero_point=3)
    y = model.tensor((2, 3), "int8", name="y", scale=1 / 32, zero_point=-5)
    model.op(Op.ADD, [x, x], [y], tflite.AddOptionsT())
    return model.build([x], [y])


def doubled() -> bytes:
    model = ModelBuilder()
    x, y = model.tensor((2, 3), name="x"), model.tensor((2, 3), name="y")
    model.op(Op.ADD, [x, x], [y], tflite.AddOptionsT())
    return model.build([x], [y])


def sizes() -> bytes:
    """The input's shape."""
    model = ModelBuilder()
    x, y = model.tensor((2, 3), name="x"), model.tensor((2,), "int32", name="y")
    model.op(Op.SHAPE, [x], [y], tflite.ShapeOptionsT(out_type=tflite.TensorType.INT32))
    return model.build([x], [y])


def test_a_model_equals_itself() -> None:
    found = compare_models(affine(), affine())
    assert [pair.name for pair in found.tensors] == ["a", "b", "c"] and not found.unmatched
    assert all(pair.equal and pair.largest_difference == 0 for pair in (*found.tensors, *found.outputs))
    assert found.first_divergence() is None and found.first_divergence(np.inf) is None


@pytest.mark.parametrize("names", ("abcdef", "uvwxyz"))
def test_a_change_shows_where_it_begins(names: str) -> None:
    """By name, or where names differ by the operators' order."""
    x = np.array([[1, -2, 3], [0, 4, 8]], np.float32)
    found = compare_models(affine(), affine((2.0, 3.03, 5.0), names), {"x": x})
    first = found.first_divergence(45)
    assert first is not None and (first.name, first.other_name, first.node) == ("b", names[1], 1)
    assert first.sqnr_db == pytest.approx(40, abs=1e-3) and first.at == (1, 2)
    assert first.largest_difference == pytest.approx(0.48, rel=1e-4) and first.largest_value == 48
    assert found.first_divergence(30) is None and not found.outputs[0].equal


def test_quantized_tensors_count_as_numbers() -> None:
    x = np.linspace(-1.5, 1.5, 6, dtype=np.float32).reshape(2, 3)
    found = compare_models(doubled(), quantized(), {"in_0": x})
    (pair,) = found.tensors
    assert (pair.type, pair.other_type) == ("float32", "int8")
    assert 35 < pair.sqnr_db < 60 and pair.largest_difference <= 1 / 32
    back = compare_models(quantized(), doubled())  # sums of multiples of 1/64 are multiples of 1/32
    assert back.tensors[0].largest_value > 1 and back.tensors[0].equal


def test_values_that_are_no_numbers() -> None:
    x = np.array([[np.nan, np.inf, 1], [2, 3, 4]], np.float32)
    assert all(pair.equal for pair in compare_models(affine(), affine(), {"x": x}).tensors)
    found = compare_models(affine(), affine((2.0, -3.0, 5.0)), {"x": x}).tensors
    assert found[0].equal and found[1].at == (0, 1) and not found[1].sqnr_db >= 30


def test_two_numerics_and_interpreters() -> None:
    found = compare_models(
        quantized(), quantized(), other_resolver_type=numlite.OpResolverType.BUILTIN_REF, seed=3
    )
    assert found.tensors[0].largest_difference <= 1 / 32
    mine = numlite.Interpreter(
        model_content=affine(),
        experimental_op_resolver_type=numlite.OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    assert len(numlite.compare_models(mine, affine()).tensors) == 3


def test_litert(tmp_path: Path) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    theirs = litert.Interpreter(model_content=affine(), experimental_preserve_all_tensors=True)
    found = compare_models(affine(), theirs, {"x": np.ones((4, 3), np.float32)})
    assert [pair.name for pair in found.tensors] == ["a", "b", "c"] and found.outputs[0].equal
    assert found.outputs[0].shape == (4, 3)


@pytest.mark.parametrize(
    "second, inputs, message",
    (
        (sizes(), {}, r"one shape, got \(2, 3\) and \(2,\)"),
        (affine(), {"z": np.zeros(1)}, r"must be among \['x'\], got \['z'\]"),
    ),
)
def test_what_does_not_fit(second: bytes, inputs: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match=message):
        compare_models(affine(), second, inputs)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "first.tflite", tmp_path / "second.tflite"
    first.write_bytes(affine())
    second.write_bytes(affine((2.0, 3.3, 5.0)))
    assert run_command(cli, ["compare", str(first), str(second)]) == 1
    shown = capsys.readouterr().out
    assert "first difference: 'b', node 1 (MUL), 20.0 dB" in shown
    assert "3 tensors compared: 1 equal, 2 below 30 dB; 0 without a counterpart" in shown
    assert run_command(cli, ["compare", str(first), str(second), "--limit", "10", "--all"]) == 0
    assert "equal" in capsys.readouterr().out
    assert run_command(cli, ["compare", str(first), "--other-resolver", "ref"]) == 0
    assert "3 tensors compared: 3 equal" in capsys.readouterr().out
    assert run_command(cli, ["compare", str(first)]) == 2
    assert "must say what FIRST is compared with" in capsys.readouterr().err


def test_the_command_against_litert_says_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    path = tmp_path / "first.tflite"
    path.write_bytes(affine())
    assert run_command(cli, ["compare", str(path), "--against", "litert"]) == 0
    assert "equal" in capsys.readouterr().out
    assert [str(warning.message) for warning in recwarn] == []


def test_long_names_leave_room_for_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files and pipes have lines as long as they need: a fused name is shortened in its middle."""
    first, second = tmp_path / "first.tflite", tmp_path / "second.tflite"
    names = ["begin/" + "fused;" * 60 + "end", "begin/" + "x" * 70 + "last", "c"]  # 369, 80 and 1 letters
    first.write_bytes(affine(names=names))
    second.write_bytes(affine((2.5, 3.0, 5.0), names=names))
    assert run_command(cli, ["compare", str(first), str(second), "--all"]) == 1
    shown = capsys.readouterr().out
    rows = [line for line in shown.splitlines() if "begin/" in line and "│" in line]
    assert len(rows) == 2 and max(map(len, rows)) < 200
    assert "begin/fused;" in rows[0] and "..." in rows[0] and "fused;end" in rows[0] and names[1] in rows[1]
