"""BATCH_MATMUL: the checks, and the calls in each type."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...lite.context import Context, Numerics
from ...lite.errors import PrepareError, UnsupportedError
from ...lite.kernel_call import LONGEST_NS, KernelCall
from ...lite.node import Node
from ...lite.tensor import Tensor, TensorType
from ..compiled.language.dot_forms import Products, products_of, tiles_are_short
from ..operators import registration
from ..requantize import DOUBLE_ROUNDING, FLOAT_ROUNDING, channel_requantization, quantization_of
from .batch_matmul_geometry import (
    BatchMatmulGeometry,
    adjoints,
    batch_matmul_geometry,
    hybrid_scales,
    operands,
)
from .batch_matmul_real import check_output, has_depth_scales, run
from .blocks import (
    BATCH_MATMUL_F32,
    BATCH_MATMUL_PLAIN,
    BATCH_MATMUL_PLAIN_HYBRID,
    BATCH_MATMUL_Q8,
    BATCH_MATMUL_ROWS_F32,
    BATCH_MATMUL_ROWS_Q8,
    GEMM_Q8,
    PACK_MATRICES_F32,
    PACK_MATRICES_Q8,
)
from .cutting import address, block_rows, longest_part, packed_columns
from .filter_q8 import (
    hybrid_output,
    joined,
    missing_sizes,
    offset_of,
    output_block,
    pack_hybrid,
    panels,
    rounding_rows,
)
from .node import FilterNode, resolve
from .packed_f32 import pack_groups, with_weights
from .packed_q8 import quantized_rows
from .sums import HybridSums, QuantizedSums, sums_fit

_BLOCK_BYTES = 384 * 1024  # of x, so that it stays in the second-level cache while w streams by
_PACKED_PER_NS = 2
_MOST_UNPACKED = 3  # rows by matrices that are no constants
_UNEQUAL = 1.1  # by how much one thread's share of the pairs may exceed another's
_FLOAT_NS, _BYTES_NS, _PLAIN_NS = 1 / 50, 1 / 200, 0.1  # for a multiplication

Calls = Callable[[FilterNode, BatchMatmulGeometry], list[KernelCall]]


def float_calls(n: FilterNode, g: BatchMatmulGeometry) -> list[KernelCall]:
    if not n.w.is_constant and g.rows <= _MOST_UNPACKED:
        return _float_row_calls(n, g)
    found = operands(n, None if n.w.is_constant else False)
    matrix_size = (g.depth + 1) * packed_columns(g.columns)
    packing: list[KernelCall] = []
    packed: Tensor | np.ndarray
    if n.w.is_constant:
        packed = pack_groups(_by_columns(found.n.w, found.w_by_columns, g), None)
    else:
        packed = n.scratch(g.w_matrices * matrix_size * 4)
        packing = _packing(found.n, g, packed, "batch_matmul_f32", "pack_matrices_f32", PACK_MATRICES_F32)
    args = g.block(BATCH_MATMUL_F32)
    args["w_bytes"], args["block_rows"] = matrix_size * 4, block_rows(_BLOCK_BYTES, g.depth * 4)
    tensors, keep = {"x": found.n.x, "y": n.y}, (g.x_index, g.w_index)
    chunks, name = n.chunks(g.multiplies * _FLOAT_NS), "batch_matmul_f32"
    return [*found.calls, *packing, with_weights(name, name, args, tensors, packed, chunks, keep)]


def _float_row_calls(n: FilterNode, g: BatchMatmulGeometry) -> list[KernelCall]:
    """The calls of few rows, for which packing w would not pay."""
    found, args = operands(n), g.block(BATCH_MATMUL_ROWS_F32)
    args["by_columns"] = found.w_by_columns
    chunks = n.chunks(g.multiplies * _FLOAT_NS, g.batches * g.rows)
    name, tensors, keep = "rows_by_matrices_f32", dict(found.n.tensors), (g.x_index, g.w_index)
    return [*found.calls, KernelCall(name, "batch_matmul_rows_f32", args, tensors, chunks, keep=keep)]


def _by_columns(w: Tensor, by_columns: bool, g: BatchMatmulGeometry) -> np.ndarray:
    """A constant w as [matrices, columns, depth]."""
    matrices = w.array().reshape(g.w_matrices, *w.shape[-2:])
    return matrices if by_columns else matrices.transpose(0, 2, 1)


def _packing(
    n: FilterNode,
    g: BatchMatmulGeometry,
    packed: Tensor,
    family: str,
    kernel: str,
    block: np.dtype,
    **fields: float,
) -> list[KernelCall]:
    """The call that packs w in each invoke."""
    args = np.zeros(1, block)
    args["matrices"], args["columns"], args["depth"] = g.w_matrices, g.columns, g.depth
    for name, value in fields.items():
        args[name] = value
    chunks = n.chunks(g.w_matrices * g.columns * g.depth / _PACKED_PER_NS)
    return [KernelCall(family, kernel, args, {"w": n.w, "packed": packed}, chunks)]


def byte_calls(n: FilterNode, g: BatchMatmulGeometry) -> list[KernelCall]:
    """int8; plain loops only where sums could overflow in vector kernels."""
    f = _quantized(n, g)
    if f is None:
        return plain_calls(n, g)
    rows, found = rounding_rows(f.rounding, f.requantization), operands(n)
    if not n.w.is_constant and g.rows <= _MOST_UNPACKED:
        return [*found.calls, _rows_call(found.n, g, f, found.w_by_columns)]
    products = _products(g, f.w_zero_point)
    packing: list[KernelCall] = []
    packed: Tensor | np.ndarray
    if n.w.is_constant:
        packed = _packed(_by_columns(found.n.w, found.w_by_columns, g), f, rows, products)
    else:
        steps, name = -(-g.depth // 4), "pack_matrices_q8"
        header = panels(np.zeros((g.columns, 1, 0), np.int8), np.stack(rows))
        packed = n.scratch(g.w_matrices * (1 + len(rows) + steps) * packed_columns(g.columns) * 4)
        fields = {"by_columns": found.w_by_columns, "x_offset": offset_of(f, products)}
        fields |= {"w_zero_point": f.w_zero_point}
        fields |= {"rounding_rows": address(header), "header_rows": 1 + len(rows)}
        packing = _packing(found.n, g, packed, name, name, PACK_MATRICES_Q8, **fields)
        packing[0].keep = (header,)
    return [*found.calls, *packing, _byte_call(found.n, g, f, packed, products)]


def _products(g: BatchMatmulGeometry, w_zero_point: int = 0) -> Products:
    """What multiplies a pair's rows: tiles where signed bytes are summed up, too."""
    return Products.TILES if w_zero_point else products_of(g.rows, of_one=False)


def _rows_call(n: FilterNode, g: BatchMatmulGeometry, f: QuantizedSums, by_columns: bool) -> KernelCall:
    """The call of few rows, for which packing w would not pay."""
    args, chunks = g.block(BATCH_MATMUL_ROWS_Q8), n.chunks(g.multiplies * _BYTES_NS, g.batches * g.rows)
    args["by_columns"], args["rounding"] = by_columns, f.rounding
    args["x_offset"], args["w_zero_point"], args["y_zero_point"] = f.x_offset, f.w_zero_point, f.y_zero_point
    scaling = f.requantization.arrays()
    for name in ("multipliers", "shifts", "float_scales"):
        args[name] = address(scaling[name])
    args["scratch_bytes"] = nbytes = 2 * (-(-g.depth // 64) * 64) + -(-g.columns // 64) * 256
    tensors = {"x": n.x, "w": n.w, "y": n.y, "scratch": n.scratch(nbytes * chunks)}
    keep = (g.x_index, g.w_index, *scaling.values())
    return KernelCall("rows_by_matrices_q8", "batch_matmul_rows_q8", args, tensors, chunks, keep=keep)


def _packed(matrices: np.ndarray, f: QuantizedSums, rows: list[np.ndarray], products: Products) -> np.ndarray:
    """The panels of constant [matrices, columns, depth]."""
    sums = matrices.sum(axis=2, dtype=np.int64) - matrices.shape[2] * f.w_zero_point
    terms = -offset_of(f, products) * sums
    if products is Products.TILES and tiles_are_short():
        terms += np.stack([missing_sizes(matrix) for matrix in matrices])
    headers = [np.stack([term, *rows]) for term in terms.astype(np.int32)]
    return joined([panels(m[:, None, :], head) for m, head in zip(matrices, headers, strict=True)])


def _byte_call(
    n: FilterNode,
    g: BatchMatmulGeometry,
    f: QuantizedSums,
    packed: Tensor | np.ndarray,
    products: Products,
) -> KernelCall:
    """The call of the rounding's kernel; the exact one adds what the zero point of w makes of x's rows."""
    output = output_block(f, products=products)
    if f.rounding == FLOAT_ROUNDING:
        return _pairs_call("batch_matmul_q8", n, g, g.depth, output, packed, None)
    sums: Tensor | np.ndarray = np.zeros(g.rows, np.int32)
    if f.w_zero_point:
        sums = n.scratch(_row_count(g) * 4)
    name, factor = "batch_matmul_exact_q8", -f.w_zero_point
    return _pairs_call(name, n, g, g.depth, output, packed, sums, factor)


def _quantized(n: FilterNode, g: BatchMatmulGeometry) -> QuantizedSums | None:
    """How sums become outputs: as XNNPACK rounds them, or the reference where it would not take the node.

    None where vector kernels cannot hold the sums.
    """
    requantization = channel_requantization("BATCH_MATMUL", n.x, n.w, n.y, g.columns, True)
    x, w, y = (quantization_of("BATCH_MATMUL", tensor) for tensor in (n.x, n.w, n.y))
    zero_points = (x.zero_point, w.zero_point, y.zero_point)
    f = QuantizedSums(n.x, n.w, None, n.y, *zero_points, -128, 127, FLOAT_ROUNDING, requantization)
    takes = n.numerics is Numerics.DEFAULT and w.zero_point == 0 and len(w.scales) == 1
    if takes and float(requantization.float_scales[0]) < 256:
        scale = float(requantization.float_scales[0])
        if 255 * 128 * g.depth * max(scale, 1.0) < 2**30:
            return f
    f = f._replace(rounding=DOUBLE_ROUNDING)
    largest = np.full(g.columns, 255 * 255 * g.depth, np.int64)
    return f if sums_fit(DOUBLE_ROUNDING, largest, requantization) else None


def _pairs_call(
    kernel: str,
    n: FilterNode,
    g: BatchMatmulGeometry,
    x_stride: int,
    output: np.ndarray,
    packed: Tensor | np.ndarray,
    sums: Tensor | np.ndarray | None,
    sum_factor: int = 0,
) -> KernelCall:
    """The call of a kernel of pairs.

    sums is, for hybrid ones, how x's rows were quantized, and for others room for sum_factor times the
    sum of each, or zeros.
    """
    block = np.zeros(1, GEMM_Q8)
    block["rows"], block["columns"], block["depth"] = g.rows, g.columns, g.depth
    block["x_stride"], block["output"], block["sum_factor"] = x_stride, address(output), sum_factor
    block["block_rows"] = block_rows(_BLOCK_BYTES, g.depth, 14)
    work_ns = g.multiplies * _BYTES_NS
    by_batches = g.batches > 1 and work_ns / g.batches < LONGEST_NS
    if by_batches and n.context.num_threads > 1:
        # Threads get equal shares of the rows where they would not of the pairs.
        chunks, threads = n.chunks(work_ns), n.context.num_threads
        by_batches = longest_part(g.batches, chunks, threads) * threads <= _UNEQUAL * g.batches
    chunks = n.chunks(work_ns, g.batches if by_batches else g.rows)
    copies = np.repeat(block, chunks)
    args = g.block(BATCH_MATMUL_Q8)
    args["split_rows"] = not by_batches
    args["blocks"], args["w_bytes"] = address(copies), packed.size // g.w_matrices
    args["x_bytes"], args["y_bytes"] = g.rows * x_stride, g.rows * g.columns * n.y.dtype.itemsize
    tensors, keep = {"x": n.x, "y": n.y}, [copies, output, g.x_index, g.w_index]
    if isinstance(sums, np.ndarray):
        args["sums"] = address(sums)
        keep.append(sums)
    elif sums is not None:
        tensors["sums"] = sums
        args["sums_bytes"] = sums.size // g.x_matrices if g.batches > 1 else 0
    return with_weights(kernel, kernel, args, tensors, packed, chunks, tuple(keep))


def hybrid_calls(n: FilterNode, g: BatchMatmulGeometry) -> list[KernelCall]:
    """float32 rows, each quantized for itself, by int8."""
    if n.numerics is not Numerics.DEFAULT or not n.w.is_constant:
        return plain_hybrid_calls(n, g)
    scales, found = hybrid_scales(n, g), operands(n)
    rows = quantized_rows(found.n, _row_count(g), "quantize_rows", depth=g.depth)
    matrices = _by_columns(found.n.w, found.w_by_columns, g)
    sums = HybridSums(n.x, n.w, None, n.y, scales[0], -np.inf, np.inf)
    products = _products(g)
    parts = [
        pack_hybrid(sums._replace(scales=part), matrix[np.newaxis, :, np.newaxis], products).weights
        for part, matrix in zip(scales, matrices, strict=True)
    ]
    output = hybrid_output(-np.inf, np.inf, products=products)
    of_rows = found.n._replace(x=rows.x)
    name = "batch_matmul_hybrid"
    call = _pairs_call(name, of_rows, g, rows.stride, output, joined(parts), rows.quantization)
    return [*found.calls, *rows.calls, call]


def _row_count(g: BatchMatmulGeometry) -> int:
    return g.rows if g.batches == 1 else g.rows * g.x_matrices


# By the types of x and of y, or for int16 of w.
_KERNELS = {
    (TensorType.INT8, TensorType.INT8): ("batch_matmul_plain_q8", "batch_matmul_i8"),
    (TensorType.INT8, TensorType.INT32): ("batch_matmul_plain_q8", "batch_matmul_i8_i32"),
    (TensorType.INT16, TensorType.INT16): ("batch_matmul_plain_q16", "batch_matmul_i16"),
    (TensorType.INT16, TensorType.INT8): ("batch_matmul_plain_q16", "batch_matmul_i16_i8"),
}


def plain_calls(n: FilterNode, g: BatchMatmulGeometry) -> list[KernelCall]:
    """Integers."""
    found = operands(n, True)
    args, keep = g.block(BATCH_MATMUL_PLAIN), [g.x_index, g.w_index]
    if n.y.type != TensorType.INT32:
        requantization = channel_requantization("BATCH_MATMUL", n.x, n.w, n.y, g.columns, True)
        zero_points = [int(quantization_of("BATCH_MATMUL", t).zero_point) for t in (n.x, n.w, n.y)]
        if n.x.type == TensorType.INT16 and any(zero_points):
            raise PrepareError(f"BATCH_MATMUL: zero points of int16 must be 0, got {zero_points}")
        args["x_zero_point"], args["w_zero_point"], args["y_zero_point"] = zero_points
        scaling = [np.ascontiguousarray(v) for v in (requantization.multipliers, requantization.shifts)]
        args["multipliers"], args["shifts"] = map(address, scaling)
        keep += scaling
    second = n.w.type if n.x.type == TensorType.INT16 else n.y.type
    family, kernel = _KERNELS[TensorType(n.x.type), TensorType(second)]
    chunks = n.chunks(g.multiplies * _PLAIN_NS, g.batches * g.rows)
    return [*found.calls, KernelCall(family, kernel, args, dict(found.n.tensors), chunks, keep=keep)]


def plain_hybrid_calls(n: FilterNode, g: BatchMatmulGeometry) -> list[KernelCall]:
    scales, found = hybrid_scales(n, g), operands(n, True)
    asymmetric = n.node.options is not None and bool(n.node.options.asymmetric_quantize_inputs)
    rows = quantized_rows(found.n, _row_count(g), "quantize_rows_reference", not asymmetric, 0, g.depth)
    args, index = g.block(BATCH_MATMUL_PLAIN_HYBRID), g.x_index * g.rows
    args["x_stride"], args["scales"], args["quantization_index"] = (
        rows.stride,
        address(scales),
        address(index),
    )
    tensors = {**found.n.tensors, "x": rows.x, "quantization": rows.quantization}
    chunks = n.chunks(g.multiplies * _PLAIN_NS, g.batches * g.rows)
    name, keep = "batch_matmul_plain_hybrid", (g.x_index, g.w_index, scales, index)
    return [*found.calls, *rows.calls, KernelCall(name, name, args, tensors, chunks, keep=keep)]


_F32, _I8, _I16, _I32 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.INT32
# By the types of both sides and the result.
CALLS: dict[tuple[TensorType, TensorType, TensorType], Calls] = {
    (_F32, _F32, _F32): float_calls,
    (_F32, _I8, _F32): hybrid_calls,
    (_I8, _I8, _I8): byte_calls,
    (_I8, _I8, _I32): plain_calls,
    (_I16, _I16, _I16): plain_calls,
    (_I16, _I8, _I16): plain_calls,
}


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    n = resolve(context, node)
    calls = CALLS.get((TensorType(n.x.type), TensorType(n.w.type), TensorType(n.y.type)))
    if calls is None:
        raise UnsupportedError(
            "BATCH_MATMUL: built for float32, float32 x int8, int8 (to int8 or int32), int16, int16 x int8, "
            f"got {n.x.type_name} x {n.w.type_name} to {n.y.type_name}"
        )
    geometry = batch_matmul_geometry(*adjoints(node), n.x.shape, n.w.shape)
    context.resize_tensor(n.y, geometry.output_shape)
    if n.y.size == 0:
        return []
    if geometry.depth == 0:
        return None
    if has_depth_scales(node, n.x, n.w):
        check_output(n.y)
        return None
    return calls(n, geometry)


def invoke(context: Context, node: Node) -> None:
    """What no kernel takes: an empty sum, which is zeros, and scales along the dimension summed over."""
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if x.size and w.size:
        run(context, node)
        return
    quantization = y.quantization
    y.array()[...] = 0 if quantization is None or y.type not in (_I8, _I16) else quantization.zero_point


REGISTRATIONS = (registration("BATCH_MATMUL", prepare, invoke),)
