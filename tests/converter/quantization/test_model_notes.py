"""What quantized models say of themselves in their metadata."""

import pytest
from numlite.converter.quantization import Quantizer, recipes
from numlite.lite.model import Model

from .weighted_models import fully_connected

NAME = "reduced_precision_support"


def metadata(content: bytes) -> dict[str, bytes]:
    return Model(content).metadata()


def test_float16_weights_are_told_as_tensorflow_tells_them() -> None:
    half = Quantizer(fully_connected(), recipes.float16()).quantize().quantized_model
    assert metadata(half)[NAME] == b"fp16accfp32"
    assert list(metadata(half)) == ["min_runtime_version", NAME]
    assert Quantizer(half, recipes.float16()).quantize().quantized_model == half


@pytest.mark.parametrize("name", ["dynamic_int8", "weight_only_int4"])
def test_other_weights_are_not_told_as_float16(name: str) -> None:
    half = Quantizer(fully_connected(), recipes.float16()).quantize().quantized_model
    for content in (fully_connected(), half):
        made = Quantizer(content, getattr(recipes, name)()).quantize().quantized_model
        assert NAME not in metadata(made)


def test_a_model_without_float16_weights_does_not_say_that_it_has_some() -> None:
    recipe = recipes.float16()
    recipe.rules[0] = type(recipe.rules[0])(scheme=recipe.rules[0].scheme, min_weight_elements=10**6)
    assert NAME not in metadata(Quantizer(fully_connected(), recipe).quantize().quantized_model)
