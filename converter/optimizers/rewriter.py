"""OptimizingRewriter: what Grappler's rules change a graph with, and what must keep its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from ..graph.rule import Rule
from ..ir.attributes import Attributes
from ..ir.node import Node, Value
from ..ir.types import Type
from ..transforms.purity import is_reference
from ..transforms.remapping.fused_node import FusingRewriter
from ..transforms.toposort import topological_order
from .item import GrapplerItem
from .properties import GraphProperties
from .toggle import Toggle

# Fused ops whose kernels, TensorFlow's and ours, take no float64.
_WITHOUT_DOUBLE = ("_FusedMatMul", "_FusedConv3D")


class OptimizingRewriter(FusingRewriter):
    """Changes an item's graph by rules of Graph IR passes and of Grappler's.

    Nodes to preserve are kept: their results stay theirs. A fetched one may become another node of its
    name. What is known of shapes is kept up to date. level is how far the optimizer goes.
    """

    def __init__(
        self,
        item: GrapplerItem,
        properties: GraphProperties | None,
        groups: Iterable[Sequence[Rule[Any]]],
        *,
        level: Toggle = Toggle.DEFAULT,
        deadline: float | None = None,
        onednn: bool = True,
        changed_node: Callable[[Node], None] | None = None,
    ) -> None:
        block = item.body.body
        preserved, fetched = item.nodes_to_preserve(), item.fetch_nodes()
        kept = [node for node in block if node.name in preserved]
        super().__init__(
            block,
            groups,
            kept=kept,
            order=partial(topological_order, block),
            deadline=deadline,
            changed_node=properties.update if properties is not None else changed_node,
        )
        self.item = item
        self.properties = properties
        self.level = level
        self.onednn = onednn
        self._fixed = {node for node in kept if node.name not in fetched}
        self._named = set(kept)
        self.fed = item.feed_nodes()
        self.infers = properties is not None
        # What may be written to in place must not be another name of a value.
        self.copy_op = "Snapshot" if any(map(_writes_in_place, block)) else "Identity"

    adds_by_add = True

    @property
    def is_aggressive(self) -> bool:
        return self.level == Toggle.AGGRESSIVE

    def is_wanted(self, op: str, element: str) -> bool:
        """Only what runs here."""
        return element != "f64" or op not in _WITHOUT_DOUBLE

    def is_kept(self, node: Node) -> bool:
        """Whether the node must run as what it is: fed, or preserved for its effect."""
        return node in self._fixed or any(user.op == "return" for user in node.control.users)

    def is_named(self, node: Node) -> bool:
        """Whether the node's results are asked for by its name."""
        return node in self._named or super().is_named(node)

    def replace(self, node: Node, made: Node) -> None:
        """As NodeRewriter's; the new node takes over a name that is asked for."""
        if node in self._named and made.name == node.name:
            self._named.discard(node)
            self._named.add(made)
            self.kept = frozenset(self._named)
        super().replace(node, made)

    def add(
        self,
        before: Node,
        op: str,
        name: str,
        operands: Iterable[Value],
        attributes: Attributes,
        types: Iterable[Type],
        controls: Iterable[Value] = (),
    ) -> Node:
        """A new node in front of another one, on its device."""
        made = Node(op, name, types, attributes, before.device, before.assigned_device)
        self.insert_before(before, made)
        self.set_operands(made, operands)
        made.controls = controls
        return made


def _writes_in_place(node: Node) -> bool:
    """Whether the node may change the elements of an operand, as those do that take variables' references."""
    return "Inplace" in node.op or any(is_reference(value.type) for value in node.operands)
