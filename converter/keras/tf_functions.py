"""TensorFlow's functions between layers, as Keras 2 writes them: Python's operators, and the most used."""

from __future__ import annotations

from collections.abc import Callable

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ...schema.shown import shown
from ..building.contraction import product
from ..building.movement import axis_of
from ..building.tensor import Tensor
from .activations import function_of, softmax
from .call import Call
from .config import cut, integers_of
from .dtypes import type_of
from .kind import Kind
from .merge import concatenated
from .ops_arrays import indexed
from .ops_elementwise import pair

_PAIRS = {
    **{"__operators__.add": "AddV2", "math.add": "AddV2", "math.subtract": "Sub", "math.multiply": "Mul"},
    **{"math.maximum": "Maximum", "math.minimum": "Minimum", "math.pow": "Pow"},
}
_SINGLE = {
    **{"math.abs": "Abs", "math.exp": "Exp", "math.log": "Log", "math.negative": "Neg", "math.sqrt": "Sqrt"},
    **{"math.rsqrt": "Rsqrt", "math.square": "Square", "math.tanh": "Tanh", "math.sin": "Sin"},
    **{"math.cos": "Cos", "math.sigmoid": "Sigmoid", "identity": "Identity", "stop_gradient": "Identity"},
}
_ACTIVATIONS = {
    f"nn.{name}": name for name in ("relu", "relu6", "elu", "selu", "gelu", "silu", "sigmoid", "tanh")
}
_REDUCED = {f"math.reduce_{name}": name.title() for name in ("sum", "mean", "max", "min", "prod")}


def _axis(c: Call, x: Tensor, place: int = 1, default: int | None = None) -> list[int]:
    told = c.argument(place, "axis", default)
    if told is None:
        return list(range(x.rank))
    return [axis_of(axis, x.rank) for axis in integers_of(told, "axis")]


def _divided(c: Call) -> Tensor:
    x, y = pair(c, "x", "y")
    return c.floats(x) / c.floats(y)


def _matmul(c: Call) -> Tensor:
    x, y = pair(c, "a", "b")
    for name, at in (("transpose_a", 0), ("transpose_b", 1)):
        if c.named.get(name):
            last = [x, y][at]
            order = [*range(last.rank - 2), last.rank - 1, last.rank - 2]
            x, y = (c.body.transposed(x, order), y) if at == 0 else (x, c.body.transposed(y, order))
    return product(x, y)


def _concat(c: Call) -> Tensor:
    given = c.argument(0, "values")
    if not isinstance(given, list | tuple) or not given:
        raise ModelError(f"values must be tensors, got {cut(given)}")
    inputs = [c.as_tensor(each, "values") for each in given]
    return concatenated(inputs, axis_of(integers_of(c.argument(1, "axis", 0), "axis")[0], inputs[0].rank))


def _reshape(c: Call) -> Tensor:
    return c.body.reshaped(c.tensor(0, "tensor"), list(integers_of(c.argument(1, "shape"), "shape")))


def _transpose(c: Call) -> Tensor:
    x, told = c.tensor(0, "a"), c.argument(1, "perm")
    order = list(range(x.rank))[::-1] if told is None else integers_of(told, "perm")
    if sorted(order) != list(range(x.rank)):
        raise ModelError(f"perm must name every axis of {x.rank} once, got {cut(told)}")
    return c.body.transposed(x, order)


def _expand(c: Call) -> Tensor:
    x = c.tensor(0, "input")
    axis = axis_of(integers_of(c.argument(1, "axis"), "axis")[0], x.rank + 1)
    return c.make("ExpandDims", x, c.body.scalar(axis, DT_INT32))


def _squeeze(c: Call) -> Tensor:
    x = c.tensor(0, "input")
    axes = (
        [i for i, size in enumerate(x.sizes) if size == 1] if c.argument(1, "axis") is None else _axis(c, x)
    )
    return c.make("Squeeze", x, squeeze_dims=axes)


def _softmax(c: Call) -> Tensor:
    x = c.tensor(0, "logits")
    return softmax(x, _axis(c, x, 1, -1)[0])


def _pair(op: str) -> Callable[[Call], Tensor]:
    return lambda c: c.make(op, *pair(c, "x", "y"))


def _single(op: str) -> Callable[[Call], Tensor]:
    return lambda c: c.make(op, c.x)


def _activation(name: str) -> Callable[[Call], Tensor]:
    return lambda c: function_of(c, name)(c.x)


def _reduced(op: str) -> Callable[[Call], Tensor]:
    def rule(c: Call) -> Tensor:
        x = c.tensor(0, "input_tensor")
        keeps = bool(c.argument(2, "keepdims", False))
        return c.make(op, x, c.body.integers(_axis(c, x)), keep_dims=keeps)

    return rule


_FUNCTIONS: dict[str, Callable[[Call], Tensor]] = {
    **{name: _pair(op) for name, op in _PAIRS.items()},
    **{name: _single(op) for name, op in _SINGLE.items()},
    **{name: _activation(plain) for name, plain in _ACTIVATIONS.items()},
    **{name: _reduced(op) for name, op in _REDUCED.items()},
    "cast": lambda c: c.body.cast(c.tensor(0, "x"), type_of(c.argument(1, "dtype"))),
    "concat": _concat,
    "expand_dims": _expand,
    "linalg.matmul": _matmul,
    "math.divide": _divided,
    "math.truediv": _divided,
    "nn.softmax": _softmax,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "transpose": _transpose,
}
_FUNCTIONS["__operators__.truediv"] = _divided


def function(c: Call) -> Tensor:
    """The function that the layer names."""
    name = c.config.text("function").removeprefix("compat.v1.")
    found = _FUNCTIONS.get(name)
    if found is None:
        raise UnsupportedError(
            f"tf.{shown(name)} is not built; custom_layers={{{c.layer.name!r}: function}} makes it"
        )
    return found(c)


def sliced(c: Call) -> Tensor:
    """x[key]."""
    if c.config.text("function") != "__operators__.getitem":
        raise UnsupportedError(f"tf.{shown(c.config.text('function'))} is not built")
    x = c.tensor(0, "tensor")
    return indexed(x, c.argument(1, "slice_spec"))


REGISTRATIONS: dict[str, Kind] = {"SlicingOpLambda": Kind(sliced), "TFOpLambda": Kind(function)}
