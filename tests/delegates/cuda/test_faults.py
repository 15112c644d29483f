"""What the CPU's kernels refuse while running, the device reports, and the next invoke runs as usual."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.delegates.cuda.delegate import CudaDelegate
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError
from numlite.schema import tflite

from .graphs import NetworkBuilder, Op
from .simulation import interpreter_of, needs_triton, run, simulated, taken

pytestmark = needs_triton
Arrays = tuple[np.ndarray, ...]


def _int32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def _model(code: int, inputs: Arrays, shape: tuple[int, ...], dtype: type, options: object = None) -> bytes:
    graph = NetworkBuilder("float32")
    operands = [graph.tensor(x.shape, x.dtype) for x in inputs]
    y = graph.tensor(shape, np.dtype(dtype), name="y")
    graph.op(code, operands, [y], options)  # type: ignore[arg-type]
    return graph.build(operands, [y])


_X = np.arange(12, dtype=np.float32).reshape(4, 3)
# Model, inputs that are right, inputs that are not.
FAULTS: dict[str, tuple[bytes, Arrays, Arrays]] = {}


def _fault(
    name: str,
    code: int,
    good: Arrays,
    bad: Arrays,
    shape: tuple[int, ...],
    dtype: type,
    options: object = None,
) -> None:
    FAULTS[name] = (_model(code, good, shape, dtype, options), good, bad)


_GATHER = tflite.GatherOptionsT(axis=0)
_fault("GATHER beyond", Op.GATHER, (_X, _int32(3, 1)), (_X, _int32(0, 4)), (2, 3), np.float32, _GATHER)
_fault("GATHER before", Op.GATHER, (_X, _int32(3, 1)), (_X, _int32(-1, 1)), (2, 3), np.float32, _GATHER)
_WIDE = np.array([3, 2**33], np.int64)
_fault("GATHER wide", Op.GATHER, (_X, _WIDE % 3), (_X, _WIDE), (2, 3), np.float32, _GATHER)
_AT = _int32(1, 2, 3, 0).reshape(2, 2)
_fault("GATHER_ND", Op.GATHER_ND, (_X, _AT), (_X, _AT + 1), (2,), np.float32)
_fault("EMBEDDING_LOOKUP", Op.EMBEDDING_LOOKUP, (_int32(3, 1), _X), (_int32(3, 9), _X), (2, 3), np.float32)
_SEVEN = _int32(7, -7, -(2**31), 5)
_ONES = (_SEVEN, _int32(2, -2, -1, 3))
for _name, _code in (("DIV", Op.DIV), ("FLOOR_DIV", Op.FLOOR_DIV), ("FLOOR_MOD", Op.FLOOR_MOD)):
    _options = tflite.DivOptionsT() if _name == "DIV" else None
    _fault(_name, _code, _ONES, (_SEVEN, _int32(2, 0, 1, 3)), (4,), np.int32, _options)
_fault("POW", Op.POW, (_SEVEN, _int32(2, 3, 1, 40)), (_SEVEN, _int32(2, -1, 1, 0)), (4,), np.int32)
_REAL = np.array([1.5, -7, 2, 0], np.float32)
_fault("FLOOR_DIV of floats", Op.FLOOR_DIV, (_REAL, _REAL + 1), (_REAL, _REAL), (4,), np.float32)


def _error_of(interpreter: Interpreter, inputs: Arrays) -> str:
    with pytest.raises(InvokeError) as caught:
        run(interpreter, inputs)
    return str(caught.value)


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_raised_in_the_cpus_words(name: str) -> None:
    model, good, bad = FAULTS[name]
    delegate = simulated()
    interpreter, cpu = interpreter_of(model, delegate), interpreter_of(model)
    for _ in range(2):
        np.testing.assert_array_equal(run(interpreter, good)[0], run(cpu, good)[0])
        told = _error_of(interpreter, bad)
        assert _error_of(cpu, bad).partition("'y': ")[2] in told
        assert "node 0, output 'y'" in told
    assert taken(delegate, interpreter) == 1


def test_the_first_fault_is_told() -> None:
    """DIV, then GATHER by its quotients: where both fail it is the division that is told."""
    graph = NetworkBuilder("float32")
    a, b = (graph.tensor((2,), np.dtype(np.int32)) for _ in range(2))
    at, y = (
        graph.tensor((2,), np.dtype(np.int32), name="at"),
        graph.tensor((2, 3), np.dtype(np.float32), name="y"),
    )
    graph.op(Op.DIV, [a, b], [at], tflite.DivOptionsT())
    graph.op(Op.GATHER, [graph.constant(_X), at], [y], tflite.GatherOptionsT(axis=0))
    interpreter = interpreter_of(graph.build([a, b], [y]), simulated())
    assert "DIV" in _error_of(interpreter, (_int32(9, 8), _int32(1, 0)))
    assert "GATHER" in _error_of(interpreter, (_int32(9, 8), _int32(1, 1)))
    np.testing.assert_array_equal(run(interpreter, (_int32(3, 2), _int32(1, 1)))[0], _X[[3, 2]])


def test_an_empty_tensor_is_not_read() -> None:
    """Positions in a tensor without elements are all wrong."""
    model = _model(Op.GATHER, (_X[:0], _int32(0, 0)), (2, 3), np.float32, _GATHER)
    assert "[0, 0)" in _error_of(interpreter_of(model, simulated()), (_X[:0], _int32(0, 0)))


def test_plans_without_reports_read_nothing_back() -> None:
    graph = NetworkBuilder("float32")
    x, y = graph.value((2, 3)), graph.value((2, 3))
    graph.op(Op.GATHER, [x, graph.constant([1, 0])], [y], _GATHER)
    delegate = simulated()
    assert isinstance(delegate, CudaDelegate)
    run(interpreter_of(graph.build([x], [y]), delegate), [_X[:2]])
    assert not any("status_ptr" in dict(kernel.signature) for kernel in delegate.device.loaded)  # type: ignore[union-attr]
