"""Rules of recipes as ai-edge-quantizer's JSON has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...lite.errors import ModelError, UnsupportedError
from .rotation import ROTATED, ROTATIONS
from .scheme import Scheme
from .weights import usual_algorithm

if TYPE_CHECKING:
    from .recipe import Rule

NO_QUANTIZE = "no_quantize"
# Their names of algorithms, by ours. That of the least error is a search here, with no error above theirs.
_ALGORITHMS = {
    "min_max_uniform_quantize": "minmax",
    "float_casting": "",
    "MSE": "mse",
    "OCTAV": "octav",
    "GPTQ": "gptq",
    "HADAMARD_ROTATION": "hadamard",
    "DECOMPOSED_HADAMARD_ROTATION": "decomposed-hadamard",
    "balanced": "balanced",  # ours alone
    NO_QUANTIZE: "",
}
_OPERATIONS = {"CONV_2D_TRANSPOSE": "TRANSPOSE_CONV"}
_BLOCKS = re.compile(r"BLOCKWISE_(\d+)")
_RULE = {"regex", "operation", "algorithm_key", "op_config"}
_CONFIG = {
    *("activation_tensor_config", "weight_tensor_config", "compute_precision"),
    *("explicit_dequantize", "skip_checks", "min_weight_elements"),
}


def rule_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the Rule that an entry of a recipe stands for."""
    if not isinstance(entry, Mapping) or not {"regex", "operation", "algorithm_key"} <= set(entry):
        raise ModelError(f"recipe: a rule must have regex, operation and algorithm_key, got {entry!r}")
    _check_names("rule", entry, _RULE)
    algorithm, operation = entry["algorithm_key"], entry["operation"]
    if algorithm not in _ALGORITHMS:
        raise UnsupportedError(
            f"recipe: algorithm_key must be of {', '.join(_ALGORITHMS)}, got {algorithm!r}; "
            "one of these can be quantized with"
        )
    rule = {"regex": entry["regex"], "operation": _OPERATIONS.get(operation, operation)}
    if algorithm == NO_QUANTIZE:
        return {**rule, "scheme": None}
    if _ALGORITHMS[algorithm] in ROTATIONS:
        if operation not in ("*", ROTATED):
            raise UnsupportedError(f"recipe: {algorithm} must be for {ROTATED}, got {operation!r}")
        rule["operation"] = ROTATED  # others have what a rule before says
    config = entry.get("op_config") or {}
    _check_names("op_config", config, _CONFIG)
    return {
        **rule,
        "scheme": _scheme(config),
        "algorithm": _ALGORITHMS[algorithm],
        "min_weight_elements": int(config.get("min_weight_elements", 0)),
    }


def _check_names(what: str, given: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(given) - known):
        raise ModelError(f"recipe: {what} must have only {', '.join(sorted(known))}, got {unknown}")


def _scheme(config: Mapping[str, Any]) -> Scheme:
    weights, activations = config.get("weight_tensor_config"), config.get("activation_tensor_config")
    if not isinstance(weights, Mapping):
        raise ModelError(f"recipe: op_config must have a weight_tensor_config, got {dict(config)}")
    precision, dequantize = config.get("compute_precision", "FLOAT"), config.get("explicit_dequantize", False)
    if precision != ("FLOAT" if dequantize else "INTEGER"):
        raise UnsupportedError(
            "recipe: compute_precision must be INTEGER, or FLOAT with explicit_dequantize, "
            f"got {precision!r} and {dequantize}"
        )
    granularity = weights.get("granularity", "TENSORWISE")
    blocks = _BLOCKS.fullmatch(granularity)
    if granularity not in ("TENSORWISE", "CHANNELWISE") and blocks is None:
        raise ModelError(
            f"recipe: granularity must be TENSORWISE, CHANNELWISE or BLOCKWISE_*, got {granularity!r}"
        )
    if weights.get("algorithm_params", {}).get("max_hadamard_size"):
        raise UnsupportedError(
            "recipe: max_hadamard_size is not built; without it rotations are as long as can be"
        )
    is_float = weights.get("dtype", "INT") == "FLOAT"
    bits = weights.get("num_bits")
    if is_float and bits != 16:
        raise UnsupportedError(f"recipe: FLOAT weights must have num_bits 16, got {bits}; 16 would do")
    block = weights.get("block_size") or (int(blocks[1]) if blocks else 0)
    return Scheme(
        weight_bits=int(bits or 0),
        activation_bits=_activation_bits(activations),
        dequantize=bool(dequantize),
        per_channel=granularity != "TENSORWISE",
        block=block,
        symmetric=bool(weights.get("symmetric", True)),
    )


def _activation_bits(activations: Mapping[str, Any] | None) -> int:
    if activations is None:
        return 0
    bits = int(activations.get("num_bits") or 0)
    if bits not in (8, 16) or activations.get("dtype", "INT") != "INT":
        raise UnsupportedError(
            f"recipe: activations must be INT of 8 or 16 bits, got {dict(activations)}; these would run"
        )
    return bits


def rule_entries(rule: Rule) -> list[dict[str, Any]]:
    """The entries that rule_of reads as the rule.

    A rotation for all operators is two: other operators, and what cannot be rotated, are rounded as usual.
    """
    if rule.algorithm in ROTATIONS and rule.operation == "*":
        return [_entry(replace(rule, algorithm="")), _entry(replace(rule, operation=ROTATED))]
    return [_entry(rule)]


def _entry(rule: Rule) -> dict[str, Any]:
    names = {name: key for key, name in _ALGORITHMS.items() if name}
    entry = {"regex": rule.regex, "operation": _other_name(rule.operation)}
    scheme = rule.scheme
    if scheme is None:
        return {**entry, "algorithm_key": NO_QUANTIZE}
    algorithm = rule.algorithm or usual_algorithm(scheme.weight_bits)
    weights = {
        "num_bits": scheme.weight_bits,
        "symmetric": scheme.symmetric,
        "granularity": _granularity(scheme),
        "dtype": "FLOAT" if scheme.is_float16 else "INT",
    }
    config: dict[str, Any] = {
        "weight_tensor_config": weights,
        "compute_precision": "FLOAT" if scheme.dequantize else "INTEGER",
        "explicit_dequantize": scheme.dequantize,
        "skip_checks": False,
        "min_weight_elements": rule.min_weight_elements,
    }
    if scheme.activation_bits:
        config["activation_tensor_config"] = {
            "num_bits": scheme.activation_bits,
            "symmetric": scheme.activation_bits == 16,
            "granularity": "TENSORWISE",
            "dtype": "INT",
        }
    key = "float_casting" if scheme.is_float16 else names[algorithm]
    return {**entry, "algorithm_key": key, "op_config": config}


def _granularity(scheme: Scheme) -> str:
    if scheme.block:
        return f"BLOCKWISE_{scheme.block}"
    return "CHANNELWISE" if scheme.per_channel else "TENSORWISE"


def _other_name(operation: str) -> str:
    return {name: key for key, name in _OPERATIONS.items()}.get(operation, operation)
