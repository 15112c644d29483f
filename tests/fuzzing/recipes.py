"""Damaged recipes and saved ranges of quantization: a model is quantized, or an error says why not."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numlite.converter.quantization import recipes
from numlite.converter.quantization.calibration import Calibration
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.recipe import load_recipe
from numlite.interpreter import Interpreter

from tests.converter.quantization import weighted_models
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import damaged_bytes
from tests.fuzzing.small_files import damaged_json

_MODELS = (weighted_models.fully_connected, weighted_models.conv, weighted_models.batch_matmul)
_RANGES = "ranges"
_OBSERVERS = ("minmax", "moving-average", "percentile:99", "mse", "entropy")
# What stands at which names, and what nearly might.
_WORDS: dict[tuple[str, ...], tuple[Any, ...]] = {
    ("regex",): ("*", ".*", "y", "x|y", "(", "nothing", ""),
    ("operation",): (
        "*",
        "INPUT",
        "OUTPUT",
        "FULLY_CONNECTED",
        "CONV_2D",
        "BATCH_MATMUL",
        "CONV_2D_TRANSPOSE",
    ),
    ("algorithm_key",): (
        *("min_max_uniform_quantize", "MSE", "OCTAV", "GPTQ", "HADAMARD_ROTATION", "float_casting"),
        *("DECOMPOSED_HADAMARD_ROTATION", "balanced", "no_quantize"),
    ),
    ("granularity",): ("TENSORWISE", "CHANNELWISE", "BLOCKWISE_32", "BLOCKWISE_99999999999"),
    ("num_bits", "min_weight_elements"): (2, 4, 8, 16, 32, -1, 8.0, 10**30, "8"),
    ("compute_precision",): ("INTEGER", "FLOAT"),
    ("dtype",): ("INT", "FLOAT"),
    ("symmetric", "explicit_dequantize", "skip_checks"): (True, False),
    ("op_config", "weight_tensor_config", "activation_tensor_config"): (None, {}, [], {"num_bits": 8}),
}


def _seeds(given: Sequence[Path]) -> list[Seed]:
    """Recipes that are given, else those that have names, one of several rules, and ranges."""
    if given:
        return [Seed(path.name, path.read_text()) for path in given]
    made = {
        "dynamic": recipes.dynamic_int8(0).to_list(),
        "dynamic int4": recipes.dynamic_int4(32).to_list(),
        "weights": [*recipes.weight_only_int8().to_list(), *recipes.weight_only_int4().to_list()],
        "float16": recipes.float16().to_list(),
        "int8": recipes.static_int8().to_list(),
        "int16": recipes.int16x8().to_list(),
    }
    rules = recipes.dynamic_int8(0).to_list()
    rules += [{**rule, "regex": "y", "algorithm_key": key} for rule in rules for key in ("OCTAV", "GPTQ")]
    made["rules"] = [*rules, {"regex": "no", "operation": "CONV_2D", "algorithm_key": "no_quantize"}]
    return [*(Seed(name, json.dumps(rules)) for name, rules in made.items()), *map(_ranges, _OBSERVERS)]


def _ranges(kind: str) -> Seed:
    content, samples = _model(0)
    found = Quantizer(content, recipes.static_int8()).calibrate(samples, observer=kind)
    return Seed(f"{_RANGES} {kind}", found.to_json())


def _damage(seed: Seed, draw: random.Random) -> Mutant:
    """Words of recipes in other places, or damage that JSON of any kind can have."""
    is_ranges = seed.name.startswith(_RANGES)
    if is_ranges or draw.random() < 0.3:
        content = damaged_json(seed.content, draw)
        if draw.random() < 0.05:
            content = damaged_bytes(content, draw)
    else:
        rules = json.loads(seed.content)
        for _ in range(draw.choice((1, 1, 2, 3))):
            _say_otherwise(draw.choice(rules), draw)
        content = json.dumps(rules).encode()
    return Mutant((is_ranges, content), f"damaged {seed.name}", draw=draw.getrandbits(32))


def _say_otherwise(table: dict[str, Any], draw: random.Random) -> None:
    """A word that may stand there, or any."""
    while inner := [key for key, value in table.items() if isinstance(value, dict) and value]:
        if draw.random() < 0.3:
            break
        table = table[draw.choice(inner)]
    key = draw.choice(sorted(table))
    words = next((words for names, words in _WORDS.items() if key in names), ())
    if not words or draw.random() < 0.3:
        words = tuple(word for each in _WORDS.values() for word in each)
    table[key] = copy.deepcopy(draw.choice(words))


@cache
def _model(place: int) -> tuple[bytes, list[list[np.ndarray]]]:
    """A model, and samples of its input."""
    content = _MODELS[place]()
    [detail] = Interpreter(model_content=content).get_input_details()
    samples = np.random.default_rng(place).standard_normal((2, *detail["shape"]))
    return content, [[sample] for sample in samples.astype(np.float32)]


def _attempt(mutant: Mutant) -> str:
    """What is made by it runs. A recipe is written and read again alike."""
    is_ranges, content = mutant.content
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(content)
        file.flush()
        if is_ranges:
            ranges = Calibration.load(file.name)
            return _run(Quantizer(_model(0)[0], recipes.static_int8()), ranges, 0)
        recipe = load_recipe(file.name)
    if load_recipe(recipe.to_list()).to_list() != recipe.to_list():
        return "is read otherwise than it was written"
    place = mutant.draw % len(_MODELS)
    quantizer = Quantizer(_model(place)[0], recipe)
    return _run(
        quantizer, quantizer.calibrate(_model(place)[1]) if quantizer.uses_calibration else None, place
    )


def _run(quantizer: Quantizer, ranges: Calibration | None, place: int) -> str:
    interpreter = Interpreter(model_content=quantizer.quantize(ranges).quantized_model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], _model(place)[1][0][0])
    interpreter.invoke()
    return "invoked"


def _save(mutant: Mutant, path: Path) -> None:
    path.write_bytes(mutant.content[1])


RECIPES = Kind("recipes", _seeds, _damage, _attempt, suffix=".json", save=_save, runs_models=False)
