"""The operators of docs/custom_operators.md, as they stand there."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numlite
import numpy as np
import pytest
from flatbuffers import flexbuffers

from .model_builder import ModelBuilder
from .small_models import Op

PAGE = Path(__file__).resolve().parents[1] / "docs" / "custom_operators.md"
X = np.array([[1.5, -2.0, 0.0], [3.0, -0.5, 4.0]], np.float32)


@cache
def page() -> dict[str, Any]:
    """What the page's programs define; they are one program."""
    names: dict[str, Any] = {"__name__": "page"}
    pieces = [part.split("```")[0] for part in PAGE.read_text().split("```python\n")[1:]]
    for code in pieces:
        exec(code, names)
    return names


def model_of(name: str, options: bytes = b"") -> bytes:
    model = ModelBuilder()
    x, y = model.tensor(X.shape), model.tensor(X.shape)
    model.op(Op.CUSTOM, [x], [y], custom_code=name, custom_options=options)
    return model.build([x], [y])


def opened(name: str) -> numlite.Interpreter:
    interpreter = numlite.InterpreterWithCustomOps([(name, page()[name]())], model_content=model_of(name))
    interpreter.allocate_tensors()
    return interpreter


def run(interpreter: numlite.Interpreter, x: np.ndarray = X) -> np.ndarray:
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def test_scale(tmp_path: Path) -> None:
    path = tmp_path / "scale.tflite"
    path.write_bytes(model_of("Scale", bytes(flexbuffers.Dumps({"factor": 2.5}))))
    for x in (X, X[0], np.zeros((0, 2), np.float32)):
        assert np.array_equal(page()["scaled"](str(path), x), x * np.float32(2.5))


def test_scale_refuses_other_types() -> None:
    model = ModelBuilder()
    x = model.tensor((2,), np.int8)
    y = model.tensor((2,), np.int8)
    model.op(Op.CUSTOM, [x], [y], custom_code="Scale")
    interpreter = numlite.InterpreterWithCustomOps(
        [("Scale", page()["Scale"]())], model_content=model.build([x], [y])
    )
    with pytest.raises(numlite.PrepareError, match=r"node 0 \(Scale\).*must be float32, got int8"):
        interpreter.allocate_tensors()


def test_positive_at_several_shapes() -> None:
    interpreter = opened("Positive")
    for x in (X, -np.abs(X), np.abs(X) + 1, X):
        assert np.array_equal(run(interpreter, x), x[x > 0])


def test_count_begins_again_after_a_reset() -> None:
    interpreter, other = opened("Count"), opened("Count")
    assert [float(run(interpreter)[0, 0]) for _ in range(3)] == [1.5, 2.5, 3.5]
    interpreter.reset_all_variables()
    assert [float(run(interpreter)[0, 0]) for _ in range(2)] == [1.5, 2.5]
    assert float(run(other)[0, 0]) == 1.5


@pytest.mark.parametrize("threads", [1, 3])
def test_square_is_one_native_call(threads: int) -> None:
    interpreter = numlite.InterpreterWithCustomOps(
        [("Square", page()["Square"]())], model_content=model_of("Square"), num_threads=threads
    )
    for shape in (X.shape, (7, 30_001)):
        interpreter.resize_tensor_input(0, shape)
        interpreter.allocate_tensors()
        x = np.linspace(-3, 3, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        assert np.array_equal(run(interpreter, x), x * x)
        assert interpreter.core.subgraph().native_plan is not None
    x[0, 5] = np.nan
    with pytest.raises(numlite.InvokeError, match=r"node 0 \(Square\).*x must be numbers"):
        run(interpreter, x)


def test_a_reset_that_fails_names_its_node() -> None:
    class Broken(page()["Count"]):  # type: ignore[misc]
        def reset_variables(self, context: object, node: object) -> None:
            raise KeyError(4)

    interpreter = numlite.InterpreterWithCustomOps([("Count", Broken())], model_content=model_of("Count"))
    interpreter.allocate_tensors()
    with pytest.raises(numlite.InvokeError, match=r"node 0 \(Count\).*KeyError: 4"):
        interpreter.reset_all_variables()
    assert run(interpreter).tolist() == X.tolist()
