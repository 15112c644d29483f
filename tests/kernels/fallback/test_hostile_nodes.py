"""Nodes of every op with attributes and inputs drawn at random: results as promised, or a clear error."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from numlite.kernels.fallback import kernel
from numlite.kernels.fallback.dtypes import numpy_dtype
from numlite.kernels.fallback.environment import Environment
from numlite.kernels.fallback.node_runner import NodeRunner
from numlite.kernels.fallback.register import fallback_kernels
from numlite.kernels.fallback.status import InternalError, OpError
from numlite.kernels.fallback.tensor_proto import proto_of
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue, NodeDef, OpDef, TensorShapeProto

REFUSALS = (OpError, ModelError, UnsupportedError)
INTS = (-5, -2, -1, 0, 1, 1, 2, 2, 3, 4, 7, 100)
HUGE = (2**31 - 1, -(2**31), 2**40, 2**62, -(2**63), 2**63 - 1)
FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0, -7.25, 1e30, float("nan"), float("inf"), -float("inf"))
STRINGS = (b"", b"SAME", b"NHWC", b"a", b"\xff", b"(((", b"float", b"-1", b"a,b", b"1.5")
TYPES = tuple(
    getattr(graph_def, f"DT_{name}")
    for name in (
        *("FLOAT", "DOUBLE", "HALF", "BFLOAT16", "INT8", "INT32", "INT64", "UINT8", "UINT64", "BOOL"),
        *("STRING", "COMPLEX64", "RESOURCE"),
    )
)
# Their handles are of type string, and are what a Variable is to others.
STRING_HANDLES = "TensorArrayV2"


def integer(draw: random.Random, huge: float) -> int:
    return draw.choice(HUGE if draw.random() < huge else INTS)


def a_type(draw: random.Random, attr: OpDef.AttrDef) -> int:
    return draw.choice(tuple(attr.allowed_values.list.type) or TYPES)


def a_string(draw: random.Random, attr: OpDef.AttrDef) -> bytes:
    allowed = tuple(attr.allowed_values.list.s)
    return draw.choice(allowed if allowed and draw.random() < 0.9 else STRINGS)


def a_shape(draw: random.Random, huge: float) -> TensorShapeProto:
    if draw.random() < 0.1:
        return TensorShapeProto(unknown_rank=True)
    sizes = (integer(draw, huge) for _ in range(draw.randint(0, 3)))
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def an_attribute(draw: random.Random, attr: OpDef.AttrDef, huge: float) -> AttrValue:
    makers: dict[str, Callable[[], AttrValue]] = {
        "type": lambda: AttrValue(type=a_type(draw, attr)),
        "string": lambda: AttrValue(s=a_string(draw, attr)),
        "int": lambda: AttrValue(i=max(integer(draw, huge), attr.minimum if draw.random() < 0.9 else -9)),
        "float": lambda: AttrValue(f=draw.choice(FLOATS)),
        "bool": lambda: AttrValue(b=draw.random() < 0.5),
        "shape": lambda: AttrValue(shape=a_shape(draw, huge)),
        "tensor": lambda: AttrValue(tensor=proto_of(np.ones(2, np.float32))),
        "func": lambda: AttrValue(func={"name": "f"}),
    }
    if not attr.type.startswith("list("):
        return makers[attr.type]()
    inner = OpDef.AttrDef(type=attr.type[5:-1], allowed_values=attr.allowed_values)
    made = AttrValue()
    made.list.SetInParent()
    for _ in range(draw.randint(0, 5)):
        item = an_attribute(draw, inner, huge)
        field = item.WhichOneof("value") or ""
        value = getattr(item, field)
        if field in ("shape", "func"):
            getattr(made.list, field).add().CopyFrom(value)
        else:
            getattr(made.list, field).append(value)
    return made


def a_node(draw: random.Random, op: str, huge: float) -> NodeDef:
    made = NodeDef(op=op, name="n")
    op_def = fallback_kernels().metadata(op).op_def
    counts = {argument.number_attr for argument in op_def.input_arg}
    for attr in op_def.attr:
        if draw.random() < (0.6 if attr.HasField("default_value") else 0.01):
            continue
        value = AttrValue(i=draw.randint(0, 3)) if attr.name in counts else an_attribute(draw, attr, huge)
        made.attr[attr.name].CopyFrom(value)
    return made


def a_tensor(draw: random.Random, type: int, shape: list[int], huge: float) -> np.ndarray:
    dtype, count = numpy_dtype(type), int(np.prod(shape))
    if dtype.kind == "O":
        strings = type == graph_def.DT_STRING
        made = np.empty(count, object)
        made[:] = [draw.choice(STRINGS) if strings else None for _ in range(count)]
        return made.reshape(shape)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = [min(max(integer(draw, huge), limits.min), limits.max) for _ in range(count)]
        return np.array(values, dtype).reshape(shape)
    with np.errstate(over="ignore"):
        return np.array([draw.choice(FLOATS) for _ in range(count)]).astype(dtype).reshape(shape)


def some_shape(draw: random.Random) -> list[int]:
    return [draw.choice((0, 1, 1, 2, 2, 3, 4)) for _ in range(draw.choice((0, 0, 1, 1, 1, 2, 2, 3, 4, 5)))]


def check(op: str, outputs: list[np.ndarray], types: list[int]) -> None:
    for output, type in zip(outputs, types, strict=True):
        assert output.dtype == numpy_dtype(type)
        if type == graph_def.DT_STRING and op != STRING_HANDLES:
            assert all(isinstance(item, bytes) for item in output.reshape(-1)[:100])


def play(op: str, seed: int, rounds: int) -> None:
    draw = random.Random(f"{op} {seed}")
    for number in range(rounds):
        huge = (0.0, 0.05, 0.3)[number % 3]
        node = a_node(draw, op, huge)
        alike = some_shape(draw)
        try:
            runner = NodeRunner(node)
            shapes = [alike if draw.random() < 0.5 else some_shape(draw) for _ in runner.input_types]
            inputs = [
                a_tensor(draw, type, shape, huge)
                for type, shape in zip(runner.input_types, shapes, strict=True)
            ]
            check(op, runner(inputs, Environment()), runner.output_types)
        except InternalError:
            raise
        except REFUSALS as error:
            assert str(error)


@pytest.fixture(autouse=True)
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_SMALL_BYTES", 1 << 20)
    monkeypatch.setattr(kernel, "available_bytes", lambda: 1 << 26)


@pytest.mark.parametrize("op", fallback_kernels().ops())
@pytest.mark.filterwarnings("ignore")
def test_random_nodes(op: str, capsys: pytest.CaptureFixture[str]) -> None:
    play(op, 0, 12)


@pytest.mark.long
@pytest.mark.parametrize("op", fallback_kernels().ops())
@pytest.mark.filterwarnings("ignore")
def test_many_random_nodes(op: str, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(1, 5):
        play(op, seed, 40)
