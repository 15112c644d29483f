"""`numlite select-ops`, resolvers that offer a selection alone, and sizes of code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numlite import OpResolver
from numlite.cli import warmup
from numlite.cli.main import cli, run_command
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from numlite.kernels.code_size import bytecode_bytes, family_size
from numlite.kernels.compiled.driver.image import uses_shared_objects
from numlite.kernels.compiled.families import all_families
from numlite.kernels.selection import Selection, read_selection
from numlite.lite.custom_op import custom_registration
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import tflite

from ..delegates.flex.flex_models import flex_options
from ..model_builder import ModelBuilder

Op = tflite.BuiltinOperator


def selected(output: Path, *models: Path) -> Selection:
    assert run_command(cli, ["select-ops", *map(str, models), "-o", str(output)]) == 0
    return read_selection(output)


def where_model(path: Path) -> Path:
    """ABS(x); WHERE(x > 0); and ABS behind it, whose kernel only a run tells."""
    graph = ModelBuilder()
    x, zero = graph.tensor((4,)), graph.constant(np.zeros(4, np.float32))
    mask, found, y = graph.tensor((4,), bool), graph.tensor((1, 1), np.int64), graph.tensor((1, 1), np.int32)
    graph.op(Op.GREATER, [x, zero], [mask], tflite.GreaterOptionsT())
    graph.op(Op.WHERE, [mask], [found], tflite.WhereOptionsT())
    graph.op(Op.CAST, [found], [y], tflite.CastOptionsT(in_data_type=4, out_data_type=2))
    path.write_bytes(graph.build([x], [y]))
    return path


def test_what_models_need(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = where_model(tmp_path / "where.tflite")
    selection = selected(tmp_path / "ops.json", model, other)
    assert selection.builtin == {name: (1, 1) for name in ("ABS", "ADD", "GREATER", "WHERE", "CAST")}
    assert {"executor", "binary_f32", "cast"} <= selection.families <= set(all_families())
    assert not selection.custom and not selection.fallback
    assert list(selection.incomplete) == ["where.tflite"]
    assert "known from runs on zeros and on ones" in selection.incomplete["where.tflite"]
    shown = capsys.readouterr().out
    assert "binary_f32" in shown and "runtime without kernels" in shown
    alone = selected(tmp_path / "alone.json", model)
    assert set(alone.builtin) == {"ABS", "ADD"} and "cast" not in alone.families and not alone.incomplete
    assert run_command(cli, ["select-ops", str(model), "-o", str(tmp_path / "k.json"), "--kernels"]) == 0
    assert "(what they call)" in capsys.readouterr().out


def test_a_resolver_offers_the_selection_alone(model: Path, tmp_path: Path) -> None:
    selected(tmp_path / "ops.json", model)
    resolver = OpResolver.from_selection(tmp_path / "ops.json")
    interpreter = Interpreter(model, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.float32([[-5, 0, 1, 2]]))
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(3), [[4, 2, 4, 6]])
    other = where_model(tmp_path / "where.tflite")
    for chosen in (resolver, OpResolver.from_selection(tmp_path / "ops.json")):
        with pytest.raises(
            UnsupportedError, match="'GREATER' version '1' in the selection; numlite select-ops"
        ):
            Interpreter(other, experimental_op_resolver_type=chosen)


@pytest.mark.parametrize(("name", "version"), [("SUB", 1), ("ADD", 2)], ids=["same family", "newer version"])
def test_siblings_and_versions_are_not_offered(model: Path, tmp_path: Path, name: str, version: int) -> None:
    selected(tmp_path / "ops.json", model)
    resolver = OpResolver.from_selection(tmp_path / "ops.json")
    assert resolver.find_builtin(Op.ADD, 1, "ADD").name == "ADD"
    with pytest.raises(UnsupportedError, match="in the selection"):
        resolver.find_builtin(Op[name], version, name)
    resolver.add_builtin(OpResolver().find_builtin(Op[name], version, name))
    assert resolver.find_builtin(Op[name], version, name).name == name


def custom_model(path: Path, code: str, options: bytes = b"") -> Path:
    graph = ModelBuilder()
    x, y = graph.tensor((2,)), graph.tensor((2,))
    graph.op(Op.CUSTOM, [x], [y], custom_code=code, custom_options=options)
    path.write_bytes(graph.build([x], [y]))
    return path


class Twice:
    def invoke(self, context: object, node: object) -> None:
        """Never run here."""


def test_custom_operators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = custom_model(tmp_path / "twice.tflite", "Twice")
    selection = selected(tmp_path / "ops.json", path)
    assert selection.custom == {"Twice"} and not selection.builtin
    assert "unresolved custom op: Twice" in selection.incomplete["twice.tflite"]
    assert "not all of its kernel families are known" in capsys.readouterr().err
    resolver = OpResolver.from_selection(tmp_path / "ops.json")
    assert resolver.find_custom("Mfcc") is None and OpResolver().find_custom("Mfcc") is not None
    resolver.add_custom("Mfcc", custom_registration("Mfcc", Twice()))
    assert resolver.find_custom("Mfcc") is not None
    InterpreterWithCustomOps(
        [("Twice", Twice())], model_path=path, experimental_op_resolver_type=resolver
    ).allocate_tensors()


def test_tensorflow_ops_are_named_by_their_options(tmp_path: Path) -> None:
    options = flex_options("Sinh", T="f32")
    path = custom_model(tmp_path / "flex.tflite", "FlexSomething", options)
    selection = selected(tmp_path / "ops.json", path)
    assert selection.fallback == {"Sinh"} and not selection.custom and not selection.incomplete


def test_fallback_kernels_of_a_selection(tmp_path: Path) -> None:
    path = custom_model(tmp_path / "sinh.tflite", "FlexSinh", flex_options("Sinh", T="f32"))
    other = custom_model(tmp_path / "cosh.tflite", "FlexCosh", flex_options("Cosh", T="f32"))
    selected(tmp_path / "ops.json", path)
    resolver = OpResolver.from_selection(tmp_path / "ops.json")
    interpreter = Interpreter(path, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.float32([0, 1]))
    interpreter.invoke()
    assert np.allclose(interpreter.get_tensor(1), np.sinh([0, 1]))
    with pytest.raises(RuntimeError, match="Cosh: it is not in the selection; numlite select-ops"):
        Interpreter(other, experimental_op_resolver_type=resolver).allocate_tensors()
    Interpreter(other).allocate_tensors()
    kernels = resolver.fallback_kernels()
    assert kernels is not None and kernels.ops() == ["Sinh"] and OpResolver().fallback_kernels() is None


def test_damaged_flex_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = custom_model(tmp_path / "flex.tflite", "FlexSinh", b"\x01\x02\x03")
    assert run_command(cli, ["select-ops", str(path), "-o", str(tmp_path / "ops.json")]) == 1
    assert "node 0 (FlexSinh)" in capsys.readouterr().err
    assert not (tmp_path / "ops.json").exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": 2}',
        json.dumps({**json.loads(Selection().to_json()), "builtin": {"ADD": 1}}),
        json.dumps({**json.loads(Selection().to_json()), "custom": "Mfcc"}),
    ],
)
def test_damaged_selections(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ops.json"
    path.write_text(content)
    with pytest.raises(ModelError, match="must be a selection that select-ops wrote"):
        OpResolver.from_selection(path)
    with pytest.raises(ModelError, match="Could not open"):
        OpResolver.from_selection(tmp_path / "nowhere.json")


def test_warmup_of_a_selection(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    selection = selected(tmp_path / "ops.json", model)
    called: list[object] = []
    monkeypatch.setattr(warmup, "warmup", called.append)
    assert run_command(cli, ["warmup", "--selection", str(tmp_path / "ops.json")]) == 0
    assert called == [sorted(selection.families)]
    assert f"{len(selection.families)} kernel families are ready" in capsys.readouterr().out


def test_sizes() -> None:
    size = family_size("reshape")
    assert size.image_bytes > 0
    if uses_shared_objects():
        assert size.kernels and size.code_bytes < size.image_bytes
        assert all(nbytes > 0 for nbytes in size.kernels.values())
        assert size.called_bytes >= 0
    assert bytecode_bytes(["numlite.kernels.selection"]) > bytecode_bytes(["numlite.schema.shown"]) > 0
    assert bytecode_bytes(["no.such.module"]) == 0
