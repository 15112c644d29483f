"""Cases that tests/random_operators.py found, most of which LiteRT alone defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, Case, Close, Differs, Quanta, Refuses
from .single_op import Kind, single_op


def _case(
    operator: str,
    inputs: Sequence[Kind],
    output: Kind,
    values: Sequence[np.ndarray] | None = None,
    options: TableT | None = None,
    constants: dict[int, np.ndarray] | None = None,
    version: int = 1,
    id: str = "",
    **relations: Any,
) -> Case:
    """Random inputs unless values are given; oracle, closeness and relations to LiteRT as Case has them."""
    told = "-".join(f"{kind.dtype.__name__}{list(kind.shape)}" for kind in inputs)
    full_id = f"found-{operator}-{told}-{inputs[0].scale}-{options and repr(options)}{id}"
    held = constants or {}
    given = [kind.random(f"{full_id}{i}") for i, kind in enumerate(inputs) if i not in held]
    return Case(
        id=full_id,
        make=lambda: single_op(BuiltinOperator[operator], inputs, output, options, version, held),
        inputs=given if values is None else values,
        **relations,
    )


def _halves_through_a_clamp(
    operator: str, a: list[float], b: list[float], fused: str, **relations: Any
) -> Case:
    """The first result is no number: XNNPACK makes the clamp's low end of it, the reference leaves it."""
    kind, options = Kind((2,), np.float16), getattr(tflite, f"{operator.title()}OptionsT")
    values = [np.array(a, np.float16), np.array(b, np.float16)]
    activation = tflite.ActivationFunctionType[fused]
    held = options(fused_activation_function=activation)
    return _case(operator, [kind, kind], kind, values, held, **relations)


def _halves_divided(fused: str, low: float, high: float) -> Case:
    """In float32, whose clamp leaves what is no number."""
    return _halves_through_a_clamp(
        "DIV",
        *([0, 3], [0, 2]),
        fused,
        oracle=lambda a, b: np.clip(np.array([np.nan, 1.5], np.float16), np.float16(low), np.float16(high)),
        litert_default=Differs("XNNPACK's clamp of halves gives numbers for NaN"),
        litert_reference=Refuses("only supports"),
    )


def _reduced(
    name: str, dtype: type, axes: Sequence[int], keep_dims: bool = False, known: bool = False
) -> Case:
    """Of one image batch; axes are an input unless they are known."""
    x = Kind((3, 4, 5, 6), dtype, 0.0344, {np.int8: -70, np.uint8: 70}.get(dtype, 0))
    values = np.array(axes, np.int32)
    dims = [1 if d in axes else n for d, n in enumerate(x.shape) if keep_dims or d not in axes]
    result = Kind(tuple(dims), dtype, 0.0813, {np.int8: 5, np.uint8: 120}.get(dtype, 0))
    options = tflite.ReducerOptionsT(keep_dims=keep_dims)
    id = f"{name}{dtype}{list(axes)}{keep_dims}"
    given = [x.random(id)] if known else [x.random(id), values]
    of_bytes: dict[str, Any] = {}
    if name == "SUM" and dtype is not np.uint8:

        def total(x_values: np.ndarray, *_: np.ndarray) -> np.ndarray:
            real = (x_values.astype(np.float64) - x.zero_point) * 0.0344
            stored = np.rint(real.sum(tuple(axes), keepdims=keep_dims) / 0.0813) + result.zero_point
            limits = np.iinfo(dtype)
            return np.clip(stored, limits.min, limits.max).astype(dtype)

        of_bytes = {"litert_reference": _CONSTANT_SUMS, "oracle": total, "closeness": Quanta(1)}
    return _case(
        *(name, [x, Kind(values.shape, np.int32)], result, given, options),
        constants={1: values} if known else None,
        id=f"-{list(axes)}-{'known' if known else 'given'}",
        **of_bytes,
    )


_AXES = Kind((1,), np.int32)
_COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
_SIX = tflite.MulOptionsT(fused_activation_function=tflite.ActivationFunctionType.RELU6)

_CONSTANT_SUMS = Differs("LiteRT's reference SUM returns one constant")
_NONE = tflite.ActivationFunctionType.NONE


def _fully_connected(kind: Kind, weights: Kind, result: Kind, version: int, asymmetric: bool = False) -> Case:
    """Of rows of 4, by 9 units; weights have no lowest value, whose sign LiteRT's vector code loses."""
    options = tflite.FullyConnectedOptionsT(
        fused_activation_function=_NONE, asymmetric_quantize_inputs=asymmetric
    )
    values = np.maximum(weights.random(f"{kind}{version}"), weights.zero_point - 127).astype(weights.dtype)
    near = None if kind.scale else Close(1e-5, 1e-5)
    return _case(
        *("FULLY_CONNECTED", [kind, weights], result, None, options, {1: values}, version),
        id=f"-v{version}-{asymmetric}",
        litert_default=near,
        litert_reference=near,
    )


def _halves(shape: tuple[int, ...], *ends: tuple[float, float]) -> np.ndarray:
    """Half numbers, of which each image has the ends of its own: some lie between two quantized values."""
    images = np.rint(np.random.default_rng(8).uniform(-11, 11, (len(ends), int(np.prod(shape[1:])))) * 2) / 2
    images[:, :2] = ends
    return images.reshape(shape).astype(np.float32)


def _rows_quantized_on_the_way() -> Case:
    """Rows whose ranges float32 rounds: LiteRT takes their difference in float32, and divides in float64."""
    options = tflite.BatchMatMulOptionsT(asymmetric_quantize_inputs=True)
    kinds = [Kind((60, 32)), Kind((32, 40), np.int8, 0.0163)]
    values = [np.random.default_rng(8).normal(0, 3, (60, 32)).astype(np.float32)]
    near = Close(1e-5, 1e-5)
    return _case(
        *("BATCH_MATMUL", kinds, Kind((60, 40)), values, options, {1: kinds[1].random("rows")}, 4),
        litert_default=near,
        litert_reference=EXACT,
    )


def _quantized_on_the_way(name: str, weights: tuple[int, ...], axis: int, out: tuple[int, ...]) -> Case:
    """float32 by int8 with a scale for each output channel."""
    scales = tuple(np.float32(np.linspace(0.01, 0.05, weights[axis])).tolist())
    kinds = [Kind((3, 4, 5, 3)), Kind(weights, np.int8, scales, 0, axis), Kind((weights[axis],))]
    held = {1: np.maximum(kinds[1].random(name), -127), 2: np.ones(weights[axis], np.float32)}
    values = _halves(kinds[0].shape, (-12, 12), (-15, 19), (-18.5, 11.5))
    options: TableT = tflite.DepthwiseConv2DOptionsT(stride_w=1, stride_h=1, depth_multiplier=1)
    if name == "TRANSPOSE_CONV":
        options = tflite.TransposeConvOptionsT(stride_w=1, stride_h=1)
        kinds = [Kind((4,), np.int32), kinds[1], kinds[0]]
        held = {0: np.array(out, np.int32), 1: held[1]}
    near = Close(1e-5, 1e-5)
    return _case(
        *(name, kinds, Kind(out), [values], options, held, 3), litert_default=near, litert_reference=near
    )


def _pooled(name: str, stride: int) -> Case:
    """Of another quantization than the input's, where XNNPACK does not take the node."""
    options = tflite.Pool2DOptionsT(stride_w=stride, stride_h=stride, filter_width=2, filter_height=2)
    kinds = Kind((1, 6, 6, 3), np.int8, 0.0596, 2), Kind((1, 6 // stride, 6 // stride, 3), np.int8, 0.02, 5)
    return _case(name, [kinds[0]], kinds[1], None, options)


def _arg(find: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Along the last axis, as int32."""
    return lambda x, *_: find(x, -1).astype(np.int32)


_BESIDE_NAN = Differs("LiteRT's vectors along the last axis lose numbers beside NaN")
# Infinities come of some in any arithmetic; LiteRT's own kernels bound them to float32's numbers.
_FAR_ENDS = [
    np.array([np.inf, -np.inf, 3e38, -3e38, 1, -1, 1, np.inf, 2], np.float32),
    np.array([1, 1, 3e38, 3e38, 0, 0, 1, -3, 4], np.float32),
]

_LAST_AXIS = np.array([1], np.int32)

CASES = [
    _rows_quantized_on_the_way(),
    _case(
        *("MEAN", [Kind((0, 2)), _AXES], Kind((2,)), [np.zeros((0, 2), np.float32)]),
        constants={1: np.zeros(1, np.int32)},
    ),
    _pooled("MAX_POOL_2D", 3),
    _pooled("AVERAGE_POOL_2D", 2),
    _quantized_on_the_way("DEPTHWISE_CONV_2D", (1, 2, 2, 3), 3, (3, 4, 5, 3)),
    _quantized_on_the_way("TRANSPOSE_CONV", (2, 2, 2, 3), 0, (3, 4, 5, 2)),
    *(
        _fully_connected(Kind((30, 4), dtype, 0.6274936, 3), Kind((9, 4), dtype, 0.00222, zero), result, 8)
        for dtype, zero in ((np.int8, 0), (np.uint8, 128))
        for result in (Kind((30, 9), dtype, 0.028164, 63),)
    ),
    _fully_connected(Kind((3, 4)), Kind((9, 4), np.int8, 0.02), Kind((3, 9)), 8),
    _fully_connected(Kind((3, 4)), Kind((9, 4), np.int8, 0.02), Kind((3, 9)), 8, asymmetric=True),
    *(
        _reduced(name, dtype, axes, keep_dims)
        for name in ("MEAN", "SUM")
        for dtype in (np.int8, np.uint8, np.int16)
        for axes, keep_dims in (((1, 2), True), ((1, 2), False), ((), False), ((0, 3), True))
    ),
    *(_reduced("MEAN", dtype, (), known=True) for dtype in (np.int8, np.uint8)),
    *(_reduced("SUM", np.int16, axes, known=True) for axes in ((3,), (0,), (1, 2), (0, 1, 2, 3))),
    _case(
        "POW",
        [Kind((9, 9), np.int32), Kind((1,), np.int32)],
        Kind((9, 9), np.int32),
        [np.arange(-40, 41, dtype=np.int32).reshape(9, 9), np.array([13], np.int32)],
    ),
    _case(
        "PRELU",
        [Kind((1, 6)), Kind((3, 6))],
        Kind((3, 6)),
        constants={1: np.ones((3, 6), np.float32) / 3},
        numerics=("default",),
    ),
    _case("HARD_SWISH", [Kind((180,), np.uint8, 0.00142, 205)], Kind((180,), np.uint8, 1.24, 222)),
    _case(
        *("CONCATENATION", [Kind((4, 3)), Kind((4, 2))], Kind((4, 5)), None),
        tflite.ConcatenationOptionsT(axis=1, fused_activation_function=tflite.ActivationFunctionType.RELU),
        oracle=lambda a, b: np.maximum(np.concatenate([a, b], 1), 0),
        closeness=Differs("XNNPACK's concatenation knows no activation"),
        litert_reference=Refuses("activation", numlite_too=True),
    ),
    _case(
        *("CONCATENATION", [Kind((), np.int32), Kind((), np.int32)], Kind((2,), np.int32), []),
        constants={0: np.array(5, np.int32), 1: np.array(-7, np.int32)},
    ),
    _case(
        *("STRIDED_SLICE", [Kind((7, 1, 2)), *[Kind((3,), np.int32)] * 3], Kind((1, 0, 4))),
        options=tflite.StridedSliceOptionsT(end_mask=3, offset=True),
        constants={
            1: np.array([3, 5, 4], np.int32),
            2: np.array([3, -2, 4], np.int32),
            3: np.array([3, 2, 1], np.int32),
        },
        version=8,
        numerics=("default",),
    ),
    # Scales of 1 and more are no business of LiteRT's multiplier, which keeps little but the sign.
    *(
        _case(name, [Kind((9, 40), dtype, scale, zero), Kind((1, 40), dtype, 0.01)], Kind((9, 40), np.bool_))
        for name in _COMPARISONS
        for dtype, scale, zero in ((np.int8, 1.1, 3), (np.int8, 1.7, -5), (np.uint8, 5.3, 120))
    ),
    _case("NOT_EQUAL", [Kind((99,), np.int16, 1.3), Kind((99,), np.int16, 1.3)], Kind((99,), np.bool_)),
    _case("RELU", [Kind((4000,), np.int16, 0.00466)], Kind((4000,), np.int16, 0.00392)),
    # Each sum of two terms comes up: 1 / sum goes through all samples of its table.
    _case(
        "SOFTMAX",
        [Kind((65536, 2), np.int16, 10 / 65535)],
        Kind((65536, 2), np.int16, 1 / 32768),
        [np.stack([np.full(65536, 32767, np.int16), np.arange(-32768, 32768).astype(np.int16)], 1)],
        tflite.SoftmaxOptionsT(beta=1.0),
    ),
    _case("MUL", [Kind((9,), np.uint32), Kind((9,), np.uint32)], Kind((9,), np.uint32), options=_SIX),
    _case(
        "SUM",
        [Kind((7, 3), np.int32), _AXES],
        Kind((3,), np.int32),
        [np.full((7, 3), 2**30, np.int32), np.array([0], np.int32)],
    ),
    _case(
        "SUM",
        [Kind((7,), np.int32), _AXES],
        Kind((), np.int32),
        [np.full(7, -(2**31), np.int32), np.array([0], np.int32)],
    ),
    _case(
        "MEAN",
        [Kind((7, 2), np.int64), _AXES],
        Kind((2,), np.int64),
        [np.array([[2**61 // 7 + 3, -(2**61) // 7]] * 7, np.int64), np.array([0], np.int32)],
    ),
    _case(
        "STRIDED_SLICE",
        [Kind((1, 7, 2), np.int16), *[Kind((1,), np.int32)] * 3],
        Kind((7, 2), np.int16),
        options=tflite.StridedSliceOptionsT(begin_mask=1, shrink_axis_mask=1),
        constants={1: np.array([7], np.int32), 2: np.array([8], np.int32), 3: np.array([1], np.int32)},
    ),
    _case(
        "STABLEHLO_PAD",
        [Kind((5, 4)), Kind(())],
        Kind((0, 0)),
        options=tflite.StablehloPadOptionsT(
            edge_padding_low=[2, -2], edge_padding_high=[1, -2], interior_padding=[0, 0]
        ),
    ),
    *(
        _case(
            *("SOFTMAX", [Kind((7, 40), np.uint8, 0.0201, 92)], Kind((7, 40), np.uint8, scale, zero), None),
            tflite.SoftmaxOptionsT(beta=1.0),
            id=f"-{scale}-{zero}",
        )
        for scale, zero in ((0.742, 128), (0.01, 0), (0.001, 3))
    ),
    *(
        _case("LOG_SOFTMAX", [Kind(shape, dtype, scale, 3)], Kind(shape, dtype, 1 / 16, zero))
        for shape, scale in (((2000, 4), 0.056), ((40, 300), 0.2))
        for dtype, zero in ((np.int8, 127), (np.uint8, 255))
    ),
    # Halves of a step, in float32: what lies behind the last whole vector is divided in float64.
    *(
        _case(
            "QUANTIZE",
            [Kind(shape)],
            Kind(shape, np.int16, 0.00123, zero),
            [((np.arange(np.prod(shape)).reshape(shape) - 2500.5) * 0.00123).astype(np.float32)],
        )
        for shape, zero in (((5003,), 0), ((7,), 3), ((5, 1003), -4), ((5000,), 0))
    ),
    *(
        _case(
            *("FULLY_CONNECTED", [Kind((3, 0), dtype, scale, 3), Kind((4, 0), dtype, scale, 3)]),
            Kind((3, 4), dtype, scale, 5),
            options=tflite.FullyConnectedOptionsT(),
            constants={1: np.zeros((4, 0), dtype)} if known else None,
            version=4,
            id=f"-{known}",
        )
        for dtype, scale in ((np.float32, None), (np.uint8, 0.1))
        for known in (False, True)
    ),
    *(
        _case(
            *("BATCH_MATMUL", [Kind((3, 2, 16)), Kind((3, 16, 5), np.int8, 0.026, -82)], Kind((3, 2, 5))),
            options=tflite.BatchMatMulOptionsT(),
            constants={1: np.arange(-120, 120).astype(np.int8).reshape(3, 16, 5)} if known else None,
            version=4,
            id=f"-{known}",
            litert_default=Refuses("failed to update filter tensor", numlite_too=True),
            litert_reference=Close(1e-5, 1e-5),
        )
        for known in (False, True)
    ),
    *(
        _case(name, [Kind((9,)), Kind((9,))], Kind((9,)), _FAR_ENDS, options)
        for name, options in (
            ("ADD", tflite.AddOptionsT()),
            ("SUB", tflite.SubOptionsT()),
            ("MUL", tflite.MulOptionsT(fused_activation_function=tflite.ActivationFunctionType.RELU)),
            ("DIV", tflite.DivOptionsT()),
        )
    ),
    _case(
        "MAX_POOL_2D",
        [Kind((1, 3, 3, 1))],
        Kind((1, 2, 2, 1)),
        [_FAR_ENDS[0].reshape(1, 3, 3, 1)],
        tflite.Pool2DOptionsT(
            padding=tflite.Padding.VALID, stride_w=1, stride_h=1, filter_width=2, filter_height=2
        ),
    ),
    _case(
        *("FULLY_CONNECTED", [Kind((9, 1)), Kind((1, 1))], Kind((9, 1)), [_FAR_ENDS[0].reshape(9, 1)]),
        options=tflite.FullyConnectedOptionsT(),
        constants={1: np.full((1, 1), 3, np.float32)},
    ),
    _case(
        *("CONV_3D", [Kind((1, 1, 1, 9, 1)), Kind((1, 1, 1, 1, 1))], Kind((1, 1, 1, 9, 1))),
        [_FAR_ENDS[0].reshape(1, 1, 1, 9, 1)],
        tflite.Conv3DOptionsT(stride_d=1, stride_h=1, stride_w=1),
        {1: np.full((1, 1, 1, 1, 1), 3, np.float32)},
    ),
    *(
        _case(
            name,
            [Kind((3, 4)), Kind((1,), np.int32)],
            Kind((3,), np.int32),
            [np.array([[5, -1, np.nan, -3], [np.nan, 5, 1, 0], [3, np.nan, 4, 9]], np.float32)],
            options,
            {1: np.array([1], np.int32)},
            oracle=find,
            litert_default=_BESIDE_NAN,
            litert_reference=_BESIDE_NAN,
        )
        for name, options, find in (
            ("ARG_MAX", tflite.ArgMaxOptionsT(output_type=tflite.TensorType.INT32), _arg(np.nanargmax)),
            ("ARG_MIN", tflite.ArgMinOptionsT(output_type=tflite.TensorType.INT32), _arg(np.nanargmin)),
        )
    ),
    _case(
        "FAKE_QUANT", [Kind((50,))], Kind((50,)), options=tflite.FakeQuantOptionsT(min=-6, max=5, num_bits=1)
    ),
    # LiteRT's own kernels begin with the least finite number; its reference passes over NaN.
    *(
        _case(
            *(name, [Kind(shape), _AXES], Kind(shape[:1]), [values] if known else [values, _LAST_AXIS]),
            options=tflite.ReducerOptionsT(),
            constants={1: _LAST_AXIS} if known else None,
            id=f"-of-nothing-{known}",
        )
        for name, end in (("REDUCE_MAX", -np.inf), ("REDUCE_MIN", np.inf))
        for shape in ((3, 0), (2, 40))
        for values in (np.full(shape, end, np.float32),)
        for known in (False, True)
    ),
    *(
        _case(
            *(
                name,
                [Kind((2, 3)), _AXES],
                Kind((2,)),
                [np.array([[np.nan, 5, 1], [3, np.nan, 4]], np.float32)],
            ),
            options=tflite.ReducerOptionsT(),
            constants={1: _LAST_AXIS},
            id="-beside-nan",
            numerics=("reference",),
        )
        for name in ("REDUCE_MAX", "REDUCE_MIN")
    ),
    # No one looks at the zero point of these weights.
    _case(
        "DEPTHWISE_CONV_2D",
        # Without a bias LiteRT's default dies of weights that are no constant.
        [
            *(Kind((1, 5, 4, 8), np.int8, 0.02, 3), Kind((1, 2, 1, 8), np.int8, 0.01, -7)),
            Kind((8,), np.int32, 0.0002, 0),
        ],
        Kind((1, 4, 4, 8), np.int8, 0.2, 3),
        options=tflite.DepthwiseConv2DOptionsT(
            padding=tflite.Padding.VALID, stride_w=1, stride_h=1, depth_multiplier=1
        ),
        version=3,
    ),
    *(
        _halves_through_a_clamp(operator, [np.inf, 3], b, fused)
        for operator, b in (("ADD", [-np.inf, 2]), ("MUL", [0, 2]))
        for fused in ("RELU", "RELU6", "RELU_N1_TO_1")
    ),
    _halves_divided("RELU", 0, np.inf),
    _halves_divided("RELU6", 0, 6),
    _halves_divided("RELU_N1_TO_1", -1, 1),
]
