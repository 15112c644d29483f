"""Cases of EMBEDDING_LOOKUP."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.schema.tflite import (
    BlockwiseQuantizationT,
    BuiltinOperator,
    QuantizationParametersT,
    TensorType,
)

from ..model_builder import ModelBuilder
from .case import Case, Refuses
from .movement_case import EVERY_SIZE, index, movement_case, random_array

_BITS = {TensorType.INT8: 8, TensorType.INT4: 4, TensorType.INT2: 2}
_PLACES = index(1, 5, 0, 3, 3)


def rows_case(shape: tuple[int, ...], dtype: type) -> Case:
    id = f"EMBEDDING_LOOKUP-{np.dtype(dtype).name}-{list(shape)}"
    return movement_case(
        id,
        BuiltinOperator.EMBEDDING_LOOKUP,
        [_PLACES, random_array(id, shape, dtype)],
        lambda positions, table: table[positions],
        constants=(1,),
    )


def quantized_case(stored: TensorType, columns: int, scales: Sequence[float], target: type) -> Case:
    """A table of few bits, whose rows are whole bytes."""
    per_byte = 8 // _BITS[stored]
    raw = random_array(f"{stored.name}{columns}", (6, columns // per_byte), np.uint8)
    shifts = np.arange(per_byte) * _BITS[stored]
    elements = (raw[..., None] >> shifts).reshape(6, columns) & (2 ** _BITS[stored] - 1)
    half = 2 ** (_BITS[stored] - 1)
    table = (elements.astype(np.int64) ^ half) - half

    def make() -> bytes:
        model = ModelBuilder()
        positions = model.tensor(_PLACES.shape, np.int32)
        values = model.tensor((6, columns), stored, raw.tobytes(), scale=scales)
        y = model.tensor((len(_PLACES), columns), target)
        model.op(BuiltinOperator.EMBEDDING_LOOKUP, [positions, values], [y], version=4)
        return model.build([positions], [y])

    def oracle(positions: np.ndarray) -> np.ndarray:
        per_row = np.broadcast_to(np.array(scales, np.float32), (6,))[:, None]
        return (table.astype(np.float32) * per_row)[positions].astype(target)

    id = f"EMBEDDING_LOOKUP-{stored.name}-{columns}-{len(scales)}-{np.dtype(target).name}"
    return Case(id=id, make=make, inputs=[_PLACES], oracle=oracle)


def blockwise_case(stored: TensorType, columns: int, block_size: int, target: type) -> Case:
    """A table with a float16 scale for each block of a row; LiteRT has it of int4."""
    random = np.random.default_rng(columns)
    low = -(2 ** (_BITS[stored] - 1))
    table = random.integers(low, -low, (6, columns))
    scales = random.uniform(0.01, 0.1, (6, columns // block_size)).astype(np.float16)
    per_byte = 8 // _BITS[stored]
    shifts = np.arange(per_byte) * _BITS[stored]
    raw = ((table & (2 ** _BITS[stored] - 1)).reshape(6, -1, per_byte) << shifts).sum(-1).astype(np.uint8)

    def make() -> bytes:
        model = ModelBuilder()
        positions, values = (
            model.tensor(_PLACES.shape, np.int32),
            model.tensor((6, columns), stored, raw.tobytes()),
        )
        blocks = BlockwiseQuantizationT(scales=model.constant(scales), zero_points=-1, block_size=block_size)
        model.model.subgraphs[0].tensors[values].quantization = QuantizationParametersT(details=blocks)
        y = model.tensor((len(_PLACES), columns), target)
        model.op(BuiltinOperator.EMBEDDING_LOOKUP, [positions, values], [y], version=4)
        return model.build([positions], [y])

    def oracle(positions: np.ndarray) -> np.ndarray:
        wide = np.repeat(scales.astype(np.float32), block_size, 1)
        return (table.astype(np.float32) * wide)[positions].astype(target)

    refused = Refuses("only supports Int4 and Int2") if stored == TensorType.INT8 else None
    return Case(
        id=f"EMBEDDING_LOOKUP-blocks-{stored.name}-{columns}-{block_size}-{np.dtype(target).name}",
        make=make,
        inputs=[_PLACES],
        oracle=oracle,
        litert_default=refused,
        litert_reference=refused,
    )


_ROWS = (0.1, 0.2, 0.05, 0.3, 0.15, 0.01)

CASES = [
    *(rows_case((6, 4), dtype) for dtype in EVERY_SIZE),
    rows_case((6, 2, 3), np.float32),
    *(
        quantized_case(stored, 12, scales, target)
        for stored in _BITS
        for scales in ((0.13,), _ROWS)
        for target in (np.float32, np.float16)
    ),
    *(
        blockwise_case(stored, columns, block_size, target)
        for stored in _BITS
        for columns, block_size in ((64, 32), (24, 8), (32, 32))
        for target in (np.float32, np.float16)
    ),
]
