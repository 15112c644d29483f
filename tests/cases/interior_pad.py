"""Cases of STABLEHLO_PAD and DILATE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .single_op import Kind, single_op


def _padded(x: np.ndarray, value: np.ndarray, padding: Sequence[tuple[int, int, int]]) -> np.ndarray:
    for axis, (before, behind, between) in enumerate(padding):
        rows = np.moveaxis(x, axis, 0)
        spread = np.full((max(len(rows) * (between + 1) - between, 0), *rows.shape[1:]), value, x.dtype)
        spread[:: between + 1] = rows
        edges = [np.full((max(n, 0), *rows.shape[1:]), value, x.dtype) for n in (before, behind)]
        cut = spread[max(-before, 0) : len(spread) - max(-behind, 0)]
        x = np.moveaxis(np.concatenate([edges[0], cut, edges[1]]), 0, axis)
    return x


def _pad(shape: tuple[int, ...], dtype: type, padding: Sequence[tuple[int, int, int]]) -> Case:
    kind, scalar = Kind(shape, dtype), Kind((), dtype)
    id = f"STABLEHLO_PAD-{np.dtype(dtype).name}-{padding}"
    x, value = kind.random(id), np.array(3, dtype)
    out = _padded(x, value, padding)
    options = tflite.StablehloPadOptionsT(
        edge_padding_low=[p[0] for p in padding],
        edge_padding_high=[p[1] for p in padding],
        interior_padding=[p[2] for p in padding],
    )
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator.STABLEHLO_PAD, [kind, scalar], Kind(out.shape, dtype), options, 1, {1: value}
        ),
        inputs=[x],
        oracle=lambda x: out,
    )


def _dilate(shape: tuple[int, ...], dtype: type, factors: list[int], constant: bool) -> Case:
    kind = Kind(shape, dtype)
    id = f"DILATE-{np.dtype(dtype).name}-{factors}-{constant}"
    x, value, dilations = kind.random(id), np.array(7, dtype), np.array(factors, np.int32)
    out = _padded(x, value, [(0, 0, factor - 1) for factor in factors])
    kinds = [kind, Kind(dilations.shape, np.int32), Kind((), dtype)]
    constants = {1: dilations, 2: value} if constant else {2: value}
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator.DILATE,
            kinds,
            Kind(out.shape, dtype),
            tflite.DilateOptionsT(),
            constants=constants,
        ),
        inputs=[x] if constant else [x, dilations],
        oracle=lambda x, *_: out,
    )


CASES = [
    *(
        _pad((3, 4), dtype, padding)
        for dtype in (np.float32, np.int8, np.int64, np.int16)
        for padding in ([(1, 2, 0), (0, 0, 0)], [(0, 1, 2), (2, 0, 1)], [(-1, 1, 0), (1, -2, 0)])
    ),
    _pad((5, 4), np.float32, [(-2, -1, 1), (1, -1, 2)]),
    *(_dilate((3, 4), dtype, [2, 3], True) for dtype in (np.float32, np.int8, np.int16, np.int64)),
    _dilate((2, 3, 4), np.float32, [1, 2, 1], False),
]
