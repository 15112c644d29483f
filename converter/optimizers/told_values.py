"""Which values of small tensors properties tell: those that TensorFlow follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..ir.node import Node, Value
from ..shapes.context import is_open, unknown_places

# Ops whose result has the value of their only input.
_PASSING = ("Identity", "IdentityN")
# The values that these have as soon as a shape is known, and those that are made of sizes.
_OF_SHAPES = ("Shape", "ShapeN", "Rank", "Size")
_OF_SIZES = ("Pack", "ConcatV2", "Slice", "StridedSlice")
# Aggressive inference runs these on small tensors.
_RUN = frozenset(
    (
        *(
            "Floor",
            "Round",
            "Sqrt",
            "Square",
            "Sign",
            "Add",
            "AddV2",
            "Div",
            "FloorDiv",
            "FloorMod",
            "Greater",
        ),
        *("GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalNot", "LogicalOr", "Maximum", "Minimum"),
        *("Mod", "Mul", "NotEqual", "Sub", "TruncateDiv", "TruncateMod", "RealDiv", "AddN", "StridedSlice"),
        *("OnesLike", "ZerosLike", "Concat", "ConcatV2", "Split", "Range", "Fill", "Cast"),
    )
)
# A matrix of 4 x 4 and one more.
_MOST_RUN = 17


class ToldValues:
    """Those values that properties tell, as far as they are known, of what inference found.

    nodes are in topological order.
    """

    def __init__(
        self, nodes: Iterable[Node], values: Mapping[Value, np.ndarray], is_aggressive: bool
    ) -> None:
        self._origins: dict[Value, Value] = {}
        self._told: set[Value] = set()
        for node in nodes:
            if node.op in _PASSING and len(node.operands) == len(node.results) == 1:
                self._origins[node.results[0]] = self.origin(node.operands[0])
            for value in node.results:
                found = values.get(value)
                if found is None:
                    continue
                if self._follows(node, found) or (is_aggressive and self._is_run(node, found, values)):
                    self._told.add(value)

    def __contains__(self, value: Value) -> bool:
        return value in self._told

    def origin(self, value: Value) -> Value:
        """The value that is only passed on as this one."""
        return self._origins.get(value, value)

    def _follows(self, node: Node, found: np.ndarray) -> bool:
        """Whether inference that is not aggressive tells a node's value, of which so much was found.

        Source: TensorFlow core/grappler/costs/graph_properties.cc, MaybeUpdateNodeContextOutput.
        """
        if node.op == "Const" or node.op in _OF_SHAPES:
            return True
        if node.op in _PASSING:
            return len(node.operands) == 1 and node.operands[0] in self
        if node.op not in _OF_SIZES or found.ndim != 1 or found.dtype != np.int64:
            return False
        if "Slice" in node.op and not all(map(self._is_whole, node.operands[1:])):
            return False
        masks = ("shrink_axis_mask", "new_axis_mask", "ellipsis_mask")
        if any(node.attributes.get(name) not in (None, 0) for name in masks):
            return False
        known = found[~unknown_places(found)]
        return bool((known >= 0).all()) and (node.op != "Pack" or all(v in self for v in node.operands))

    def _is_whole(self, value: Value) -> bool:
        """Whether the value is followed as a whole, not size by size."""
        owner = self.origin(value).owner
        return isinstance(owner, Node) and owner.op not in ("Shape", "ShapeN", *_OF_SIZES)

    def _is_run(self, node: Node, found: np.ndarray, values: Mapping[Value, np.ndarray]) -> bool:
        """Whether aggressive inference runs the node.

        Source: the same file, ShouldUpdateOutputShapesAndValues.
        """
        if node.op not in _RUN or found.size > _MOST_RUN or not all(v in self for v in node.operands):
            return False
        arrays = [values[value] for value in node.operands if value in values]
        return len(arrays) == len(node.operands) and not any(
            is_open(array) or array.size > _MOST_RUN for array in arrays
        )
