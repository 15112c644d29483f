"""ADD_N: the sum of several tensors of one shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .binary import BINARY_F32, BINARY_INT
from .broadcast import collapse, fill_loops
from .operators import registration
from .parallel import chunk_count

# Sums, differences and products of uint8 have the bytes of int8's.
_INTEGER_SUFFIXES = {
    TensorType.INT8: "i8",
    TensorType.UINT8: "i8",
    TensorType.INT16: "i16",
    TensorType.INT32: "i32",
    TensorType.INT64: "i64",
}


def arithmetic_calls(
    context: Context, operator: str, function: str, a: Tensor, b: Tensor, out: Tensor
) -> list[KernelCall]:
    """The compiled call out = function(a, b) without clamping; function is add, sub, mul or div."""
    if out.size == 0:
        return []
    if out.type == TensorType.FLOAT32:
        family, suffix, args = "binary_f32", "f32", np.zeros(1, BINARY_F32)
        args["low"], args["high"] = -np.inf, np.inf
    elif out.type in _INTEGER_SUFFIXES:
        family, suffix, args = "binary_int", _INTEGER_SUFFIXES[TensorType(out.type)], np.zeros(1, BINARY_INT)
        limits = np.iinfo(np.int8 if suffix == "i8" else out.dtype)
        args["low"], args["high"] = limits.min, limits.max
    else:
        raise UnsupportedError(
            f"{operator}: types built are float32, int8, uint8, int16, int32 and int64, got {out.type_name}"
        )
    fill_loops(args, collapse(operator, a.shape, b.shape))
    tensors = {"a": a, "b": b, "out": out}
    return [KernelCall(family, f"{function}_{suffix}", args, tensors, chunk_count(context, 0.2 * out.size))]


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    if len(node.inputs) < 2 or len(node.outputs) != 1:
        raise PrepareError(
            f"ADD_N: must have two inputs or more and one output, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    operands = [context.input(node, i) for i in range(len(node.inputs))]
    out = context.output(node, 0)
    for x in operands:
        if (x.shape, x.type) != (operands[0].shape, out.type):
            raise PrepareError(
                f"ADD_N: operands must have one shape and the output's type, "
                f"got {operands[0]!r}, {x!r} and {out!r}"
            )
    context.resize_tensor(out, operands[0].shape)
    calls = arithmetic_calls(context, "ADD_N", "add", operands[0], operands[1], out)
    for x in operands[2:]:
        calls += arithmetic_calls(context, "ADD_N", "add", out, x, out)
    return calls


REGISTRATIONS = (registration("ADD_N", prepare),)
