"""What the interpreter has beyond LiteRT's: profile, memory report, released and preserved memory."""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError, PrepareError, UnsupportedError

from .small_models import Op, add_constant, chain

X = np.array([[1, -2, 3, -4]], np.float32)


def ready(model: bytes | None = None, **arguments: Any) -> Interpreter:
    interpreter = Interpreter(model_content=model or chain([Op.NEG, Op.ABS]), **arguments)
    interpreter.allocate_tensors()
    return interpreter


def test_profile_lists_every_node() -> None:
    interpreter = ready(chain([Op.NEG, Op.ABS, Op.NEG]))
    interpreter.set_tensor(0, X)
    records = interpreter.profile(runs=3)
    assert [(r.op, r.node, r.calls) for r in records] == [("NEG", 0, 1), ("ABS", 1, 1), ("NEG", 2, 1)]
    assert all(0 <= r.min_ns <= r.time_ns < 1e9 for r in records)
    assert np.array_equal(interpreter.get_tensor(3), -np.abs(X))
    with pytest.raises(ValueError, match="runs must be at least 1"):
        interpreter.profile(runs=0)


def test_profile_before_allocate_tensors() -> None:
    with pytest.raises(RuntimeError, match="not ready"):
        Interpreter(model_content=chain()).profile()


def test_memory_report_accounts_for_the_tensors() -> None:
    report = ready(add_constant(np.arange(3, dtype=np.float32))).memory_report()
    assert report.constant_bytes == 12
    assert report.arena_bytes == report.lower_bound_bytes == 128
    assert [t.kind for t in report.tensors][:3] == ["arena_rw", "mmap_ro", "arena_rw"]
    assert "the least possible" in str(report)


def test_release_nonpersistent_memory() -> None:
    interpreter = ready()
    interpreter.set_tensor(0, X)
    interpreter.release_nonpersistent_memory()
    with pytest.raises(RuntimeError, match="Non-persistent memory"):
        interpreter.invoke()
    with pytest.raises(ValueError, match="Tensor data is null"):
        interpreter.get_tensor(2)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, X)
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(2), np.abs(X))


def test_preserve_all_tensors_keeps_every_tensor() -> None:
    with pytest.warns(UserWarning, match="experimental_preserve_all_tensors"):
        interpreter = ready(chain([Op.NEG, Op.ABS, Op.NEG, Op.NEG]), experimental_preserve_all_tensors=True)
    interpreter.set_tensor(0, X)
    interpreter.invoke()
    values = [interpreter.get_tensor(t) for t in range(5)]
    assert np.array_equal(values[1], -X)
    assert np.array_equal(values[2], np.abs(X))
    assert np.array_equal(values[4], values[2])


def test_preserve_all_tensors_changes_no_result(model_path: pathlib.Path) -> None:
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for preserve in (False, True):
            interpreter = Interpreter(str(model_path), experimental_preserve_all_tensors=preserve)
            interpreter.allocate_tensors()
            values = np.random.default_rng(0)
            for detail in interpreter.get_input_details():
                bits = values.integers(0, 256, tuple(detail["shape"])).astype(np.uint8)
                is_float = detail["dtype"] is np.float32
                x = bits.astype(np.float32) / 256 if is_float else bits.view(detail["dtype"])
                interpreter.set_tensor(detail["index"], x)
            interpreter.invoke()
            interpreter.invoke()
            results.append([interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()])
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


def test_errors_are_of_the_kinds_callers_catch() -> None:
    assert issubclass(ModelError, ValueError)
    assert issubclass(PrepareError, RuntimeError)
    assert issubclass(UnsupportedError, RuntimeError)
    assert issubclass(UnsupportedError, ValueError)


def test_int64_and_other_types_pass_through() -> None:
    for dtype in (np.int32, np.int64):
        interpreter = ready(add_constant(np.arange(3, dtype=dtype)))
        interpreter.set_tensor(0, np.full(3, 5, dtype))
        interpreter.invoke()
        assert interpreter.get_tensor(2).tolist() == [5, 6, 7]
        assert interpreter.get_output_details()[0]["dtype"] is dtype
