"""Quantized tensors: what they stand for must be what floats give, within a step."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

RANDOM = np.random.default_rng(12)
X = RANDOM.uniform(-1.9, 2.9, (3, 4)).astype(np.float32)
LOW, HIGH = np.float32(-2), np.float32(3)
STEP = 5 / 255


def values(x: np.ndarray, low: object, high: object, type: str) -> np.ndarray:
    """What a quantized tensor stands for."""
    return run("Dequantize", [x, low, high], T=type, mode="string$MIN_FIRST")[0]


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
@pytest.mark.parametrize("type", ["qint8", "quint8"])
def test_quantizing_is_undone_within_a_step(mode: str, type: str) -> None:
    if (mode, type) == ("SCALED", "quint8"):
        pytest.skip("holds nothing below 0")
    y, low, high = run("QuantizeV2", [X, LOW, HIGH], T=type, mode=f"string${mode}")
    (back,) = run("Dequantize", [y, low, high], T=type, mode=f"string${mode}")
    np.testing.assert_allclose(back, X, atol=2 * STEP)


def test_quantized_and_back_at_once() -> None:
    options = {"T": "f32", "num_bits": "i64$8", "range_given": "bool$true"}
    (y,) = run("QuantizeAndDequantizeV2", [X, LOW, HIGH], **options)
    step = 3 / 127
    np.testing.assert_allclose(y, np.rint(X / step) * step, rtol=1e-5, atol=1e-6)


def test_unsigned_numbers_of_a_range_of_nothing() -> None:
    """By TensorFlow 2.21: the least of a narrow range is flushed to 0, though the range has no 0."""
    options = {"T": "quint8", "mode": "string$SCALED", "narrow_range": "bool$true"}
    y, low, high = run("QuantizeV2", [np.float32([2, 0, -2]), LOW, LOW], **options)
    np.testing.assert_array_equal(y, np.array([255, 0, 0], np.uint8))
    assert (low, high) == (0, np.float32(255) / np.finfo(np.float32).max)


def quantized(x: np.ndarray) -> np.ndarray:
    inputs = [x.astype(np.float32), LOW, HIGH]
    return run("QuantizeV2", inputs, T="quint8", mode="string$MIN_FIRST")[0]


def test_arithmetic_is_that_of_floats() -> None:
    a, b = quantized(X), quantized(X[::-1])
    x, y = (values(q, LOW, HIGH, "quint8") for q in (a, b))
    ranges = [LOW, HIGH, LOW, HIGH]
    for op, wanted in (("QuantizedAdd", x + y), ("QuantizedMul", x * y)):
        total, low, high = run(op, [a, b, *ranges], Toutput="qint32", T1="quint8", T2="quint8")
        np.testing.assert_allclose(values(total, low, high, "qint32"), wanted, atol=0.05)
    inputs = [a, b.T.copy(), *ranges]
    product, low, high = run("QuantizedMatMul", inputs, Toutput="qint32", T1="quint8", T2="quint8")
    np.testing.assert_allclose(values(product, low, high, "qint32"), x @ y.T, atol=0.1)


def test_convolution_is_that_of_floats_and_shrinks_to_bytes() -> None:
    x, w = quantized(RANDOM.uniform(-2, 3, (1, 4, 4, 2))), quantized(RANDOM.uniform(-2, 3, (2, 2, 2, 3)))
    options = {"strides": "list(i64)$1,1,1,1", "padding": "string$SAME"}
    inputs = [x, w, LOW, HIGH, LOW, HIGH]
    types = {"Tinput": "quint8", "Tfilter": "quint8", "out_type": "qint32"}
    y, low, high = run("QuantizedConv2D", inputs, **types, **options)
    floats = [values(q, LOW, HIGH, "quint8") for q in (x, w)]
    wanted = run("Conv2D", floats, T="f32", **options)[0]
    np.testing.assert_allclose(values(y, low, high, "qint32"), wanted, atol=0.3)
    small, low, high = run("QuantizeDownAndShrinkRange", [y, low, high], Tinput="qint32", out_type="quint8")
    assert small.min() <= 1 and small.max() >= 254
    np.testing.assert_allclose(values(small, low, high, "quint8"), wanted, atol=0.5)


def test_convolution_pads_with_the_low_bits_of_a_zero_that_is_out_of_range() -> None:
    """As TensorFlow does. 1275 stands for 0 where 0 to 255 is -2.5 to -2, and 251 is its low byte."""
    x, w = np.full((1, 1, 1, 1), 10, np.uint8), np.ones((1, 2, 1, 1), np.uint8)
    inputs = [x, w, *np.float32([-2.5, -2, 0, 255])]
    types = {"Tinput": "quint8", "Tfilter": "quint8", "out_type": "qint32"}
    options = {"strides": "list(i64)$1,1,1,1", "padding": "string$SAME"}
    y, *_ = run("QuantizedConv2D", inputs, **types, **options)
    assert y.ravel().tolist() == [(10 - 1275) + (251 - 1275)]


def test_uniform_quantization_by_axis() -> None:
    scales, zeros = np.array([0.1, 0.2, 0.05, 0.1], np.float32), np.array([0, 3, -5, 1], np.int32)
    limits = {"quantization_min_val": "i64$-128", "quantization_max_val": "i64$127"}
    ends = {"quantization_axis": "i64$1", **limits}
    (q,) = run("UniformQuantize", [X, scales, zeros], Tin="f32", Tout="qint8", **ends)
    (back,) = run("UniformDequantize", [q, scales, zeros], Tin="qint8", Tout="f32", **ends)
    np.testing.assert_allclose(back, X, atol=0.1001)


def test_negative_scales_quantize_but_do_not_dequantize() -> None:
    x, scale, zero = np.float32([1, -0.5, 0.25, 100]), np.float32(-0.1), np.int32(3)
    ends = {
        "quantization_min_val": "i64$-128",
        "quantization_max_val": "i64$127",
        "quantization_axis": "i64$-1",
    }
    (q,) = run("UniformQuantize", [x, scale, zero], Tin="f32", Tout="qint8", **ends)
    assert q.tolist() == [-7, 8, 1, -128]
    with pytest.raises(InvalidArgumentError, match="positive"):
        run("UniformDequantize", [q, scale, zero], Tin="qint8", Tout="f32", **ends)
    limits = np.int32([2, 3])
    held = run("UniformQuantizedClipByValue", [np.int32([1, 2, 9]), *limits, scale, zero], T="qint32", **ends)
    assert held[0].tolist() == [2, 2, 3]


@pytest.mark.parametrize(("low", "high"), [(1, -1), (np.nan, 1), (-np.inf, 1)])
def test_ranges_that_cannot_be_are_refused(low: float, high: float) -> None:
    with pytest.raises(InvalidArgumentError):
        run("QuantizeV2", [X, np.float32(low), np.float32(high)], T="quint8", mode="string$MIN_FIRST")


@pytest.mark.parametrize(
    ("low", "text"), [(-np.inf, "must ascend and be finite"), (0.5, "must begin at most at 0")]
)
def test_output_ranges_that_cannot_be_are_refused(low: float, text: str) -> None:
    ends = [np.float32(end) for end in (-500, 5000, low, 1)]
    with pytest.raises(InvalidArgumentError, match=f"Requantize: the .*range {text}"):
        run("Requantize", [np.int32([1, 2]), *ends], Tinput="qint32", out_type="quint8")


def test_a_narrow_range_without_signs_begins_at_0() -> None:
    """Narrow ranges leave out the lowest negative number, and there is none."""
    given = {"narrow_range": "bool$true", "signed_input": "bool$false", "range_given": "bool$true"}
    options = {"T": "f32", "num_bits": "i64$4", **given}
    x = np.float32([-1, 0.2, 1.25, 3])
    (y,) = run("QuantizeAndDequantizeV2", [x, np.float32(0.25), np.float32(1.25)], **options)
    np.testing.assert_allclose(y, np.float32([0, 2, 15, 15]) / 12, rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 0, 5, 2), (0, 2, 2, 2), (1, 0, 0, 2)])
def test_instances_without_elements_have_infinite_ends(shape: tuple[int, ...]) -> None:
    """As TensorFlow's kernel leaves them, unless the range is given."""
    options = {"T": "quint8", "variance_epsilon": "f32$1e-5", "min_separation": "f32$1e-3"}
    ends = {"given_y_min": "f32$-1", "given_y_max": "f32$1"}
    for given, expected in (("false", [np.inf, np.inf]), ("true", [-1, 1])):
        inputs = [np.zeros(shape, np.uint8), np.float32(0), np.float32(2)]
        y, *found = run(
            "QuantizedInstanceNorm", inputs, output_range_given=f"bool${given}", **options, **ends
        )
        assert y.shape == shape
        assert found == expected


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([203, 203, 203, 203], [211, 211, 44, 17], [201487, 201487, 72730, 51913]),
        ([203], [211, 211, 44, 17], [201489, 201489, 72732, 51915]),
        ([211, 211, 44, 17], [203], [199433, 199433, 113595, 99717]),
    ],
)
def test_sums_of_bytes_with_one_element(x: list[int], y: list[int], expected: list[int]) -> None:
    """What TensorFlow 2.21 computes: a single element is rounded by itself."""
    ends = [np.float32(end) for end in (0, 2, -1, 2)]
    types = {"T1": "quint8", "T2": "quint8", "Toutput": "qint32"}
    assert run("QuantizedAdd", [np.uint8(x), np.uint8(y), *ends], **types)[0].tolist() == expected


def test_joined_bytes_are_rounded_in_float32() -> None:
    """243 of [0, 20] is 121.5 steps of [-10, 30], less than that in float64."""
    values, lows, highs = [np.uint8([243]), np.uint8([219])], np.float32([0, -10]), np.float32([20, 30])
    joined = run("QuantizedConcat", [np.int32(0), *values, *lows, *highs], T="quint8", N="i64$2")
    assert joined[0].tolist() == [186, 219]


@pytest.mark.parametrize(
    ("depth", "scales", "wanted"),
    [(1000, (0.1, 0.2, 0.02), 16129001), (1050, (1, 1, 1), 16935440)],
    ids=["a scale of float64", "a sum of float32"],
)
def test_uniform_products_are_rounded_as_tensorflow_rounds_them(
    depth: int, scales: tuple[float, ...], wanted: int
) -> None:
    x = np.full((1, depth), 127, np.int8)
    a, b, c = (np.float32(scale) for scale in scales)
    limits = {
        f"{end}_quantization_{which}_val": f"i64${bound}"
        for end, reach in (("lhs", 2**7), ("rhs", 2**7), ("output", 2**31))
        for which, bound in (("min", -reach), ("max", reach - 1))
    }
    axes = {f"{end}_quantization_axis": "i64$-1" for end in ("lhs", "rhs", "output")}
    inputs = [x, x.T.copy(), a, np.int32(0), b, np.int32(0), c, np.int32(0)]
    (y,) = run("UniformQuantizedDot", inputs, Tin="qint8", Tout="qint32", **limits, **axes)
    assert y.tolist() == [[wanted]]


@pytest.mark.parametrize(
    ("of_columns", "wanted"), [(False, [[19, 22], [43, 50]]), (True, [[19, 38], [43, 86]])]
)
@pytest.mark.parametrize("axis", [-1, 1])
def test_scales_say_whether_a_product_is_quantized_by_columns(
    of_columns: bool, wanted: list[list[int]], axis: int
) -> None:
    x, y = np.int8([[1, 2], [3, 4]]), np.int8([[5, 6], [7, 8]])
    own = [np.float32([1, 2]), np.int32([0, 1])] if of_columns else [np.float32(1), np.int32(0)]
    one, zero = np.float32(1), np.int32(0)
    axes = {"lhs_quantization_axis": "i64$-1"} | {
        f"{of}_quantization_axis": f"i64${axis}" for of in ("rhs", "output")
    }
    ends = {f"{of}_quantization_{end}_val": "i64$0" for of in ("lhs", "rhs") for end in ("min", "max")}
    ends |= {"output_quantization_min_val": "i64$-999", "output_quantization_max_val": "i64$999"}
    inputs = [x, y, one, zero, *own, one, zero]
    assert (
        run("UniformQuantizedDot", inputs, Tin="qint8", Tout="qint32", **axes, **ends)[0].tolist() == wanted
    )
    inputs[-2:] = [np.float32([1, 2]), np.int32([0, 0])]
    if not of_columns:
        with pytest.raises(InvalidArgumentError, match="must be quantized as a whole where rhs is"):
            run("UniformQuantizedDot", inputs, Tin="qint8", Tout="qint32", **axes, **ends)


@pytest.mark.parametrize(
    ("low", "high", "type", "wanted"),
    [
        (np.nan, 1, "quint8", [0, 0, 0]),
        (-1, np.nan, "quint8", [255, 0, 255]),
        (-np.inf, 1, "qint8", [0, 0, 0]),
        (0, 0, "quint8", [255, 0, 255]),
        (-5, -8, "qint8", [44, -103, 127]),
    ],
)
def test_channels_in_ranges_that_are_none(low: float, high: float, type: str, wanted: list[int]) -> None:
    x, ends = np.int32([1000, -2000, 3000]).reshape(1, 1, 1, 3), np.float32([[-3, -4, -5], [6e6, 7e6, 1e8]])
    given = [x, *ends, np.float32(low), np.float32(high)]
    y, *own = run("RequantizePerChannel", given, T="qint32", out_type=type)
    assert y.reshape(-1).tolist() == wanted
    np.testing.assert_array_equal(own, np.float32([low, high]))


def test_channels_without_a_range() -> None:
    x, least = np.int32([1000, -2000, 3000]).reshape(1, 1, 1, 3), np.float32([np.nan, 1, 1])
    given = [x, least, np.float32([1, 2, np.nan]), np.float32(-1), np.float32(1)]
    y, *_ = run("RequantizePerChannel", given, T="qint32", out_type="qint8")
    assert y.reshape(-1).tolist() == [-128, 0, 0]
    limit = {"clip_value_max": "f32$6"}
    low, high = run("RequantizationRangePerChannel", given[:3], T="qint32", **limit)
    assert high == np.float32(2000 * 2 / 2**31) and low == -high
    with pytest.raises(InvalidArgumentError, match="must begin below 0, got nan"):
        given[-2] = np.float32(np.nan)
        run("RequantizePerChannel", given, T="qint32", out_type="qint8")


@pytest.mark.parametrize(
    ("scale", "low", "wanted"),
    [
        (0, -129, [127, 127, 127, 127, 127]),
        (np.inf, -128, [3, 3, 3, -128, -128]),
        (1e-9, -128, [-128, 3, -128, -128, -128]),
    ],
)
def test_steps_beyond_32_bits_are_the_least(scale: float, low: int, wanted: list[int]) -> None:
    """A limit beyond the type's comes again at its other end."""
    ends = {
        "quantization_min_val": f"i64${low}",
        "quantization_max_val": "i64$127",
        "quantization_axis": "i64$-1",
    }
    given = [np.float32([-3, 0, 3, np.nan, np.inf]), np.float32(scale), np.int32(3)]
    (q,) = run("UniformQuantize", given, Tin="f32", Tout="qint8", **ends)
    assert q.tolist() == wanted


def test_halves_of_uniform_steps_go_up_before_the_zero_point_counts() -> None:
    ends = {
        "quantization_min_val": "i64$-128",
        "quantization_max_val": "i64$127",
        "quantization_axis": "i64$-1",
    }
    x, zero = np.float32([-0.5, 0.5, 1.5, -1.5, -2.5, 2.5]), np.int32(1)
    (q,) = run("UniformQuantize", [x, np.float32(1), zero], Tin="f32", Tout="qint8", **ends)
    assert q.tolist() == [1, 2, 3, 0, -1, 4]
    rows, ends = np.float32([[-1, 2, -0.5, 0.25, 1.5]]), {"rhs_quantization_axis": "i64$-1"}
    given = [rows, np.eye(5, dtype=np.int8), np.float32(1), np.int32(0)]
    (y,) = run("UniformQuantizedDotHybrid", given, Tlhs="f32", Trhs="qint8", Tout="f32", **ends)
    np.testing.assert_allclose(y, np.float32([[-85, 170, -42, 21, 128]]) / 85, rtol=1e-6)


def test_endless_scales() -> None:
    given = [np.int8([0, 3, -3]), np.float32(np.inf), np.int32(0)]
    (y,) = run("UniformDequantize", given, Tin="qint8", Tout="f32", quantization_axis="i64$-1")
    np.testing.assert_array_equal(y, [np.nan, np.inf, -np.inf])


def test_terms_of_uniform_sums_are_floats_in_between() -> None:
    scales = [np.float32(1), np.int32(3), np.float32(2), np.int32(0), np.float32(0.002), np.int32(0)]
    axes = {f"{of}_quantization_axis": "i64$-1" for of in ("lhs", "rhs", "output")}
    ends = {
        "output_quantization_min_val": f"i64${-(2**31)}",
        "output_quantization_max_val": f"i64${2**31 - 1}",
    }
    (y,) = run(
        "UniformQuantizedAdd", [np.int32([54509]), np.int32([-86435]), *scales], T="qint32", **axes, **ends
    )
    assert y.tolist() == [-59181992]
    scales[4] = np.float32(np.inf)
    with pytest.raises(InvalidArgumentError, match="ratios of scales must be positive and finite"):
        run("UniformQuantizedAdd", [np.int32([1]), np.int32([1]), *scales], T="qint32", **axes, **ends)


def test_instances_are_rounded_in_float32() -> None:
    x = np.uint8([[[[145, 88, 199, 99], [99, 79, 49, 99]]]])
    y, *ends = run("QuantizedInstanceNorm", [x, np.float32(0), np.float32(2)], T="quint8")
    assert y.tolist() == [[[[255, 255, 255, 128], [1, 1, 0, 128]]]]
    np.testing.assert_allclose(ends, [-0.9999854564666748, 0.9999854564666748], rtol=1e-7)


def test_what_is_no_number_is_no_end_of_a_range() -> None:
    x, zero = np.float32([np.nan, 1, 2, -3]), np.float32(0)
    (y,) = run("QuantizeAndDequantizeV3", [x, zero, zero, np.int32(8)], T="f32", range_given="bool$false")
    np.testing.assert_allclose(y, [np.nan, 1.0078125, 1.9921875, -3])
    below = {"signed_input": "bool$false", "range_given": "bool$true", "num_bits": "i64$4"}
    (y,) = run("QuantizeAndDequantizeV2", [x[1:], np.float32(-3), np.float32(-1)], T="f32", **below)
    np.testing.assert_array_equal(y, [0, 0, 0])


def test_gradients_without_end_are_no_numbers_outside_of_the_range() -> None:
    dy, x = np.float32([np.inf, np.nan, 1, -np.inf, 2]), np.float32([0, 5, 0.5, 9, np.nan])
    dx, *_ = run("QuantizeAndDequantizeV4Grad", [dy, x, np.float32(0), np.float32(1)], T="f32", axis="i64$-1")
    np.testing.assert_array_equal(dx, [np.inf, np.nan, 1, np.nan, 0])


@pytest.mark.parametrize(
    ("mode", "round_mode"),
    [
        ("MIN_COMBINED", "HALF_AWAY_FROM_ZERO"),
        ("SCALED", "HALF_AWAY_FROM_ZERO"),
        ("SCALED", "HALF_TO_EVEN"),
    ],
)
def test_the_end_of_a_range_of_32_bits_is_the_least(mode: str, round_mode: str) -> None:
    """float32 has it as 2^31, which no integer of them holds; TensorFlow 2.21's values."""
    inputs = [np.float32([6, -6, 0, 100]), np.float32(-6), np.float32(6)]
    modes = {"mode": f"string${mode}", "round_mode": f"string${round_mode}"}
    y = run("QuantizeV2", inputs, T="qint32", **modes)[0]
    assert y.tolist() == [-(2**31), -(2**31), 0, -(2**31)]
