"""LiteModel and LiteGraph: the operators and tensors of a model under construction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..kernels.operators import OPERATORS, Effects, Operator
from ..lite.tensor import TensorType
from ..schema.objects import TableT
from ..schema.tflite import BuiltinOperator, QuantizationParametersT

# -1 stands for a size that is not known, None for a shape of which not even the rank is.
PartialShape = tuple[int, ...] | None

_NO_FACTS = Operator(family="", version=1)


# No vector of sizes, axes or bounds is longer; what is, need not be looked at number by number.
_MOST_KNOWN = 1 << 12


class LiteTensor:
    """A value: a constant when it has data, else an input or an operator's result.

    data has NumPy's type for the tensor's; bfloat16 and other small types are ml_dtypes', strings are
    bytes objects. sizes is what is known of the elements of an integer scalar or vector (-1 where
    one is not known), None where nothing is: a graph computes shapes in such tensors.
    """

    __slots__ = ("data", "is_variable", "name", "quantization", "shape", "sizes", "type")

    def __init__(
        self, name: str, type: TensorType, shape: PartialShape, data: np.ndarray | None = None
    ) -> None:
        self.name = name
        self.type = type
        self.shape = shape
        self.data = data
        self.sizes: tuple[int, ...] | None = None
        self.quantization: QuantizationParametersT | None = None
        self.is_variable = False

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


class LiteOperator:
    """An operator of the model.

    sources are the graph's nodes it does the work of, its own first. callees are the graphs that it
    runs (IF, WHILE, CALL_ONCE); option_fields name the fields of options that hold their indices.
    A custom operator has a custom_code, custom_options, and perhaps effects beside its results; a model
    may hold one with a refusal only until the passes have run, one of which may take it in.
    """

    __slots__ = (
        *("callees", "code", "custom_code", "custom_options", "has_effects", "inputs", "option_fields"),
        *("options", "outputs", "refusal", "sources"),
    )

    def __init__(
        self,
        code: BuiltinOperator,
        inputs: list[LiteTensor | None],
        outputs: list[LiteTensor],
        options: TableT | None,
        sources: tuple[str, ...],
    ) -> None:
        self.code = code
        self.inputs = inputs
        self.outputs = outputs
        self.options = options
        self.sources = sources
        self.callees: tuple[LiteGraph, ...] = ()
        self.option_fields: tuple[str, ...] = ()
        self.custom_code: str | None = None
        self.custom_options = b""
        self.has_effects = False
        self.refusal: Failure | None = None

    @property
    def facts(self) -> Operator:
        """What the table of operators says; of a custom operator nothing."""
        return OPERATORS.get(self.code.name, _NO_FACTS)

    def __repr__(self) -> str:
        return f"{self.outputs} = {self.custom_code or self.code.name}({self.inputs})"


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


class LiteGraph:
    """One subgraph: operators in execution order."""

    def __init__(self, name: str = "main") -> None:
        self.name = name
        self.inputs: list[LiteTensor] = []
        self.outputs: list[LiteTensor] = []
        self.operators: list[LiteOperator] = []

    def tensors(self) -> Iterator[LiteTensor]:
        """Every tensor once: inputs, then in order of use, then outputs."""
        seen: set[int] = set()
        for tensor in self._uses():
            if id(tensor) not in seen:
                seen.add(id(tensor))
                yield tensor

    def producers(self) -> dict[int, LiteOperator]:
        """The operator that computes each tensor, by the tensor's id."""
        return {id(tensor): operator for operator in self.operators for tensor in operator.outputs}

    def uses(self) -> dict[int, int]:
        """How often each tensor is used: by operators, and as an output of the graph."""
        counts: dict[int, int] = {}
        for operator in self.operators:
            for tensor in operator.inputs:
                if tensor is not None:
                    counts[id(tensor)] = counts.get(id(tensor), 0) + 1
        for tensor in self.outputs:
            counts[id(tensor)] = counts.get(id(tensor), 0) + 1
        return counts

    def unused(self) -> list[LiteTensor]:
        """The results that no operator uses."""
        uses = self.uses()
        return [
            tensor for operator in self.operators for tensor in operator.outputs if id(tensor) not in uses
        ]

    def remove(self, operators: Iterable[LiteOperator]) -> None:
        """Take operators out."""
        gone = {id(operator) for operator in operators}
        self.operators = [operator for operator in self.operators if id(operator) not in gone]

    def _uses(self) -> Iterator[LiteTensor]:
        yield from self.inputs
        for operator in self.operators:
            yield from (tensor for tensor in operator.inputs if tensor is not None)
            yield from operator.outputs
        yield from self.outputs


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
            for operator in graph.operators:
                for callee in operator.callees:
                    if id(callee) not in found:
                        found[id(callee)] = callee
                        waiting.append(callee)
        return list(found.values())


def has_effects(operator: LiteOperator) -> bool:
    """Whether the operator must run though nothing uses its results."""
    if operator.has_effects or operator.facts.effects is Effects.WRITES:
        return True
    return any(has_effects(inner) for graph in operator.callees for inner in graph.operators)
