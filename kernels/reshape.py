"""RESHAPE, SQUEEZE and EXPAND_DIMS: the bytes stay, the shape changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import (
    check_counts,
    check_same_quantization,
    check_sizes,
    integers,
    is_small_constant,
    normalized_axis,
    output_of,
    scalar_integer,
    set_constant,
)
from .operators import registration
from .strided_copy import COPY_BYTES_PER_NS, element_bytes

FLAT_COPY = argument_block("source target nbytes")


def reshaped(shape: Shape, wanted: Sequence[int]) -> Shape:
    """Output shape of RESHAPE: wanted, with one -1 replaced by what the element count leaves.

    A 0 is a size of zero. When both sides are empty, -1 becomes the quotient of the products
    of the sizes that are not 0.
    Source: LiteRT tflite/kernels/internal/reshape_utils.h.
    """
    given = f"got {list(wanted)} for an input of shape {list(shape)}"
    if any(size < -1 for size in wanted) or list(wanted).count(-1) > 1:
        raise PrepareError(f"RESHAPE: sizes must be at least 0, but for one -1, {given}")
    elements = math.prod(shape)
    known = math.prod(size for size in wanted if size != -1)
    if elements == 0 and known != 0:
        stretched = 0
    else:
        stretched = math.prod(filter(None, shape)) // math.prod(s for s in wanted if s not in (0, -1))
    result = tuple(stretched if size == -1 else size for size in wanted)
    if math.prod(result) != elements:
        raise PrepareError(f"RESHAPE: input and output must have as many elements, {given}")
    return check_sizes("RESHAPE", result)


def squeezed(shape: Shape, axes: Sequence[int]) -> Shape:
    """The shape without the given axes of size 1, or without all of them when none is given."""
    if not axes:
        return tuple(size for size in shape if size != 1)
    chosen = {normalized_axis("SQUEEZE", axis, len(shape)) for axis in axes}
    for axis in chosen:
        if shape[axis] != 1:
            raise PrepareError(f"SQUEEZE: squeezed axes must have size 1, got axis {axis} of {list(shape)}")
    return tuple(size for axis, size in enumerate(shape) if axis not in chosen)


def expanded(shape: Shape, axis: int) -> Shape:
    """The shape with a size of 1 put in before `axis` (counted in the result)."""
    axis = normalized_axis("EXPAND_DIMS", axis, len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


def flat_copy_calls(context: Context, x: Tensor, y: Tensor, nbytes: int) -> list[KernelCall]:
    """Copy nbytes from tensor to tensor, unless they share their memory when the node runs."""
    if nbytes == 0:
        return []
    args = np.zeros(1, FLAT_COPY)
    args["nbytes"] = nbytes
    chunks = chunk_count(context, nbytes / COPY_BYTES_PER_NS)
    call = KernelCall("reshape", "flat_copy", args, {"source": x, "target": y}, chunks)
    call.is_copy = True
    return [call]


def copy_to_array(x: Tensor, y: np.ndarray) -> list[KernelCall]:
    """Copy a tensor's bytes to an array of as many."""
    if not y.nbytes:
        return []
    args = np.zeros(1, FLAT_COPY)
    args["nbytes"], args["target"] = y.nbytes, y.ctypes.data
    return [KernelCall("reshape", "flat_copy", args, {"source": x}, keep=[y])]


def _prepare_reshape(context: Context, node: Node) -> Sequence[KernelCall] | None:
    if len(node.inputs) not in (1, 2) or len(node.outputs) != 1:
        raise PrepareError(
            f"RESHAPE: must have 1 or 2 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    shape = context.optional_input(node, 1)
    return _finish(context, node, "RESHAPE", _reshape_shape, shape)


def _reshape_shape(context: Context, node: Node) -> Shape:
    x = context.input(node, 0)
    shape = context.optional_input(node, 1)
    if shape is not None and shape.type == TensorType.INT32 and len(shape.shape) == 1:
        wanted = integers(shape)
        source = f"constant tensor {shape.index} {shape.name!r}" if shape.is_constant else ""
    else:
        new_shape = getattr(node.options, "new_shape", None)
        wanted = [] if new_shape is None else [int(size) for size in new_shape]
        # Old converters wrote [0] for a scalar.
        wanted = [] if wanted == [0] else wanted
        source = "option new_shape"
    try:
        return reshaped(x.shape, wanted)
    except PrepareError as error:
        if not source:
            raise
        raise PrepareError(
            f"{error} (tensor {x.index} {x.name!r}). The {source} fixes the shape {wanted}: inputs can be "
            "resized where the model was converted with that size left open (-1)"
        ) from error


def _prepare_squeeze(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("SQUEEZE", node, 1)
    return _finish(context, node, "SQUEEZE", _squeeze_shape, None)


def _squeeze_shape(context: Context, node: Node) -> Shape:
    axes = getattr(node.options, "squeeze_dims", None)
    return squeezed(context.input(node, 0).shape, [] if axes is None else [int(axis) for axis in axes])


def _prepare_expand_dims(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("EXPAND_DIMS", node, 2)
    check_same_quantization("EXPAND_DIMS", context.input(node, 0), context.output(node, 0))
    return _finish(context, node, "EXPAND_DIMS", _expand_dims_shape, context.input(node, 1))


def _expand_dims_shape(context: Context, node: Node) -> Shape:
    axis = scalar_integer("EXPAND_DIMS", "axis", context.input(node, 1))
    return expanded(context.input(node, 0).shape, axis)


ShapeRule = Callable[[Context, Node], Shape]


def _finish(
    context: Context, node: Node, operator: str, rule: ShapeRule, shape_input: Tensor | None
) -> Sequence[KernelCall] | None:
    """Size the output and copy, or wait for the run when the tensor that tells the shape is not constant."""
    x = context.input(node, 0)
    y = output_of(context, node, operator, x)
    if x.type == TensorType.STRING or (shape_input is not None and not shape_input.is_constant):
        context.set_dynamic(y)
        return None
    shape = rule(context, node)
    if is_small_constant([x], y, shape):
        set_constant(context, y, x.array().reshape(shape))
        return []
    context.resize_tensor(y, shape)
    return flat_copy_calls(context, x, y, x.size * element_bytes(x, operator))


def _invoke(operator: str, rule: ShapeRule) -> Callable[[Context, Node], None]:
    def invoke(context: Context, node: Node) -> None:
        x, y = context.input(node, 0), context.output(node, 0)
        context.resize_tensor(y, rule(context, node))
        if x.type == TensorType.STRING:
            if x.data is None and x.size:
                raise InvokeError(f"{operator}: tensor {x!r}: it is read, but nothing gives it a value")
            y.bind(None if x.data is None else x.data.copy())
            return
        nbytes = x.size * element_bytes(x, operator)
        if nbytes and x.data is not None and y.data is not None:
            y.data[:nbytes] = x.dense_bytes()[:nbytes]

    return invoke


REGISTRATIONS = (
    registration("RESHAPE", _prepare_reshape, _invoke("RESHAPE", _reshape_shape)),
    registration("SQUEEZE", _prepare_squeeze, _invoke("SQUEEZE", _squeeze_shape)),
    registration("EXPAND_DIMS", _prepare_expand_dims, _invoke("EXPAND_DIMS", _expand_dims_shape)),
)
