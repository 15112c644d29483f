"""LiteGraph: the operators and tensors of a model under construction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..lite.tensor import TensorType
from ..schema.objects import TableT
from ..schema.tflite import BuiltinOperator

# -1 stands for a size that is not known, None for a shape of which not even the rank is.
PartialShape = tuple[int, ...] | None


class LiteTensor:
    """A value: a constant when it has data, else an input or an operator's result."""

    __slots__ = ("data", "name", "shape", "type")

    def __init__(
        self, name: str, type: TensorType, shape: PartialShape, data: np.ndarray | None = None
    ) -> None:
        self.name = name
        self.type = type
        self.shape = shape
        self.data = data

    def __repr__(self) -> str:
        sizes = "unknown" if self.shape is None else "x".join(map(str, self.shape)) or "scalar"
        return f"{self.name!r} {self.type.name.lower()} {sizes}"


class LiteOperator:
    """An operator of the model. sources are the graph's nodes it does the work of, its own first."""

    __slots__ = ("code", "inputs", "options", "outputs", "sources")

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

    def __repr__(self) -> str:
        return f"{self.outputs} = {self.code.name}({self.inputs})"


class LiteGraph:
    """One subgraph: operators in execution order."""

    def __init__(self) -> None:
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
