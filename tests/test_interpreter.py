"""The drop-in interpreter: arguments, details, values, errors, views, signatures, threads."""

from __future__ import annotations

import gc
import inspect
import pathlib
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numlite.interpreter
import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType, load_delegate
from numlite.lite import preparation

from .small_models import Op, add_constant, chain, two_signatures

CHAIN = chain([Op.NEG, Op.ABS])


def ready(model: bytes = CHAIN, **arguments: Any) -> Interpreter:
    interpreter = Interpreter(model_content=model, **arguments)
    interpreter.allocate_tensors()
    return interpreter


def outcome(call: Callable[[], Any]) -> tuple[str, str]:
    """The result's repr, or the built-in exception's name and text that a caller would see."""
    try:
        return "", repr(call())
    except Exception as error:
        bases = (TypeError, ValueError, RuntimeError)
        kind = next(base.__name__ for base in bases if isinstance(error, base))
        return kind, str(error)


def both(litert: Any, call: Callable[[Any], Any], model: bytes = CHAIN, allocate: bool = True) -> None:
    """The call does the same to numlite's interpreter as to LiteRT's."""
    results = []
    for api in (numlite.interpreter, litert):
        interpreter = api.Interpreter(model_content=model)
        if allocate:
            interpreter.allocate_tensors()
        results.append(outcome(lambda i=interpreter: call(i)))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"model_path": "x", "model_content": CHAIN},
        {"model_content": CHAIN, "num_threads": "2"},
        {"model_content": CHAIN, "num_threads": 2.0},
        {"model_content": CHAIN, "num_threads": 0},
        {"model_content": CHAIN, "num_threads": -1},
        {"model_content": CHAIN, "experimental_op_resolver_type": "REF"},
    ],
    ids=str,
)
def test_wrong_arguments_raise_what_litert_raises(litert: Any, arguments: dict[str, Any]) -> None:
    assert outcome(lambda: Interpreter(**arguments)) == outcome(lambda: litert.Interpreter(**arguments))


@pytest.mark.parametrize("content", [b"abc", b"abc" * 100, CHAIN[:-9], b"\x18\0\0\0TFL3"], ids=len)
def test_damaged_content_is_a_value_error(content: bytes) -> None:
    with pytest.raises(ValueError):
        Interpreter(model_content=content)


def test_missing_file_is_named() -> None:
    with pytest.raises(ValueError, match=r"Could not open 'nowhere\.tflite'"):
        Interpreter("nowhere.tflite")


def test_folder_is_no_model(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="Could not open"):
        Interpreter(str(tmp_path))


@pytest.mark.parametrize("kind", [str, pathlib.Path, lambda p: str(p).encode()])
def test_path_kinds(tmp_path: pathlib.Path, kind: Callable[[pathlib.Path], Any]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(CHAIN)
    assert Interpreter(kind(path)).num_subgraphs() == 1


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_content_kinds(kind: Callable[[bytes], Any]) -> None:
    interpreter = Interpreter(model_content=kind(CHAIN))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.array([[1, -2, 3, -4]], np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(2).tolist() == [[1, 2, 3, 4]]


def test_positional_order() -> None:
    parameters = inspect.signature(Interpreter).parameters.values()
    # What LiteRT does not have can only be given by name.
    assert [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY] == [
        "model_path",
        "model_content",
        "experimental_delegates",
        "num_threads",
        "experimental_op_resolver_type",
        "experimental_preserve_all_tensors",
        "experimental_disable_delegate_clustering",
        "experimental_default_delegate_latest_features",
        "experimental_compress_quantization_zero_points",
        "experimental_disable_delegate_node_fusion",
        "experimental_force_delegate_node_profiling",
    ]


def test_public_names_are_litert_s(litert: Any) -> None:
    for owner, ours in ((litert, numlite.interpreter), (litert.Interpreter, Interpreter)):
        names = {name for name in vars(owner) if name[0] != "_" and name not in dir(import_module("sys"))}
        names -= {"ctypes", "enum", "metrics", "os", "platform", "sys", "warnings"}
        assert names - set(dir(ours)) == set()


def test_resolver_types() -> None:
    assert {kind.name: kind.value for kind in OpResolverType} == {
        "AUTO": 0,
        "BUILTIN": 1,
        "BUILTIN_REF": 2,
        "BUILTIN_WITHOUT_DEFAULT_DELEGATES": 3,
    }


def test_delegates_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"Failed to load delegate from edge\.so"):
        load_delegate("edge.so", {"key": 1})
    with pytest.raises(RuntimeError, match="must be a Delegate"):
        Interpreter(model_content=CHAIN, experimental_delegates=[object()])
    assert Interpreter(model_content=CHAIN, experimental_delegates=[])


def test_unknown_builtin_is_named() -> None:
    with pytest.raises(ValueError, match="Didn't find op for builtin opcode 'DELEGATE"):
        Interpreter(model_content=chain([Op.DELEGATE]))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b


def test_details_equal_litert_s(litert: Any, model_path: pathlib.Path) -> None:
    ours = Interpreter(str(model_path))
    theirs = litert.Interpreter(
        str(model_path), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF
    )
    for name in (
        "get_input_details",
        "get_output_details",
        "get_tensor_details",
        "_get_ops_details",
        "get_signature_list",
        "_get_full_signature_list",
        "num_subgraphs",
    ):
        assert same(getattr(ours, name)(), getattr(theirs, name)()), name


DETAIL_CALLS: dict[str, Callable[[Any], Any]] = {
    "op": lambda i: i._get_op_details(1)["op_name"],
    "op past the end": lambda i: i._get_op_details(2),
    "negative op": lambda i: i._get_op_details(-1),
    "tensor past the end": lambda i: i._get_tensor_details(3, 0),
    "subgraph past the end": lambda i: i.get_tensor_details(4),
    "no signature of that name": lambda i: i.get_signature_runner("x"),
    "wrapper's name": lambda i: i._interpreter.TensorName(0, 0),
    "wrapper's nodes": lambda i: (i._interpreter.NumNodes(), i._interpreter.NodeName(1)),
    "wrapper's inputs": lambda i: i._interpreter.NodeInputs(1),
    "wrapper's tensors": lambda i: i._interpreter.NumTensors(0),
}


@pytest.mark.parametrize("call", DETAIL_CALLS.values(), ids=DETAIL_CALLS)
def test_detail_calls(litert: Any, call: Callable[[Any], Any]) -> None:
    both(litert, call, allocate=False)


def test_names_of_the_wrapper(litert: Any) -> None:
    wrapper = litert.Interpreter(model_content=CHAIN)._interpreter
    names = {name for name in dir(wrapper) if name[0] != "_"}
    assert names - set(dir(Interpreter(model_content=CHAIN)._interpreter)) == set()


X = np.array([[1, -2, 3, -4]], np.float32)

VALUE_CALLS: dict[str, Callable[[Any], Any]] = {
    "float64": lambda i: i.set_tensor(0, X.astype(np.float64)),
    "int32": lambda i: i.set_tensor(0, X.astype(np.int32)),
    "float16": lambda i: i.set_tensor(0, X.astype(np.float16)),
    "list of int": lambda i: i.set_tensor(0, [[1, 2, 3, 4]]),
    "strings": lambda i: i.set_tensor(0, np.array([["a"] * 4])),
    "objects": lambda i: i.set_tensor(0, X.astype(object)),
    "none": lambda i: i.set_tensor(0, None),
    "rank": lambda i: i.set_tensor(0, X[0]),
    "dimension": lambda i: i.set_tensor(0, X[:, :3]),
    "strided": lambda i: i.set_tensor(0, np.ones((1, 8), np.float32)[:, ::2]),
    "set past the end": lambda i: i.set_tensor(3, X),
    "set negative": lambda i: i.set_tensor(-1, X),
    "set by numpy index": lambda i: i.set_tensor(np.int64(0), X),
    "get past the end": lambda i: i.get_tensor(3),
    "get negative": lambda i: i.get_tensor(-1),
    "get of another subgraph": lambda i: i.get_tensor(0, 1),
    "view past the end": lambda i: i.tensor(3)(),
    "resize past the end": lambda i: i.resize_tensor_input(0, [[2, 4]]),
    "resize to a scalar": lambda i: i.resize_tensor_input(0, 4),
    "resize": lambda i: i.resize_tensor_input(0, [2, 4]),
    "strict resize": lambda i: i.resize_tensor_input(0, [2, 4], strict=True),
}


@pytest.mark.parametrize("call", VALUE_CALLS.values(), ids=VALUE_CALLS)
def test_values_and_errors_are_litert_s(litert: Any, call: Callable[[Any], Any]) -> None:
    both(litert, call)


UNALLOCATED: dict[str, Callable[[Any], Any]] = {
    "invoke": lambda i: i.invoke(),
    "get": lambda i: i.get_tensor(0),
    "set": lambda i: i.set_tensor(0, X),
    "view": lambda i: i.tensor(0)(),
}


@pytest.mark.parametrize("call", UNALLOCATED.values(), ids=UNALLOCATED)
def test_errors_before_allocate_tensors(litert: Any, call: Callable[[Any], Any]) -> None:
    both(litert, call, allocate=False)


def test_constants_can_be_read_before_allocate_tensors_and_never_written() -> None:
    interpreter = Interpreter(model_content=add_constant(np.arange(3, dtype=np.float32)))
    assert interpreter.get_tensor(1).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="is a constant"):
        interpreter.set_tensor(1, np.zeros(3, np.float32))
    with pytest.raises(RuntimeError, match="Attempting to resize a fixed-size tensor"):
        interpreter.resize_tensor_input(1, [4])


def test_strict_resize_leaves_known_dimensions_alone() -> None:
    with pytest.raises(RuntimeError, match="ResizeInputTensorStrict only allows mutating unknown dim"):
        ready().resize_tensor_input(0, [1, 5], strict=True)


@pytest.mark.parametrize("shape", [[-2, 4], [1 << 30, 1 << 30]], ids=str)
def test_impossible_shapes(shape: list[int]) -> None:
    interpreter = ready()
    with pytest.raises(RuntimeError):
        interpreter.resize_tensor_input(0, shape)
        interpreter.allocate_tensors()


def test_resize_and_run_again() -> None:
    interpreter = ready()
    for rows in (3, 1, 7):
        x = np.arange(-rows * 2, rows * 2, dtype=np.float32).reshape(rows, 4)
        interpreter.resize_tensor_input(0, x.shape)
        with pytest.raises(RuntimeError, match="not ready"):
            interpreter.invoke()
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        assert np.array_equal(interpreter.get_tensor(2), np.abs(x))
        assert interpreter.get_output_details()[0]["shape"].tolist() == [rows, 4]
        assert interpreter.get_output_details()[0]["shape_signature"].tolist() == [-1, 4]


def test_no_elements() -> None:
    interpreter = ready(chain([Op.NEG], [0, 4]))
    interpreter.set_tensor(0, np.empty((0, 4), np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(1).shape == (0, 4)


def test_allocate_twice_keeps_the_inputs() -> None:
    interpreter = ready()
    interpreter.set_tensor(0, X)
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(2), np.abs(X))


def test_get_tensor_copies() -> None:
    interpreter = ready()
    interpreter.set_tensor(0, X)
    value = interpreter.get_tensor(0)
    value[:] = 9
    assert np.array_equal(interpreter.get_tensor(0), X)


def test_view_reads_and_writes_the_tensor() -> None:
    interpreter = ready()
    view = interpreter.tensor(0)
    view()[:] = X
    interpreter.invoke()
    assert np.array_equal(interpreter.tensor(2)(), np.abs(X))


BLOCKED: dict[str, Callable[[Any], Any]] = {
    "invoke": lambda i: i.invoke(),
    "allocate": lambda i: i.allocate_tensors(),
    "resize": lambda i: i.resize_tensor_input(0, [2, 4]),
}


@pytest.mark.parametrize("call", BLOCKED.values(), ids=BLOCKED)
@pytest.mark.parametrize("part", [lambda v: v, lambda v: v[0, 1:3], lambda v: v.T], ids=["all", "slice", "T"])
def test_live_view_blocks(litert: Any, call: Callable[[Any], Any], part: Callable[[Any], Any]) -> None:
    def hold_and_call(interpreter: Any) -> Any:
        view = part(interpreter.tensor(0)())
        try:
            return call(interpreter)
        finally:
            assert not interpreter._safe_to_run()
            del view
            assert interpreter._safe_to_run()
            call(interpreter)

    both(litert, hold_and_call)


def test_view_outlives_the_interpreter() -> None:
    interpreter = ready()
    interpreter.set_tensor(0, X)
    view = interpreter.tensor(0)()
    del interpreter
    assert np.array_equal(view, X)


def test_memory_goes_with_the_interpreter() -> None:
    gc.disable()
    try:
        interpreter = ready()
        interpreter.set_tensor(0, X)
        interpreter.invoke()
        arena = weakref.ref(interpreter.core.tensor(0).data)
        del interpreter
        assert arena() is None
    finally:
        gc.enable()


def test_memory_goes_with_a_resize(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but small arenas, which wait for their shapes to come again."""
    monkeypatch.setattr(preparation, "SMALL_ARENA", 0)
    interpreter = ready()
    interpreter.set_tensor(0, X)
    interpreter.get_tensor(2)
    arena = weakref.ref(interpreter.core.tensor(2).data)
    interpreter.resize_tensor_input(0, [2, 4])
    interpreter.allocate_tensors()
    assert arena() is None


def test_signature_runner() -> None:
    interpreter = Interpreter(model_content=chain([Op.ABS]))
    assert interpreter.get_signature_list() == {"serve": {"inputs": ["x"], "outputs": ["y"]}}
    runner = interpreter.get_signature_runner()
    x = np.array([[-1, 2, -3, 4], [5, -6, 7, -8]], np.float32)
    result = runner(x=x)
    assert list(result) == ["y"]
    assert np.array_equal(result["y"], np.abs(x))
    assert runner.get_input_details()["x"]["index"] == 0
    assert runner.get_output_details()["y"]["shape"].tolist() == [2, 4]


def test_signatures_of_other_subgraphs() -> None:
    interpreter = Interpreter(model_content=two_signatures())
    x = np.array([1, -2], np.float32)
    assert interpreter.get_signature_runner("negate")(value=x)["result"].tolist() == [-1, 2]
    assert interpreter.get_signature_runner("absolute")(value=x)["result"].tolist() == [1, 2]
    assert interpreter.get_tensor(1, 1).tolist() == [1, 2]


SIGNATURE_CALLS: dict[str, Callable[[Any], Any]] = {
    "which": lambda i: i.get_signature_runner(),
    "unknown": lambda i: i.get_signature_runner("other"),
    "too few": lambda i: i.get_signature_runner("negate")(),
    "too many": lambda i: i.get_signature_runner("negate")(value=np.zeros(2, np.float32), more=1),
    "wrong name": lambda i: i.get_signature_runner("negate")(x=np.zeros(2, np.float32)),
    "wrong type": lambda i: i.get_signature_runner("negate")(value=np.zeros(2, np.int32)),
}


@pytest.mark.parametrize("call", SIGNATURE_CALLS.values(), ids=SIGNATURE_CALLS)
def test_signature_errors(litert: Any, call: Callable[[Any], Any]) -> None:
    both(litert, call, model=two_signatures(), allocate=False)
