"""Cases of DENSIFY: sparse constants, added to zeros so that they come out of a model."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, DimensionType, SparseIndexVector, TensorType

from ..model_builder import ModelBuilder
from .case import Case
from .movement_case import random_array


def _dense(size: int) -> tflite.DimensionMetadataT:
    return tflite.DimensionMetadataT(format=DimensionType.DENSE, dense_size=size)


def _sparse(segments: list[int], indices: list[int]) -> tflite.DimensionMetadataT:
    return tflite.DimensionMetadataT(
        format=DimensionType.SPARSE_CSR,
        array_segments_type=SparseIndexVector.Int32Vector,
        array_segments=tflite.Int32VectorT(values=np.array(segments, np.int32)),
        array_indices_type=SparseIndexVector.Uint8Vector,
        array_indices=tflite.Uint8VectorT(values=np.array(indices, np.uint8)),
    )


def rows_of(blocks: np.ndarray) -> tuple[list[int], list[int]]:
    """(segments, indices) of the entries of a matrix (bool) that are there."""
    rows, columns = np.nonzero(blocks)
    return np.searchsorted(rows, np.arange(len(blocks) + 1)).tolist(), columns.tolist()


def densify_case(name: str, shape: tuple[int, int], block: tuple[int, int] | None, dtype: type) -> Case:
    """A matrix of which every third element, or block of elements, is stored."""
    id = f"DENSIFY-{name}-{np.dtype(dtype).name}"
    step = block or (1, 1)
    grid = (shape[0] // step[0], shape[1] // step[1])
    there = np.arange(grid[0] * grid[1]).reshape(grid) % 3 == 1
    values = random_array(id, shape, dtype) * np.kron(there, np.ones(step)).astype(dtype)
    tiles = values.reshape(grid[0], step[0], grid[1], step[1]).transpose(0, 2, 1, 3)
    stored = np.ascontiguousarray(tiles[there])
    levels = [_dense(grid[0]), _sparse(*rows_of(there)), *([] if block is None else map(_dense, block))]

    def make() -> bytes:
        model = ModelBuilder()
        kind = TensorType.FLOAT32 if dtype is np.float32 else TensorType.INT8
        quantization = {} if dtype is np.float32 else {"scale": 1.0}
        sparse = model.tensor(shape, kind, stored.tobytes(), **quantization)
        model.subgraph.tensors[sparse].sparsity = tflite.SparsityParametersT(
            traversal_order=list(range(len(levels))),
            block_map=[] if block is None else [0, 1],
            dim_metadata=levels,
        )
        dense = model.tensor(shape, kind, **quantization)
        model.op(BuiltinOperator.DENSIFY, [sparse], [dense], tflite.DensifyOptionsT())
        x, y = model.tensor(shape, np.float32), model.tensor(shape, np.float32)
        weights = dense
        if dtype is not np.float32:
            weights = model.tensor(shape, np.float32)
            model.op(BuiltinOperator.DEQUANTIZE, [dense], [weights], tflite.DequantizeOptionsT(), 2)
        model.op(BuiltinOperator.ADD, [x, weights], [y], tflite.AddOptionsT())
        return model.build([x], [y])

    x = np.zeros(shape, np.float32)
    return Case(id=id, make=make, inputs=[x], oracle=lambda x: x + values.astype(np.float32))


CASES = [
    densify_case(name, shape, block, dtype)
    for name, shape, block in (
        ("rows", (5, 7), None),
        ("blocks", (8, 8), (2, 4)),
        ("rows-without-elements", (8, 2), None),
        ("blocks-without-elements", (8, 4), (2, 4)),
        ("nothing-stored", (2, 4), (2, 4)),
    )
    for dtype in (np.float32, np.int8)
]
