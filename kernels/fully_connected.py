"""FULLY_CONNECTED: the shape rule, the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .decoded_constant import PACKED_TYPES, with_decoded_input, with_signed_weights
from .filter_types import check_bias, check_types
from .fully_connected_geometry import FullyConnectedGeometry, fully_connected_geometry
from .operators import registration


def _xnnpack_takes_packed(w: Tensor) -> bool:
    """Whether XNNPACK's delegate takes packed weights: rows must be whole bytes."""
    packed = PACKED_TYPES.get(TensorType(w.type))
    return packed is not None and bool(w.shape) and w.shape[-1] * packed[0] % 8 == 0


class CheckedFullyConnected(NamedTuple):
    """A checked node: the context in which its constants are decoded, its sizes and what sets it apart."""

    context: Context
    geometry: FullyConnectedGeometry
    sparse: bool
    shuffled: bool


def _widens(x: Tensor, w: Tensor, y: Tensor) -> bool:
    return x.type == w.type == TensorType.UINT8 and y.type == TensorType.INT16


def checked(context: Context, node: Node) -> CheckedFullyConnected:
    """The node, checked; the output gets its shape."""
    sparse = context.input(node, 1).sparsity is not None
    by_xnnpack = _xnnpack_takes_packed(context.input(node, 1))
    context = with_decoded_input(context, node, 1, by_xnnpack, by_reference=sparse)
    context = with_signed_weights(context, node)
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    bias = context.optional_input(node, 2)
    widens = _widens(x, w, y)
    if not widens:
        check_types("FULLY_CONNECTED", x, w, bias, y)
    geometry = _geometry(node, x, w)
    check_bias("FULLY_CONNECTED", bias, geometry.out_depth)
    shuffled = _is_shuffled(node)
    if shuffled and not widens:
        raise PrepareError(
            "FULLY_CONNECTED: shuffled weights need uint8 inputs and int16 outputs, "
            f"got {x.type_name}, {w.type_name} and {y.type_name}"
        )
    context.resize_tensor(y, geometry.output_shape)
    return CheckedFullyConnected(context, geometry, sparse, shuffled)


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    context, geometry, sparse, shuffled = checked(context, node)
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if _widens(x, w, y):
        from . import fully_connected_u8_i16

        fully_connected_u8_i16.check(context, node, geometry, shuffled)
        return None
    if y.size == 0:
        return []
    if x.type == TensorType.FLOAT32:
        if w.quantization is not None and w.quantization.block_size:
            from . import fully_connected_blockwise

            return fully_connected_blockwise.calls(context, node, geometry)
        if w.type != TensorType.FLOAT32:
            from . import fully_connected_hybrid

            return fully_connected_hybrid.calls(context, node, geometry)
        from . import fully_connected_f32

        return fully_connected_f32.calls(context, node, geometry)
    if x.type == TensorType.INT16:
        from . import fully_connected_q16

        return fully_connected_q16.calls(context, node, geometry)
    from . import fully_connected_q8

    return fully_connected_q8.calls(context, node, geometry, sparse)


def _geometry(node: Node, x: Tensor, w: Tensor) -> FullyConnectedGeometry:
    keep_num_dims = node.options is not None and bool(node.options.keep_num_dims)
    return fully_connected_geometry(keep_num_dims, x.shape, w.shape)


def _is_shuffled(node: Node) -> bool:
    """Whether the weights are in blocks of 4 rows by 16 columns."""
    weights_format = 0 if node.options is None else node.options.weights_format
    if weights_format not in (0, 1):
        raise UnsupportedError(
            "FULLY_CONNECTED: weights_format must be DEFAULT (0) or SHUFFLED4x16INT8 (1), "
            f"got {weights_format}; a model converted without it would run"
        )
    return bool(weights_format)


def invoke(context: Context, node: Node) -> None:
    """uint8 to int16, which no kernel computes."""
    from . import fully_connected_u8_i16

    geometry = _geometry(node, context.input(node, 0), context.input(node, 1))
    fully_connected_u8_i16.compute(context, node, geometry, _is_shuffled(node))


REGISTRATIONS = (registration("FULLY_CONNECTED", prepare, invoke),)
