"""Cases of reductions over axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, NUMERICS, Case, Close, Closeness, Differs, Quanta, Refuses, Relation
from .single_op import Kind, single_op

_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "MEAN": np.mean,
    "SUM": np.sum,
    "REDUCE_PROD": np.prod,
    "REDUCE_MAX": np.max,
    "REDUCE_MIN": np.min,
    "REDUCE_ANY": np.any,
    "REDUCE_ALL": np.all,
}
_WRONG_SUM = Differs("LiteRT's reference kernel gives one constant for every int8 SUM")
# LiteRT rounds the product after every element.
_ROUNDED_PRODUCTS = Differs("the errors of rounded products grow with their number", 255)
_NO_BOOLS = Refuses("optimized_ops::ReduceGeneric")
_OTHER_SCALE = Refuses("input->params.scale != op_context.output", numlite_too=True)


def _unlike_reference(name: str, dtype: np.dtype, of_stored: bool) -> Relation | None:
    if of_stored and name in ("REDUCE_MAX", "REDUCE_MIN"):
        return _OTHER_SCALE
    return _WRONG_SUM if name == "SUM" and dtype == np.int8 else None


def reduce_case(
    name: str,
    x: Kind,
    axes: tuple[int, ...],
    keep_dims: bool = False,
    out_scale: tuple[float, int] | None = None,
    num_threads: int = 1,
    constant: bool = True,
    closeness: Closeness | Differs | None = None,
    of_stored: bool = False,
    numerics: tuple[str, ...] = NUMERICS,
) -> Case:
    """One reduction; out_scale is the scale and zero point of a quantized result, else as x's.

    With of_stored the result is that of the stored values, whatever their scales. The axes are an
    input of the model where they are not constant.
    """
    dtype = np.dtype(x.dtype)
    counted = tuple({axis % len(x.shape) for axis in axes})
    shape = np.sum(np.zeros(x.shape), axis=counted, keepdims=keep_dims).shape
    y = Kind(shape, x.dtype, *(out_scale or (x.scale, x.zero_point)))
    id = (
        f"{name}-{dtype.name}-{'x'.join(map(str, x.shape))}-axes{'_'.join(map(str, axes))}"
        f"-{int(keep_dims)}-{num_threads}-{y.scale}{'-given' * (not constant)}{'-stored' * of_stored}"
    )

    def oracle(stored: np.ndarray, _axes: np.ndarray | None = None) -> np.ndarray:
        if of_stored:
            return _FUNCTIONS[name](stored, axis=counted, keepdims=keep_dims).astype(dtype)
        real = _FUNCTIONS[name](x.real(stored), axis=counted, keepdims=keep_dims)
        if dtype.kind == "b":
            return np.asarray(real != 0)
        return y.stored(np.trunc(real) if dtype.kind == "i" and y.scale is None else real)

    is_whole = dtype.kind == "b" or (dtype.kind == "i" and y.scale is None)
    exact = is_whole or name in ("REDUCE_MAX", "REDUCE_MIN")
    sums = Close(rtol=1e-5, atol=2e-6 * np.prod(x.shape) ** 0.5)  # taken in another order
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator[name],
            [x, Kind((len(axes),), np.int32)],
            y,
            tflite.ReducerOptionsT(keep_dims=keep_dims),
            1 if dtype.kind == "b" else 2,
            {1: np.array(axes, np.int32)} if constant else {},
        ),
        inputs=[x.random(id, 1.0)] + ([] if constant else [np.array(axes, np.int32)]),
        oracle=oracle,
        litert_default=_NO_BOOLS if dtype.kind == "b" and name in _NUMBERS else None,
        closeness=closeness or (EXACT if exact else sums if dtype.kind == "f" else Quanta(1)),
        litert_reference=_unlike_reference(name, dtype, of_stored),
        num_threads=num_threads,
        numerics=numerics,
    )


def unscaled_case(
    name: str,
    dtype: type,
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    expected: int | None,
    *,
    keep_dims: bool = False,
    constant: bool = True,
    numerics: tuple[str, ...] = NUMERICS,
) -> Case:
    """Of stored integers that have no scale: products wrap, sums are of NaN, one number whatever x is."""
    case = reduce_case(name, Kind(shape, dtype), axes, keep_dims, constant=constant, numerics=numerics)

    def oracle(x: np.ndarray, _axes: np.ndarray | None = None) -> np.ndarray:
        product = np.multiply.reduce(x, axis=axes, dtype=dtype, keepdims=keep_dims)
        return product if expected is None else np.full_like(product, expected)

    id = f"{case.id}-unscaled-{''.join(numerics)}"
    return replace(case, id=id, oracle=oracle, closeness=EXACT, litert_reference=None)


_AXES = [
    ((1, 7, 7, 40), (1, 2)),
    ((2, 5, 3, 8), (-2, 1)),
    ((1, 4, 5, 33), (3,)),
    ((3, 9, 4), (1,)),
    ((2, 3, 4, 5), (0, 1, 2, 3)),
    ((2, 3, 4, 5, 2), (0, 2, 4)),
    ((2, 3, 4, 5, 2), (1, 3)),
    ((3, 4), (0, 0)),
    ((5,), (0,)),
]
# Products of many numbers that are no 0.
_FAR = [shape for shape, _ in _AXES[:3]]
_NUMBERS = ["MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"]

CASES = [
    *(reduce_case(name, Kind(shape), axes) for name in _NUMBERS for shape, axes in _AXES),
    *(reduce_case(name, Kind(shape), axes, keep_dims=True) for name in _NUMBERS for shape, axes in _AXES[:3]),
    *(
        reduce_case(name, Kind(shape, dtype), axes)
        for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")
        for dtype in (np.int32, np.int64)
        for shape, axes in _AXES[1:4]
    ),
    *(
        reduce_case(name, Kind(shape, dtype, 0.05, 7), axes)
        for name in ("MEAN", "REDUCE_MAX", "REDUCE_MIN")
        for dtype in (np.int8, np.uint8)
        for shape, axes in _AXES[:6]
    ),
    *(
        reduce_case(name, Kind(shape, dtype, 0.05, 7), axes, out_scale=(scale, 12))
        for name, scale in (("MEAN", 0.031), ("SUM", 0.9))
        for dtype in (np.int8, np.uint8)
        for shape, axes in _AXES[:4]
    ),
    *(
        reduce_case(name, Kind(shape, np.int16, 0.05), axes)
        for name in ("MEAN", "REDUCE_MAX", "REDUCE_MIN")
        for shape, axes in _AXES[:4]
    ),
    *(
        reduce_case(
            "REDUCE_PROD",
            Kind(shape, *stored),
            axes,
            out_scale=out_scale,
            closeness=_ROUNDED_PRODUCTS if stored[0] is np.int8 and shape in _FAR else None,
        )
        for stored, out_scale in (((np.int8, 0.05, 7), (0.9, 12)), ((np.int16, 0.0005), (0.02, 0)))
        for shape, axes in _AXES
    ),
    *(
        reduce_case(
            "REDUCE_PROD",
            Kind((3, 1), *stored),
            (1,),
            out_scale=(0.9, 0),
            of_stored=numerics == "default",
            numerics=(numerics,),
        )
        for numerics in NUMERICS
        for stored in ((np.int8, 0.05, 7), (np.int16, 0.0005))
    ),
    *(
        reduce_case(
            name,
            Kind((3, 8, 5), dtype, 0.05, 7),
            (1,),
            out_scale=(0.09, 3),
            closeness=EXACT,
            of_stored=True,
        )
        for name in ("REDUCE_MAX", "REDUCE_MIN")
        for dtype in (np.int8, np.uint8)
    ),
    *(reduce_case(name, Kind((3, 4, 5)), (0, 2), constant=False) for name in _NUMBERS),
    reduce_case("MEAN", Kind((3, 4, 5), np.int8, 0.05, 7), (1,), constant=False),
    *(
        reduce_case(name, Kind((3, 4, 5), np.bool_), (1,), constant=constant)
        for name in ("REDUCE_ANY", "REDUCE_ALL", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN")
        for constant in (True, False)
    ),
    *(
        unscaled_case("REDUCE_PROD", dtype, shape, axes, None, constant=constant)
        for dtype, shape, axes, constant in (
            (np.int8, (3, 4, 5), (0, 2), True),
            (np.int8, (3, 4), (1,), False),
            (np.uint8, (3, 4), (0,), True),
            (np.int16, (2, 3, 4), (1,), True),
        )
    ),
    *(
        unscaled_case("MEAN", dtype, (2, 4, 5, 3), axes, 0, constant=constant)
        for dtype in (np.int8, np.uint8, np.int16)
        for axes, constant in (((1, 2), True), ((3,), False))
    ),
    *(
        unscaled_case("MEAN", np.int8, (2, 4, 5, 3), (2, 1), value, keep_dims=True, numerics=(numerics,))
        for numerics, value in (("default", -128), ("reference", 0))
    ),
    *(
        unscaled_case("SUM", dtype, (3, 4, 5), (0, 2), value, numerics=(numerics,))
        for dtype, numerics, value in (
            (np.int8, "default", -128),
            (np.int16, "default", -32768),
            (np.uint8, "default", 0),
            (np.int8, "reference", 0),
            (np.uint8, "reference", 0),
        )
    ),
    reduce_case("MEAN", Kind((1, 64, 64, 512)), (1, 2), num_threads=2),
    reduce_case("SUM", Kind((64, 9000)), (1,), num_threads=2),
]
