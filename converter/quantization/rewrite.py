"""rewrite: the integer model, with QUANTIZE and DEQUANTIZE where it meets floats.

Given    x f32 -> CONV_2D -> a f32 -> SIN -> b f32
Result   x f32 -> QUANTIZE -> x i8 -> CONV_2D -> a i8 -> DEQUANTIZE -> a f32 -> SIN -> b f32
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema import tflite
from .constraints import Constraint, Weights
from .float_graph import FloatGraph, Site, Step
from .integer_constants import IntegerConstants
from .parameters import Parameters, one_scale
from .propagate import Sets
from .recurrent_integers import RecurrentIntegers
from .recurrent_ranges import inner_sites
from .scheme import INT16, UINT8, Integers
from .selection import CALLS, Selection
from .variable_ties import ASSIGN, READ

# Behind the name of a float tensor: the integers that stand for it.
QUANTIZED = "_quantized"
# How far the zero point of uint8 lies from that of int8.
_UNSIGNED = 128


class Ends(NamedTuple):
    """What the model's float inputs and outputs become: integers, or None for float32 as before."""

    inputs: Integers | None = None
    outputs: Integers | None = None


FLOAT_ENDS = Ends()


class Plan(NamedTuple):
    """What is to become of a graph; parameters gives those of a tensor's set, borders the identities of its
    QUANTIZEs between integers."""

    graph: FloatGraph
    selection: Selection
    sets: Sets
    parameters: Callable[[Site], Parameters]
    constants: IntegerConstants
    recurrent: RecurrentIntegers
    ends: Ends
    borders: Collection[int] = ()


def rewrite(plan: Plan) -> None:
    """Make the chosen operators integer ones, in place."""
    for number in range(len(plan.graph.subgraphs)):
        _SubgraphRewrite(number, plan).run()


class _Given(NamedTuple):
    """The tensor that an operator writes for a result, and the operators behind it: name, operand, result."""

    tensor: int
    after: tuple[tuple[str, int, int], ...] = ()


class _SubgraphRewrite:
    """One subgraph: its operators anew, with what changes types between them.

    _integers and _floats tell which tensor has the value of an old one as integers, and as floats.
    """

    def __init__(self, number: int, plan: Plan) -> None:
        self._number, self._plan = number, plan
        self._editor, self._sets = plan.graph.editor, plan.sets
        self._subgraph = plan.graph.subgraphs[number]
        self._is_entry = number in plan.graph.entries
        self._ends = plan.ends
        self._integers: dict[int, int] = {}
        self._floats: dict[int, int] = {}
        self._quantized: set[int] = set()  # those that are integers only by a QUANTIZE
        self._requantized: dict[tuple[int, float, int], int] = {}

    def run(self) -> None:
        self._subgraph.operators = []
        for t in self._subgraph.inputs or ():
            self._enter(t)
        for step in self._plan.graph.steps:
            if step.graph != self._number:
                continue
            if (step.graph, step.place) in self._plan.selection.chosen:
                self._make_integer(step)
            elif id(step.operator) in self._plan.borders:
                self._cross(step.inputs[0], step.outputs[0])
            else:
                self._keep(step)
        self._subgraph.outputs = [self._leaving(t) for t in self._subgraph.outputs or ()]

    def _enter(self, t: int) -> None:
        if not self._sets.is_integer(self._site(t)):
            return
        parameters, wanted = self._parameters(t), self._ends.inputs
        if not self._is_entry:
            if self._carries(t):
                self._retype(t, parameters)
        elif wanted is UINT8:
            self._integers[t] = inner = self._added(t, parameters)
            self._set_type(t, _unsigned(parameters))
            self._insert("QUANTIZE", t, inner)
        elif wanted is not None:
            self._retype(t, parameters)

    def _leaving(self, t: int) -> int:
        """The tensor that stands for an output at the end."""
        if not self._is_entry:
            return self._integer(t) if self._carries(t) else self._float(t)
        is_both = t in (self._subgraph.inputs or ()) and self._sets.is_integer(self._site(t))
        if is_both and self._ends.inputs != self._ends.outputs:
            name = self._plan.graph.name(self._site(t))
            raise UnsupportedError(f"output {name!r}: it is an input, too; both must be of one type")
        return t

    def _leaves(self, t: int) -> bool:
        """Whether the tensor is an output of the model, whose type callers choose."""
        return self._is_entry and t in (self._subgraph.outputs or ())

    def _keep(self, step: Step) -> None:
        """An operator of floats, or one that runs subgraphs or holds variables, which may be of integers."""
        runs = step.name in (*CALLS, READ, ASSIGN)
        self._drop_inner(step)
        step.operator.inputs = [
            self._integer(t) if runs and t >= 0 and self._carries(t) else self._float(t) for t in step.inputs
        ]
        given = {
            place: self._give(t, self._parameters(t)) if runs and self._carries(t) else self._give_float(t)
            for place, t in enumerate(step.outputs)
            if t >= 0
        }
        self._emit(step, given)

    def _drop_inner(self, step: Step) -> None:
        """Without the intermediate tensors that only integers ask for."""
        inner = [] if step.operator.intermediates is None else step.operator.intermediates
        if all(self._plan.graph.is_float(self._site(int(t))) for t in inner if t >= 0):
            step.operator.intermediates = None

    def _make_integer(self, step: Step) -> None:
        rule = step.constraint
        assert rule is not None
        operands = list(step.inputs)
        for place in rule.operand_places(len(operands)):
            if operands[place] >= 0:
                operands[place] = self._operand(step, rule, place)
        if rule.weights is not None:
            self._weigh(step, rule.weights, operands)
        if inner_sites(step):
            ends = (self._parameters(t) for t in (step.inputs[0], step.outputs[0]))
            operands[1:] = self._plan.recurrent.operands(step, *ends)[1:]
        step.operator.inputs = operands
        given = {}
        for place in rule.result_places(len(step.outputs)):
            t = step.outputs[place]
            parameters = self._parameters(t)
            fixed = rule.fixed(parameters.integers.type)
            computed = one_scale(*fixed, parameters.integers) if fixed else parameters
            given[place] = self._give(t, self._moved(step, rule) or computed)
        options: Any = step.operator.builtin_options
        if hasattr(options, "pot_scale_int16"):
            options.pot_scale_int16 = False  # scales are no powers of two, but for some by chance
        self._emit(step, given)
        self._editor.set_operator(self._subgraph, step.operator)

    def _moved(self, step: Step, rule: Constraint) -> Parameters | None:
        """The parameters that an operator's only operand has, and its results with it."""
        operands = step.operand_sites()
        is_one = rule.tied and len(operands) == 1 and not self._plan.graph.is_constant(operands[0])
        return self._plan.parameters(operands[0]) if is_one else None

    def _operand(self, step: Step, rule: Constraint, place: int) -> int:
        """The integer tensor for an operand, of the result's scale where that has to be the same."""
        t, results = step.inputs[place], step.result_sites()
        wanted = self._plan.parameters(results[0]) if rule.tied and results else None
        wanted = self._moved(step, rule) or wanted
        if self._plan.graph.is_constant(self._site(t)):
            return self._plan.constants.operand(step, place, wanted, self._plan.parameters)
        if wanted is None or _same(self._parameters(t), wanted):
            return self._integer(t)
        key = (t, float(wanted.scale), wanted.zero_point)
        if key not in self._requantized:
            self._requantized[key] = self._added(t, wanted, "_requantized")
            self._insert("QUANTIZE", self._nearest(t), self._requantized[key])
        return self._requantized[key]

    def _nearest(self, t: int) -> int:
        """What other integers are made of: floats at once, where there are some, with no second rounding."""
        from_floats = t in self._quantized or t not in self._integers
        return self._floats.get(t, t) if from_floats else self._integers[t]

    def _cross(self, t: int, other: int) -> None:
        """Other integers for the same value."""
        source = self._nearest(t)
        given = self._give(other, self._parameters(other))
        self._insert("QUANTIZE", source, given.tensor)
        for name, operand, into in given.after:
            self._insert(name, operand, into)

    def _weigh(self, step: Step, weights: Weights, operands: list[int]) -> None:
        found = self._plan.constants.weights(step, weights, self._plan.parameters(step.operand_sites()[0]))
        operands[weights.place] = found.filter
        if found.bias >= 0:
            operands += [-1] * (weights.bias + 1 - len(operands))
            operands[weights.bias] = found.bias
        options: Any = step.operator.builtin_options
        is_wide = self._plan.selection.integers(step) is INT16
        if is_wide and options is None and step.name == "FULLY_CONNECTED":
            options = step.operator.builtin_options = tflite.FullyConnectedOptionsT()
        if is_wide and hasattr(options, "quantized_bias_type"):
            options.quantized_bias_type = found.bias_type

    def _give(self, t: int, computed: Parameters) -> _Given:
        """How a result becomes integers, which the operator computes with parameters that may be its own."""
        parameters, wanted = self._parameters(t), self._ends.outputs
        after: list[tuple[str, int, int]] = []
        if self._leaves(t) and wanted is not parameters.integers:
            self._integers[t] = self._added(t, parameters)
            if wanted is None:
                self._floats[t] = t
                after = [("DEQUANTIZE", self._integers[t], t)]
            else:
                self._set_type(t, _unsigned(parameters))
                after = [("QUANTIZE", self._integers[t], t)]
        else:
            self._retype(t, parameters)
        if _same(computed, parameters):
            return _Given(self._integers[t], tuple(after))
        inner = self._added(t, computed, "_computed")
        return _Given(inner, (("QUANTIZE", inner, self._integers[t]), *after))

    def _give_float(self, t: int) -> _Given:
        """How a float result leaves, where callers may want integers."""
        wanted = self._ends.outputs
        if wanted is None or not self._leaves(t) or not self._sets.is_integer(self._site(t)):
            return _Given(t)
        self._floats[t] = inner = self._added(t, None, "_float")
        parameters = self._parameters(t)
        if wanted is UINT8:
            self._set_type(t, _unsigned(parameters))
        else:
            self._retype(t, parameters)
        return _Given(inner, (("QUANTIZE", inner, t),))

    def _emit(self, step: Step, given: dict[int, _Given]) -> None:
        outputs = list(step.outputs)
        for place, result in given.items():
            outputs[place] = result.tensor
        step.operator.outputs = outputs
        assert self._subgraph.operators is not None
        self._subgraph.operators.append(step.operator)
        for result in given.values():
            for name, operand, into in result.after:
                self._insert(name, operand, into)

    def _site(self, t: int) -> Site:
        return Site(self._number, t)

    def _parameters(self, t: int) -> Parameters:
        return self._plan.parameters(self._site(t))

    def _carries(self, t: int) -> bool:
        """Whether a tensor goes between subgraphs, or through a variable, as integers."""
        site = self._site(t)
        return site in self._sets.carried and self._sets.is_integer(site)

    def _integer(self, t: int) -> int:
        """The tensor with the value as integers of its set, with a QUANTIZE where that is not there yet."""
        if self._plan.graph.is_constant(self._site(t)):
            return self._plan.constants.value(self._site(t), self._parameters(t))
        if t not in self._integers:
            self._integers[t] = self._added(t, self._parameters(t))
            self._quantized.add(t)
            self._insert("QUANTIZE", self._floats.get(t, t), self._integers[t])
        return self._integers[t]

    def _float(self, t: int) -> int:
        """The tensor with the value as floats; another type's is itself."""
        if t in self._integers and t not in self._floats and self._holds_integers(t):
            self._floats[t] = self._added(t, None, "_float")
            self._insert("DEQUANTIZE", self._integers[t], self._floats[t])
        return self._floats.get(t, t)

    def _holds_integers(self, t: int) -> bool:
        """Whether the tensor itself is no longer float32."""
        return not self._plan.graph.is_float(self._site(t))

    def _retype(self, t: int, parameters: Parameters) -> None:
        """Have the tensor itself hold integers."""
        self._set_type(t, parameters)
        self._integers[t] = t

    def _set_type(self, t: int, parameters: Parameters) -> None:
        tensor = self._plan.graph.tensor(self._site(t))
        tensor.type, tensor.quantization = parameters.integers.type, parameters.table()

    def _added(self, t: int, parameters: Parameters | None, suffix: str = QUANTIZED) -> int:
        """A new tensor of another one's shape; float32 where there are no parameters."""
        like = self._plan.graph.tensor(self._site(t))
        type_ = TensorType.FLOAT32 if parameters is None else parameters.integers.type
        table = None if parameters is None else parameters.table()
        return self._editor.add_tensor(self._subgraph, f"{like.name}{suffix}", type_, like, table)

    def _insert(self, name: str, operand: int, result: int) -> None:
        operators = self._subgraph.operators or []
        self._editor.insert(self._subgraph, len(operators), name, [operand], [result])


def _same(a: Parameters, b: Parameters) -> bool:
    return a.integers == b.integers and a.scale == b.scale and a.zero_point == b.zero_point


def _unsigned(parameters: Parameters) -> Parameters:
    """The same scale for uint8."""
    return one_scale(float(parameters.scale), parameters.zero_point + _UNSIGNED, UINT8)
