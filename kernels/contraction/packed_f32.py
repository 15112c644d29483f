"""Contractions in float32 with packed weights: packing, and the calls of products and convolutions."""

from __future__ import annotations

import numpy as np

from ...lite.kernel_call import KernelCall
from ...lite.tensor import Tensor
from ..compiled.language.panel_columns import PANEL_COLUMNS
from .blocks import GEMM_F32, INDIRECT_F32, PACK_PANELS_F32
from .cutting import address, aligned, block_rows, cut, packed_columns
from .node import FilterNode

_PRODUCT_BYTES, _WINDOW_BYTES = 384 * 1024, 256 * 1024
_PRODUCT_NS, _WINDOW_NS = 1 / 50, 1 / 45  # for a multiplication


def aligned_zeros(size: int) -> np.ndarray:
    """float32 zeros [size], 64-byte aligned, with readable bytes after the end."""
    return aligned(size * 4).view(np.float32)


def pack_panels(w: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """Weights [columns, depth] and bias [columns] as panels, flat float32, 64-byte aligned."""
    columns, depth = w.shape
    packed = aligned_zeros((depth + 1) * packed_columns(columns))
    whole = columns // PANEL_COLUMNS
    done = whole * PANEL_COLUMNS
    head = packed[: (depth + 1) * done].reshape(whole, depth + 1, PANEL_COLUMNS)
    head[:, 1:] = w[:done].reshape(whole, PANEL_COLUMNS, depth).transpose(0, 2, 1)
    tail = packed[(depth + 1) * done :].reshape(depth + 1, -1)
    rest = columns - done
    if rest:
        tail[1:, :rest] = w[done:].T
    if bias is not None:
        head[:, 0] = bias[:done].reshape(whole, PANEL_COLUMNS)
        if rest:
            tail[0, :rest] = bias[done:]
    return packed


def pack_groups(w: np.ndarray, biases: np.ndarray | None) -> np.ndarray:
    """w [groups, columns, depth] as panels, group after group; biases are [groups, columns]."""
    parts = [pack_panels(part, None if biases is None else biases[i]) for i, part in enumerate(w)]
    if len(parts) == 1:
        return parts[0]
    joined = aligned_zeros(sum(part.size for part in parts))
    np.concatenate(parts, out=joined)
    return joined


def packing_call(
    n: FilterNode, w: Tensor, bias: Tensor | None, groups: int, columns: int, depth: int
) -> tuple[list[KernelCall], Tensor]:
    """The call that packs w [groups, columns, depth] in each invoke, and the scratch it packs into."""
    scratch = n.scratch(groups * (depth + 1) * packed_columns(columns) * 4 + 128)
    args = np.zeros(1, PACK_PANELS_F32)
    args["groups"], args["columns"], args["depth"] = groups, columns, depth
    tensors = {"w": w, "packed": scratch, **({} if bias is None else {"bias": bias})}
    return [KernelCall("pack_f32", "pack_panels_f32", args, tensors)], scratch


def packed_weights(n: FilterNode, groups: int, depth: int) -> tuple[list[KernelCall], Tensor | np.ndarray]:
    """The node's weights [groups * columns, depth] as panels: at once, or by a call where they may change."""
    columns = n.w.shape[0] // groups
    if n.is_constant:
        weights = n.w.array().reshape(groups, columns, depth)
        biases = n.biases(groups, columns)
        return [], n.packed_once(
            f"panels of {groups} groups", lambda: pack_groups(weights, biases), shared=True
        )
    return packing_call(n, n.w, n.bias, groups, columns, depth)


def with_weights(
    family: str,
    kernel: str,
    args: np.ndarray,
    tensors: dict[str, Tensor],
    packed: Tensor | np.ndarray,
    chunks: int,
    keep: tuple[np.ndarray, ...] = (),
) -> KernelCall:
    """A KernelCall whose field `w` is packed: an array of ours, or a scratch tensor."""
    if isinstance(packed, np.ndarray):
        args["w"] = address(packed)
        return KernelCall(family, kernel, args, tensors, chunks, keep=(packed, *keep))
    return KernelCall(family, kernel, args, {**tensors, "w": packed}, chunks, keep=keep)


def product_call(
    n: FilterNode,
    x: Tensor,
    y: Tensor,
    packed: Tensor | np.ndarray,
    sizes: tuple[int, int, int],
    clamp: tuple[float, float],
    x_stride: int | None = None,
) -> KernelCall:
    """The call of y [rows, columns] = clamp(x [rows, depth] @ packed); sizes are rows, columns, depth.

    Rows of x begin x_stride elements apart; without it they lie one after the other.
    """
    rows, columns, depth = sizes
    args = np.zeros(1, GEMM_F32)
    args["rows"], args["columns"], args["depth"] = sizes
    args["x_stride"] = depth if x_stride is None else x_stride
    args["block_rows"] = block_rows(_PRODUCT_BYTES, depth * 4)
    args["low"], args["high"] = clamp
    chunks = cut(n.context, args, rows * columns * depth * _PRODUCT_NS, rows, columns)
    kernel = "gemm_f32" if rows > 1 else "gemv_f32"
    return with_weights("gemm_f32", kernel, args, {"x": x, "y": y}, packed, chunks)


def product_calls(n: FilterNode, rows: int, x: Tensor | None = None, x_stride: int = 0) -> list[KernelCall]:
    """The calls of y [rows, columns] = clamp(x @ w.T + bias), w being [columns, depth, ...].

    x, where it is not the node's own, has rows x_stride elements apart.
    """
    columns = n.w.shape[0]
    depth = n.w.size // columns
    calls, packed = packed_weights(n, 1, depth)
    sizes, stride = (rows, columns, depth), x_stride or depth
    return [*calls, product_call(n, n.x if x is None else x, n.y, packed, sizes, n.float_range, stride)]


def indirect_call(
    n: FilterNode,
    y: Tensor,
    packed: Tensor | np.ndarray,
    table: np.ndarray,
    image_size: int,
    groups: int,
    columns: int,
    step: int,
    x: Tensor | None = None,
    depth: int | None = None,
) -> KernelCall:
    """The call of a convolution of the node's input, the packed weights of each tap by what the table has.

    table is int32 [pixels, taps], of elements in images of image_size; step is by how many elements of an
    image an output pixel moves on, about. x and depth are given where images are not the node's own input,
    or taps not its pixels.
    """
    batch, taps = n.x.shape[0], table.shape[1]
    depth = n.x.shape[-1] // groups if depth is None else depth
    pixels = batch * len(table)
    zeros = aligned_zeros(depth)
    args = np.zeros(1, INDIRECT_F32)
    args["table"], args["zeros"] = address(table), address(zeros)
    args["images"], args["image_size"] = batch, image_size
    args["pixels"], args["taps"], args["depth"] = len(table), taps, depth
    args["groups"], args["columns"] = groups, columns
    args["block_pixels"] = block_rows(_WINDOW_BYTES, step * 4)
    args["low"], args["high"] = n.float_range
    work_ns = pixels * taps * depth * groups * columns * _WINDOW_NS
    chunks = cut(n.context, args, work_ns, pixels, columns)
    tensors = {"x": n.x if x is None else x, "y": y}
    return with_weights("conv_f32", "indirect_f32", args, tensors, packed, chunks, (table, zeros))
