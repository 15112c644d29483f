"""TRANSPOSE_CONV: the node, checked, and its calls: one convolution for each phase of the output."""

from __future__ import annotations

from math import prod

import numpy as np

from ...lite.context import Context
from ...lite.errors import PrepareError
from ...lite.kernel_call import KernelCall
from ...lite.node import Node
from ...lite.tensor import Tensor, TensorType
from ..compiled.language.dot_forms import products_of
from ..index_vector import integers
from ..operators import registration
from ..requantize import UPWARD_ROUNDING
from ..strided_copy import StridedCopy, row_major_strides, strided_copy_calls
from . import filter_q8, packed_f32, packed_q8, plain
from .geometry import transpose_conv_geometry
from .node import FilterNode, check_bias, check_types, resolve
from .sums import QuantizedSums, hybrid_sums, quantized_sums, transposed_filter_fits
from .table import Ways, prepared
from .transpose_conv_phases import Phase, phase_weights, phases


def operands(context: Context, node: Node) -> FilterNode:
    """The node's tensors, checked but for sizes; the shape comes first among its inputs, the bias last."""
    n = resolve(context, node, (2, 1, 3))
    check_types(n)
    if len(n.w.shape) == 4:
        check_bias(n, n.w.shape[0])
    return n


def checked(context: Context, node: Node) -> FilterNode:
    """A node whose output shape has a value, with its sizes.

    Raises PrepareError or UnsupportedError for tensors that do not fit.
    """
    n, shape = operands(context, node), context.input(node, 0)
    if node.options is None:
        raise PrepareError(f"{n.operator}: strides must be at least 1, got a node without options")
    if shape.type != TensorType.INT32 or len(shape.shape) != 1:
        raise PrepareError(f"{n.operator}: the output shape must be a vector of int32, got {shape!r}")
    strides, sizes = (node.options.stride_h, node.options.stride_w), tuple(integers(shape))
    geometry = transpose_conv_geometry(node.options.padding, strides, sizes, n.x.shape, n.w.shape)
    return n._replace(geometry=geometry)


def checked_unless_late(context: Context, node: Node) -> FilterNode | None:
    """The node, its output sized; None where `invoke` will know the output's shape."""
    if not context.input(node, 0).is_constant:
        context.set_dynamic(operands(context, node).y)
        return None
    n = checked(context, node)
    context.resize_tensor(n.y, n.geometry.output_shape)
    return n


def invoke(context: Context, node: Node) -> None:
    """The output's shape is known only now."""
    n = checked(context, node)
    context.resize_tensor(n.y, n.geometry.output_shape)
    if n.y.size:
        from .transpose_conv_late import compute

        n.y.array()[...] = compute(n)


def _phase_output(n: FilterNode, phase: Phase) -> tuple[Tensor, list[KernelCall]]:
    """Where a phase's pixels [batch, height, width, out_depth] go, and the calls that bring them into y."""
    g = n.geometry
    if phase.pixels == g.out_height * g.out_width:
        return n.y, []
    item_bytes = n.y.dtype.itemsize
    sizes = (g.batch, phase.height, phase.width, g.out_depth)
    scratch = n.scratch(prod(sizes) * item_bytes)
    image, row, column, item = row_major_strides(g.output_shape, item_bytes)
    copy = StridedCopy(
        item_bytes,
        sizes,
        0,
        row_major_strides(sizes, item_bytes),
        phase.first_row * row + phase.first_column * column,
        (image, row * g.stride_h, column * g.stride_w, item),
    )
    return scratch, list(strided_copy_calls(n.context, copy, scratch, n.y))


def float_calls(n: FilterNode) -> list[KernelCall]:
    g = n.geometry
    image = g.in_height * g.in_width * g.in_depth
    found: list[KernelCall] = []
    for phase in phases(g):
        y, copying = _phase_output(n, phase)
        packing, packed = _packed(n, phase)
        table, step = phase.table, g.in_depth
        call = packed_f32.indirect_call(n, y, packed, table, image, 1, g.out_depth, step)
        found += [*packing, call, *copying]
    return found


def _packed(n: FilterNode, phase: Phase) -> tuple[list[KernelCall], Tensor | np.ndarray]:
    """The panels of a phase, and the calls that make them where the weights are not constant."""
    g = n.geometry
    depth = phase.taps * g.in_depth
    if n.is_constant:
        weights = phase_weights(n.w.array(), phase).reshape(g.out_depth, depth)
        return [], packed_f32.pack_panels(weights, n.biases(-1))
    copying, gathered = _phase_weights_now(n, phase)
    packing, packed = packed_f32.packing_call(n, gathered, n.bias, 1, g.out_depth, depth)
    return [*copying, *packing], packed


def _phase_weights_now(n: FilterNode, phase: Phase) -> tuple[list[KernelCall], Tensor]:
    """The call that gathers a phase's taps in each invoke; those outside may be anything finite."""
    out_depth, height, width, depth = n.w.shape
    rows, columns = (range(*s.indices(n)) for s, n in ((phase.tap_rows, height), (phase.tap_columns, width)))
    sizes = (out_depth, len(rows), len(columns), depth)
    if prod(sizes) == 0:
        # No tap at all: the one there is lies outside, so that any weights do.
        return [], n.w
    scratch = n.scratch(prod(sizes) * 4)
    tap, row, column, item = row_major_strides(n.w.shape, 4)
    copy = StridedCopy(
        4,
        sizes,
        rows.start * row + columns.start * column,
        (tap, row * rows.step, column * columns.step, item),
        0,
        row_major_strides(sizes, 4),
    )
    return list(strided_copy_calls(n.context, copy, n.w, scratch)), scratch


def byte_calls(n: FilterNode) -> list[KernelCall]:
    """int8 and uint8, with constant weights."""
    f, g = quantized_sums(n), n.geometry
    if f.rounding != UPWARD_ROUNDING:
        found = phases(g)
        packed = [p for p in (_packed_phase(f, phase) for phase in found) if p is not None]
        if len(packed) == len(found):
            return _phase_calls(n, f, list(zip(found, packed, strict=True)))
    return plain.transposed_calls(n)


def _packed_phase(f: QuantizedSums, phase: Phase) -> filter_q8.PackedFilter | None:
    weights = phase_weights(f.w.array(), phase, f.w_zero_point)
    return filter_q8.pack_filter(f, weights[np.newaxis], products_of(len(phase.table), of_one=False))


def _phase_calls(
    n: FilterNode, f: QuantizedSums, parts: list[tuple[Phase, filter_q8.PackedFilter]]
) -> list[KernelCall]:
    found: list[KernelCall] = []
    for phase, packed in parts:
        y, copying = _phase_output(n, phase)
        found += [packed_q8.indirect_call(n, f, packed, _windows(n, phase), n.x, y), *copying]
    return found


def _windows(n: FilterNode, phase: Phase) -> packed_q8.Windows:
    g = n.geometry
    return packed_q8.Windows(phase.table, g.in_height * g.in_width * g.in_depth, g.in_depth, g.in_depth)


def hybrid_calls(n: FilterNode) -> list[KernelCall]:
    """Constant weights; each image is quantized for itself."""
    f, g = hybrid_sums(n), n.geometry
    if not (n.may_use_xnnpack and transposed_filter_fits(n)):
        return plain_hybrid_calls(n)
    padding_bytes = packed_q8.hybrid_padding(g.in_depth)
    rows = packed_q8.quantized_rows(n, g.batch, "quantize_rows", padding_bytes=padding_bytes)
    found = [*rows.calls]
    for phase in phases(g):
        y, copying = _phase_output(n, phase)
        weights = phase_weights(f.w.array(), phase)[np.newaxis]
        packed = filter_q8.pack_hybrid(f, weights, products_of(len(phase.table), of_one=False))
        found += [packed_q8.hybrid_indirect_call(n, rows, packed, _windows(n, phase), y), *copying]
    return found


def plain_hybrid_calls(n: FilterNode) -> list[KernelCall]:
    """The same with weights that are given while running."""
    return plain.hybrid_calls(n, symmetric=False, channel_first=True)


_F32, _I8, _U8, _I16 = TensorType.FLOAT32, TensorType.INT8, TensorType.UINT8, TensorType.INT16
WAYS: Ways = {
    ("TRANSPOSE_CONV", _F32, _F32): (float_calls, float_calls),
    ("TRANSPOSE_CONV", _F32, _I8): (hybrid_calls, plain_hybrid_calls),
    ("TRANSPOSE_CONV", _I8, _I8): (byte_calls, plain.transposed_calls),
    ("TRANSPOSE_CONV", _U8, _U8): (byte_calls, plain.transposed_calls),
    ("TRANSPOSE_CONV", _I16, _I8): (plain.transposed_calls, plain.transposed_calls),
}

REGISTRATIONS = (registration("TRANSPOSE_CONV", prepared(checked_unless_late, WAYS), invoke),)
