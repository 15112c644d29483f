"""What recurrent operators share: how weights are packed, which activations there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .fused_activation import NONE, RELU, RELU6, RELU_N1_TO_1, SIGN_BIT, TANH
from .strided_copy import StridedCopy, strided_copy_calls

LANES = 16  # cells are padded to a multiple of this, and input rows are taken four at a time
ROWS = 4


def check_activation(name: str, activation: int) -> None:
    """UnsupportedError unless recurrent.activate of the compiled kernels knows it."""
    if activation not in (NONE, RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT):
        raise UnsupportedError(
            f"{name}: activations are NONE, RELU, RELU_N1_TO_1, RELU6, TANH and SIGN_BIT, got {activation}"
        )


def padded(cells: int) -> int:
    return -(-cells // LANES) * LANES


def packed_depth(depth: int) -> int:
    return -(-depth // ROWS) * ROWS


def signed(part: Tensor) -> np.ndarray:
    """The elements of a constant; old files call their int8 weights uint8."""
    elements = part.array()
    return elements.view(np.int8) if elements.dtype == np.uint8 else elements


def packed_matrices(parts: Sequence[Tensor | None], cells: int) -> np.ndarray:
    """Constant matrices [cells, depth], transposed: [depth, parts, padded cells].

    The depth is padded with zeros to a multiple of ROWS. A part that is None is zeros, one of
    shape [cells] is a diagonal.
    """
    given = next(part for part in parts if part is not None)
    depth = given.shape[-1]
    packed: np.ndarray = np.zeros((packed_depth(depth), len(parts), padded(cells)), signed(given).dtype)
    for k, part in enumerate(parts):
        if part is not None:
            matrix = signed(part)
            packed[:depth, k, :cells] = np.diag(matrix) if matrix.ndim == 1 else matrix.T
    return packed


def packed_vectors(parts: Sequence[Tensor | None], cells: int, dtype: type) -> np.ndarray:
    """Constant vectors [cells] as [parts, padded cells], zeros where a part is None."""
    packed: np.ndarray = np.zeros((len(parts), padded(cells)), dtype)
    for k, part in enumerate(parts):
        if part is not None:
            packed[k, :cells] = signed(part)
    return packed


def packed_while_running(
    context: Context,
    node: Node,
    parts: Sequence[Tensor | None],
    cells: int,
    depth: int,
    packing: list[KernelCall],
) -> Tensor:
    """A tensor [depth, parts, padded cells] of float32 parts [cells, depth].

    The calls that fill it go to packing. Padded columns are never read into a result, so they
    stay unset.
    """
    row = len(parts) * padded(cells)
    packed = context.add_temporary(node, 4 * depth * row)
    for k, part in enumerate(parts):
        if part is not None:
            strides = (4 * row, 4)
            copy = StridedCopy(4, (depth, cells), 0, (4, 4 * depth), 4 * k * padded(cells), strides)
            packing.extend(strided_copy_calls(context, copy, part, packed))
    return packed


def pack(
    context: Context,
    node: Node,
    name: str,
    parts: Sequence[Tensor | None],
    cells: int,
    tensors: dict[str, Tensor],
    arrays: dict[str, np.ndarray],
    packing: list[KernelCall],
) -> None:
    """Put parts, matrices or float32 vectors, in packed form under name.

    Constants go to arrays, others (float32) to tensors with calls that pack them.
    """
    given = next(part for part in parts if part is not None)
    is_vector = len(given.shape) == 1
    if not all(part is None or part.is_constant for part in parts):
        depth = 1 if is_vector else given.shape[1]
        tensors[name] = packed_while_running(context, node, parts, cells, depth, packing)
    elif is_vector:
        arrays[name] = packed_vectors(parts, cells, np.float32)
    else:
        arrays[name] = packed_matrices(parts, cells)
