"""Messages about recipes and saved ranges of quantization."""

from __future__ import annotations

import json
from pathlib import Path

from numlite.converter.quantization import recipes
from numlite.converter.quantization.calibration import Calibration
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.recipe import load_recipe
from numlite.lite.errors import ModelError, UnsupportedError

from ..small_models import chain
from .rows import Row


def rule(**fields: object) -> list[dict[str, object]]:
    """A recipe of one rule with these fields changed."""
    return [{**recipes.dynamic_int8().to_list()[0], **fields}]


def written(folder: Path, content: str) -> Path:
    path = folder / "recipe.json"
    path.write_text(content)
    return path


def ranges(folder: Path, **fields: object) -> Calibration:
    """Saved ranges of one tensor with these fields changed."""
    tensor = {"subgraph": 0, "tensor": 0, "name": "x", "low": -1.0, "high": 1.0, **fields}
    return Calibration.load(
        written(folder, json.dumps({"format": 1, "observer": "minmax", "tensors": [tensor]}))
    )


ROWS = {
    "a recipe that is no JSON": Row(
        lambda folder: load_recipe(written(folder, "[")),
        ModelError,
        "recipe: '...recipe.json' must be JSON: ...",
    ),
    "a recipe that is no list": Row(
        lambda folder: load_recipe(written(folder, "{}")),
        ModelError,
        "recipe: must be a list of rules, got dict",
    ),
    "a recipe's default that names itself": Row(
        lambda folder: load_recipe(written(folder, '{"default": "recipe.json"}')),
        ModelError,
        "recipe: must be a list of rules, got dict",
    ),
    "a recipe without a rule": Row(
        lambda _: Quantizer(chain()).quantize(), ModelError, "recipe: it must have a rule, got none"
    ),
    "a rule's field of another type": Row(
        lambda _: load_recipe(rule(regex=5)), ModelError, "recipe: regex must be text, got 5"
    ),
    "a rule's table that is none": Row(
        lambda _: load_recipe(rule(op_config=[])),
        ModelError,
        "recipe: op_config must be a table of names, got []",
    ),
    "a rule's flag that is text": Row(
        lambda _: load_recipe(rule(op_config={"weight_tensor_config": {}, "explicit_dequantize": "no"})),
        ModelError,
        "recipe: explicit_dequantize must be true or false, got 'no'",
    ),
    "an algorithm that is not built": Row(
        lambda _: load_recipe(rule(algorithm_key="AWQ")),
        UnsupportedError,
        "recipe: algorithm_key must be of ..., got 'AWQ'; one of these can be quantized with",
    ),
    "saved ranges that are no file of ours": Row(
        lambda folder: Calibration.load(written(folder, "[]")),
        ModelError,
        "calibration: must be a file that numlite has saved; ...",
    ),
    "saved ranges the wrong way round": Row(
        lambda folder: ranges(folder, low=2.0),
        ModelError,
        "calibration: must be a file that numlite has saved; ...no more than the highest, got 2.0, 1.0...",
    ),
    "ranges of integers without data": Row(
        lambda _: Quantizer(chain(), recipes.static_int8()).quantize(),
        ModelError,
        "recipe: it asks for integer activations, whose ranges come from data: quantize() must be given ...",
    ),
}
