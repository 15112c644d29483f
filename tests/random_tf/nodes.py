"""Graphs of one op: recorded cases of TensorFlow's kernels with other attributes, types, sizes and values."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
from numlite.kernels.fallback.dtypes import numpy_dtype
from numlite.kernels.fallback.op_metadata import OpMetadata, tensorflow_op
from numlite.kernels.fallback.tensor_proto import proto_of
from numlite.schema.graph_def import AttrValue, GraphDef, NodeDef

from tests.random_ops.draw import Draw
from tests.random_tf.trial import Trial
from tests.random_tf.without import with_changed
from tests.shared_arrays import CONVERT, decoded

KERNELS = CONVERT / "kernels"
# Ops whose results hang on the machine or the library, and one that ends the process.
_LEFT_OUT = ("Eig", "DecodeJSONExample", "Abort")
_MOST_ELEMENTS = 100_000
_TYPES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 17, 18, 19, 22, 23)


@dataclass(frozen=True)
class Recorded:
    """A node with its inputs, as TensorFlow ran it."""

    node: NodeDef
    inputs: list[np.ndarray]
    producer: int


@lru_cache(1)
def ops() -> tuple[str, ...]:
    """The ops that have recorded cases; none without ../shared."""
    if not (KERNELS / "index.json").exists():
        return ()
    index = json.loads((KERNELS / "index.json").read_text())
    chosen = [e for e in index if e["kind"] == "kernel" and e["cmp"] == "close"]
    return tuple(e["name"] for e in chosen if e["name"] not in _LEFT_OUT)


@lru_cache(64)
def _file(op: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with np.load(KERNELS / f"{op}.npz") as held:
        return json.loads((KERNELS / f"{op}.json").read_text()), dict(held)


def recorded(draw: Draw, op: str) -> Recorded:
    """One of the op's cases."""
    described, arrays = _file(op)
    case = draw.pick(*described["cases"])
    node = NodeDef.FromString(base64.b64decode(case["node_def"]["b64"]))
    inputs = [decoded(tensor, arrays) for tensor in case["inputs"]]
    return Recorded(node, inputs, described["producer"] or 0)


def node_trial(draw: Draw, case: Recorded) -> Trial:
    """A graph of the case, changed in some ways."""
    node = NodeDef.FromString(case.node.SerializeToString())
    op = tensorflow_op(node.op)
    assert op is not None
    inputs = list(case.inputs)
    changed = _change_attributes(draw, op, node) if draw.chance(0.7) else []
    types = [type_ for argument in op.inputs(node.attr) for type_ in argument.types]
    inputs = [_of_type(draw, x, type_) for x, type_ in zip(inputs, types, strict=True)]
    sizes = sorted({size for x in inputs for size in x.shape})
    if draw.chance(0.6):
        mapped = {size: draw.pick(0, 1, 1, 2, 3, 4, 5, 7, 8, size + 1) for size in sizes if draw.chance(0.4)}
        inputs = [_resized(draw, x, mapped) for x in inputs]
        changed.append(f"sizes {mapped}")
    trial = _graph(draw, node, inputs, types, case.producer, changed)
    # Of an infinite delta TensorFlow's kernel never ends.
    return with_changed(trial, "in1", _bounded) if op.name == "AdjustHue" else trial


def _bounded(x: np.ndarray) -> np.ndarray:
    return np.nan_to_num(x, posinf=1, neginf=-1)


def _change_attributes(draw: Draw, op: OpMetadata, node: NodeDef) -> list[str]:
    """Another value for some attributes that are no count of inputs; tells which."""
    counts = {a.number_attr for a in (*op.op_def.input_arg, *op.op_def.output_arg)}
    told = []
    for attr in op.op_def.attr:
        if attr.name in counts or attr.name not in node.attr or not draw.chance(0.25):
            continue
        value, allowed = node.attr[attr.name], attr.allowed_values.list
        if attr.type == "bool":
            value.b = not value.b
        elif attr.type == "string" and allowed.s:
            value.s = draw.pick(*allowed.s)
        elif attr.type == "int":
            value.i += draw.pick(-1, 1, 2)
        elif attr.type == "float":
            value.f = draw.pick(value.f / 2, value.f * 2, -value.f, 0.0, 1.0)
        elif attr.type == "list(int)" and value.list.i:
            value.list.i[draw.number(0, len(value.list.i) - 1)] = draw.pick(1, 2, 3)
        elif attr.type == "type":
            value.type = draw.pick(*(set(allowed.type or _TYPES) & set(_TYPES) or {value.type}))
        else:
            continue
        told.append(f"{attr.name}={str(value).strip()}")
    return told


def _of_type(draw: Draw, x: np.ndarray, type_: int) -> np.ndarray:
    """The elements as that type has them."""
    dtype = numpy_dtype(type_)
    if x.dtype == dtype:
        return x
    if dtype.kind == "O":
        made = np.empty(x.size, object)
        made[:] = [b"%d" % draw.number(0, 9) for _ in range(x.size)]
        return made.reshape(x.shape)
    if x.dtype == object:
        x = draw.random.integers(-5, 9, x.shape)
    with np.errstate(all="ignore"):
        real = x.real if x.dtype.kind == "c" and dtype.kind != "c" else x
        if dtype.kind in "iu" and real.dtype.kind not in "iub":
            limits = np.iinfo(dtype)
            real = np.clip(np.nan_to_num(real.astype(np.float64)), float(limits.min), float(limits.max))
        return np.asarray(real).astype(dtype)


def _resized(draw: Draw, x: np.ndarray, mapped: dict[int, int]) -> np.ndarray:
    """Elements of x in another shape; the integers of short vectors may be sizes, and change alike."""
    shape = tuple(mapped.get(size, size) for size in x.shape)
    count = int(np.prod(shape))
    if shape != x.shape and x.size and count <= _MOST_ELEMENTS:
        x = x.reshape(-1)[draw.random.integers(0, x.size, count)].reshape(shape)
    if _is_structure(x) and draw.chance(0.6):
        return np.array([mapped.get(int(n), int(n)) for n in x.reshape(-1)], x.dtype).reshape(x.shape)
    return x


def _is_structure(x: np.ndarray) -> bool:
    """Whether it may stand for sizes, axes or bounds."""
    return x.dtype.kind == "i" and x.ndim <= 1 and x.size <= 8


def _values(draw: Draw, x: np.ndarray) -> np.ndarray:
    """The same elements in another order, or floats scaled, seldom with one that is special."""
    if not x.size or (x.dtype.kind not in "fOb" and x.dtype != ml_dtypes.bfloat16):
        return x
    y = draw.random.permutation(x.reshape(-1))
    if x.dtype.kind == "f":
        with np.errstate(all="ignore"):
            y = (y.astype(np.float64) * draw.pick(1.0, 1.0, 0.1, -1.0, 10.0)).astype(x.dtype)
            if draw.chance(0.05):
                y[draw.number(0, x.size - 1)] = draw.pick(np.nan, np.inf, -np.inf, -0.0, 0.5, -2.5)
    return y.reshape(x.shape)


def _graph(
    draw: Draw, node: NodeDef, inputs: list[np.ndarray], types: list[int], producer: int, told: list[str]
) -> Trial:
    """The node behind constants and placeholders, some of whose sizes are open and change."""
    graph = GraphDef()
    graph.versions.producer = producer
    names, shapes, fed = [], [], []
    del node.input[:]
    for place, (x, type_) in enumerate(zip(inputs, types, strict=True)):
        name = f"in{place}"
        node.input.append(name)
        made = graph.node.add(name=name, attr={"dtype": AttrValue(type=type_)})
        if (_is_structure(x) and draw.chance(0.85)) or draw.chance(0.1):
            made.op = "Const"
            made.attr["value"].tensor.CopyFrom(proto_of(x, type_))
            continue
        made.op = "Placeholder"
        shape = tuple(None if draw.chance(0.25) else size for size in x.shape)
        made.attr["shape"].shape.SetInParent()
        for size in shape:
            made.attr["shape"].shape.dim.add(size=-1 if size is None else size)
        names.append(f"{name}:0"), shapes.append(shape), fed.append(x)
    node.name = "n"
    graph.node.add().CopyFrom(node)
    op = tensorflow_op(node.op)
    assert op is not None
    count = sum(len(argument.types) for argument in op.outputs(node.attr))
    runs = [tuple(_values(draw, x) for x in fed)]
    opened = sorted(
        {x.shape[i] for x, s in zip(fed, shapes, strict=True) for i, n in enumerate(s) if n is None}
    )
    for _ in range(2 if opened else 0):
        other = {size: draw.number(1, 6) for size in opened}
        runs.append(tuple(_opened(draw, x, s, other) for x, s in zip(fed, shapes, strict=True)))
    outputs = tuple(f"n:{i}" for i in range(count))
    return Trial(
        graph.SerializeToString(), tuple(names), tuple(shapes), outputs, tuple(runs), "; ".join(told)
    )


def _opened(draw: Draw, x: np.ndarray, shape: tuple[int | None, ...], other: dict[int, int]) -> np.ndarray:
    sizes = [other[n] if s is None else n for n, s in zip(x.shape, shape, strict=True)]
    if not x.size:
        return np.zeros(sizes, x.dtype) if x.dtype != object else np.full(sizes, b"", object)
    return x.reshape(-1)[draw.random.integers(0, x.size, int(np.prod(sizes)))].reshape(sizes)
