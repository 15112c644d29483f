"""Recipes: which rule counts, files of ai-edge-quantizer, and what is no recipe."""

import json
from pathlib import Path

import pytest
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.recipe import Recipe, Rule, load_recipe, scheme_recipe
from numlite.converter.quantization.scheme import Scheme
from numlite.lite.errors import ModelError, UnsupportedError

from .weighted_models import fully_connected

INT8 = {"num_bits": 8, "symmetric": True, "granularity": "CHANNELWISE", "dtype": "INT"}


def config(weights: dict[str, object] | None = None, **changes: object) -> dict[str, object]:
    given = {
        "weight_tensor_config": INT8 | (weights or {}),
        "compute_precision": "INTEGER",
        "explicit_dequantize": False,
        "skip_checks": False,
        "min_weight_elements": 0,
    }
    return given | changes


def entry(regex: str = ".*", operation: str = "*", **fields: object) -> dict[str, object]:
    given = {"algorithm_key": "min_max_uniform_quantize", "op_config": config()}
    return {"regex": regex, "operation": operation} | given | fields


def only(source: object) -> Rule:
    [rule] = load_recipe(source).rules  # type: ignore[arg-type]
    return rule


FLOAT = {"compute_precision": "FLOAT", "explicit_dequantize": True}


@pytest.mark.parametrize(
    ("op_config", "scheme"),
    [
        (config(), Scheme()),
        (config({"granularity": "TENSORWISE"}), Scheme(per_channel=False)),
        (config({"num_bits": 4}), Scheme(weight_bits=4)),
        (config({"num_bits": 4, "granularity": "BLOCKWISE_64"}), Scheme(weight_bits=4, block=64)),
        (config({"num_bits": 4, "block_size": 128}), Scheme(weight_bits=4, block=128)),
        (config(**FLOAT), Scheme(dequantize=True)),
        (config({"symmetric": False, "num_bits": 4}, **FLOAT), Scheme(4, dequantize=True, symmetric=False)),
        (config(activation_tensor_config={"num_bits": 16}), Scheme(activation_bits=16)),
    ],
)
def test_files_of_ai_edge_quantizer(op_config: dict[str, object], scheme: Scheme, tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps([entry(op_config=op_config)]))
    assert only(path).scheme == scheme
    (tmp_path / "default.json").write_text(json.dumps({"default": "recipe.json"}))
    assert only(tmp_path / "default.json").scheme == scheme
    assert only(load_recipe(path).to_list()).scheme == scheme


@pytest.mark.parametrize(("key", "algorithm"), [("MSE", "mse"), ("OCTAV", "octav")])
def test_algorithms(key: str, algorithm: str) -> None:
    assert only([entry(algorithm_key=key)]).algorithm == algorithm


def test_float_casting() -> None:
    halves = config({"num_bits": 16, "dtype": "FLOAT"}, **FLOAT)
    rule = only([entry(algorithm_key="float_casting", op_config=halves)])
    assert rule.scheme is not None
    assert rule.scheme.is_float16


def chosen(recipe: Recipe, operation: str, scope: str) -> list[Scheme | None]:
    return [rule.scheme for rule in recipe.of(operation, scope)]


def test_the_last_rule_counts() -> None:
    no = {"algorithm_key": "no_quantize"}
    other = {"regex": ".*", "operation": "CONV_2D_TRANSPOSE", **no}
    recipe = load_recipe([entry(), entry("head", op_config=config({"num_bits": 4})), other])
    assert chosen(recipe, "CONV_2D", "body/x") == [Scheme()]
    assert chosen(recipe, "CONV_2D", "a/head;b") == [Scheme(weight_bits=4), Scheme()]
    assert chosen(recipe, "TRANSPOSE_CONV", "head")[0] is None


def test_a_rule_takes_the_place_of_one_for_the_same() -> None:
    recipe = Recipe([Rule("a", "CONV_2D"), Rule("b"), Rule("a", "CONV_2D", scheme=None)])
    assert [(rule.regex, rule.scheme) for rule in recipe.rules] == [("a", None), ("b", Scheme())]
    recipe.add(Rule("a"))
    assert [(rule.regex, rule.operation) for rule in recipe.rules] == [("b", "*"), ("a", "*")]


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ({"regex": ".*"}, ModelError, "recipe: must be a list of rules, got dict"),
        ([{"regex": ".*"}], ModelError, "must have regex, operation and algorithm_key"),
        ([entry(operation="CONV")], ModelError, "operation must be a builtin operator or \\*, got 'CONV'"),
        ([entry("(")], ModelError, "must be a regular expression"),
        ([entry(color=1)], ModelError, "got \\['color'\\]"),
        ([entry(op_config=config(speed=1))], ModelError, "got \\['speed'\\]"),
        ([entry(op_config={})], ModelError, "must have a weight_tensor_config"),
        ([entry(op_config=config({"num_bits": 5}))], UnsupportedError, "bits must be 8, 4, 2 or 16"),
        ([entry(op_config=config({"granularity": "ROWS"}))], ModelError, "granularity must be"),
        ([entry(op_config=config({"granularity": "BLOCKWISE_48"}))], UnsupportedError, "block: must be of"),
        ([entry(algorithm_key="OSCAR")], UnsupportedError, "algorithm_key must be of"),
        ([entry(op_config=config(compute_precision="FLOAT"))], UnsupportedError, "explicit_dequantize"),
        ([entry(op_config=config(min_weight_elements=-1))], ModelError, "must not be negative"),
        ([entry(op_config=config(min_weight_elements="x"))], ModelError, "must be a whole number, got 'x'"),
        ([entry(5)], ModelError, "regex must be text, got 5"),  # type: ignore[arg-type]
        ([entry(operation=[])], ModelError, "operation must be text, got \\[\\]"),  # type: ignore[arg-type]
        ([entry(algorithm_key={})], ModelError, "algorithm_key must be text"),
        ([entry(op_config=5)], ModelError, "op_config must be a table of names, got 5"),
        ([entry(op_config=config({"granularity": 8}))], ModelError, "granularity must be text"),
        ([entry(op_config=config({"block_size": 32.5}))], ModelError, "block_size must be a whole number"),
        ([entry(op_config=config({"symmetric": 1}))], ModelError, "symmetric must be true or false"),
        ([entry(op_config=config({"algorithm_params": 1}))], ModelError, "must be a table of names"),
        ([entry(op_config=config(activation_tensor_config=8))], ModelError, "must be a table of names"),
    ],
)
def test_what_is_no_recipe(source: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        load_recipe(source)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["[", "[" * 100_000, "\udcff"])
def test_a_file_that_is_no_json(text: str, tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(ModelError, match="must be JSON"):
        load_recipe(path)


def test_a_default_that_names_itself(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text('{"default": "recipe.json"}')
    with pytest.raises(ModelError, match="must be a list of rules, got dict"):
        load_recipe(path)


def test_a_rule_that_names_nothing() -> None:
    with pytest.raises(
        ModelError, match="the regex 'attn' must be found in the name of an operator's result"
    ):
        Quantizer(fully_connected(), Recipe([Rule(), Rule("attn")])).quantize()
    with pytest.raises(ModelError, match="it must have a rule"):
        Quantizer(fully_connected()).quantize()


def test_an_unknown_scheme() -> None:
    with pytest.raises(UnsupportedError, match="scheme: must be of dynamic"):
        scheme_recipe("int5")


def test_recipes_that_ask_for_blocks_fall_back_where_no_kernel_takes_them() -> None:
    quantizer = Quantizer(fully_connected(33, 7))
    quantizer.update_quantization_recipe()
    quantizer.update_quantization_recipe("y", "FULLY_CONNECTED", weights="int4", block=32)
    [outcome] = quantizer.quantize().outcomes
    assert outcome.scheme == Scheme()
    assert len(quantizer.get_quantization_recipe()) == 2


def test_a_rule_for_all_is_for_a_model_without_operators_too() -> None:
    Recipe([Rule(".*")]).check_names([])
    with pytest.raises(ModelError, match="got 0 operators"):
        Recipe([Rule("x")]).check_names([])


@pytest.mark.parametrize("algorithm", ["gptq", "hadamard", "decomposed-hadamard"])
def test_what_prepares_integers_is_refused_for_halves(algorithm: str) -> None:
    with pytest.raises(UnsupportedError, match=f"{algorithm} must be for integer weights, got float16"):
        scheme_recipe("float16", algorithm=algorithm)
