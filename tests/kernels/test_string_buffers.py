"""String tensors whose bytes say something else than their shape, wherever they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numlite.delegates import DelegateFlags, SimpleDelegate, SimpleDelegateKernel
from numlite.interpreter import Interpreter, InterpreterWithCustomOps, OpResolverType
from numlite.lite import available_memory
from numlite.lite.errors import InvokeError, ModelError, StateError
from numlite.lite.string_tensor import pack_strings
from numlite.lite.tensor import Tensor
from numlite.schema import tflite

from ..model_builder import ModelBuilder, SubgraphBuilder

Op = tflite.BuiltinOperator
STRING = tflite.TensorType.STRING


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


# Operators that move strings: code, constants behind the strings, options, outputs.
MOVES: dict[str, tuple[tflite.BuiltinOperator, list[np.ndarray], Any, int]] = {
    "BROADCAST_TO": (Op.BROADCAST_TO, [ints(2, 2, 4)], None, 1),
    "TRANSPOSE": (Op.TRANSPOSE, [ints(1, 0)], None, 1),
    "CONCATENATION": (Op.CONCATENATION, [], tflite.ConcatenationOptionsT(axis=0), 1),
    "PACK": (Op.PACK, [], tflite.PackOptionsT(values_count=1, axis=0), 1),
    "UNPACK": (Op.UNPACK, [], tflite.UnpackOptionsT(num=2, axis=0), 2),
    "SLICE": (Op.SLICE, [ints(0, 1), ints(2, 2)], None, 1),
    "STRIDED_SLICE": (
        Op.STRIDED_SLICE,
        [ints(0, 0), ints(2, 4), ints(1, 2)],
        tflite.StridedSliceOptionsT(),
        1,
    ),
    "TILE": (Op.TILE, [ints(2, 3)], None, 1),
    "REVERSE_V2": (Op.REVERSE_V2, [ints(0)], None, 1),
    "GATHER": (Op.GATHER, [ints(1, 1)], tflite.GatherOptionsT(), 1),
    "GATHER_ND": (Op.GATHER_ND, [ints(1, 1).reshape(1, 2)], None, 1),
    "RESHAPE": (Op.RESHAPE, [ints(8)], tflite.ReshapeOptionsT(new_shape=[8]), 1),
    "EXPAND_DIMS": (Op.EXPAND_DIMS, [ints(0)], None, 1),
    "SQUEEZE": (Op.SQUEEZE, [], tflite.SqueezeOptionsT(), 1),
    "EQUAL": (Op.EQUAL, [], None, 1),
}


def forged(count: int) -> bytes:
    """Eight strings of a letter, whose header says another count."""
    data = pack_strings([b"x"] * 8)
    data[:4] = np.frombuffer(np.array([count], "<i4").tobytes(), np.uint8)
    return data.tobytes()


FORGERIES: dict[str, bytes] = {
    "none": forged(0),
    "fewer": forged(7),
    "more": forged(9),
    "negative": forged(-1),
    "huge": forged(2**31 - 1),
    "short": pack_strings([b"x"] * 8).tobytes()[:30],
    "one byte": b"\x08",
    "offsets": np.array([8, 40, *[1 << 20] * 8], "<i4").tobytes(),
    "falling": np.array([8, 40, 48, *[41] * 7], "<i4").tobytes() + bytes(8),
}


def moving(name: str, data: bytes | None) -> bytes:
    """One operator on eight strings, 2 by 4; a constant where there are data."""
    code, others, options, outputs = MOVES[name]
    model = ModelBuilder()
    x = model.tensor((2, 4), STRING, data)
    given = [x, *map(model.constant, others)] + [x] * (code == Op.EQUAL)
    y = [model.tensor((), np.bool_ if code == Op.EQUAL else STRING) for _ in range(outputs)]
    model.op(code, given, y, options)
    return model.build([] if data else [x], y)


def run(interpreter: Interpreter) -> list[np.ndarray]:
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("kind", FORGERIES)
def test_a_forged_constant_is_no_model(name: str, kind: str) -> None:
    with pytest.raises(ModelError, match="tensor 0 't0' string 2x4: "):
        Interpreter(model_content=moving(name, FORGERIES[kind]))


@pytest.mark.parametrize("name", MOVES)
def test_a_good_constant_gives_what_an_input_gives(name: str) -> None:
    values = np.array([f"{n}".encode() * n for n in range(8)], object)
    constant = Interpreter(model_content=moving(name, pack_strings(values.tolist()).tobytes()))
    constant.allocate_tensors()
    given = Interpreter(model_content=moving(name, None))
    given.allocate_tensors()
    given.set_tensor(0, values.reshape(2, 4))
    for a, b in zip(run(constant), run(given), strict=True):
        assert a.shape == b.shape and a.tolist() == b.tolist()


@pytest.mark.parametrize("numerics", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
@pytest.mark.parametrize("name", [name for name in MOVES if name not in ("RESHAPE", "BROADCAST_TO")])
def test_strings_set_before_a_resize_are_gone(name: str, numerics: OpResolverType) -> None:
    interpreter = Interpreter(model_content=moving(name, None), experimental_op_resolver_type=numerics)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.full((2, 4), b"a", object))
    run(interpreter)
    interpreter.resize_tensor_input(0, (2, 5))
    interpreter.allocate_tensors()
    with pytest.raises(InvokeError, match="tensor 't0' string 2x5: it is read, but nothing gives it a value"):
        interpreter.invoke()
    interpreter.set_tensor(0, np.full((2, 5), b"a", object))
    run(interpreter)


class Forger:
    """A custom operator that gives its output other bytes than strings."""

    def __init__(self, data: bytes, shape: tuple[int, ...] = (2, 4)) -> None:
        self.data, self.shape = data, shape

    def prepare(self, context: Any, node: Any) -> None:
        context.set_dynamic(context.output(node, 0))

    def invoke(self, context: Any, node: Any) -> None:
        y = context.output(node, 0)
        context.resize_tensor(y, self.shape)
        y.bind(np.frombuffer(self.data, np.uint8))


def produced(data: bytes) -> Interpreter:
    """A custom operator's strings, transposed."""
    model = ModelBuilder()
    x, strings, y = model.tensor((1,)), model.tensor((2, 4), STRING), model.tensor((4, 2), STRING)
    model.op(Op.CUSTOM, [x], [strings], custom_code="Forger")
    model.op(Op.TRANSPOSE, [strings, model.constant([1, 0])], [y])
    interpreter = InterpreterWithCustomOps([("Forger", Forger(data))], model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    return interpreter


@pytest.mark.parametrize("kind", FORGERIES)
def test_a_kernel_that_gives_forged_strings_is_named(kind: str) -> None:
    with pytest.raises(InvokeError, match=r"node 0 \(Forger\), .*: Forger: tensor 1 't1' string 2x4: "):
        produced(FORGERIES[kind]).invoke()


def test_a_kernel_that_gives_strings() -> None:
    (found,) = run(produced(pack_strings([b"%d" % n for n in range(8)]).tobytes()))
    assert found.tolist() == [[b"0", b"4"], [b"1", b"5"], [b"2", b"6"], [b"3", b"7"]]


def _transposed(graph: SubgraphBuilder, x: int, shape: tuple[int, int]) -> int:
    y = graph.tensor(shape[::-1], STRING)
    graph.op(Op.TRANSPOSE, [x, graph.constant([1, 0])], [y])
    return y


def called(make: Callable[[ModelBuilder, int], None]) -> tuple[bytes, int]:
    """A model that runs subgraph 1, which transposes strings."""
    model = ModelBuilder()
    x = model.tensor((2, 3), STRING)
    inner = model.add_subgraph("inner")
    z = inner.tensor((2, 3), STRING)
    inner.finish([z], [_transposed(inner, z, (2, 3))])
    y = model.tensor((3, 2), STRING)
    make(model, y)
    return model.build([x], [y]), y


def test_strings_of_a_called_subgraph_after_a_resize() -> None:
    model, y = called(lambda b, y: b.op(Op.CALL, [0], [y], tflite.CallOptionsT(subgraph=1)))
    interpreter = Interpreter(model_content=model)
    for shape in ((2, 3), (4, 1), (1, 4)):
        interpreter.resize_tensor_input(0, shape)
        interpreter.allocate_tensors()
        values = np.array([b"%d" % n for n in range(int(np.prod(shape)))], object).reshape(shape)
        interpreter.set_tensor(0, values)
        interpreter.invoke()
        assert interpreter.get_tensor(y).tolist() == values.T.tolist()


def test_a_variable_of_strings_has_no_value_until_one_is_written() -> None:
    model = ModelBuilder()
    x = model.tensor((2, 3), STRING, is_variable=True)
    interpreter = Interpreter(model_content=model.build([], [_transposed(model, x, (2, 3))]))
    interpreter.allocate_tensors()
    interpreter.reset_all_variables()
    with pytest.raises(InvokeError, match="tensor 't0' string 2x3: it is read, but nothing gives it a value"):
        interpreter.invoke()
    interpreter.set_tensor(0, np.full((2, 3), b"a", object))
    assert run(interpreter)[0].shape == (3, 2)
    interpreter.reset_all_variables()
    with pytest.raises(InvokeError, match="nothing gives it a value"):
        interpreter.invoke()


def filled(size: int, text: bytes) -> Interpreter:
    model = ModelBuilder()
    value = model.tensor((), STRING, pack_strings([text]).tobytes())
    y = model.tensor((), STRING)
    model.op(Op.FILL, [model.constant([size]), value], [y])
    interpreter = Interpreter(model_content=model.build([], [y]))
    interpreter.allocate_tensors()
    return interpreter


def test_fill_gives_strings() -> None:
    (found,) = run(filled(3, b"ab"))
    assert found.tolist() == [b"ab"] * 3


@pytest.mark.parametrize(("size", "text"), [(2_000_000, b""), (200_000, bytes(300)), (2**31 - 1, b"a")])
def test_fill_counts_what_strings_take(size: int, text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = filled(size, text)
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 100_000_000)
    with pytest.raises(InvokeError, match=r"node 0 \(FILL\), .*bytes are needed, 100,000,000 are"):
        interpreter.invoke()


def test_fill_past_what_offsets_can_say() -> None:
    interpreter = filled(1 << 11, bytes(1 << 20))
    with pytest.raises(InvokeError, match="string tensor: it must take less than 2 GB"):
        interpreter.invoke()


def test_broadcast_strings_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ModelBuilder()
    x = model.tensor((1,), STRING, pack_strings([bytes(1000)]).tobytes())
    y = model.tensor((), STRING)
    model.op(Op.BROADCAST_TO, [x, model.constant([100_000])], [y])
    interpreter = Interpreter(model_content=model.build([], [y]))
    interpreter.allocate_tensors()
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 100_000_000)
    with pytest.raises(InvokeError, match="BROADCAST_TO: memory: 201,600,016 bytes are needed"):
        interpreter.invoke()


class Transposing(SimpleDelegate):
    """Takes TRANSPOSE; its results stay under a handle until they are asked for."""

    def __init__(self, result: bytes, with_handle: bool) -> None:
        super().__init__()
        self.result = np.frombuffer(result, np.uint8)
        self.with_handle = with_handle

    def is_node_supported(self, context: Any, node: Any, registration: Any) -> bool:
        return registration.name == "TRANSPOSE"

    def create_kernel(self) -> SimpleDelegateKernel:
        delegate = self

        class Kernel(SimpleDelegateKernel):
            def prepare(self, context: Any, node: Any) -> None:
                context.set_dynamic(context.output(node, 0))

            def invoke(self, context: Any, node: Any) -> None:
                y = context.output(node, 0)
                context.resize_tensor(y, (2,))
                if delegate.with_handle:
                    y.buffer_handle, y.data_is_stale = 1, True
                else:
                    y.bind(delegate.result)

        return Kernel()

    def copy_from_buffer_handle(self, context: Any, handle: int, tensor: Tensor) -> None:
        tensor.bind(self.result)

    def free_buffer_handle(self, context: Any, handle: int) -> None:
        pass


@pytest.mark.parametrize("with_handle", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_strings_of_a_delegate(count: int, with_handle: bool) -> None:
    model = ModelBuilder()
    x, y = model.tensor((2,), STRING), model.tensor((), STRING)
    model.op(Op.TRANSPOSE, [x, model.constant([0])], [y])
    delegate = Transposing(pack_strings([b"a"] * count).tobytes(), with_handle)
    delegate.flags = DelegateFlags.ALLOW_DYNAMIC_TENSORS
    interpreter = Interpreter(model_content=model.build([x], [y]), experimental_delegates=[delegate])
    interpreter.allocate_tensors()
    interpreter.set_tensor(x, np.full(2, b"a", object))
    if count == 2:
        assert run(interpreter)[0].tolist() == [b"a", b"a"]
        return
    with pytest.raises((InvokeError, StateError), match=f"hold 2 strings, got a header that says {count}"):
        run(interpreter)
