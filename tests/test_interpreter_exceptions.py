"""Whoever catches what LiteRT raises for a misuse catches what numlite raises."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numlite.interpreter
import numpy as np
import pytest

from .small_models import Op, add_constant, chain, two_signatures

CHAIN = chain([Op.NEG, Op.ABS])
CONSTANT = add_constant(np.arange(3, dtype=np.float32))
SIGNED = two_signatures()
X = np.array([[1, -2, 3, -4]], np.float32)
PAIR = np.zeros(2, np.float32)

Api = Any
Call = Callable[[Api], object]


def ready(api: Api, model: bytes = CHAIN) -> Any:
    interpreter = api.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return interpreter


def resize(*arguments: Any, model: bytes = CHAIN, **options: Any) -> Call:
    return lambda api: ready(api, model).resize_tensor_input(*arguments, **options)


def resize_below(*arguments: Any) -> Call:
    return lambda api: ready(api)._interpreter.ResizeInputTensor(*arguments)


def get(*arguments: Any) -> Call:
    return lambda api: ready(api).get_tensor(*arguments)


def set_(*arguments: Any) -> Call:
    return lambda api: ready(api).set_tensor(*arguments)


def view(index: Any) -> Call:
    return lambda api: ready(api).tensor(index)()


def wrapper(name: str, *arguments: Any) -> Call:
    return lambda api: getattr(ready(api)._interpreter, name)(*arguments)


def runner(*key: Any) -> Call:
    return lambda api: ready(api, SIGNED).get_signature_runner(*key)


def signature(*arguments: Any, **named: Any) -> Call:
    return lambda api: ready(api, SIGNED).get_signature_runner("negate")(*arguments, **named)


def opened(*arguments: Any, **named: Any) -> Call:
    return lambda api: api.Interpreter(*arguments, **named)


def load(*arguments: Any) -> Call:
    return lambda api: api.load_delegate(*arguments)


def after_resize(call: Callable[[Any], object]) -> Call:
    def resized(api: Api) -> object:
        interpreter = ready(api)
        interpreter.resize_tensor_input(0, [2, 4])
        return call(interpreter)

    return resized


SAME: dict[str, Call] = {
    "no delegate library": load("nowhere.so"),
    "no delegate library of that version": load("libnowhere.so.1"),
    "no delegate library at a path": load("/no/where.so"),
    "no delegate of that name": load("nowhere"),
    "delegate by number": load(5),
    "Delegate": lambda api: api.Delegate("nowhere.so"),
    "Delegate of nothing": lambda api: api.Delegate(),
    "delegates no list": opened(model_content=CHAIN, experimental_delegates=object()),
    "resize past the end": resize(3, [1, 4]),
    "resize far past the end": resize(99, [1, 4]),
    "resize negative": resize(-1, [1, 4]),
    "resize past the end, strict": resize(99, [1, 4], strict=True),
    "resize by text": resize("x", [1, 4]),
    "resize by None": resize(None, [1, 4]),
    "resize by fraction": resize(1.5, [1, 4]),
    "resize by 2**40": resize(2**40, [1, 4]),
    "resize to text": resize(0, "ab"),
    "resize to None": resize(0, None),
    "resize to a matrix": resize(0, [[1, 4]]),
    "resize to unequal rows": resize(0, [[1, 4], 3]),
    "resize to beyond int32": resize(0, [2**33, 4]),
    "resize of a constant": resize(1, [4], model=CONSTANT),
    "resize, strict": resize(0, [1, 5], strict=True),
    "resize below past the end": resize_below(99, np.array([1, 4], np.int32), False, 0),
    "resize below to int64": resize_below(0, np.array([1, 4], np.int64), False, 0),
    "resize below of no subgraph": resize_below(0, np.array([1, 4], np.int32), False, 9),
    "get past the end": get(3),
    "get negative": get(-1),
    "get by text": get("x"),
    "get by fraction": get(1.5),
    "get by None": get(None),
    "get by 2**40": get(2**40),
    "get of no subgraph": get(0, 5),
    "get of a negative subgraph": get(0, -1),
    "get of subgraph 'x'": get(0, "x"),
    "set past the end": set_(3, X),
    "set negative": set_(-1, X),
    "set by text": set_("x", X),
    "set by 2**40": set_(2**40, X),
    "set to unequal rows": set_(0, [[1, 2], [3]]),
    "set to an object": set_(0, object()),
    "set to a dictionary": set_(0, {}),
    "set to text": set_(0, "abc"),
    "set to None": set_(0, None),
    "set to float64": set_(0, X.astype(np.float64)),
    "set to another rank": set_(0, X[0]),
    "set to another shape": set_(0, X[:, :2]),
    "view past the end": view(99),
    "view by text": view("x"),
    "invoke before allocate": lambda api: api.Interpreter(model_content=CHAIN).invoke(),
    "get before allocate": lambda api: api.Interpreter(model_content=CHAIN).get_tensor(0),
    "set before allocate": lambda api: api.Interpreter(model_content=CHAIN).set_tensor(0, X),
    "view before allocate": lambda api: api.Interpreter(model_content=CHAIN).tensor(0)(),
    "invoke after resize": after_resize(lambda i: i.invoke()),
    "details of subgraph 9": lambda api: ready(api).get_tensor_details(9),
    "details of subgraph 'x'": lambda api: ready(api).get_tensor_details("x"),
    "details of tensor 99": lambda api: ready(api)._get_tensor_details(99, 0),
    "details of node 99": lambda api: ready(api)._get_op_details(99),
    "details of node -1": lambda api: ready(api)._get_op_details(-1),
    "details of node 'x'": lambda api: ready(api)._get_op_details("x"),
    "which of two signatures": runner(),
    "unknown signature": runner("x"),
    "signature by number": runner(5),
    "signature by empty text": runner(""),
    "signature of none": lambda api: ready(api, CONSTANT).get_signature_runner(),
    "signature of nothing": lambda api: api.SignatureRunner(),
    "signature without a key": lambda api: api.SignatureRunner(ready(api, SIGNED)),
    "signature of a number": lambda api: api.SignatureRunner(5, "negate"),
    "input of another type": signature(value=PAIR.astype(np.float64)),
    "input by place": signature(PAIR),
    "too few inputs": signature(),
    "input of another name": signature(x=PAIR),
    "node inputs of node 9": wrapper("NodeInputs", 9),
    "node outputs of node -1": wrapper("NodeOutputs", -1),
    "type of tensor 99": wrapper("TensorType", 99, 0),
    "shape of tensor 99": wrapper("TensorSize", 99, 0),
    "shape signature of tensor 99": wrapper("TensorSizeSignature", 99, 0),
    "quantization of tensor 99": wrapper("TensorQuantization", 99, 0),
    "sparsity of tensor 99": wrapper("TensorSparsityParameters", 99, 0),
    "subgraph of no signature": wrapper("GetSubgraphIndexFromSignature", "x"),
    "invoke of subgraph 9": wrapper("Invoke", 9),
    "invoke of subgraph -1": wrapper("Invoke", -1),
    "allocate of subgraph 9": wrapper("AllocateTensors", 9),
    "no model": opened(),
    "path and content": opened("x", CHAIN),
    "no file": opened("nowhere.tflite"),
    "path by number": opened(5),
    "path by object": opened(object()),
    "content by number": opened(model_content=5),
    "content by text": opened(model_content="abc"),
    "content by list": opened(model_content=[1, 2]),
    "short content": opened(model_content=b"short"),
    "empty content": opened(model_content=b""),
    "no threads": opened(model_content=CHAIN, num_threads=0),
    "threads by text": opened(model_content=CHAIN, num_threads="2"),
    "threads by np.int64": opened(model_content=CHAIN, num_threads=np.int64(2)),
    "resolver by text": opened(model_content=CHAIN, experimental_op_resolver_type="x"),
    "resolver by number": opened(model_content=CHAIN, experimental_op_resolver_type=1),
    "unknown argument": opened(model_content=CHAIN, unknown=1),
    "registerer that is nowhere": lambda api: api.InterpreterWithCustomOps(
        custom_op_registerers=["Nowhere"], model_content=CHAIN
    ),
}


def raised(call: Call, api: Api) -> type[Exception]:
    """The exception itself would keep what it went through alive: a Delegate that was not made, say."""
    try:
        call(api)
    except Exception as error:
        return type(error)
    pytest.fail("nothing is raised")


@pytest.mark.parametrize("call", SAME.values(), ids=SAME)
def test_type_is_litert_s(litert: Any, monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    # A Delegate that was not made fails in __del__ for want of it.
    monkeypatch.setattr(litert.Delegate, "_library", None, raising=False)
    theirs, ours = raised(call, litert), raised(call, numlite.interpreter)
    assert issubclass(ours, theirs), f"{ours} is no {theirs}"


# Where LiteRT lets an AttributeError through, crashes, or does harm.
OTHER: dict[str, tuple[Call, type[Exception], str]] = {
    "input that is None": (
        signature(value=None),
        ValueError,
        "input 'value': it must be an array, got None",
    ),
    "input that is a number": (signature(value=3), ValueError, "input 'value': it must be an array, got int"),
    "input that is text": (signature(value="abc"), ValueError, "input 'value': it must be an array, got str"),
    "input that is an object": (signature(value=object()), ValueError, "it must be an array, got object"),
    "input of unequal rows": (signature(value=[[1.0], 2.0]), ValueError, "it must be an array, got list: "),
    "input that is a list": (
        signature(value=[1.0, 2.0]),
        ValueError,
        "type FLOAT64 but expected",
    ),
    "no delegate, as documented": (load("nowhere.so"), ValueError, "Failed to load delegate from nowhere"),
    "name of no subgraph": (wrapper("TensorName", 0, 9), ValueError, "Invalid subgraph index 9"),
    "a constant's value": (
        lambda api: ready(api, CONSTANT).set_tensor(1, np.zeros(3, np.float32)),
        ValueError,
        "is a constant of the model",
    ),
}


@pytest.mark.parametrize(("call", "kind", "text"), OTHER.values(), ids=OTHER)
def test_types_of_our_own(call: Call, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call(numlite.interpreter)


def test_a_wrong_value_leaves_the_signature_s_shapes() -> None:
    interpreter = ready(numlite.interpreter, SIGNED)
    negate = interpreter.get_signature_runner("negate")
    with pytest.raises(ValueError, match="FLOAT64"):
        negate(value=np.zeros(5))
    assert negate.get_input_details()["value"]["shape"].tolist() == [2]
    assert negate(value=PAIR + 1)["result"].tolist() == [-1, -1]


def test_a_native_library_that_is_there_is_refused(tmp_path: pathlib.Path) -> None:
    library = tmp_path / "delegate.so"
    library.write_bytes(b"\x7fELF")
    with pytest.raises(numlite.lite.errors.UnsupportedError, match="it is a native library; numlite loads"):
        numlite.interpreter.load_delegate(str(library))
