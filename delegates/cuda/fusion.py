"""Fusion: operators that run inside the launch of another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .clamps import clamp_range
from .families import FAMILIES
from .halves import is_stored_half

if TYPE_CHECKING:
    from ...lite.node import Node
    from .partition_graph import PartitionGraph

_CLAMPS = ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")


@dataclass
class Step:
    """A node, and what is fused into it: a PAD before it, then clamps, an ADD of a residual, and clamps.

    output is the number of the tensor that the last of them writes.
    """

    node: Node
    pad: Node | None = None
    clamps: list[Node] = field(default_factory=list)
    addition: Node | None = None
    last_clamps: list[Node] = field(default_factory=list)

    @property
    def nodes(self) -> list[Node]:
        """All of them, the PAD first."""
        before = [] if self.pad is None else [self.pad]
        after = [] if self.addition is None else [self.addition]
        return [*before, self.node, *self.clamps, *after, *self.last_clamps]

    @property
    def output(self) -> int:
        return self.nodes[-1].outputs[0]


def fuse(graph: PartitionGraph, outputs: Iterable[int]) -> list[Step]:
    """The partition's nodes as steps; a step runs where its last node did.

    Shapes must be known, since a residual must have the output's own.
    """
    return _Fusion(graph, set(outputs)).steps()


class _Fusion:
    def __init__(self, graph: PartitionGraph, outputs: set[int]) -> None:
        self._graph = graph
        self._outputs = outputs
        self._readers: dict[int, list[Node]] = {}
        self._writer: dict[int, Node] = {}
        for node in graph.nodes:
            for t in node.inputs:
                self._readers.setdefault(t, []).append(node)
            for t in node.outputs:
                self._writer[t] = node

    def steps(self) -> list[Step]:
        taken: dict[int, Step] = {}
        for node in self._graph.nodes:
            family = FAMILIES[node.registration.name]
            if node.index in taken or not family.absorbs:
                continue
            step = Step(node)
            if "pad" in family.absorbs:
                self._take_pad(step, taken)
            self._take_clamps(step, step.clamps)
            if "add" in family.absorbs:
                self._take_addition(step, taken)
            taken.update((n.index, step) for n in step.nodes)
        steps = []
        for node in self._graph.nodes:
            step = taken.get(node.index) or Step(node)
            if step.nodes[-1] is node:
                steps.append(step)
        return steps

    def _only_reader(self, t: int) -> Node | None:
        readers = self._readers.get(t, [])
        return readers[0] if len(readers) == 1 and t not in self._outputs else None

    def _take_pad(self, step: Step, taken: dict[int, Step]) -> None:
        pad = self._writer.get(step.node.inputs[0])
        if pad is None or pad.registration.name != "PAD" or pad.index in taken:
            return
        if self._only_reader(pad.outputs[0]) is step.node and _pads_the_image(self._graph, pad):
            step.pad = pad

    def _take_clamps(self, step: Step, clamps: list[Node]) -> None:
        while True:
            reader = self._only_reader(step.output)
            if reader is None or reader.registration.name not in _CLAMPS:
                return
            if clamp_range(self._graph, reader) is None:
                return
            clamps.append(reader)

    def _take_addition(self, step: Step, taken: dict[int, Step]) -> None:
        reader = self._only_reader(step.output)
        if reader is None or reader.registration.name != "ADD" or reader.index in taken:
            return
        a, b, y = (self._graph.tensor(t) for t in (*reader.inputs, *reader.outputs))
        if a.index == b.index or a.shape != y.shape or b.shape != y.shape or not y.size:
            return
        if is_stored_half(self._graph.tensor(step.output)):
            return  # the CPU rounds before it adds
        step.addition = reader
        self._take_clamps(step, step.last_clamps)


def _pads_the_image(graph: PartitionGraph, pad: Node) -> bool:
    """Whether only rows and columns are padded, by constants."""
    paddings = graph.input(pad, 1)
    if not paddings.is_constant or paddings.shape != (4, 2):
        return False
    sizes = paddings.array()
    return bool(np.all(sizes >= 0)) and not sizes[[0, 3]].any()
