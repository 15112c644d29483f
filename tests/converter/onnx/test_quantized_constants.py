"""Constants of quantized ONNX models: integers are nothing without their scale and zero point."""

from __future__ import annotations

import numpy as np
import pytest

from ...onnx_builder import node
from .test_quantized import Net, compare, uniform

_X = 2.2 / 255


def held(net: Net, name: str, integers: np.ndarray, scale: float, zero: int = 0) -> str:
    """A constant in its quantized form, made real."""
    net.constants |= {
        f"{name}_q": integers,
        f"{name}_s": np.float32(scale),
        f"{name}_z": integers.dtype.type(zero),
    }
    net.nodes.append(node("DequantizeLinear", [f"{name}_q", f"{name}_s", f"{name}_z"], name))
    return name


def test_equal_integers_of_two_scales_are_two_numbers() -> None:
    """1 and 1/2, each 255 steps of its own, as in a GELU that is written out."""
    net, most = Net(), np.array(255, np.uint8)
    one, half = held(net, "one", most, 1 / 255), held(net, "half", most, 0.5 / 255)
    a = net.paired(net.add("Add", [net.paired("x", _X), one], "a"), 4 / 255)
    y = net.paired(net.add("Mul", [a, half], "y"), 2 / 255)
    compare(net.model([4, 6], y), uniform(4, 6), y, {"ADD", "MUL"}, 0.04)


def test_equal_weights_of_two_scales_are_two_weights() -> None:
    net = Net(np.int8)
    integers = np.random.default_rng(1).integers(-127, 128, (64, 64)).astype(np.int8)
    first, second = held(net, "v", integers, 1 / 127), held(net, "w", integers, 0.25 / 127)
    x = net.paired("x", _X)
    a = net.paired(net.add("MatMul", [x, first], "a"), 20 / 127)
    y = net.paired(net.add("MatMul", [a, second], "y"), 40 / 127)
    compare(net.model([4, 64], y), uniform(4, 64), y, {"FULLY_CONNECTED"}, 2.0)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_integers_0_and_1_are_not_the_numbers(op: str) -> None:
    """What looks as if it left the other operand, or settled the result, stands for another number."""
    net = Net()
    number = held(net, "c", np.full((4, 6), 128 + (op == "Mul"), np.uint8), 1 / 128)
    y = net.paired(net.add(op, [net.paired("x", _X), number], "y"), 4.4 / 255)
    compare(net.model([4, 6], y), uniform(4, 6), y, {op.upper()}, 0.03)


def test_a_product_with_what_looks_like_zeros_stays() -> None:
    net = Net()
    half = held(net, "c", np.full((4, 6), 128, np.uint8), 1 / 256)
    y = net.paired(net.add("Mul", [net.paired("x", _X), half], "y"), 2 / 255)
    compare(net.model([4, 6], y), uniform(4, 6), y, {"MUL"}, 0.03)


@pytest.mark.parametrize("op", ["Add", "Mul"])
def test_what_leaves_a_number_may_change_its_scale(op: str) -> None:
    """A sum with 0 or a product with 1 in steps of another size."""
    net = Net(np.int8)
    number = held(net, "c", np.full((4, 6), op == "Mul", np.int8), 1.0)
    y = net.paired(net.add(op, [net.paired("x", _X), number], "y"), 4.4 / 255)
    compare(net.model([4, 6], y), uniform(4, 6), y, {op.upper()}, 0.03)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_arithmetic_of_constants(op: str) -> None:
    net = Net()
    a = held(net, "a", np.arange(24, dtype=np.uint8).reshape(4, 6) * 10, 1 / 255, 20)
    b = held(net, "b", np.arange(24, dtype=np.uint8)[::-1].reshape(4, 6) * 10, 0.5 / 255, 3)
    c = net.paired(net.add(op, [a, b], "c"), 2 / 255)
    y = net.paired(net.add("Add", [net.paired("x", _X), c], "y"), 4 / 255)
    compare(net.model([4, 6], y), uniform(4, 6), y, {"ADD", op.upper()}, 0.05)
