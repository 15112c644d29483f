"""Contractions in 8 bits with packed weights: the calls of products and convolutions."""

from __future__ import annotations

import numpy as np

from ...lite.kernel_call import KernelCall
from ...lite.tensor import Tensor
from ...schema.named_tuple import NamedTuple
from ..compiled.language.dot_forms import Products, products_of
from ..requantize import FLOAT_ROUNDING
from .blocks import GEMM_Q8, INDIRECT_Q8, QUANTIZE_ROWS, ROW_QUANTIZATION
from .cutting import address, aligned, block_rows, cut
from .filter_q8 import PackedFilter, hybrid_filter, hybrid_panels
from .node import FilterNode
from .sums import HybridSums, QuantizedSums

_PRODUCT_BYTES, _WINDOW_BYTES = 384 * 1024, 256 * 1024
_PRODUCT_NS, _WINDOW_NS = 1 / 200, 1 / 180  # for a multiplication
_QUANTIZED_PER_NS = 4
_RANGE_BYTES = 8  # two float32
_TILE, _MATRIX_ROWS = 14, 32  # blocks are multiples of so many rows


class QuantizedRows(NamedTuple):
    """The calls that quantize x, and the scratch it fills: by the names that kernels have for it."""

    calls: list[KernelCall]
    x: Tensor
    quantization: Tensor
    padding: dict[str, Tensor]
    stride: int


def quantized_rows(
    n: FilterNode,
    rows: int,
    kernel: str,
    symmetric: bool = False,
    padding_bytes: int = 0,
    depth: int | None = None,
) -> QuantizedRows:
    """Quantize the node's input, read as [rows, depth]; without a depth, all of it.

    The kernels: quantize_rows, asymmetric as XNNPACK does it; quantize_rows_reference, as
    TFLite's tensor_utils do it, symmetric or not.
    """
    depth = n.x.size // rows if depth is None else depth
    stride = -(-depth // 4) * 4
    args = np.zeros(1, QUANTIZE_ROWS)
    args["rows"], args["depth"], args["stride"] = rows, depth, stride
    args["padding_bytes"], args["symmetric"] = padding_bytes, symmetric
    q, quantization = n.scratch(rows * stride), n.scratch(rows * ROW_QUANTIZATION.itemsize)
    tensors = {"x": n.x, "q": q, "quantization": quantization}
    padding = {"padding": n.scratch(rows * padding_bytes)} if padding_bytes else {}
    pieces = n.chunks(rows * depth / _QUANTIZED_PER_NS)
    parts = -(-pieces // rows) if rows < min(pieces, n.context.num_threads) else 1
    args["parts"] = parts
    chunks = min(rows * parts, pieces)
    calls = []
    if parts > 1:
        tensors["ranges"] = n.scratch(rows * parts * _RANGE_BYTES)
        calls.append(KernelCall("quantize_rows", "row_ranges", args.copy(), tensors, chunks))
    calls.append(KernelCall(kernel, kernel, args, {**tensors, **padding}, chunks))
    return QuantizedRows(calls, q, quantization, padding, stride)


def product_calls(n: FilterNode, f: QuantizedSums, packed: PackedFilter) -> list[KernelCall]:
    """The call of y [rows, columns] = requantized(x [rows, depth] times packed weights)."""
    rows = n.geometry.out_pixels
    sums = _sums_of(n, packed, f.rounding, rows)
    if rows == 1:
        name = "gemv_q8" if f.rounding == FLOAT_ROUNDING else "gemv_exact_q8"
    else:
        name = "gemm_" + _variant(f.rounding, packed.sum_factor)
    return [_product_call(name, n, n.x, packed, sums, None)]


def hybrid_product_calls(n: FilterNode, f: HybridSums) -> list[KernelCall]:
    """The calls of y [rows, columns] = x [rows, depth] times w, each row quantized for itself."""
    rows = n.geometry.out_pixels
    quantized = quantized_rows(n, rows, "quantize_rows")
    weights = f.w.array().reshape(1, n.geometry.out_depth, 1, -1)
    found = n.packed_once("hybrid", lambda: hybrid_panels(f, weights), shared=True)
    packed = hybrid_filter(f, *found, products_of(rows))
    name = "gemv_hybrid" if rows == 1 else "gemm_hybrid"
    call = _product_call(name, n, quantized.x, packed, quantized.quantization, quantized.stride)
    return [*quantized.calls, call]


def _product_call(
    name: str,
    n: FilterNode,
    x: Tensor,
    packed: PackedFilter,
    sums: Tensor | np.ndarray,
    x_stride: int | None,
) -> KernelCall:
    g = n.geometry
    rows, columns, depth = g.out_pixels, g.out_depth, g.taps * g.in_depth
    args = np.zeros(1, GEMM_Q8)
    args["rows"], args["columns"], args["depth"] = rows, columns, depth
    args["x_stride"] = depth if x_stride is None else x_stride
    tile = _MATRIX_ROWS if packed.products is Products.MATRICES else _TILE
    args["block_rows"] = block_rows(_PRODUCT_BYTES, depth, tile)
    chunks = cut(n.context, args, rows * columns * depth * _PRODUCT_NS, rows, columns)
    return _packed_call(name, args, {"x": x, "y": n.y}, packed, sums, chunks)


class Windows(NamedTuple):
    """A convolution through a table, int32 [pixels, taps], of elements in images.

    step is by how many elements of an image an output pixel moves on, about.
    """

    table: np.ndarray
    image_bytes: int
    depth: int
    step: int
    groups: int = 1


def indirect_call(
    n: FilterNode, f: QuantizedSums, packed: PackedFilter, windows: Windows, x: Tensor, y: Tensor
) -> KernelCall:
    """The call of a convolution of x by packed weights; outside there is the input's zero point."""
    padding = aligned(windows.depth)
    padding[:] = f.x_zero_point & 0xFF
    args = np.zeros(1, INDIRECT_Q8)
    args["padding"] = address(padding)
    sums = _sums_of(n, packed, f.rounding, n.geometry.batch * len(windows.table))
    # Groups share the scratch of the sums, so that chunks must not share pixels.
    may_split = windows.groups == 1 or not packed.sum_factor
    chunks = _fill_windows(n, args, windows, may_split)
    name = "conv_" + _variant(f.rounding, packed.sum_factor)
    tensors = {"x": x, "y": y, **_copied_rows(n, args, packed, chunks)}
    return _packed_call(name, args, tensors, packed, sums, chunks, (windows.table, padding))


def hybrid_padding(depth: int) -> int:
    """Bytes of padding for each image that is quantized for itself."""
    return -(-depth // 64) * 64


def hybrid_indirect_call(
    n: FilterNode, rows: QuantizedRows, packed: PackedFilter, windows: Windows, y: Tensor
) -> KernelCall:
    """The call of a convolution of quantized images by packed weights."""
    args = np.zeros(1, INDIRECT_Q8)
    args["padding_step"] = hybrid_padding(windows.depth)
    chunks = _fill_windows(n, args, windows._replace(image_bytes=rows.stride), True)
    tensors = {"x": rows.x, "y": y, **rows.padding, **_copied_rows(n, args, packed, chunks)}
    return _packed_call("conv_hybrid", args, tensors, packed, rows.quantization, chunks, (windows.table,))


def _fill_windows(n: FilterNode, args: np.ndarray, windows: Windows, may_split: bool) -> int:
    """Fill in all but addresses of tensors; gives the chunks."""
    g, (pixels, taps) = n.geometry, windows.table.shape
    columns = g.out_depth // windows.groups
    args["table"] = address(windows.table)
    args["images"], args["image_bytes"] = g.batch, windows.image_bytes
    args["pixels"], args["taps"], args["depth"] = pixels, taps, windows.depth
    args["groups"], args["columns"] = windows.groups, columns
    args["block_pixels"] = block_rows(_WINDOW_BYTES, windows.step, _TILE)
    rows = g.batch * pixels
    work_ns = rows * taps * windows.depth * g.out_depth * _WINDOW_NS
    return cut(n.context, args, work_ns, rows, columns, may_split)


def _copied_rows(n: FilterNode, args: np.ndarray, packed: PackedFilter, chunks: int) -> dict[str, Tensor]:
    """Scratch for windows of x, one behind the other, for products of matrices: a block for each chunk."""
    if packed.products is not Products.MATRICES:
        return {}
    row_bytes = int(args["taps"][0]) * -(-int(args["depth"][0]) // 4) * 4
    rows = min(block_rows(_WINDOW_BYTES, row_bytes, _MATRIX_ROWS), int(args["pixels"][0]))
    args["block_pixels"], args["copied_bytes"] = rows, rows * row_bytes
    return {"copied": n.scratch(rows * row_bytes * chunks)}


def _variant(rounding: int, sum_factor: int) -> str:
    """Ending of the families that compute it: each rounding is compiled for itself."""
    if rounding != FLOAT_ROUNDING:
        return "exact_q8"
    return "sums_q8" if sum_factor else "q8"


def _sums_of(n: FilterNode, packed: PackedFilter, rounding: int, rows: int) -> Tensor | np.ndarray:
    """Where a kernel finds the rows' sums: scratch that it fills, or zeros when there is nothing to add."""
    if packed.sum_factor:
        return n.scratch(rows * 4)
    return np.zeros(rows if rounding != FLOAT_ROUNDING else 0, np.int32)


def _packed_call(
    name: str,
    args: np.ndarray,
    tensors: dict[str, Tensor],
    packed: PackedFilter,
    sums: Tensor | np.ndarray,
    chunks: int,
    keep: tuple[np.ndarray, ...] = (),
) -> KernelCall:
    """A call of the kernel `name` of the family of that name, with packed weights and sums in place."""
    args["w"], args["output"] = address(packed.weights), address(packed.output)
    args["sum_factor"] = packed.sum_factor
    keep = (packed.weights, packed.output, *keep)
    if isinstance(sums, np.ndarray):
        args["sums"] = address(sums)
        return KernelCall(name, name, args, tensors, chunks, keep=(sums, *keep))
    return KernelCall(name, name, args, {**tensors, "sums": sums}, chunks, keep=keep)
