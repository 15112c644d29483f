"""What tools read below the public interface: LiteRT's private names, and no pointer to what is not there."""

from __future__ import annotations

from typing import Any

import numlite.interpreter
import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.delegate import Delegate
from numlite.lite.errors import UnsupportedError

from .small_models import chain, two_signatures

PAIR = np.array([1, -2], np.float32)


def ready(api: Any, model: bytes) -> Any:
    interpreter = api.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return interpreter


def test_private_names_are_litert_s(litert: Any) -> None:
    ours, theirs = ready(numlite.interpreter, two_signatures()), ready(litert, two_signatures())
    pairs = [(ours, theirs), (ours.get_signature_runner("negate"), theirs.get_signature_runner("negate"))]
    for mine, original in pairs:
        names = {name for name in dir(original) if name[0] == "_" and name[1] != "_"}
        assert names - set(dir(mine)) == set()


@pytest.mark.parametrize("key", ["negate", "absolute"])
def test_private_values_of_a_signature_are_litert_s(litert: Any, key: str) -> None:
    ours = ready(numlite.interpreter, two_signatures()).get_signature_runner(key)
    theirs = ready(litert, two_signatures()).get_signature_runner(key)
    for name in ("_signature_key", "_signature_def", "_inputs", "_subgraph_index"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert list(ours._outputs) == list(theirs._outputs)
    assert ours._interpreter_wrapper is ours._interpreter._interpreter


def test_a_signature_runner_does_not_count_as_a_view() -> None:
    interpreter = ready(numlite.interpreter, two_signatures())
    runner = interpreter.get_signature_runner("negate")
    assert runner._interpreter_wrapper.NumSubgraphs() == 2
    assert interpreter._safe_to_run()
    interpreter.invoke()


def test_signature_definitions_of_the_interpreter(litert: Any) -> None:
    ours, theirs = ready(numlite.interpreter, two_signatures()), ready(litert, two_signatures())
    assert ours._signature_defs == theirs._signature_defs


def test_steps_that_calibrators_take(litert: Any) -> None:
    results = []
    for api in (numlite.interpreter, litert):
        interpreter = ready(api, two_signatures())
        wrapper = interpreter._interpreter
        index = wrapper.GetSubgraphIndexFromSignature("absolute")
        wrapper.ResizeInputTensor(0, np.array([3], np.int32), False, index)
        wrapper.AllocateTensors(index)
        wrapper.SetTensor(0, np.array([1, -2, 3], np.float32), index)
        wrapper.Invoke(index)
        results.append(wrapper.GetTensor(1, index).tolist())
    assert results[0] == results[1] == [1, 2, 3]


def test_names_of_what_is_not_there(litert: Any) -> None:
    for api in (numlite.interpreter, litert):
        wrapper = ready(api, chain())._interpreter
        assert [wrapper.TensorName(t, 0) for t in (0, 99, -1)] == ["x", "", ""]
        assert [wrapper.NodeName(n) for n in (0, 99, -1)] == ["ABS", "", ""]


@pytest.mark.parametrize("call", [lambda i: i._native_handle(), lambda i: i._interpreter.interpreter()])
def test_no_pointer_is_given(call: Any) -> None:
    interpreter = ready(numlite.interpreter, chain())
    with pytest.raises(UnsupportedError, match=r"C\+\+ tflite::Interpreter, .* numlite has none; .*preserve"):
        call(interpreter)


def test_a_delegate_s_pointer_is_the_object(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Delegate()
    monkeypatch.setattr("numlite.delegates.loading.load_delegate", lambda name, options: made)
    loaded = numlite.interpreter.load_delegate("mine")
    assert loaded._get_native_delegate_pointer() is made


def test_creation_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[object] = []
    metrics = numlite.interpreter.metrics.TFLiteMetrics

    def count(self: object) -> None:
        counted.append(self)

    monkeypatch.setattr(metrics, "increase_counter_interpreter_creation", count)
    interpreter = Interpreter(model_content=chain())
    assert counted == [interpreter._metrics]
