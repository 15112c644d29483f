"""Graph: the tensors and nodes of one subgraph, and how nodes and errors name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.shown import shown, shown_name
from .errors import PrepareError

if TYPE_CHECKING:
    from .node import Node
    from .tensor import Tensor


class Graph:
    """What the model says of one subgraph, and the order in which its nodes run.

    tensors and nodes have their places in these lists as index; delegates and nodes add some behind the
    model's own (model_tensor_count). inputs and outputs are indices of tensors, execution_plan of nodes.
    """

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
        self.model_tensor_count = len(tensors)  # scratch tensors come behind
        self.nodes = nodes
        self.inputs = inputs
        self.outputs = outputs
        self.execution_plan = list(range(len(nodes)))
        self.variables = [t.index for t in tensors if t.is_variable]

    def tensor(self, index: int) -> Tensor:
        return self.tensors[index]

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
