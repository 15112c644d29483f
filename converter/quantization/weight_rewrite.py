"""Weights of a float model become integers or float16, where activations stay float32.

Given    x f32 -> CONV_2D(w f32) -> y f32
Result   x f32 -> CONV_2D(w i8) -> y f32                   dynamic range: the operator quantizes x itself
         x f32 -> CONV_2D(DEQUANTIZE(w i8)) -> y f32       weights only; float16 alike
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...lite.tensor import TensorType
from ...schema import tflite
from ...schema.operator_code import options_table
from .hessians import Hessians, mean_of
from .model_editor import ModelEditor
from .recipe import Recipe, Rule
from .rotation import ROTATED, ROTATIONS, ROUNDING, Rotations
from .scheme import WEIGHTS, Scheme
from .weight_rules import WEIGHT_RULES, WeightRule
from .weights import (
    ALGORITHMS,
    GPTQ,
    Algorithm,
    as_float16,
    asymmetric,
    blocks_by_hessian,
    by_hessian,
    per_block,
    per_channel,
    usual_algorithm,
)

# Custom operators may look at their constants' types; calls hand them to other subgraphs.
_NEVER = ("CUSTOM", "DELEGATE", "IF", "WHILE", "CALL", "CALL_ONCE", "DEQUANTIZE", "QUANTIZE")
# Of FULLY_CONNECTED and CONV_2D, which data are collected for.
_BIAS = 2
NO_WEIGHTS = "it has no weights"


class Outcome(NamedTuple):
    """What became of an operator: the scheme of its weights, None with a reason where they stay floats."""

    operation: str
    scope: str
    scheme: Scheme | None
    reason: str = ""


class _Use(NamedTuple):
    """An operator's operand, and what it asks for."""

    operator: tflite.OperatorT
    operation: str
    place: int


class _Kind(NamedTuple):
    """What a constant becomes: one tensor for all operands that ask for the same.

    repeats is the dimension along which one scale is written again and again.
    """

    scheme: Scheme
    algorithm: str
    channels: int | None
    repeats: int | None = None


def rewrite_weights(editor: ModelEditor, recipe: Recipe, hessians: Hessians | None = None) -> list[Outcome]:
    """Quantize the weights of all operators to which the recipe gives float32 activations, in place.

    Rules with the algorithm gptq need hessians.
    """
    return [
        outcome
        for number, subgraph in enumerate(editor.subgraphs)
        for outcome in _SubgraphWeights(editor, number, subgraph, recipe, hessians or {}).rewrite()
    ]


def _algorithm(kind: _Kind) -> Algorithm:
    """How weights are rounded that no data are known for."""
    name = usual_algorithm(kind.scheme.weight_bits) if kind.algorithm == GPTQ else kind.algorithm
    return ALGORITHMS[name]


def scope_of(subgraph: tflite.SubGraphT, operator: tflite.OperatorT) -> str:
    """The names of an operator's results, by which recipes know it."""
    tensors = subgraph.tensors or []
    return ";".join(tensors[i].name or "" for i in operator.outputs or () if i >= 0)


class _SubgraphWeights:
    """One subgraph, and what its constants have become."""

    def __init__(
        self,
        editor: ModelEditor,
        number: int,
        subgraph: tflite.SubGraphT,
        recipe: Recipe,
        hessians: Hessians,
    ) -> None:
        self._editor = editor
        self._number = number
        self._hessians = hessians
        self._subgraph = subgraph
        self._recipe = recipe
        self._rotations = Rotations(editor, subgraph)
        self._tensors: list[tflite.TensorT] = subgraph.tensors  # type: ignore[assignment]
        self._made: dict[tuple[int, _Kind], int | None] = {}
        # Of weights rounded by data: what they add to each output on average.
        self._shifts: dict[tuple[int, _Kind], np.ndarray] = {}

    def rewrite(self) -> Iterator[Outcome]:
        for operator, operation in self._editor.operators(self._subgraph):
            outcome = self._operator(operator, operation)
            if outcome is not None:
                yield outcome

    def _operator(self, operator: tflite.OperatorT, operation: str) -> Outcome | None:
        """Quantize an operator by the last rule for it that is possible; None where none speaks of it."""
        scope, reason = scope_of(self._subgraph, operator), ""
        for rule in self._recipe.of(operation, scope):
            if rule.scheme is None:
                return Outcome(operation, scope, None, "the recipe leaves it as it is")
            if rule.scheme.activation_bits:
                return None
            reason = self._apply(operator, operation, rule, rule.scheme)
            if not reason:
                return Outcome(operation, scope, rule.scheme)
        return Outcome(operation, scope, None, reason) if reason else None

    def _apply(self, operator: tflite.OperatorT, operation: str, rule: Rule, scheme: Scheme) -> str:
        """Quantize an operator's weights; why not, or "" where it is done."""
        if scheme.is_float16:
            return self._float16(operator, operation, rule.min_weight_elements)
        facts = WEIGHT_RULES.get(operation)
        if facts is None:
            return NO_WEIGHTS
        uses = [_Use(operator, operation, place) for place in facts.places if self._is_float(operator, place)]
        if reason := self._obstacle(operator, facts, scheme, uses, rule.min_weight_elements):
            return reason
        algorithm = rule.algorithm or usual_algorithm(scheme.weight_bits)
        if algorithm in ROTATIONS and operation != ROTATED:
            algorithm = usual_algorithm(scheme.weight_bits)
        elif algorithm in ROTATIONS:
            if reason := self._rotations.obstacle(operator, algorithm):
                return reason
            self._rotations.rotate(operator, algorithm)
            algorithm = ROUNDING
        repeats = (
            facts.channels if facts.needs_channels and not (scheme.per_channel or scheme.dequantize) else None
        )
        kind = _Kind(scheme, algorithm, facts.channels if scheme.per_channel else None, repeats)
        for use in uses:
            self._replace(use, kind)
        if not scheme.dequantize:
            self._make_hybrid(operator, operation, facts)
        return ""

    def _obstacle(
        self, operator: tflite.OperatorT, facts: WeightRule, scheme: Scheme, uses: list[_Use], least: int
    ) -> str:
        """What keeps weights from a scheme, "" where nothing does."""
        if not uses:
            return "its weights are no float32 constants"
        sizes = [self._value(use).size for use in uses]
        if max(sizes) < least or (min(sizes) == 0):
            return f"its weights have fewer than {least} elements"
        if scheme.dequantize:
            return ""
        bits = facts.blocks if scheme.block else facts.hybrid
        if scheme.weight_bits not in bits:
            blocks = f" in blocks of {scheme.block}" if scheme.block else ""
            return f"no kernel takes its weights of {scheme.weight_bits} bits{blocks}"
        if scheme.block and any(self._value(use).shape[-1] % scheme.block for use in uses):
            return f"its weights' last dimension is no multiple of {scheme.block}"
        if facts.together and len(uses) < sum(self._is_there(operator, place) for place in facts.places):
            return "its weights are not all float32 constants"
        results = [self._tensors[i].type for i in operator.outputs or ()]
        return "" if set(results) == {TensorType.FLOAT32} else "its results are no float32"

    def _is_there(self, operator: tflite.OperatorT, place: int) -> bool:
        inputs = operator.inputs or ()
        return place < len(inputs) and inputs[place] >= 0

    def _is_float(self, operator: tflite.OperatorT, place: int) -> bool:
        if not self._is_there(operator, place):
            return False
        tensor = self._tensors[operator.inputs[place]]  # type: ignore[index]
        return tensor.type == TensorType.FLOAT32 and self._editor.constant(tensor) is not None

    def _value(self, use: _Use) -> np.ndarray:
        value = self._editor.constant(self._tensors[use.operator.inputs[use.place]])  # type: ignore[index]
        assert value is not None
        return value

    def _float16(self, operator: tflite.OperatorT, operation: str, least: int) -> str:
        """Make an operator's constants float16; why none is, or ""."""
        if operation in _NEVER or operation.startswith("STABLEHLO_"):
            return "constants of such operators stay as they are"
        uses = [
            _Use(operator, operation, place)
            for place in range(len(operator.inputs or ()))
            if self._is_float(operator, place)
        ]
        large = [use for use in uses if self._value(use).size >= max(least, 1)]
        if not large:
            return f"it has no float32 constants of {least} elements" if least else NO_WEIGHTS
        kind = _Kind(Scheme(weight_bits=16, dequantize=True), "", None)
        done = [self._replace(use, kind) for use in large]
        return "" if any(done) else "values are beyond +-65504, or all so small that float16 holds zeros"

    def _replace(self, use: _Use, kind: _Kind) -> bool:
        """Give the operator another operand; whether that is possible."""
        inputs = use.operator.inputs
        assert isinstance(inputs, list)
        key = inputs[use.place], kind
        if key not in self._made:
            self._made[key] = self._make(use, kind)
        made = self._made[key]
        if made is not None:
            inputs[use.place] = made
        if key in self._shifts:
            self._correct_bias(use.operator, self._shifts[key])
        return made is not None

    def _correct_bias(self, operator: tflite.OperatorT, shift: np.ndarray) -> None:
        """Take from an operator's bias what its weights add to the outputs on average."""
        if not self._is_float(operator, _BIAS):
            return
        inputs = operator.inputs
        assert isinstance(inputs, list)
        bias = self._tensors[inputs[_BIAS]]
        value = self._editor.constant(bias)
        assert value is not None
        corrected = (value - shift.reshape(value.shape)).astype(np.float32)
        name = bias.name or ""
        inputs[_BIAS] = self._editor.add_constant(self._subgraph, name, TensorType.FLOAT32, corrected)

    def _make(self, use: _Use, kind: _Kind) -> int | None:
        """The tensor that stands for a constant; None where it cannot be made."""
        old = self._tensors[use.operator.inputs[use.place]]  # type: ignore[index]
        value = self._value(use)
        name = old.name or ""
        if kind.scheme.is_float16:
            halves = as_float16(value)
            if halves is None:
                return None
            kept = self._editor.add_constant(self._subgraph, name, TensorType.FLOAT16, halves)
        elif kind.scheme.block:
            return self._blocks(use, name, value, kind)
        else:
            kept = self._integers(use, name, value, kind)
        return self._dequantized(use, old, kept) if kind.scheme.dequantize else kept

    def _integers(self, use: _Use, name: str, value: np.ndarray, kind: _Kind) -> int:
        bits = kind.scheme.weight_bits
        hessian = self._hessian(name, kind)
        if hessian is not None:
            found = by_hessian(value, bits, hessian[:-1, :-1])
            self._note_shift(use, kind, hessian, found.parameters.real(found.integers) - value)
        elif kind.scheme.symmetric:
            found = per_channel(value, bits, kind.channels, _algorithm(kind))
        else:
            found = asymmetric(value, bits, kind.channels)
        parameters = found.parameters
        if kind.repeats is not None:
            parameters = parameters.repeated(value.shape[kind.repeats], kind.repeats)
        table = parameters.table()
        return self._editor.add_constant(self._subgraph, name, WEIGHTS[bits].type, found.integers, table)

    def _blocks(self, use: _Use, name: str, value: np.ndarray, kind: _Kind) -> int:
        bits, block = kind.scheme.weight_bits, kind.scheme.block
        hessian = self._hessian(name, kind)
        if hessian is None:
            found = per_block(value, bits, block, _algorithm(kind))
        else:
            found = blocks_by_hessian(value, bits, block, hessian[:-1, :-1])
            scales_of = np.repeat(found.scales.astype(np.float32), block, axis=1)
            self._note_shift(use, kind, hessian, found.integers * scales_of - value)
        scales = self._editor.add_constant(self._subgraph, f"{name}_scales", TensorType.FLOAT16, found.scales)
        details = tflite.BlockwiseQuantizationT(scales=scales, zero_points=-1, block_size=block)
        table = tflite.QuantizationParametersT(details=details)
        return self._editor.add_constant(self._subgraph, name, WEIGHTS[bits].type, found.integers, table)

    def _hessian(self, name: str, kind: _Kind) -> np.ndarray | None:
        """What data said of the inputs of weights with a scale for each channel, where that is asked for."""
        if kind.algorithm != GPTQ or not kind.scheme.symmetric or kind.channels != 0:
            return None
        return self._hessians.get((self._number, name))

    def _note_shift(self, use: _Use, kind: _Kind, hessian: np.ndarray, error: np.ndarray) -> None:
        inputs = use.operator.inputs
        assert isinstance(inputs, list)
        self._shifts[inputs[use.place], kind] = error.reshape(len(error), -1) @ mean_of(hessian)

    def _dequantized(self, use: _Use, old: tflite.TensorT, kept: int) -> int:
        """A DEQUANTIZE before the operator; its result."""
        name = f"{old.name}_f"  # a short one: files hold it once for each weight
        wide = self._editor.add_tensor(self._subgraph, name, TensorType.FLOAT32, old)
        operators = self._subgraph.operators or []
        place = next(i for i, other in enumerate(operators) if other is use.operator)
        self._editor.insert(self._subgraph, place, "DEQUANTIZE", [kept], [wide])
        return wide

    def _make_hybrid(self, operator: tflite.OperatorT, operation: str, facts: WeightRule) -> None:
        if facts.asymmetric:
            if operator.builtin_options is None:
                operator.builtin_options = getattr(tflite, options_table(operation) + "T")()
            setattr(operator.builtin_options, "asymmetric_quantize_inputs", True)  # noqa: B010, of several tables
        self._editor.set_operator(self._subgraph, operator)
