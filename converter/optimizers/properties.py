"""GraphProperties: types, shapes with symbols, and values that are known of a graph's results."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..ir.attributes import DenseAttr
from ..ir.dense import FORMS
from ..ir.node import Node, Value
from ..ir.signature import registered
from ..ir.types import REFERENCE, ElementType, TensorType
from ..shapes.context import is_open
from ..shapes.dimensions import Symbol
from ..transforms.folding.tensors import constant_of, constant_of_array
from ..transforms.toposort import topological_order
from .demanded import DemandedShapes
from .inference import Inference
from .item import GrapplerItem
from .told_values import ToldValues


@dataclass(frozen=True)
class TensorProperties:
    """What is known of a tensor.

    dtype is TensorFlow's number of the type. shape has a number of -2 or less for a size that is not known,
    -1 where nothing at all is known of it; sizes of equal numbers are equal. It is None where not even the
    rank is known. value are the elements, where they are asked for and known.
    """

    dtype: int
    shape: tuple[int, ...] | None
    value: DenseAttr | None = None


class GraphProperties:
    """What is inferred of an item's graph, and kept up to date while it is changed.

    What is sure is also in the values' types, so that rules of any kind see it. Properties say more: what the
    users of a value ask of its shape, which TensorFlow takes for granted, too.

    A function's arguments are fed; trusts_arguments takes the shapes that are noted at them nevertheless.
    """

    def __init__(self, item: GrapplerItem, trusts_arguments: bool = False) -> None:
        self.item = item
        self.trusts_arguments = trusts_arguments
        self._inference: Inference | None = None
        self._with_values = (False, False)
        self._cleared: set[str] = set()
        self._shapes: DemandedShapes | None = None
        self._told: ToldValues | None = None

    def infer_statically(
        self,
        assume_valid_feeds: bool = False,
        aggressive: bool = False,
        include_input_values: bool = False,
        include_output_values: bool = False,
    ) -> None:
        """Infer everything anew.

        Shapes of fed nodes are unknown; with assume_valid_feeds placeholders and arguments have those that
        they declare.
        aggressive also computes the elements of small tensors by running nodes. Values of constants, and
        those that shapes say, are given where they are included; what was computed when aggressive, too.
        """
        fed = self.item.feed_nodes()
        if assume_valid_feeds:
            declared = ("_Arg", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault")
            fed -= {node.name for node in self.item.nodes() if node.op in declared}
        self._inference = Inference(
            self.item.body,
            self.item.module.functions,
            fed,
            aggressive,
            trusts_arguments=self.trusts_arguments or assume_valid_feeds,
        )
        self._inference.run()
        self._with_values = include_input_values, include_output_values
        self._cleared = set()
        self._shapes = self._told = None

    def update(self, node: Node) -> None:
        """The node is new or was changed: infer it again, and what hangs on it."""
        if self._inference is not None:
            self._inference.update(node)
            self._shapes = self._told = None

    def input_properties(self, node: Node | str) -> list[TensorProperties]:
        """Of the node's data inputs, in order; empty for a node that is not there, or was cleared."""
        found = self._node(node)
        if found is None:
            return []
        told = [self._of(value, self._with_values[0]) for value in found.operands]
        signature = registered(found.op)
        if signature is None or all(each.dtype < REFERENCE for each in told):
            return told
        # Of most inputs a reference's value is taken.
        types = signature.input_types(found.attributes)
        return [replace(each, dtype=dtype) for each, dtype in zip(told, types, strict=True)]

    def output_properties(self, node: Node | str) -> list[TensorProperties]:
        """Of the node's results, in order; empty for a node that is not there, or was cleared."""
        found = self._node(node)
        if found is None:
            return []
        return [self._of(value, self._with_values[1]) for value in found.results]

    def clear(self, node: Node | str) -> None:
        """Forget what is known of the node's inputs and results."""
        self._cleared.add(node if isinstance(node, str) else node.name)

    def shape(self, value: Value) -> tuple[int, ...] | None:
        """The value's shape, with Symbols for sizes that have one."""
        return value.type.shape if isinstance(value.type, TensorType) else None

    def elements(self, value: Value) -> np.ndarray | None:
        """What is known of a small tensor's elements (see ShapeContext.values)."""
        return None if self._inference is None else self._inference.values.get(value)

    def _node(self, node: Node | str) -> Node | None:
        if self._inference is None:
            return None
        name = node if isinstance(node, str) else node.name
        if name in self._cleared:
            return None
        if isinstance(node, Node):
            return node
        return next((found for found in self.item.nodes() if found.name == name), None)

    def _of(self, value: Value, with_value: bool) -> TensorProperties:
        type = value.type
        if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
            return TensorProperties(0, None)
        shape = self._demanded().shape(value, type.shape)
        return TensorProperties(type.element.number, shape, self._value(value) if with_value else None)

    def _demanded(self) -> DemandedShapes:
        if self._shapes is None and self._inference is not None:
            self._shapes = self._inference.demanded(self.item.nodes())
        assert self._shapes is not None
        return self._shapes

    def _value(self, value: Value) -> DenseAttr | None:
        assert self._inference is not None
        if self._told is None:
            nodes = topological_order(self.item.body.body)
            self._told = ToldValues(nodes, self._inference.values, self._inference.aggressive)
        held, type = constant_of(self._told.origin(value)), value.type
        found = self._inference.values.get(value)
        if held is not None or value not in self._told or found is None or is_open(found):
            return held
        if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
            return None
        if type.element.number > REFERENCE or type.element.name not in FORMS:
            return None
        return constant_of_array(found.astype(FORMS[type.element.name][0]), type.element)


def is_symbol(size: int) -> bool:
    """Whether a size is not known, but has a number."""
    return isinstance(size, Symbol)
