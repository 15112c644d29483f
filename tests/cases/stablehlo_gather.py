"""Cases of STABLEHLO_GATHER and STABLEHLO_SCATTER."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case
from .single_op import Kind, single_op

# Rows of a matrix; boxes at pairs of indices, vectors along the last or the first axis.
_ROWS = {"named": [0], "dropped": [0], "at": [1], "vector_axis": 1}
_BOXES = {"named": [1, 0], "dropped": [], "at": [0, 2], "vector_axis": 0}


def _gather(id: str, dtype: type, indices: np.ndarray, sizes: list[int], where: dict) -> Case:
    kind = Kind((5, 4), dtype)
    options = tflite.StablehloGatherOptionsT(
        offset_dims=where["at"],
        collapsed_slice_dims=where["dropped"],
        start_index_map=where["named"],
        index_vector_dim=where["vector_axis"],
        slice_sizes=sizes,
    )

    def oracle(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        slices = []
        for vector in np.moveaxis(indices, where["vector_axis"], -1):
            start = np.zeros(2, np.int64)
            start[where["named"]] = vector
            i, j = np.clip(start, 0, np.array(x.shape) - sizes)
            box = x[i : i + sizes[0], j : j + sizes[1]]
            slices.append(box[0] if where["dropped"] else box)
        return np.stack(slices, 0 if where["dropped"] else 1)

    x = kind.random(id)
    out = oracle(x, indices)
    kinds = [kind, Kind(indices.shape, indices.dtype.type)]
    return Case(
        id=f"STABLEHLO_GATHER-{id}-{np.dtype(dtype).name}",
        make=lambda: single_op(BuiltinOperator.STABLEHLO_GATHER, kinds, Kind(out.shape, dtype), options),
        inputs=[x, indices],
        oracle=oracle,
    )


_UPDATES: dict[str, Callable[[float, float], float]] = {
    "STABLEHLO_ADD": lambda a, b: a + b,
    "STABLEHLO_MULTIPLY": lambda a, b: a * b,
    "STABLEHLO_MAXIMUM": max,
    "STABLEHLO_MINIMUM": min,
    "update": lambda a, b: b,
}


def _scatter(body: str, dtype: type) -> Case:
    kind, indices = Kind((5, 4), dtype), np.array([[1, 2], [4, 3], [1, 2], [7, 0], [-1, 1]], np.int32)
    updates = Kind((5, 2, 2), dtype)
    id = f"STABLEHLO_SCATTER-{body}-{np.dtype(dtype).name}"

    def make() -> bytes:
        model = ModelBuilder()
        tensors = [
            model.tensor(kind.shape, dtype),
            model.tensor(indices.shape, np.int32),
            model.tensor(updates.shape, dtype),
        ]
        y = model.tensor(kind.shape, dtype)
        graph = model.add_subgraph("update")
        a, b, out = (graph.tensor((), dtype) for _ in range(3))
        if body != "update":
            graph.op(BuiltinOperator[body], [a, b], [out])
        graph.finish([a, b], [b if body == "update" else out])
        options = tflite.StablehloScatterOptionsT(
            update_window_dims=[1, 2],
            inserted_window_dims=[],
            scatter_dims_to_operand_dims=[0, 1],
            index_vector_dim=1,
            update_computation_subgraph_index=graph.index,
        )
        model.op(BuiltinOperator.STABLEHLO_SCATTER, tensors, [y], options)
        return model.build(tensors, [y])

    def oracle(x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result = x.copy()
        for start, box in zip(indices, updates, strict=True):
            for at in np.ndindex(*box.shape):
                i, j = start + at
                if 0 <= i < 5 and 0 <= j < 4:
                    result[i, j] = _UPDATES[body](result[i, j], box[at])
        return result

    inputs = [kind.random(id), indices, updates.random(f"{id}u")]
    if np.dtype(dtype).kind == "i":
        inputs[0], inputs[2] = inputs[0] % 7, inputs[2] % 7
    return Case(id=id, make=make, inputs=inputs, oracle=oracle)


CASES = [
    *(
        _gather("rows", dtype, np.array([[3], [9], [-2], [0]], np.int32), [1, 4], _ROWS)
        for dtype in (np.float32, np.int8, np.bool_, np.int64)
    ),
    _gather("boxes", np.float32, np.array([[3, 0, 1], [4, 1, -1]], np.int64), [2, 3], _BOXES),
    *(_scatter(body, dtype) for body in _UPDATES for dtype in (np.float32, np.int32)),
]
