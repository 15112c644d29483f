"""FloatGraph: the operators of a model with who gives and who takes each tensor, over all its subgraphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...lite.errors import ModelError
from ...lite.tensor import TensorType
from ...schema import tflite
from .constraints import CONSTRAINTS, Constraint
from .model_editor import ModelEditor


class Site(NamedTuple):
    """A tensor: the number of its subgraph, and its own."""

    graph: int
    tensor: int


class Step(NamedTuple):
    """An operator: its subgraph, its place there, its name, and its tensors (-1: left out)."""

    graph: int
    place: int
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operator: tflite.OperatorT

    @property
    def constraint(self) -> Constraint | None:
        return CONSTRAINTS.get(self.name)

    @property
    def activation(self) -> int:
        """The activation that is fused into it (ActivationFunctionType), 0 for none."""
        return int(getattr(self.operator.builtin_options, "fused_activation_function", 0) or 0)

    def operand_sites(self) -> list[Site]:
        """The quantized operands that are there, by the table."""
        rule = self.constraint
        places = [] if rule is None else rule.operand_places(len(self.inputs))
        return [Site(self.graph, self.inputs[p]) for p in places if self.inputs[p] >= 0]

    def result_sites(self) -> list[Site]:
        """The quantized results, by the table."""
        rule = self.constraint
        places = [] if rule is None else rule.result_places(len(self.outputs))
        return [Site(self.graph, self.outputs[p]) for p in places if self.outputs[p] >= 0]


class FloatGraph:
    """A reading of a model, which must not change meanwhile.

    entries are the subgraphs that callers of the model run.
    """

    def __init__(self, editor: ModelEditor) -> None:
        self.editor = editor
        self.subgraphs = editor.subgraphs
        self.steps = [step for graph in range(len(self.subgraphs)) for step in self._steps(graph)]
        self.producers: dict[Site, Step] = {}
        self.users: dict[Site, list[Step]] = defaultdict(list)
        for step in self.steps:
            self.producers.update((Site(step.graph, t), step) for t in step.outputs if t >= 0)
            for t in dict.fromkeys(step.inputs):
                if t >= 0:
                    self.users[Site(step.graph, t)].append(step)
        self.inputs = {Site(g, t) for g, graph in enumerate(self.subgraphs) for t in graph.inputs or ()}
        self.outputs = {Site(g, t) for g, graph in enumerate(self.subgraphs) for t in graph.outputs or ()}
        definitions = editor.root.signature_defs or []
        self.entries = {0, *(definition.subgraph_index for definition in definitions)}

    def _steps(self, graph: int) -> Iterator[Step]:
        for place, (operator, name) in enumerate(self.editor.operators(self.subgraphs[graph])):
            inputs, outputs = tuple(operator.inputs or ()), tuple(operator.outputs or ())
            yield Step(graph, place, name, inputs, outputs, operator)

    def tensor(self, site: Site) -> tflite.TensorT:
        """ModelError where an operator names one that is not there."""
        tensors = self.subgraphs[site.graph].tensors
        assert tensors is not None
        try:
            return tensors[site.tensor]
        except IndexError as error:
            raise ModelError(
                f"subgraph {site.graph}: operators must name its {len(tensors)} tensors, got {site.tensor}"
            ) from error

    def name(self, site: Site) -> str:
        return self.tensor(site).name or f"tensor {site.tensor}"

    def names(self) -> dict[Site, str]:
        """Those that the file has for all tensors."""
        return {
            Site(number, t): tensor.name or ""
            for number, subgraph in enumerate(self.subgraphs)
            for t, tensor in enumerate(subgraph.tensors or ())
        }

    def is_float(self, site: Site) -> bool:
        return self.tensor(site).type == TensorType.FLOAT32

    def is_constant(self, site: Site) -> bool:
        return site not in self.producers and site not in self.inputs and self._data(site) is not None

    def constant(self, site: Site) -> np.ndarray:
        """A constant's values in its own shape."""
        data = self._data(site)
        assert data is not None
        return data

    def content(self, site: Site) -> np.ndarray:
        """A constant's bytes: one array for all that share it."""
        content = self.editor.content(self.tensor(site))
        assert content is not None
        return content

    def _data(self, site: Site) -> np.ndarray | None:
        return self.editor.constant(self.tensor(site))

    def where(self, step: Step) -> str:
        """How errors and reports name an operator: by its name and its first result."""
        results = [self.name(Site(step.graph, t)) for t in step.outputs if t >= 0]
        return f"{step.name} {results[0]!r}" if results else f"{step.name} at {step.place}"


def replace_operand(graph: FloatGraph, step: Step, place: int, values: np.ndarray) -> None:
    """Give an operator a new float32 constant, since others may use the old one; a bias may be new."""
    inputs = list(step.operator.inputs or ())
    inputs += [-1] * (place + 1 - len(inputs))
    old = inputs[place]
    name = graph.name(Site(step.graph, old if old >= 0 else step.outputs[0])) + ("" if old >= 0 else "_bias")
    inputs[place] = graph.editor.add_constant(
        graph.subgraphs[step.graph], name, TensorType.FLOAT32, np.asarray(values, np.float32)
    )
    step.operator.inputs = inputs


def remove(graph: FloatGraph, step: Step) -> None:
    """Take an operator out of its subgraph."""
    operators = graph.subgraphs[step.graph].operators
    assert operators is not None
    operators.remove(step.operator)
