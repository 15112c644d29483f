"""Cases of BATCH_MATMUL."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .case import NO_EMPTY, QUANTIZED, Case, Close, Quanta, Refuses
from .conv import SUMS
from .single_op import Kind, single_op


def batch_matmul_case(
    id: str,
    x: Kind,
    w: Kind,
    y: Kind | None = None,
    *,
    adj_x: bool = False,
    adj_y: bool = False,
    constant: bool = False,
    asymmetric: bool = False,
    num_threads: int = 1,
    litert_default: Refuses | None = None,
) -> Case:
    """One BATCH_MATMUL; y says how the result is quantized."""
    x_values, w_values = x.random(id, 1.0), w.random(id + "w", 1.0)

    def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        left, right = x.real(left), w.real(right)
        left = np.swapaxes(left, -1, -2) if adj_x else left
        return left @ (np.swapaxes(right, -1, -2) if adj_y else right)

    shape = product(x_values, w_values).shape
    output = Kind(shape) if y is None else Kind(shape, y.dtype, y.scale, y.zero_point)

    def oracle(left: np.ndarray, right: np.ndarray = w_values) -> np.ndarray:
        return output.stored(product(left, right))

    options = tflite.BatchMatMulOptionsT(adj_x=adj_x, adj_y=adj_y, asymmetric_quantize_inputs=asymmetric)
    constants = {1: w_values} if constant else None
    code = tflite.BuiltinOperator.BATCH_MATMUL
    hybrid = x.dtype is np.float32 and w.dtype is np.int8
    return Case(
        id=id,
        make=lambda: single_op(code, [x, w], output, options, 4, constants),
        inputs=[x_values] if constant else [x_values, w_values],
        oracle=oracle,
        closeness=QUANTIZED if hybrid else SUMS if y is None else Quanta(1),
        litert_default=Close() if hybrid else litert_default,
        litert_reference=Close() if hybrid else None,
        num_threads=num_threads,
    )


def _i8(*shape: int, zero_point: int = 0) -> Kind:
    return Kind(shape, np.int8, 0.05, zero_point)


def _i16(*shape: int) -> Kind:
    return Kind(shape, np.int16, 0.003)


_Y8, _Y16, _Y32 = Kind((), np.int8, 1.5, -3), Kind((), np.int16, 0.01), Kind((), np.int32)

CASES = [
    batch_matmul_case("batch-matmul", Kind((2, 5, 7)), Kind((2, 7, 9))),
    batch_matmul_case("batch-matmul-constant", Kind((2, 5, 7)), Kind((2, 7, 40)), constant=True),
    batch_matmul_case("batch-matmul-adj-y", Kind((2, 5, 7)), Kind((2, 49, 7)), adj_y=True),
    batch_matmul_case("batch-matmul-adj-x", Kind((2, 7, 5)), Kind((2, 7, 9)), adj_x=True),
    batch_matmul_case("batch-matmul-both", Kind((2, 7, 5)), Kind((9, 7)), adj_x=True, adj_y=True),
    batch_matmul_case("batch-matmul-broadcast", Kind((2, 1, 5, 7)), Kind((3, 7, 33))),
    batch_matmul_case("batch-matmul-folds", Kind((2, 3, 5, 7)), Kind((1, 7, 9)), constant=True),
    batch_matmul_case(
        "batch-matmul-empty-sum",
        Kind((2, 5, 0)),
        Kind((2, 0, 3)),
        litert_default=NO_EMPTY,
    ),
    *(
        batch_matmul_case(
            f"batch-matmul-rows-{rows}-{depth}x{columns}-{adj_y}",
            Kind((3, rows, depth)),
            Kind((3, *((columns, depth) if adj_y else (depth, columns)))),
            adj_y=adj_y,
        )
        for rows, depth, columns in ((1, 64, 200), (1, 197, 64), (2, 1, 3), (3, 7, 67), (1, 130, 1))
        for adj_y in (False, True)
    ),
    batch_matmul_case("batch-matmul-threads", Kind((4, 60, 64)), Kind((4, 64, 70)), num_threads=4),
    batch_matmul_case("batch-matmul-i8", _i8(2, 5, 7, zero_point=3), _i8(2, 7, 9), _Y8),
    batch_matmul_case("batch-matmul-i8-wide", _i8(2, 17, 10, zero_point=-5), _i8(2, 10, 70), _Y8),
    batch_matmul_case("batch-matmul-i8-adj-y", _i8(2, 5, 7), _i8(2, 49, 7), _Y8, adj_y=True),
    batch_matmul_case(
        "batch-matmul-i8-adj-y-deep", _i8(2, 5, 39, zero_point=2), _i8(2, 70, 39), _Y8, adj_y=True
    ),
    batch_matmul_case("batch-matmul-i8-constant", _i8(2, 5, 8), _i8(1, 8, 40), _Y8, constant=True),
    batch_matmul_case(
        "batch-matmul-i8-constants", _i8(2, 8, 5), _i8(2, 8, 40), _Y8, constant=True, adj_x=True
    ),
    batch_matmul_case("batch-matmul-i8-zero-point", _i8(2, 5, 7), _i8(2, 7, 9, zero_point=4), _Y8),
    batch_matmul_case("batch-matmul-i8-threads", _i8(3, 90, 64), _i8(3, 64, 70), _Y8, num_threads=4),
    *(
        batch_matmul_case(
            f"batch-matmul-i8-rows-{rows}-{depth}x{columns}-{zero}-{adj_y}",
            _i8(3, rows, depth, zero_point=-128 if zero else 7),
            _i8(3, *((columns, depth) if adj_y else (depth, columns)), zero_point=zero),
            _Y8,
            adj_y=adj_y,
        )
        for rows, depth, columns in ((1, 64, 200), (1, 197, 64), (2, 1, 3), (3, 7, 67), (1, 130, 1))
        for zero, adj_y in ((0, False), (0, True), (-9, False), (127, True))
    ),
    batch_matmul_case(
        "batch-matmul-i8-row-threads", _i8(9, 1, 300), _i8(9, 300, 900, zero_point=3), _Y8, num_threads=3
    ),
    batch_matmul_case("batch-matmul-i8-i32", Kind((2, 5, 7), np.int8), Kind((2, 7, 9), np.int8), _Y32),
    batch_matmul_case("batch-matmul-i16", _i16(2, 5, 7), _i16(2, 7, 9), _Y16),
    batch_matmul_case("batch-matmul-i16-i8", _i16(2, 5, 7), _i8(2, 9, 7), _Y16, adj_y=True),
    batch_matmul_case("batch-matmul-hybrid", Kind((2, 5, 7)), Kind((7, 9), np.int8, 0.02), constant=True),
    batch_matmul_case(
        "batch-matmul-hybrid-asymmetric",
        Kind((3, 7, 5)),
        Kind((3, 40, 7), np.int8, 0.02),
        constant=True,
        asymmetric=True,
        adj_x=True,
        adj_y=True,
    ),
]
