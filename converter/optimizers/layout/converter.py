"""LayoutConverter: brings single nodes into another data format, with what that needs around them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir.attributes import Attribute, Attributes
from ...ir.node import Block, Node, Value
from ...ir.types import ElementType, TensorType
from ...transforms.bodies import token_of
from ...transforms.folding.tensors import constant_of_array
from ...transforms.node_rewriter import data_type, rank_of
from ..arithmetic.nodes import device, shape
from .data_format import Conversion
from .forms import BINARY, Form, numbers

TRANSPOSE, VECTOR, AXES = "Transpose", "DataFormatVecPermute", "DataFormatDimMap"
_SCOPE = "LayoutOptimizer"
_INT32 = ElementType("i32")


class LayoutConverter:
    """Converts nodes of a block, one after the other.

    Around a converted node stand Transposes of its tensors, DataFormatVecPermutes of what has an entry for
    each axis, and DataFormatDimMaps of axes. There is one for each value and device. `finish` takes out those
    that undo each other. in_loops: constants wait for what they are used with, so that they are in its frame.
    """

    def __init__(self, block: Block, conversion: Conversion, in_loops: bool) -> None:
        self.block = block
        self.conversion = conversion
        self.in_loops = in_loops
        # What was put behind converted nodes: the value as it was before, and what it is made of.
        self.restored: dict[Value, tuple[str, Value]] = {}
        self._wanted: dict[tuple[Value, str, int, str], Value] = {}
        self._constants: dict[tuple[object, ...], Node] = {}

    def convert(self, node: Node, form: Form, rank: int) -> None:
        """Bring one node into the other format; who uses its results sees them as they were."""
        conversion = self.conversion.of_rank(rank)
        operands = list(node.operands)
        vectors = [i for i, value in enumerate(operands) if rank_of(value) == 1] if node.op in BINARY else []
        for kind, places in ((TRANSPOSE, form.tensors), (VECTOR, form.vectors), (AXES, form.axes)):
            for place in numbers(places, len(operands)):
                operands[place] = self._wanted_value(operands[place], kind, rank, node)
        for place in vectors:
            operands[place] = self._reshaped(operands[place], conversion, node)
        node.operands = operands
        conversion.change_attributes(node, form)
        for place in numbers(form.results, len(node.results)):
            self._restore(node, place, TRANSPOSE, conversion)
        for place in numbers(form.result_vectors, len(node.results)):
            self._restore(node, place, VECTOR, conversion)

    def finish(self) -> None:
        """Take out what undoes what was put behind a node, and what nothing uses."""
        for key, value in self._wanted.items():
            owner = value.owner
            assert isinstance(owner, Node)
            before = self.restored.get(owner.operands[0])
            if before is not None and before[0] == key[1]:
                value.replace_all_uses_with(before[1])
        made = [*self._wanted.values(), *self.restored]
        for owner in [value.owner for value in made] + list(self._constants.values()):
            assert isinstance(owner, Node)
            if owner.block is not None and not owner.used:
                owner.erase()

    def _wanted_value(self, value: Value, kind: str, rank: int, node: Node) -> Value:
        """The value in the other format."""
        before = self.restored.get(value)
        if before is not None and before[0] == kind:
            return before[1]
        key = (value, kind, rank, device(node))
        if key not in self._wanted:
            conversion = self.conversion.of_rank(rank)
            made = self._made(value, kind, conversion, node, node, self.block.insert_before)
            self._wanted[key] = made
        return self._wanted[key]

    def _restore(self, node: Node, place: int, kind: str, conversion: Conversion) -> None:
        """Put behind a node what gives one of its results in the format of before."""
        value = node.results[place]
        users = list(value.users)
        if kind == TRANSPOSE:
            sizes, type = shape(value), value.type
            if sizes is not None and isinstance(type, TensorType):
                value.type = TensorType(type.element, conversion.permuted(sizes))
        if not users:
            return
        found = Value(node, place, value.type)
        value.replace_all_uses_with(found)
        made = self._made(value, kind, conversion.back(), node, node, self.block.insert_after)
        found.replace_all_uses_with(made)
        self.restored[made] = (kind, value)

    def _made(
        self,
        value: Value,
        kind: str,
        conversion: Conversion,
        like: Node,
        place: Node,
        put: Callable[[Node, Node], Node],
    ) -> Value:
        """A new node that gives the value in the conversion's target format."""
        name = _name(like, f"{kind}{conversion.source}To{conversion.target}")
        attributes: Attributes = {"T": data_type(value.type)}
        operands = [value]
        sizes = shape(value)
        type = value.type
        if kind == TRANSPOSE:
            attributes["Tperm"] = _INT32
            operands.append(self._constant(conversion.permutation, value, like))
            assert isinstance(type, TensorType)
            type = TensorType(type.element, None if sizes is None else conversion.permuted(sizes))
        else:
            attributes["src_format"] = conversion.source.encode()
            attributes["dst_format"] = conversion.target.encode()
        made = Node(kind, name, [type], attributes, like.device, like.assigned_device)
        put(place, made)
        made.operands = tuple(operands)
        return made.results[0]

    def _reshaped(self, value: Value, conversion: Conversion, node: Node) -> Value:
        """A vector along the last axis, as a tensor of as many axes in the other format."""
        sizes = shape(value)
        length = int(sizes[0]) if sizes and sizes[0] >= 0 else -1
        last = conversion.target.index(conversion.source[-1])
        whole = [length if axis == last else 1 for axis in range(len(conversion.source))]
        type = value.type
        assert isinstance(type, TensorType)
        name = _name(node, f"Reshape{conversion.source}To{conversion.target}")
        attributes: Attributes = {"T": data_type(type), "Tshape": _INT32}
        made = Node(
            "Reshape",
            name,
            [TensorType(type.element, tuple(whole))],
            attributes,
            node.device,
            node.assigned_device,
        )
        self.block.insert_before(node, made)
        made.operands = (value, self._constant(whole, value, node))
        return made.results[0]

    def _constant(self, numbers: list[int], beside: Value, like: Node) -> Value:
        """A constant vector in front of all, or in the frame of a value."""
        key = (tuple(numbers), device(like), beside if self.in_loops else None)
        if key not in self._constants:
            held = constant_of_array(np.array(numbers, np.int32), _INT32)
            assert held is not None
            attributes: dict[str, Attribute] = {"dtype": _INT32, "value": held}
            made = Node(
                "Const", f"{_SCOPE}/PermConst", [held.type], attributes, like.device, like.assigned_device
            )
            self.block.prepend(made)
            if self.in_loops:
                made.controls = [token_of(beside)]
            self._constants[key] = made
        return self._constants[key].results[0]


def _name(node: Node, what: str) -> str:
    scope, slash, name = node.name.rpartition("/")
    return f"{scope}{slash}{_SCOPE}/{what}_{name}"
