"""Values, nodes and blocks of TensorFlow graphs: ops by name, with attributes, devices and control edges."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ..graph.structure import AnyBlock, AnyNode, AnyValue
from .attribute_access import AttributeAccess
from .attributes import Attributes
from .types import CONTROL, Type

# Nodes that end a block or name a result; they are of the IR, not of TensorFlow.
RETURN, YIELD, CONDITION, GET_RESULT = "return", "yield", "condition", "get_result"
TERMINATORS = frozenset((RETURN, YIELD, CONDITION))
IF_REGIONS = frozenset(("IfRegion", "StatelessIfRegion", "StatefulIfRegion"))
CASE_REGIONS = frozenset(("CaseRegion", "StatelessCaseRegion", "StatefulCaseRegion"))
WHILE_REGIONS = frozenset(("WhileRegion", "StatelessWhileRegion", "StatefulWhileRegion"))
FOR_REGIONS = frozenset(("ForRegion",))
REGION_OPS = IF_REGIONS | CASE_REGIONS | WHILE_REGIONS | FOR_REGIONS
# Names that no op of a GraphDef may have: the text could not tell them apart.
RESERVED_OPS = REGION_OPS | TERMINATORS | {GET_RESULT}
# Where a node came from: names of nodes and of the functions they were in.
Location = tuple[tuple[str, str], ...]


class Value(AnyValue["Node"]):
    """A data result of a node, its control token, or an argument of a block."""

    __slots__ = ("type",)

    owner: Node | Block

    def __init__(self, owner: Node | Block, index: int, type: Type) -> None:
        super().__init__(owner, index)
        self.type = type

    @property
    def is_control(self) -> bool:
        return self.type is CONTROL


class Node(AnyNode[Value, Value], AttributeAccess):
    """An op applied to values, by name, on a device."""

    __slots__ = (
        *("_control", "_controls", "assigned_device", "attributes", "device"),
        *("line", "location", "name", "op"),
    )

    op: str
    block: Block | None
    regions: Sequence[Block]

    def __init__(
        self,
        op: str,
        name: str = "",
        result_types: Iterable[Type] = (),
        attributes: Attributes | None = None,
        device: str = "",
        assigned_device: str = "",
    ) -> None:
        super().__init__()
        self.op = sys.intern(op)
        self.name = name
        self.device = device
        self.assigned_device = assigned_device
        self.attributes: Attributes = {} if attributes is None else attributes
        self._controls: tuple[Value, ...] = ()
        self.results = tuple([Value(self, i, type) for i, type in enumerate(result_types)])
        self._control: Value | None = None
        self.location: Location | None = None
        # Line of the text that it was parsed from, 0 when it came from elsewhere.
        self.line = 0

    @property
    def label(self) -> str:
        return self.name or self.op

    @property
    def control(self) -> Value:
        """The token that orders other nodes after this one."""
        if self._control is None:
            self._control = Value(self, len(self.results), CONTROL)
        return self._control

    @property
    def has_control(self) -> bool:
        return self.op != GET_RESULT and self.op not in TERMINATORS

    @property
    def controls(self) -> tuple[Value, ...]:
        """Tokens of what must run before."""
        if self._exchanged is not None:
            self._settle()
        return self._controls

    @controls.setter
    def controls(self, values: Iterable[Value]) -> None:
        self._controls = self._counted(self.controls, tuple(values))

    def _value_count(self) -> int:
        return len(self._operands) + len(self._controls)

    def _take_exchanged(self, final: dict[Value, Value]) -> None:
        super()._take_exchanged(final)
        self._controls = tuple([final.get(value, value) for value in self._controls])

    def add_result(self, type: Type) -> Value:
        """A new last result."""
        value = Value(self, len(self.results), type)
        self.results = (*self.results, value)
        if self._control is not None:
            self._control.index = len(self.results)
        return value

    def keep_results(self, kept: Iterable[int]) -> None:
        """Drop the results that are not among the kept; nothing may use those."""
        self.results = tuple(self.results[i] for i in kept)
        for i, value in enumerate(self.results):
            value.index = i
        if self._control is not None:
            self._control.index = len(self.results)

    @property
    def used(self) -> bool:
        """Whether any node uses a result or the control token."""
        return super().used or bool(self._control and self._control.users)

    def neighbours_before(self) -> Iterator[Node]:
        """The nodes whose results or tokens this one uses."""
        yield from super().neighbours_before()
        yield from (value.owner for value in self.controls if isinstance(value.owner, Node))

    def neighbours_behind(self) -> Iterator[Node]:
        """The nodes that use this one's results or its token."""
        control = self._control
        if control is None or not control.users:
            return super().neighbours_behind()
        return chain(super().neighbours_behind(), control.users)

    def replace_with(self, other: Node) -> None:
        """Uses of this node's results and token become uses of the other's."""
        super().replace_with(other)
        if self._control is not None and self._control.users:
            self._control.replace_all_uses_with(other.control)

    def drop_operands(self) -> None:
        """Use nothing any more, nor do the nodes of the regions."""
        super().drop_operands()
        self.controls = ()

    def __repr__(self) -> str:
        return f"Node({self.op!r}, {self.name!r})"


class Block(AnyBlock[Node, Value]):
    """Nodes in the order of the file, and arguments. The order means nothing: cycles are fine."""

    __slots__ = ()

    def add_argument(self, type: Type) -> Value:
        value = Value(self, len(self.arguments), type)
        self.arguments.append(value)
        return value

    @property
    def terminator(self) -> Node | None:
        """The last node, if it ends the block."""
        return self.last if self.last is not None and self.last.op in TERMINATORS else None
