"""Recipes by name: one rule for all operators of a model.

Quantizer("float.tflite", recipes.dynamic_int8()).quantize()
"""

from __future__ import annotations

from .recipe import Recipe, scheme_recipe


def dynamic_int8(min_weight_elements: int | None = None) -> Recipe:
    """int8 weights, inputs quantized by the operators; under 1024 elements weights stay, unless told."""
    return scheme_recipe("dynamic", least=min_weight_elements)


def dynamic_int4(block: int = 0, algorithm: str = "", min_weight_elements: int = 0) -> Recipe:
    """int4 weights, inputs quantized to int8 by the operators; with block, a scale for so many inputs."""
    return scheme_recipe(
        "dynamic", least=min_weight_elements, algorithm=algorithm, weight_bits=4, block=block
    )


def weight_only_int8(min_weight_elements: int = 0) -> Recipe:
    """int8 weights, computed in float32."""
    return scheme_recipe("weight-int8", least=min_weight_elements)


def weight_only_int4(block: int = 0, algorithm: str = "", min_weight_elements: int = 0) -> Recipe:
    """int4 weights, computed in float32; with block as dynamic_int4, whose kernels alone take blocks."""
    return scheme_recipe("weight-int4", least=min_weight_elements, algorithm=algorithm, block=block)


def static_int8(per_channel: bool = True) -> Recipe:
    """int8 weights and activations; quantize() needs what calibrate() returns."""
    return scheme_recipe("int8", per_channel=per_channel)


def static_int4(per_channel: bool = True) -> Recipe:
    """As static_int8, with int4 weights of FULLY_CONNECTED and CONV_2D, whose kernels alone take them."""
    return scheme_recipe("int8", per_channel=per_channel, weight_bits=4)


def int16x8() -> Recipe:
    """int8 weights, int16 activations; quantize() needs what calibrate() returns."""
    return scheme_recipe("int16x8")


def float16() -> Recipe:
    """float16 weights, computed in float32."""
    return scheme_recipe("float16")
