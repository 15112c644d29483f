"""Results that are always 0: scales that LiteRT's kernels take, where they would end the process."""

import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, Recipe, Rule
from numlite.converter.quantization.scheme import SCHEMES
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, quantized, samples, weights

Op = tflite.BuiltinOperator
SHAPE = (2, 8)


def nothing(name: str) -> bytes:
    """An operator whose operands cancel."""
    model = ModelBuilder()
    x, a, n, y = (model.tensor(SHAPE, name=each) for each in "xany")
    model.op(Op.RELU, [x], [a])
    other = a
    if name == "ADD":
        model.op(Op.MUL, [a, model.constant(np.array(-1, np.float32))], [n])
        other = n
    model.op(Op[name], [a, other], [y])
    return model.build([x], [y])


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("name", ["ADD", "SUB", "SQUARED_DIFFERENCE"])
def test_what_cancels_has_a_scale_that_kernels_divide_by(name: str, bits: int) -> None:
    content = nothing(name)
    data = samples(content, 4)
    made = quantized(content, data, bits)
    tensors = tflite.unpack(tflite.read(made)).subgraphs[0].tensors
    scales = {each.name: float(each.quantization.scale[0]) for each in tensors if each.type != 0}
    is_square = name == "SQUARED_DIFFERENCE"
    twice = 2 * scales["a"]
    # LiteRT widens operands by 7, 15 and 20 bits, and ends the process where its factor is no fraction.
    if is_square and bits == 8:
        assert twice**2 / 2**14 < scales["y_quantized"]
    else:
        assert twice / 2 ** (20 if bits == 8 else 15) < scales["y_difference" if is_square else "y_quantized"]
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    for sample in data:
        (found,), (theirs,) = outputs(made, sample), outputs(made, sample, litert.Interpreter)
        np.testing.assert_array_equal(found, 0)
        np.testing.assert_array_equal(theirs, 0)


def test_a_product_without_options_says_that_its_bias_is_int64() -> None:
    model = ModelBuilder()
    x, y = model.tensor((1, 4), name="x"), model.tensor((1, 5), name="y")
    model.op(Op.FULLY_CONNECTED, [x, model.constant(weights((5, 4))), -1], [y])
    content = model.build([x], [y])
    data = samples(content, 4)
    made = quantized(content, data, 16)
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    np.testing.assert_array_equal(outputs(made, data[0])[0], outputs(made, data[0], litert.Interpreter)[0])


def test_a_squared_difference_that_is_left_as_it_is_stays_one_operator() -> None:
    model = ModelBuilder()
    x, a, b, y, z = (model.tensor(SHAPE, name=name) for name in "xabyz")
    model.op(Op.RELU, [x], [a])
    model.op(Op.SIN, [x], [b])
    model.op(Op.SQUARED_DIFFERENCE, [a, b], [y])
    model.op(Op.ABS, [y], [z])
    content = model.build([x], [z])
    quantizer = Quantizer(content, Recipe([Rule("[abz]", scheme=SCHEMES["int16x8"])]))
    made = quantizer.quantize(quantizer.calibrate(samples(content, 4))).quantized_model
    assert [name for name in operators(made) if "QUANTIZE" not in name] == [
        *("RELU", "SIN", "SQUARED_DIFFERENCE", "ABS")
    ]


def assert_litert_gives_the_same(made: bytes, data: list[list[np.ndarray]]) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    for sample in data:
        for found, theirs in zip(
            outputs(made, sample), outputs(made, sample, litert.Interpreter), strict=True
        ):
            np.testing.assert_array_equal(found, theirs)


@pytest.mark.parametrize("activation", [2, 3])  # RELU_N1_TO_1, RELU6
def test_the_end_of_an_activation_of_16_bits_is_an_integer(activation: int) -> None:
    model = ModelBuilder()
    x, y = model.tensor(SHAPE, name="x"), model.tensor(SHAPE, name="y")
    options = tflite.MulOptionsT(fused_activation_function=activation)
    model.op(Op.MUL, [x, model.constant(np.array(0, np.float32))], [y], options)
    content = model.build([x], [y])
    data = samples(content, 4)
    assert_litert_gives_the_same(quantized(content, data, 16), data)


def dense(bias: float, activation: int, size: float) -> bytes:
    """A product of what is always nearly 0, with a bias."""
    model = ModelBuilder()
    x, a, y = (model.tensor(SHAPE, name=name) for name in "xay")
    model.op(Op.MUL, [x, model.constant(np.array(size, np.float32))], [a])
    operands = [a, model.constant(weights((8, 8))), model.constant(np.linspace(bias, 0, 8, dtype=np.float32))]
    options = tflite.FullyConnectedOptionsT(fused_activation_function=activation)
    model.op(Op.FULLY_CONNECTED, operands, [y], options)
    return model.build([x], [y])


def test_a_filter_that_holds_a_large_bias_counts_few_steps() -> None:
    """XNNPACK refuses a model whose products count more."""
    content = dense(-4000.0, 1, 0.0)
    data = samples(content, 4)
    assert_litert_gives_the_same(quantized(content, data), data)


def test_sums_of_4_bit_weights_have_room_for_their_bias() -> None:
    content = dense(4.0, 0, 0.0)
    data = samples(content, 4)
    made = quantized(content, data, weight_bits=4)
    assert_litert_gives_the_same(made, data)
    np.testing.assert_allclose(outputs(made, data[0])[0], outputs(content, data[0])[0], atol=0.02)


def test_products_that_an_activation_cuts_off_stay_in_32_bits() -> None:
    model = ModelBuilder()
    x, a, y = (model.tensor(SHAPE, name=name) for name in "xay")
    model.op(Op.MUL, [x, model.constant(np.array(4000, np.float32))], [a])
    model.op(Op.MUL, [a, a], [y], tflite.MulOptionsT(fused_activation_function=3))
    content = model.build([x], [y])
    data = samples(content, 4)
    assert_litert_gives_the_same(quantized(content, data), data)
