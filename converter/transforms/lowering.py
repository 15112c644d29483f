"""Lowering: the nodes that take the place of one functional If, Case or While."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..ir.attributes import Attribute, Attributes, FuncAttr
from ..ir.module import Function
from ..ir.node import Block, Node, Value
from ..ir.types import OPAQUE, TensorType, Type, element_type
from .bodies import token_of
from .effects import Effects
from .inline import fresh_name, inline_call
from .node_rewriter import data_type
from .purity import CONTROL_FLOW

BOOL, INT32 = element_type(10), element_type(3)


@dataclass(frozen=True)
class Surroundings:
    """Of a block: what its functions do, the names in it and of its loops, and whether some of its nodes may
    be dead.
    """

    effects: Effects
    names: dict[str, int]
    frames: dict[str, int]
    framed: bool


class Lowering:
    """The nodes that are made for one node, before it and under its name; keeps_name leaves an IdentityN or
    NoOp of its name.
    """

    def __init__(self, node: Node, around: Surroundings, keeps_name: bool) -> None:
        assert node.block is not None
        self.node = node
        self.block: Block = node.block
        self.around = around
        self.keeps_name = keeps_name

    @property
    def needs_end(self) -> bool:
        """Whether anyone asks when the node is done."""
        return self.keeps_name or bool(self.node.control.users)

    def is_used(self, result: Value) -> bool:
        return self.keeps_name or bool(result.users)

    def entry(self) -> list[Value]:
        """Tokens of all that the node waits for: where one of its operands is dead, it is."""
        controls = list(self.node.controls)
        if self.around.framed:
            controls += [token_of(self._settled(value)) for value in self.node.operands]
        if len(controls) < 2:
            return controls
        return [self.add("NoOp", "entry", (), (), dict.fromkeys(controls)).control]

    def _settled(self, value: Value) -> Value:
        """The value, by a node that is dead where the value is."""
        owner = value.owner
        if isinstance(owner, Node) and owner.op in CONTROL_FLOW and len(owner.results) > 1:
            return self.passed("Identity", "operand", value).results[0]
        return value

    def add(
        self,
        op: str,
        name: str,
        operands: Sequence[Value],
        types: Sequence[Type],
        controls: Sequence[Value] | dict[Value, None] = (),
        **attributes: Attribute,
    ) -> Node:
        """A node on the node's device."""
        label = fresh_name(f"{self.node.name}/{name}", self.around.names)
        return self._put(Node(op, label, types, attributes, self.node.device), operands, controls)

    def _put(
        self, made: Node, operands: Sequence[Value], controls: Sequence[Value] | dict[Value, None]
    ) -> Node:
        self.block.insert_before(self.node, made)
        made.operands, made.controls = tuple(operands), tuple(controls)
        return made

    def passed(
        self, op: str, name: str, value: Value, controls: Sequence[Value] = (), **attributes: Attribute
    ) -> Node:
        """A node that passes a value on."""
        element = data_type(value.type)
        return self.add(op, name, (value,), (_read(value.type),), controls, T=element, **attributes)

    def merge(self, name: str, values: Sequence[Value], type: Type, controls: Sequence[Value] = ()) -> Node:
        """The one of the values that is not dead."""
        types = (type, TensorType(INT32, ()))
        return self.add("Merge", name, values, types, controls, T=data_type(type), N=len(values))

    def switch(self, value: Value, by: Value, ways: int, controls: Sequence[Value] = ()) -> Node:
        """The value as the result that `by`, a bool or an index, says; the others are dead."""
        types = [_read(value.type)] * ways
        element = data_type(value.type)
        if data_type(by.type) == BOOL:
            return self.add("Switch", "switch", (value, by), types, controls, T=element)
        return self.add("_SwitchN", "switch", (value, by), types, controls, T=element, num_outs=ways)

    def call(
        self, name: str, function: FuncAttr, operands: Sequence[Value], types: Sequence[Type], wait: Value
    ) -> Node:
        """A call, to be inlined when its results have their users."""
        return self.add("StatefulPartitionedCall", name, operands, types, (wait,), f=function)

    def inline(self, call: Node, function: Function) -> None:
        inline_call(call, function, self.around.effects, self.around.names, self.around.frames)

    def finish(self, results: Sequence[Value | None], tokens: Sequence[Value]) -> None:
        """Use these where the node's results and its end were used, and take it out."""
        for mine, value in zip(self.node.results, results, strict=True):
            if value is not None:
                mine.replace_all_uses_with(value)
        if self.needs_end:
            self.node.control.replace_all_uses_with(self._end(results, tokens).control)
        self.node.erase()

    def _end(self, results: Sequence[Value | None], tokens: Sequence[Value]) -> Node:
        values = [value for value in results if value is not None] if self.keeps_name else []
        types = [value.type for value in values]
        op = "IdentityN" if values else "NoOp"
        attributes: Attributes = {"T": tuple(map(data_type, types))} if values else {}
        return self._put(Node(op, self.node.name, types, attributes, self.node.device), values, tokens)


def _read(type: Type) -> Type:
    """The type of a value that is read where a variable itself is given."""
    assert isinstance(type, TensorType) and type is not OPAQUE
    return TensorType(data_type(type), type.shape)
