"""BATCH_MATMUL: the shape rule, and the operands as kernels read them."""

from __future__ import annotations

from math import prod

import numpy as np

from ...lite.context import Numerics
from ...lite.errors import PrepareError
from ...lite.kernel_call import KernelCall
from ...lite.node import Node
from ...lite.tensor import Shape, Tensor
from ...schema.named_tuple import NamedTuple
from ..broadcast import broadcast_shape
from ..requantize import quantization_of
from ..strided_copy import StridedCopy, row_major_strides, strided_copy_calls
from .cutting import address
from .node import FilterNode


class BatchMatmulGeometry(NamedTuple):
    """y[b] [rows, columns] = x[x_index[b]] [rows, depth] times w[w_index[b]] [depth, columns].

    Where one w serves all of x, its matrices are one below the other and there is one batch.
    The indices are int64 [batches]. x_matrices and w_matrices say how many there are.
    """

    output_shape: Shape
    x_index: np.ndarray
    w_index: np.ndarray
    x_matrices: int
    w_matrices: int
    rows: int
    depth: int
    columns: int

    @property
    def batches(self) -> int:
        return len(self.x_index)

    @property
    def multiplies(self) -> int:
        """Multiply-adds of the whole operator."""
        return self.batches * self.rows * self.depth * self.columns

    def block(self, dtype: np.dtype) -> np.ndarray:
        """An argument block [1] with the indices, and those sizes that it has."""
        args = np.zeros(1, dtype)
        args["x_index"], args["w_index"] = address(self.x_index), address(self.w_index)
        for name in {"batches", "rows", "columns", "depth"} & set(dtype.names or ()):
            args[name] = getattr(self, name)
        return args


def batch_matmul_geometry(adj_x: bool, adj_y: bool, x: Shape, w: Shape) -> BatchMatmulGeometry:
    """Sizes of BATCH_MATMUL for operands x [..., M, K] and w [..., K, N].

    With adj_x or adj_y the last two dimensions of that operand are the other way round. The
    leading dimensions broadcast. Raises PrepareError when a rank is below 2 or shapes do not fit.
    Source: LiteRT tflite/kernels/batch_matmul.cc, Prepare.
    """
    shapes = f"got {_text(x)} and {_text(w)}"
    if len(x) < 2 or len(w) < 2:
        raise PrepareError(f"BATCH_MATMUL: operands must have at least 2 dimensions, {shapes}")
    rows, depth = (x[-1], x[-2]) if adj_x else (x[-2], x[-1])
    columns, other_depth = (w[-2], w[-1]) if adj_y else (w[-1], w[-2])
    if depth != other_depth:
        raise PrepareError(
            f"BATCH_MATMUL: the summed dimensions must be equal, {shapes}, adj_x {adj_x} and adj_y {adj_y}"
        )
    batch = broadcast_shape("BATCH_MATMUL", x[:-2], w[:-2])
    x_matrices, w_matrices = prod(x[:-2]), prod(w[:-2])
    output_shape = (*batch, rows, columns)
    x_index, w_index = _index(x[:-2], batch), _index(w[:-2], batch)
    if w_matrices == 1 and x_matrices == len(x_index):
        rows *= x_matrices
        x_index = w_index = np.zeros(1, np.int64)
    return BatchMatmulGeometry(output_shape, x_index, w_index, x_matrices, w_matrices, rows, depth, columns)


def _index(shape: Shape, batch: Shape) -> np.ndarray:
    """Which matrix of an operand each matrix of the result reads."""
    numbers = np.arange(prod(shape), dtype=np.int64).reshape(shape)
    return np.ascontiguousarray(np.broadcast_to(numbers, batch).reshape(-1))


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


def adjoints(node: Node) -> tuple[bool, bool]:
    if node.options is None:
        return False, False
    return bool(node.options.adj_x), bool(node.options.adj_y)


class Operands(NamedTuple):
    """The operands as kernels read them, and the calls that bring them there.

    n.x is dense, with K as its last dimension; n.w has K last when w_by_columns, else N.
    """

    calls: list[KernelCall]
    n: FilterNode
    w_by_columns: bool


def operands(n: FilterNode, w_by_columns: bool | None = None) -> Operands:
    """Bring x into [..., M, K]; and w into [..., N, K] or [..., K, N] where the kernel asks for one."""
    adj_x, adj_y = adjoints(n.node)
    calls: list[KernelCall] = []
    if adj_x:
        calls, x = _turned(n, n.x)
        n = n._replace(x=x)
    if w_by_columns is not None and w_by_columns != adj_y:
        more, w = _turned(n, n.w)
        n, calls, adj_y = n._replace(w=w), calls + more, w_by_columns
    return Operands(calls, n, adj_y)


def _turned(n: FilterNode, tensor: Tensor) -> tuple[list[KernelCall], Tensor]:
    """The call that copies a tensor with its last two dimensions exchanged, and the scratch it fills."""
    item_bytes = tensor.dtype.itemsize
    scratch = n.scratch(tensor.size * item_bytes)
    matrices, high, low = prod(tensor.shape[:-2]), *tensor.shape[-2:]
    sizes = (matrices, low, high)
    source = (high * low * item_bytes, item_bytes, low * item_bytes)
    copy = StridedCopy(item_bytes, sizes, 0, source, 0, row_major_strides(sizes, item_bytes))
    return list(strided_copy_calls(n.context, copy, tensor, scratch)), scratch


def hybrid_scales(n: FilterNode, g: BatchMatmulGeometry) -> np.ndarray:
    """column_scales; PrepareError for a zero point, which XNNPACK does not take."""
    quantization = quantization_of("BATCH_MATMUL", n.w)
    if n.numerics is Numerics.DEFAULT and np.any(quantization.zero_points):
        raise PrepareError(
            "BATCH_MATMUL: an int8 right side of float32 rows must have zero point 0, "
            f"got {quantization.zero_point} for {n.w!r}"
        )
    return column_scales(n.w, g)


def column_scales(w: Tensor, g: BatchMatmulGeometry) -> np.ndarray:
    """float32 [matrices, columns]: the scales of an int8 right side.

    Its zero point is passed over, as LiteRT does. Raises PrepareError when there is not one scale for each
    column.
    """
    scales = np.asarray(quantization_of("BATCH_MATMUL", w).scales, np.float32)
    if len(scales) not in (1, g.columns, g.columns * g.w_matrices):
        raise PrepareError(
            f"BATCH_MATMUL: the right side must have one scale or one per column, "
            f"got {len(scales)} for {g.columns} columns"
        )
    if len(scales) == g.columns * g.w_matrices:
        return np.ascontiguousarray(scales.reshape(g.w_matrices, g.columns))
    return np.ascontiguousarray(np.broadcast_to(scales, (g.w_matrices, g.columns)))
