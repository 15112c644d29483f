"""float32 matrix products with packed weights: argument blocks and packing."""

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .parallel import chunk_count

# Weights are packed in panels of PANEL_COLUMNS output columns, the same on every processor:
# a row of biases, then one row per input element. The last panel has NARROW_COLUMNS where
# that is enough. Columns past the last output are zeros.
PANEL_COLUMNS = 32
NARROW_COLUMNS = 16

# Work is cut into chunks and blocks at multiples of this many rows, which whole tiles fill.
TILE_ROWS = 28

# y [rows, columns] = clamp(x [rows, depth] @ w + bias); w is packed, rows of x begin x_stride
# elements apart.
GEMM_F32 = np.dtype(
    [
        ("x", np.int64),
        ("w", np.int64),
        ("y", np.int64),
        ("rows", np.int64),
        ("columns", np.int64),
        ("depth", np.int64),
        ("x_stride", np.int64),
        ("block_rows", np.int64),
        ("split_columns", np.int64),
        ("low", np.float32),
        ("high", np.float32),
    ],
    align=True,
)

# packed = pack_panels(w [groups, columns, depth], bias [groups, columns]); bias is 0 for none.
PACK_PANELS_F32 = np.dtype(
    [
        ("w", np.int64),
        ("bias", np.int64),
        ("packed", np.int64),
        ("groups", np.int64),
        ("columns", np.int64),
        ("depth", np.int64),
    ],
    align=True,
)

_BLOCK_BYTES = 384 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 50


def packed_columns(columns: int) -> int:
    """Columns of the packed form, padding included."""
    rest = columns % PANEL_COLUMNS
    if rest == 0:
        return columns
    return columns - rest + (NARROW_COLUMNS if rest <= NARROW_COLUMNS else PANEL_COLUMNS)


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


def aligned_zeros(size: int) -> np.ndarray:
    """float32 zeros [size], 64-byte aligned, with readable bytes after the end."""
    raw = np.zeros(size * 4 + 192, np.uint8)
    start = -raw.__array_interface__["data"][0] % 64
    return raw[start : start + size * 4].view(np.float32)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def packed_weights(
    context: Context, node: Node, w: Tensor, bias: Tensor | None, groups: int, depth: int
) -> tuple[list[KernelCall], Tensor | np.ndarray]:
    """w [groups * columns, depth] as panels, group after group.

    Constants are packed here and now; otherwise the call that packs them in each invoke is
    given, and the scratch tensor it packs into.
    """
    columns = w.shape[0] // groups
    if w.is_constant and (bias is None or bias.is_constant):
        weights = w.array().reshape(groups, columns, depth)
        biases = None if bias is None else bias.array().reshape(groups, columns)
        if groups == 1:
            return [], pack_panels(weights[0], None if biases is None else biases[0])
        packed = [pack_panels(weights[g], None if biases is None else biases[g]) for g in range(groups)]
        joined = aligned_zeros(sum(part.size for part in packed))
        np.concatenate(packed, out=joined)
        return [], joined
    scratch = context.add_temporary(node, groups * (depth + 1) * packed_columns(columns) * 4 + 128)
    args = np.zeros(1, PACK_PANELS_F32)
    args["groups"], args["columns"], args["depth"] = groups, columns, depth
    tensors = {"w": w, "packed": scratch}
    if bias is not None:
        tensors["bias"] = bias
    return [KernelCall("pack_f32", "pack_panels_f32", args, tensors)], scratch


def gemm_calls(
    context: Context,
    node: Node,
    x: Tensor,
    w: Tensor,
    bias: Tensor | None,
    y: Tensor,
    rows: int,
    activation: tuple[float, float],
    x_stride: int | None = None,
) -> list[KernelCall]:
    """The calls of y [rows, columns] = clamp(x [rows, depth] @ w.T + bias), w being [columns, depth, ...].

    Rows of x begin x_stride elements apart; without it they lie one after the other.
    """
    columns = w.shape[0]
    depth = w.size // columns
    calls, packed = packed_weights(context, node, w, bias, 1, depth)
    args = np.zeros(1, GEMM_F32)
    args["rows"], args["columns"], args["depth"] = rows, columns, depth
    args["x_stride"] = depth if x_stride is None else x_stride
    args["block_rows"] = max(1, _BLOCK_BYTES // (depth * 4) // TILE_ROWS) * TILE_ROWS
    args["low"], args["high"] = activation
    chunks = chunk_count(context, rows * columns * depth * _NS_PER_MULTIPLY)
    split_columns = rows < TILE_ROWS * chunks
    args["split_columns"] = split_columns
    if split_columns:
        chunks = min(chunks, -(-columns // PANEL_COLUMNS))
    kernel = "gemm_f32" if rows > 1 else "gemv_f32"
    calls.append(call_with_weights("gemm_f32", kernel, args, {"x": x, "y": y}, packed, chunks))
    return calls


def call_with_weights(
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
