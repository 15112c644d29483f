"""Models of one operator built from its arrays: the outputs' types and shapes come from the oracle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import EXACT, Case, Closeness, Relation

Quantization = tuple[float, int] | None

EVERY_SIZE = (np.int8, np.uint8, np.int16, np.float32, np.int64)


def random_array(seed: str, shape: Sequence[int], dtype: type) -> np.ndarray:
    """Normal floats, or integers over the whole type."""
    random = np.random.default_rng(sum(map(ord, seed)))
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def movement_case(
    id: str,
    code: BuiltinOperator,
    arrays: Sequence[np.ndarray],
    oracle: Callable[..., np.ndarray | Sequence[np.ndarray]],
    options: TableT | None = None,
    *,
    constants: Collection[int] = (),
    quantization: Quantization = None,
    version: int = 1,
    num_threads: int = 1,
    closeness: Closeness = EXACT,
    litert_default: Relation | None = None,
    litert_reference: Relation | None = None,
) -> Case:
    """One operator on arrays; those numbered in constants are part of the model.

    oracle takes all arrays. quantization is that of the first input and of all outputs.
    """

    def of_inputs(*inputs: np.ndarray) -> list[np.ndarray]:
        given = iter(inputs)
        taken = [arrays[i] if i in constants else next(given) for i in range(len(arrays))]
        outputs = oracle(*taken)
        return list(outputs) if isinstance(outputs, list | tuple) else [outputs]

    inputs = [array for i, array in enumerate(arrays) if i not in constants]

    def make() -> bytes:
        model = ModelBuilder()
        scale, zero_point = quantization or (None, 0)
        tensors = [
            model.tensor(
                array.shape,
                array.dtype,
                array if i in constants else None,
                scale=scale if array.dtype == arrays[0].dtype else None,
                zero_point=zero_point,
            )
            for i, array in enumerate(arrays)
        ]
        outputs = [
            model.tensor(y.shape, y.dtype, scale=scale, zero_point=zero_point) for y in of_inputs(*inputs)
        ]
        model.op(code, tensors, outputs, options, version)
        return model.build([t for i, t in enumerate(tensors) if i not in constants], outputs)

    return Case(
        id=id,
        make=make,
        inputs=inputs,
        oracle=of_inputs,
        closeness=closeness,
        litert_default=litert_default,
        litert_reference=litert_reference,
        num_threads=num_threads,
    )


def index(*values: int) -> np.ndarray:
    """An int32 vector."""
    return np.array(values, np.int32)
