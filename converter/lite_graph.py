"""LiteModel and LiteGraph: the lowered operators and tensors of a model under construction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..kernels.operator_facts import Effects, Operator
from ..kernels.operators import OPERATORS
from ..lite.tensor import TensorType
from ..schema.objects import TableT
from ..schema.tflite import BuiltinOperator, QuantizationParametersT
from .graph.structure import AnyBlock, AnyNode, AnyValue

# -1 stands for a size that is not known, None for a shape of which not even the rank is.
PartialShape = tuple[int, ...] | None

_NO_FACTS = Operator(family="", version=1)


# No vector of sizes, axes or bounds is longer; what is, need not be looked at number by number.
_MOST_KNOWN = 1 << 12


class LiteTensor(AnyValue["LiteOperator"]):
    """A value: a constant when it has data, else an input or an operator's result.

    data has NumPy's type for the tensor's; bfloat16 and other small types are ml_dtypes', strings are
    bytes objects. sizes is what is known of the elements of an integer scalar or vector (-1 where
    one is not known), None where nothing is: a graph computes shapes in such tensors.
    """

    __slots__ = ("data", "is_variable", "name", "quantization", "shape", "sizes", "type")

    def __init__(
        self, name: str, type: TensorType, shape: PartialShape, data: np.ndarray | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self.type = type
        self.shape = shape
        self.data = data
        self.sizes: tuple[int, ...] | None = None
        self.quantization: QuantizationParametersT | None = None
        self.is_variable = False

    @property
    def producer(self) -> LiteOperator | None:
        """The operator whose result it is, None for constants and inputs."""
        return self.owner if isinstance(self.owner, LiteOperator) else None

    def known(self) -> tuple[int, ...] | None:
        """What is known of the elements, in order, where they are integers (-1 where one is not).

        None for long vectors.
        """
        if self.data is None:
            return self.sizes
        if self.data.dtype.kind not in "iu" or self.data.ndim > 1 or self.data.size > _MOST_KNOWN:
            return None
        return tuple(int(number) for number in self.data.reshape(-1))

    def __repr__(self) -> str:
        sizes = "unknown" if self.shape is None else "x".join(map(str, self.shape)) or "scalar"
        return f"{self.name!r} {self.type.name.lower()} {sizes}"


class LiteOperator(AnyNode[LiteTensor | None, LiteTensor]):
    """An operator of the model.

    sources are the graph's nodes it does the work of, its own first. callees are the graphs that it
    runs (IF, WHILE, CALL_ONCE), which others may run too; option_fields name the fields of options that
    hold their indices. A custom operator has a custom_code, custom_options, and perhaps effects beside its
    results; a model may hold one with a refusal only until the rules have run, one of which may take it in.
    """

    __slots__ = (
        *("callees", "code", "custom_code", "custom_options", "has_effects"),
        *("option_fields", "options", "refusal", "sources"),
    )

    def __init__(
        self,
        code: BuiltinOperator,
        operands: Iterable[LiteTensor | None],
        results: Iterable[LiteTensor],
        options: TableT | None,
        sources: tuple[str, ...],
    ) -> None:
        super().__init__()
        self.code = code
        self.operands = tuple(operands)
        self.give(results)
        self.options = options
        self.sources = sources
        self.callees: tuple[LiteGraph, ...] = ()
        self.option_fields: tuple[str, ...] = ()
        self.custom_code: str | None = None
        self.custom_options = b""
        self.has_effects = False
        self.refusal: Failure | None = None

    @property
    def op(self) -> BuiltinOperator:
        return self.code

    @property
    def label(self) -> str:
        return self.sources[0] if self.sources else self.code.name

    @property
    def result(self) -> LiteTensor:
        """The first result."""
        return self.results[0]

    def operand(self, place: int) -> LiteTensor:
        """An operand that is there."""
        tensor = self.operands[place]
        assert tensor is not None
        return tensor

    def constant(self, place: int) -> np.ndarray | None:
        """The numbers of an operand, None where it is not constant or not there.

        None of one that is quantized, too: its data are not the numbers that it stands for.
        """
        tensor = self.operands[place] if place < len(self.operands) else None
        return None if tensor is None or tensor.quantization is not None else tensor.data

    def producer(self, place: int) -> LiteOperator | None:
        """The operator that gives an operand, None for constants, inputs, and operands that are not there."""
        operands = self.operands
        tensor = operands[place] if place < len(operands) else None
        return None if tensor is None else tensor.producer

    def sole_producer(self, place: int) -> LiteOperator | None:
        """The operator that gives an operand which nothing else uses, and which is no output."""
        found = self.producer(place)
        return found if found is not None and len(self.operands[place].users) == 1 else None  # type: ignore[union-attr]

    @property
    def facts(self) -> Operator:
        """What the table of operators says; of a custom operator nothing."""
        return OPERATORS.get(self.code.name, _NO_FACTS)

    def __repr__(self) -> str:
        return f"{self.results} = {self.custom_code or self.code.name}({self.operands})"


@dataclass(frozen=True)
class Failure:
    """A node for which there is no way into the model.

    scope is the function that it is of ("" for the graph itself), reason why its rule declined it
    ("" where the op has none), setting what would take it ("" where nothing would).
    """

    name: str
    op: str
    scope: str
    reason: str
    setting: str


# What stands for whoever reads a graph's outputs; no model has such an operator.
_END = BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES


class LiteGraph(AnyBlock[LiteOperator, LiteTensor]):
    """One subgraph: operators in execution order, inputs, and outputs, which count as used."""

    __slots__ = ("_end", "name")

    def __init__(self, name: str = "main") -> None:
        super().__init__()
        self.name = name
        self._end = LiteOperator(_END, (), (), None, ())

    @property
    def operators(self) -> list[LiteOperator]:
        """The operators in a list of its own; the graph itself is iterated and changed."""
        return list(self)

    @property
    def inputs(self) -> list[LiteTensor]:
        return self.arguments

    @inputs.setter
    def inputs(self, tensors: Iterable[LiteTensor]) -> None:
        self.set_arguments(tensors)

    @property
    def outputs(self) -> tuple[LiteTensor, ...]:
        return self._end.operands  # type: ignore[return-value]  # none is left out

    @outputs.setter
    def outputs(self, tensors: Iterable[LiteTensor]) -> None:
        self._end.operands = tuple(tensors)

    def gives(self, tensor: LiteTensor) -> bool:
        """Whether the tensor is an output."""
        return self._end in tensor.users

    def tensors(self) -> list[LiteTensor]:
        """Every tensor once: inputs, then in order of use, then outputs."""
        found = dict.fromkeys(self.inputs)
        for operator in self:
            found |= dict.fromkeys(tensor for tensor in operator.operands if tensor is not None)
            found |= dict.fromkeys(operator.results)
        return list(found | dict.fromkeys(self.outputs))

    def unused(self) -> list[LiteTensor]:
        """The results that nothing uses."""
        return [tensor for operator in self for tensor in operator.results if not tensor.users]


@dataclass(frozen=True)
class LiteSignature:
    """A graph that callers know by a key, with the names of its inputs and outputs in order."""

    key: str
    graph: LiteGraph
    input_names: Sequence[str]
    output_names: Sequence[str]


class LiteModel:
    """The graphs of a model, those that signatures name first."""

    def __init__(self, signatures: Sequence[LiteSignature]) -> None:
        self.signatures = list(signatures)

    def graphs(self) -> list[LiteGraph]:
        """Every graph once: the signatures', then callees in order of first use."""
        found: dict[int, LiteGraph] = {id(s.graph): s.graph for s in self.signatures}
        waiting = list(found.values())
        while waiting:
            graph = waiting.pop(0)
            for operator in graph:
                for callee in operator.callees:
                    if id(callee) not in found:
                        found[id(callee)] = callee
                        waiting.append(callee)
        return list(found.values())


def has_effects(operator: LiteOperator) -> bool:
    """Whether the operator must run though nothing uses its results."""
    if operator.has_effects or operator.facts.effects is Effects.WRITES:
        return True
    return any(has_effects(inner) for graph in operator.callees for inner in graph)
