"""Graph: the tensors and nodes of one subgraph, and how nodes and errors name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.shown import shown, shown_name
from .errors import PrepareError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .node import Node
    from .tensor import Tensor


class GraphParts:
    """A subgraph as the model has it; tensors and nodes have their places in these lists as index."""

    def __init__(
        self,
        index: int,
        name: str,
        tensors: list[Tensor],
        nodes: list[Node],
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
    ) -> None:
        self.index = index
        self.name = name
        self.tensors = tensors
        self.nodes = nodes
        self.inputs = inputs
        self.outputs = outputs


class Graph:
    """What the model says of one subgraph, and the order in which its nodes run.

    Delegates and nodes add tensors and nodes behind the model's own (model_tensor_count). inputs and outputs
    are indices of tensors, execution_plan of nodes.

    What tensors and nodes are for the present shapes can be put off until someone looks at them: a run needs
    inputs and outputs alone.
    """

    def __init__(self, parts: GraphParts) -> None:
        self.index, self.name = parts.index, parts.name
        self._tensors, self._nodes = parts.tensors, parts.nodes
        self._put_off: Callable[[], None] | None = None
        self.inputs, self.outputs = parts.inputs, parts.outputs
        self.model_tensor_count = len(parts.tensors)  # scratch tensors come behind
        self.execution_plan = list(range(len(parts.nodes)))
        self.variables = [t.index for t in parts.tensors if t.is_variable]

    @property
    def tensors(self) -> list[Tensor]:
        self.settle()
        return self._tensors

    @property
    def nodes(self) -> list[Node]:
        self.settle()
        return self._nodes

    def tensor(self, index: int) -> Tensor:
        if index not in self.inputs and index not in self.outputs:
            self.settle()
        return self._tensors[index]

    @property
    def tensor_count(self) -> int:
        return len(self._tensors)

    def put_off(self, change: Callable[[], None]) -> None:
        """Have tensors and nodes, but inputs and outputs, changed when they are looked at.

        It takes the place of what was put off before, all of which it must change, too.
        """
        self._put_off = change

    def settle(self) -> None:
        """Have tensors and nodes as they are for the present shapes."""
        change, self._put_off = self._put_off, None
        if change is not None:
            change()

    def input(self, node: Node, i: int) -> Tensor:
        tensor = self.optional_input(node, i)
        if tensor is None:
            raise PrepareError(f"{shown(node.registration.name)}: input {i} is missing")
        return tensor

    def optional_input(self, node: Node, i: int) -> Tensor | None:
        inputs = node.inputs
        if i >= len(inputs) or inputs[i] < 0:
            return None
        tensor = self.tensors[inputs[i]]
        return tensor if node.stand_ins is None else node.stand_ins.inputs.get(inputs[i], tensor)

    def output(self, node: Node, i: int) -> Tensor:
        outputs = node.outputs
        if i >= len(outputs) or outputs[i] < 0:
            raise PrepareError(f"{shown(node.registration.name)}: output {i} is missing")
        tensor = self.tensors[outputs[i]]
        return tensor if node.stand_ins is None else node.stand_ins.outputs.get(outputs[i], tensor)

    def where(self, node: Node) -> str:
        """How errors name a node: its number, operator and first output."""
        text = f"node {node.index} ({shown(node.registration.name)})"
        names = [self.tensors[t].name for t in node.outputs if t >= 0]
        if names:
            text += f", output {shown_name(names[0])}"
        return text if self.index == 0 else f"subgraph {self.index}, {text}"
