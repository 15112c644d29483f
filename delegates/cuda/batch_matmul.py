"""BATCH_MATMUL: launches from the sizes and the rounding of kernels/contraction/batch_matmul.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.contraction.batch_matmul_geometry import (
    BatchMatmulGeometry,
    batch_matmul_geometry,
    column_scales,
)
from ...kernels.requantize import DOUBLE_ROUNDING, FLOAT_ROUNDING, channel_requantization, quantization_of
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from .halves import FLOATS
from .hybrid import QuantizedRows, quantize_rows
from .launch import Argument, Constant, Pointer
from .tiles import Product

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from ...lite.tensor import Tensor
    from .fusion import Step
    from .lowering import Lowering

_ROUNDINGS = {
    "batch_matmul_q8": FLOAT_ROUNDING,
    "batch_matmul_exact_q8": DOUBLE_ROUNDING,
    "batch_matmul_plain_q8": DOUBLE_ROUNDING,
}

# With deeper steps 16-bit floats take more registers than a thread has, for sm_90.
_MOST_FLOAT_DEPTH = 64


def lower(b: Lowering, step: Step) -> None:
    """One launch: floats, or int8 to int8 or int32; and one that quantizes floats for an int8 right side."""
    node, graph = step.node, b.graph
    x, w, y = graph.input(node, 0), graph.input(node, 1), graph.output(node, 0)
    quantized = None
    adj_x, adj_y = (bool(getattr(node.options, name, False)) for name in ("adj_x", "adj_y"))
    g = batch_matmul_geometry(adj_x, adj_y, x.shape, w.shape)
    if FLOATS.issuperset((x.type, w.type, y.type)):
        graph.resize_tensor(y, g.output_shape)
        rounding = None
    elif x.type == w.type == TensorType.INT8:
        calls = b.calls(node)
        rounding = _rounding(calls[-1]) if calls else None
    elif x.type == y.type == TensorType.FLOAT32 and w.type == TensorType.INT8 and not adj_x:
        b.calls(node)
        rounding = None
        if y.size and g.depth:
            quantized = quantize_rows(b, node, b.pointer(x), x.size)
    else:
        raise UnsupportedError(f"BATCH_MATMUL of {x.type_name} by {w.type_name} is not built")
    if g.depth == 0:
        raise UnsupportedError("BATCH_MATMUL: matrices that are summed over nothing are not built")
    if y.size:
        _launch(b, g, (x, w, y), (adj_x, adj_y), rounding, quantized)


def _rounding(call: KernelCall) -> int | None:
    """The CPU's, None where the call does not round."""
    names = call.args.dtype.names or ()
    return int(call.args["rounding"][0]) if "rounding" in names else _ROUNDINGS.get(call.family)


def _launch(
    b: Lowering,
    g: BatchMatmulGeometry,
    tensors: tuple[Tensor, Tensor, Tensor],
    adjoints: tuple[bool, bool],
    rounding: int | None,
    quantized: QuantizedRows | None,
) -> None:
    x, w, y = tensors
    rows, x_index, w_index = _pairs(g, x, adjoints[0])
    is_float = x.type in FLOATS and quantized is None
    element = b.product_type(x, w) if is_float else "i8"
    tile = b.choose(Product(rows, g.columns, g.depth, 1, len(x_index), element)).tile
    pointer = b.pointer(x) if quantized is None else quantized.values
    kind = "float" if is_float else "quantized" if y.type == TensorType.INT8 else "integer"
    if quantized is not None:
        kind = "hybrid"
    args: dict[str, Argument] = {
        "x_ptr": pointer,
        "w_ptr": b.pointer(w),
        "y_ptr": b.pointer(y),
        "x_index_ptr": b.table(lambda: x_index.astype(np.int32), "i32"),
        "w_index_ptr": b.table(lambda: w_index.astype(np.int32), "i32"),
    }
    if quantized is None:
        args |= _scales(b, g, tensors, kind, rounding, pointer)
    else:
        scale = b.table(lambda: column_scales(w, g).reshape(-1), "fp32")
        args |= {"scale_ptr": scale, "shift_ptr": quantized.rows}
    args |= {"rows": rows, "columns": g.columns, "depth": g.depth}
    args |= _strides(("x_matrix", "x_row", "x_step"), x, adjoints[0])
    args |= _strides(("w_matrix", "w_column", "w_step"), w, not adjoints[1])
    args |= _zero_points(tensors, kind)
    constants: dict[str, Constant] = {
        "KIND": kind,
        "ROUNDING": 0 if rounding is None else rounding,
        "PRECISION": b.dot_precision(element),
        "WIDEN": b.simulated and element == "bf16",
        "BM": tile.rows,
        "BN": tile.columns,
        "BK": min(tile.depth, _MOST_FLOAT_DEPTH) if is_float else tile.depth,
    }
    programs = -(-rows // tile.rows) * -(-g.columns // tile.columns) * len(x_index)
    multiples = ("x_matrix", "x_row", "x_step", "w_matrix", "w_column", "w_step", "depth", "columns")
    b.launch(
        "batch_matmul",
        "batch_matmul",
        (programs,),
        args,
        constants,
        divisible=multiples,
        warps=tile.warps,
        stages=tile.stages,
    )


def _pairs(g: BatchMatmulGeometry, x: Tensor, adj_x: bool) -> tuple[int, np.ndarray, np.ndarray]:
    """Rows of a product, and which matrices it is of; rows of several matrices lie apart under adj_x."""
    if adj_x and g.rows != x.shape[-1]:
        matrices = math.prod(x.shape[:-2])
        return x.shape[-1], np.arange(matrices), np.zeros(matrices, np.int64)
    return g.rows, g.x_index, g.w_index


def _strides(names: tuple[str, str, str], tensor: Tensor, turned: bool) -> dict[str, Argument]:
    """Strides of matrices, of what is kept, and of what is summed."""
    high, low = tensor.shape[-2:]
    kept, summed = (1, low) if turned else (low, 1)
    return dict(zip(names, (high * low, kept, summed), strict=True))


def _scales(
    b: Lowering,
    g: BatchMatmulGeometry,
    tensors: tuple[Tensor, Tensor, Tensor],
    kind: str,
    rounding: int | None,
    unused: Pointer,
) -> dict[str, Argument]:
    if kind != "quantized":
        return {"scale_ptr": unused, "shift_ptr": unused}
    if rounding is None:
        raise UnsupportedError("BATCH_MATMUL in the CPU's rounding of these types is not built")
    channels = channel_requantization("BATCH_MATMUL", *tensors, g.columns, True)
    if rounding == FLOAT_ROUNDING:
        scale = b.table(lambda: channels.float_scales.astype(np.float32), "fp32")
    else:
        scale = b.table(lambda: channels.multipliers.astype(np.int32), "i32")
    return {"scale_ptr": scale, "shift_ptr": b.table(lambda: channels.shifts.astype(np.int32), "i32")}


def _zero_points(tensors: tuple[Tensor, Tensor, Tensor], kind: str) -> dict[str, Argument]:
    zeros = [0, 0, 0]
    if kind == "quantized":
        zeros = [int(quantization_of("BATCH_MATMUL", tensor).zero_point) for tensor in tensors]
    limits = np.iinfo(np.int8)
    return {
        **dict(zip(("x_zero", "w_zero", "zero"), zeros, strict=True)),
        "low": int(limits.min),
        "high": int(limits.max),
    }
