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
from ...schema.operator_options import options_table
from .model_editor import ModelEditor
from .recipe import Recipe, Rule
from .scheme import WEIGHTS, Scheme
from .weight_rules import WEIGHT_RULES, WeightRule
from .weights import ALGORITHMS, as_float16, asymmetric, per_block, per_channel, usual_algorithm

# Custom operators may look at their constants' types; calls hand them to other subgraphs.
_NEVER = ("CUSTOM", "DELEGATE", "IF", "WHILE", "CALL", "CALL_ONCE", "DEQUANTIZE", "QUANTIZE")
# A DEQUANTIZE, its two tensors and their names take more of a file than smaller constants give back.
LEAST_FLOAT16_ELEMENTS = 64
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


def rewrite_weights(editor: ModelEditor, recipe: Recipe) -> list[Outcome]:
    """Quantize the weights of all operators to which the recipe gives float32 activations, in place."""
    return [
        outcome
        for subgraph in editor.subgraphs
        for outcome in _SubgraphWeights(editor, subgraph, recipe).rewrite()
    ]


def scope_of(subgraph: tflite.SubGraphT, operator: tflite.OperatorT) -> str:
    """The names of an operator's results, by which recipes know it."""
    tensors = subgraph.tensors or []
    return ";".join(tensors[i].name or "" for i in operator.outputs or () if i >= 0)


class _SubgraphWeights:
    """One subgraph, and what its constants have become."""

    def __init__(self, editor: ModelEditor, subgraph: tflite.SubGraphT, recipe: Recipe) -> None:
        self._editor = editor
        self._subgraph = subgraph
        self._recipe = recipe
        self._tensors: list[tflite.TensorT] = subgraph.tensors  # type: ignore[assignment]
        self._made: dict[tuple[int, _Kind], int | None] = {}

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
            return self._float16(operator, operation, max(rule.min_weight_elements, LEAST_FLOAT16_ELEMENTS))
        facts = WEIGHT_RULES.get(operation)
        if facts is None:
            return NO_WEIGHTS
        uses = [_Use(operator, operation, place) for place in facts.places if self._is_float(operator, place)]
        if reason := self._obstacle(operator, facts, scheme, uses, rule.min_weight_elements):
            return reason
        algorithm = rule.algorithm or usual_algorithm(scheme.weight_bits)
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
        large = [use for use in uses if self._value(use).size >= least]
        if not large:
            return f"it has no float32 constants of {least} elements"
        kind = _Kind(Scheme(weight_bits=16, dequantize=True), "", None)
        done = [self._replace(use, kind) for use in large]
        return "" if any(done) else "values are beyond +-65504, which is the most that float16 holds"

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
        return made is not None

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
            return self._blocks(name, value, kind)
        else:
            kept = self._integers(name, value, kind)
        return self._dequantized(use, old, kept) if kind.scheme.dequantize else kept

    def _integers(self, name: str, value: np.ndarray, kind: _Kind) -> int:
        bits = kind.scheme.weight_bits
        if kind.scheme.symmetric:
            found = per_channel(value, bits, kind.channels, ALGORITHMS[kind.algorithm])
        else:
            found = asymmetric(value, bits, kind.channels)
        parameters = found.parameters
        if kind.repeats is not None:
            parameters = parameters.repeated(value.shape[kind.repeats], kind.repeats)
        table = parameters.table()
        return self._editor.add_constant(self._subgraph, name, WEIGHTS[bits].type, found.integers, table)

    def _blocks(self, name: str, value: np.ndarray, kind: _Kind) -> int:
        bits, block = kind.scheme.weight_bits, kind.scheme.block
        found = per_block(value, bits, block, ALGORITHMS[kind.algorithm])
        scales = self._editor.add_constant(self._subgraph, f"{name}_scales", TensorType.FLOAT16, found.scales)
        details = tflite.BlockwiseQuantizationT(scales=scales, zero_points=-1, block_size=block)
        table = tflite.QuantizationParametersT(details=details)
        return self._editor.add_constant(self._subgraph, name, WEIGHTS[bits].type, found.integers, table)

    def _dequantized(self, use: _Use, old: tflite.TensorT, kept: int) -> int:
        """A DEQUANTIZE before the operator; its result."""
        name = f"{old.name}_dequantized"
        wide = self._editor.add_tensor(self._subgraph, name, TensorType.FLOAT32, old)
        operators = self._subgraph.operators or []
        place = next(i for i, other in enumerate(operators) if other is use.operator)
        self._editor.insert(self._subgraph, place, "DEQUANTIZE", [kept], [wide], tflite.DequantizeOptionsT())
        return wide

    def _make_hybrid(self, operator: tflite.OperatorT, operation: str, facts: WeightRule) -> None:
        if facts.asymmetric:
            if operator.builtin_options is None:
                operator.builtin_options = getattr(tflite, options_table(operation) + "T")()
            setattr(operator.builtin_options, "asymmetric_quantize_inputs", True)  # noqa: B010, of several tables
        self._editor.set_operator(self._subgraph, operator)
