"""Rotated weights: the same values but for rounding, which outliers harm less; LiteRT computes alike."""

from types import ModuleType

import numlite
import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, Recipe, load_recipe
from numlite.converter.quantization.recipe import Rule, scheme_recipe
from numlite.converter.quantization.rotation import ROTATIONS, hadamard
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, weights

Op = tflite.BuiltinOperator
NAMES = {
    "hadamard": ["CUSTOM", "FULLY_CONNECTED"],
    "decomposed-hadamard": ["RESHAPE", "FULLY_CONNECTED", "RESHAPE", "FULLY_CONNECTED"],
}


def dense(shape: tuple[int, ...] = (3, 48), *, open_rows: bool = False, twice: bool = False) -> bytes:
    """FULLY_CONNECTED, or two of the same input, with some weights and inputs that are large."""
    model, depth = ModelBuilder(), shape[-1]
    signature = [-1, *shape[1:]] if open_rows else None
    x = model.tensor(shape, name="x", shape_signature=signature)
    results = []
    for number in range(1 + twice):
        w = weights((24, depth), number)
        w[::5, number::7] *= 20
        y = model.tensor(
            (*shape[:-1], 24), name=f"y{number}", shape_signature=signature and [*signature[:-1], 24]
        )
        options = tflite.FullyConnectedOptionsT(keep_num_dims=True)
        model.op(Op.FULLY_CONNECTED, [x, model.constant(w, name=f"w{number}"), -1], [y], options)
        results.append(y)
    return model.build([x], results)


def run(module: ModuleType, content: bytes, x: np.ndarray) -> list[np.ndarray]:
    interpreter = module.Interpreter(model_content=content)
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return [interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()]


def inputs(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


def rotated(content: bytes, algorithm: str, bits: int = 4, scheme: str = "dynamic") -> bytes:
    recipe = scheme_recipe(scheme, least=0, weight_bits=bits, algorithm=algorithm)
    return Quantizer(content, recipe).quantize().quantized_model


def test_the_matrix_is_orthogonal() -> None:
    for size in (1, 2, 16):
        np.testing.assert_allclose(hadamard(size) @ hadamard(size), np.eye(size), atol=1e-12)


@pytest.mark.parametrize("algorithm", ROTATIONS)
@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("shape", [(3, 48), (2, 3, 64)])
def test_outliers_cost_less(algorithm: str, bits: int, shape: tuple[int, ...], litert: ModuleType) -> None:
    content, x = dense(shape), inputs(*shape)
    plain, better = rotated(content, "mse", bits), rotated(content, algorithm, bits)
    assert operators(better) == NAMES[algorithm]
    real = run(numlite, content, x)[0]
    found = run(numlite, better, x)[0]
    # 2 bits are too few for what is spread.
    assert bits == 2 or sqnr_db(real, found) > sqnr_db(real, run(numlite, plain, x)[0]) + 1
    # Sums in another order, before inputs are rounded to 8 bits.
    assert sqnr_db(run(litert, better, x)[0], found) > 38


@pytest.mark.parametrize("algorithm", ROTATIONS)
def test_weights_alone(algorithm: str, litert: ModuleType) -> None:
    content, x = dense(), inputs(3, 48)
    better = rotated(content, algorithm, 4, "weight-int4")
    assert "DEQUANTIZE" in operators(better)
    real, plain = run(numlite, content, x)[0], run(numlite, rotated(content, "mse", 4, "weight-int4"), x)[0]
    assert sqnr_db(real, run(litert, better, x)[0]) > sqnr_db(real, plain) + 3


@pytest.mark.parametrize("algorithm", ROTATIONS)
def test_operators_of_one_input_share_its_rotation(algorithm: str, litert: ModuleType) -> None:
    content, x = dense(twice=True), inputs(3, 48)
    better = rotated(content, algorithm)
    assert len(operators(better)) == len(NAMES[algorithm]) + 1
    for real, ours, theirs in zip(
        *(run(*each, x) for each in ((numlite, content), (numlite, better), (litert, better))), strict=True
    ):
        assert sqnr_db(real, ours) > 15
        assert sqnr_db(theirs, ours) > 38


@pytest.mark.parametrize("algorithm", ROTATIONS)
def test_open_dimensions(algorithm: str) -> None:
    content, x = dense(open_rows=True), inputs(7, 48)
    assert sqnr_db(run(numlite, content, x)[0], run(numlite, rotated(content, algorithm), x)[0]) > 15


@pytest.mark.parametrize(
    ("shape", "algorithm", "reason"),
    [
        ((3, 15), "hadamard", "its weights' last dimension is odd, 15"),
        ((1, 2, 3, 16), "hadamard", "the kernel of rotations takes 2 or 3 dimensions"),
    ],
)
def test_what_is_not_rotated_says_why(shape: tuple[int, ...], algorithm: str, reason: str) -> None:
    recipe = scheme_recipe("dynamic", least=0, weight_bits=4, algorithm=algorithm)
    [outcome] = Quantizer(dense(shape), recipe).quantize().outcomes
    assert (outcome.scheme, outcome.reason) == (None, reason)


def test_other_operators_have_the_rule_before() -> None:
    """As ai-edge-quantizer's recipes have it: a rotation for all is one for FULLY_CONNECTED."""
    weights_of = {"granularity": "CHANNELWISE", "symmetric": True, "dtype": "INT"}

    def entry(algorithm: str, bits: int) -> dict[str, object]:
        config = {"weight_tensor_config": {**weights_of, "num_bits": bits}, "compute_precision": "INTEGER"}
        return {"regex": ".*", "operation": "*", "algorithm_key": algorithm, "op_config": config}

    recipe = load_recipe([entry("min_max_uniform_quantize", 8), entry("DECOMPOSED_HADAMARD_ROTATION", 4)])
    assert [rule.operation for rule in recipe.rules] == ["*", "FULLY_CONNECTED"]
    assert load_recipe(recipe.to_list()).rules == recipe.rules
    made = Quantizer(dense(), recipe).quantize()
    assert [(o.scheme and o.scheme.weight_bits) for o in made.outcomes] == [4]
    assert operators(made.quantized_model) == NAMES["decomposed-hadamard"]


def test_operators_that_are_never_rotated_are_rounded_as_usual() -> None:
    model = ModelBuilder()
    x, y = model.tensor((1, 4, 4, 8), name="x"), model.tensor((1, 4, 4, 8), name="y")
    w, b = model.constant(weights((8, 1, 1, 8))), model.constant(weights((8,)))
    model.op(Op.CONV_2D, [x, w, b], [y], tflite.Conv2DOptionsT(stride_w=1, stride_h=1))
    content = model.build([x], [y])
    assert rotated(content, "hadamard") == rotated(content, "")


@pytest.mark.parametrize("algorithm", ROTATIONS)
def test_a_recipe_that_is_written_and_read_does_the_same(algorithm: str) -> None:
    """Also to operators that no rotation is for."""
    model = ModelBuilder()
    x, y = (model.tensor((1, 4, 4, 8), name=name) for name in "xy")
    rows, z = (model.tensor((16, 8), name=name) for name in ("rows", "z"))
    w, b = model.constant(weights((8, 1, 1, 8))), model.constant(weights((8,)))
    model.op(Op.CONV_2D, [x, w, b], [y], tflite.Conv2DOptionsT(stride_w=1, stride_h=1))
    model.op(Op.RESHAPE, [y, model.constant(np.array([16, 8], np.int32))], [rows])
    w = model.constant(weights((8, 8), 1))
    model.op(Op.FULLY_CONNECTED, [rows, w, -1], [z], tflite.FullyConnectedOptionsT())
    content = model.build([x], [z])
    recipe = scheme_recipe("weight-int4", algorithm=algorithm)
    made, again = (Quantizer(content, r).quantize() for r in (recipe, load_recipe(recipe.to_list())))
    assert made.quantized_model == again.quantized_model


def test_rules_for_what_is_not_rotated_are_refused() -> None:
    rule = Recipe([Rule(operation="FULLY_CONNECTED", algorithm="hadamard")]).to_list()[0]
    with pytest.raises(numlite.UnsupportedError, match="HADAMARD_ROTATION must be for FULLY_CONNECTED"):
        load_recipe([{**rule, "operation": "EMBEDDING_LOOKUP"}])
    rule["op_config"]["weight_tensor_config"]["algorithm_params"] = {"max_hadamard_size": 64}
    with pytest.raises(numlite.UnsupportedError, match="max_hadamard_size is not built"):
        load_recipe([rule])
