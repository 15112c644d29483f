"""Rules of recipes as ai-edge-quantizer's JSON has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

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
T = TypeVar("T")
_OPERATIONS = {"CONV_2D_TRANSPOSE": "TRANSPOSE_CONV"}
# Few digits: Python reads no number of thousands.
_BLOCKS = re.compile(r"BLOCKWISE_(\d{1,9})", re.ASCII)
_RULE = {"regex", "operation", "algorithm_key", "op_config"}
_CONFIG = {
    *("activation_tensor_config", "weight_tensor_config", "compute_precision"),
    *("explicit_dequantize", "skip_checks", "min_weight_elements"),
    "bias_num_bits",  # ours alone
}


def rule_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the Rule that an entry of a recipe stands for."""
    if not isinstance(entry, Mapping) or not {"regex", "operation", "algorithm_key"} <= set(entry):
        raise ModelError(f"recipe: a rule must have regex, operation and algorithm_key, got {entry!r}")
    _check_names("rule", entry, _RULE)
    regex, operation, algorithm = (_text(entry, name) for name in ("regex", "operation", "algorithm_key"))
    if algorithm not in _ALGORITHMS:
        raise UnsupportedError(
            f"recipe: algorithm_key must be of {', '.join(_ALGORITHMS)}, got {algorithm!r}; "
            "one of these can be quantized with"
        )
    rule: dict[str, Any] = {"regex": regex, "operation": _OPERATIONS.get(operation, operation)}
    if algorithm == NO_QUANTIZE:
        return {**rule, "scheme": None}
    if _ALGORITHMS[algorithm] in ROTATIONS:
        if operation not in ("*", ROTATED):
            raise UnsupportedError(f"recipe: {algorithm} must be for {ROTATED}, got {operation!r}")
        rule["operation"] = ROTATED  # others have what a rule before says
    config = _table(entry, "op_config") or {}
    _check_names("op_config", config, _CONFIG)
    return {
        **rule,
        "scheme": _scheme(config),
        "algorithm": _ALGORITHMS[algorithm],
        "min_weight_elements": _number(config, "min_weight_elements"),
    }


def _field(table: Mapping[str, Any], name: str, kind: type[T], default: T, words: str) -> T:
    """The value of that name, the default where it is null or missing; ModelError for one of another kind."""
    value = table.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ModelError(f"recipe: {name} must be {words}, got {value!r}")
    return value


def _text(table: Mapping[str, Any], name: str, default: str = "") -> str:
    return _field(table, name, str, default, "text")


def _flag(table: Mapping[str, Any], name: str, default: bool) -> bool:
    return _field(table, name, bool, default, "true or false")


def _number(table: Mapping[str, Any], name: str) -> int:
    return _field(table, name, int, 0, "a whole number")


def _table(table: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    return _field(table, name, Mapping, None, "a table of names")


def _check_names(what: str, given: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(given) - known):
        raise ModelError(f"recipe: {what} must have only {', '.join(sorted(known))}, got {unknown}")


def _scheme(config: Mapping[str, Any]) -> Scheme:
    weights = _table(config, "weight_tensor_config")
    if weights is None:
        raise ModelError(f"recipe: op_config must have a weight_tensor_config, got {dict(config)}")
    dequantize = _flag(config, "explicit_dequantize", False)
    precision = _text(config, "compute_precision", "FLOAT")
    if precision != ("FLOAT" if dequantize else "INTEGER"):
        raise UnsupportedError(
            "recipe: compute_precision must be INTEGER, or FLOAT with explicit_dequantize, "
            f"got {precision!r} and {dequantize}"
        )
    if (_table(weights, "algorithm_params") or {}).get("max_hadamard_size"):
        raise UnsupportedError(
            "recipe: max_hadamard_size is not built; without it rotations are as long as can be"
        )
    bits = _number(weights, "num_bits")
    if _text(weights, "dtype", "INT") == "FLOAT" and bits != 16:
        raise UnsupportedError(f"recipe: FLOAT weights must have num_bits 16, got {bits}; 16 would do")
    per_channel, block = _scales(weights)
    return Scheme(
        weight_bits=bits,
        activation_bits=_activation_bits(_table(config, "activation_tensor_config")),
        dequantize=dequantize,
        per_channel=per_channel,
        block=block,
        symmetric=_flag(weights, "symmetric", True),
        bias_bits=_number(config, "bias_num_bits"),
    )


def _scales(weights: Mapping[str, Any]) -> tuple[bool, int]:
    """Whether each channel has a scale, and how many inputs share one, 0 for all."""
    granularity = _text(weights, "granularity", "TENSORWISE")
    blocks = _BLOCKS.fullmatch(granularity)
    if granularity not in ("TENSORWISE", "CHANNELWISE") and blocks is None:
        raise ModelError(
            f"recipe: granularity must be TENSORWISE, CHANNELWISE or BLOCKWISE_*, got {granularity!r}"
        )
    block = _number(weights, "block_size") or (int(blocks[1]) if blocks else 0)
    return granularity != "TENSORWISE", block


def _activation_bits(activations: Mapping[str, Any] | None) -> int:
    if activations is None:
        return 0
    bits = _number(activations, "num_bits")
    if bits not in (8, 16) or _text(activations, "dtype", "INT") != "INT":
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
    if scheme.bias_bits:
        config["bias_num_bits"] = scheme.bias_bits
    key = "float_casting" if scheme.is_float16 else names[algorithm]
    return {**entry, "algorithm_key": key, "op_config": config}


def _granularity(scheme: Scheme) -> str:
    if scheme.block:
        return f"BLOCKWISE_{scheme.block}"
    return "CHANNELWISE" if scheme.per_channel else "TENSORWISE"


def _other_name(operation: str) -> str:
    return {name: key for key, name in _OPERATIONS.items()}.get(operation, operation)
