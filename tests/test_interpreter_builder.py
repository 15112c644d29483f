"""InterpreterBuilder, and the program of docs/interpreter.md as it stands there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numlite
import numpy as np
import pytest
from numlite.schema import tflite

from .model_builder import ModelBuilder

PAGE = Path(__file__).resolve().parents[1] / "docs" / "interpreter.md"


def square_model(custom: bool) -> bytes:
    model = ModelBuilder()
    x, y = model.tensor((3,)), model.tensor((3,))
    if custom:
        model.op(tflite.BuiltinOperator.CUSTOM, [x], [y], custom_code="Square")
    else:
        model.op(tflite.BuiltinOperator.SQUARE, [x], [y])
    return model.build([x], [y])


def test_the_program_of_the_page(tmp_path: Path) -> None:
    (code,) = [part.split("```")[0] for part in PAGE.read_text().split("```python\n")[1:]]
    names: dict[str, Any] = {"__name__": "page"}
    exec(code, names)
    path = tmp_path / "square.tflite"
    path.write_bytes(square_model(custom=True))
    assert names["square"](str(path), [10.0, -2.0, 0.5]) == [100.0, 4.0, 0.25]


def test_interpreters_of_one_builder_share_only_the_model() -> None:
    builder = numlite.InterpreterBuilder(numlite.Model(square_model(custom=False)), numlite.OpResolver())
    first, second = builder(), builder(num_threads=2)
    for interpreter, number in ((first, 3.0), (second, 4.0)):
        interpreter.allocate_tensors()
        interpreter.typed_input_tensor(0, np.float32)[...] = number
        interpreter.invoke()
    assert first.typed_output_tensor(0, np.float32).tolist() == [9.0] * 3
    assert second.typed_output_tensor(0, np.float32).tolist() == [16.0] * 3


def test_typed_tensors_are_of_their_type_and_place() -> None:
    interpreter = numlite.Interpreter(model_content=numlite.Model(square_model(custom=False)))
    interpreter.allocate_tensors()
    with pytest.raises(TypeError, match="input 0: its elements are float32, got int8"):
        interpreter.typed_input_tensor(0, np.int8)
    for get in (interpreter.typed_input_tensor, interpreter.typed_output_tensor):
        for i in (1, -1):
            with pytest.raises(IndexError, match=f"must be one of 1, counted from 0, got {i}"):
                get(i, np.float32)


def test_a_view_that_is_kept_stops_invoke() -> None:
    interpreter = numlite.Interpreter(model_content=square_model(custom=False))
    interpreter.allocate_tensors()
    view = interpreter.typed_input_tensor(0, np.float32)
    with pytest.raises(RuntimeError, match="reference to internal data"):
        interpreter.invoke()
    del view
    interpreter.invoke()


def test_the_names_are_public() -> None:
    assert {"InterpreterBuilder", "Model", "OpResolver"} <= set(numlite.__all__)
    assert {name for name in dir(numlite) if not name.startswith("__")} == set(numlite.__all__)
