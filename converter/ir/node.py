"""Values, nodes and blocks: the graph itself, with the uses of every value."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

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
# Nodes of more operands and tokens are not rebuilt for each that is exchanged.
_FEW_VALUES = 16
# Where a node came from: names of nodes and of the functions they were in.
Location = tuple[tuple[str, str], ...]


class Value:
    """A data result of a node, its control token, or an argument of a block.

    users holds a node once per use.
    """

    __slots__ = ("index", "owner", "type", "users")

    def __init__(self, owner: Node | Block, index: int, type: Type) -> None:
        self.owner = owner
        self.index = index
        self.type = type
        # A list from the first use on: most values of large graphs have few users or none.
        self.users: Sequence[Node] = ()

    @property
    def is_control(self) -> bool:
        return self.type is CONTROL

    def replace_all_uses_with(self, other: Value) -> None:
        """Every node that used this value uses the other instead."""
        if other is self:
            return
        for user in dict.fromkeys(self.users):
            user._exchange_value(self, other)
        if isinstance(other.users, list):
            other.users += self.users
        else:
            other.users = list(self.users)
        self.users = ()

    def add_user(self, node: Node) -> None:
        if isinstance(self.users, list):
            self.users.append(node)
        else:
            self.users = [node]

    def remove_user(self, node: Node) -> None:
        """One use less by the node."""
        assert isinstance(self.users, list)
        if self.users[-1] is node:  # graphs are taken apart from either end
            self.users.pop()
        else:
            self.users.remove(node)


class Node(AttributeAccess):
    """An op applied to values, by name, on a device."""

    __slots__ = (
        *(
            "_control",
            "_controls",
            "_exchanged",
            "_operands",
            "assigned_device",
            "attributes",
            "block",
            "device",
        ),
        *("line", "location", "name", "next", "op", "previous", "regions", "results"),
    )

    def __init__(
        self,
        op: str,
        name: str = "",
        result_types: Iterable[Type] = (),
        attributes: Attributes | None = None,
        device: str = "",
        assigned_device: str = "",
    ) -> None:
        self.op = sys.intern(op)
        self.name = name
        self.device = device
        self.assigned_device = assigned_device
        self.attributes: Attributes = {} if attributes is None else attributes
        self._operands: tuple[Value, ...] = ()
        self._controls: tuple[Value, ...] = ()
        # Values of a node of many that others have taken the place of, in that order, while nobody looks.
        self._exchanged: dict[Value, Value] | None = None
        self.results = tuple([Value(self, i, type) for i, type in enumerate(result_types)])
        self._control: Value | None = None
        self.regions: Sequence[Block] = ()
        self.block: Block | None = None
        self.previous: Node | None = None
        self.next: Node | None = None
        self.location: Location | None = None
        # Line of the text that it was parsed from, 0 when it came from elsewhere.
        self.line = 0

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
    def operands(self) -> tuple[Value, ...]:
        """Data operands, in order."""
        if self._exchanged is not None:
            self._settle()
        return self._operands

    @operands.setter
    def operands(self, values: Iterable[Value]) -> None:
        self._operands = self._exchange(self.operands, tuple(values))

    @property
    def controls(self) -> tuple[Value, ...]:
        """Tokens of what must run before."""
        if self._exchanged is not None:
            self._settle()
        return self._controls

    @controls.setter
    def controls(self, values: Iterable[Value]) -> None:
        self._controls = self._exchange(self.controls, tuple(values))

    def _exchange(self, old: tuple[Value, ...], new: tuple[Value, ...]) -> tuple[Value, ...]:
        for value in old:
            value.remove_user(self)
        for value in new:
            value.add_user(self)
        return new

    def _exchange_value(self, old: Value, new: Value) -> None:
        """Operand or token new in place of old; the users of the two are the caller's."""
        exchanged = self._exchanged or {}
        if old in exchanged or new in exchanged:
            self._settle()
            exchanged = {}
        exchanged[old] = new
        self._exchanged = exchanged
        if len(self._operands) + len(self._controls) <= _FEW_VALUES:
            self._settle()

    def _settle(self) -> None:
        """Look up what the values were exchanged for."""
        final = self._exchanged or {}
        # A value's own exchange comes behind the one that put it in: the end of each chain is known first.
        for old, new in reversed(final.items()):
            final[old] = final.get(new, new)
        self._operands = tuple([final.get(value, value) for value in self._operands])
        self._controls = tuple([final.get(value, value) for value in self._controls])
        self._exchanged = None

    def set_operand(self, index: int, value: Value) -> None:
        operands = list(self.operands)
        operands[index] = value
        self.operands = operands

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
        return any(value.users for value in self.results) or bool(self._control and self._control.users)

    def replace_with(self, other: Node) -> None:
        """Uses of this node's results and token become uses of the other's."""
        for mine, theirs in zip(self.results, other.results, strict=True):
            mine.replace_all_uses_with(theirs)
        if self._control is not None and self._control.users:
            self._control.replace_all_uses_with(other.control)

    def erase(self) -> None:
        """Take the node out of its block; nothing may use it."""
        if self.used:
            raise ValueError(f"node {self.name!r} ({self.op}): cannot be erased while it is used")
        self.drop_operands()
        if self.block is not None:
            self.block.remove(self)

    def drop_operands(self) -> None:
        """Use nothing any more, nor do the nodes of the regions."""
        self.operands, self.controls = (), ()
        for region in self.regions:
            for node in region:
                node.drop_operands()

    def __repr__(self) -> str:
        return f"Node({self.op!r}, {self.name!r})"


class Block:
    """Nodes in the order of the file, and arguments. The order means nothing: cycles are fine."""

    __slots__ = ("arguments", "first", "last", "owner", "size")

    def __init__(self, owner: object = None) -> None:
        self.arguments: list[Value] = []
        self.first: Node | None = None
        self.last: Node | None = None
        self.size = 0
        # The node, graph or function whose body this is.
        self.owner = owner

    def add_argument(self, type: Type) -> Value:
        value = Value(self, len(self.arguments), type)
        self.arguments.append(value)
        return value

    def set_arguments(self, values: Iterable[Value]) -> None:
        """Make the values the arguments; nothing may use one of the block's own that is left out."""
        self.arguments = list(values)
        for i, value in enumerate(self.arguments):
            value.owner, value.index = self, i

    def append(self, node: Node) -> Node:
        """Put the node last."""
        return self._link(node, self.last, None)

    def insert_before(self, place: Node, node: Node) -> Node:
        assert place.block is self
        return self._link(node, place.previous, place)

    def _link(self, node: Node, previous: Node | None, following: Node | None) -> Node:
        assert node.block is None
        node.block, node.previous, node.next = self, previous, following
        if previous is None:
            self.first = node
        else:
            previous.next = node
        if following is None:
            self.last = node
        else:
            following.previous = node
        self.size += 1
        return node

    def remove(self, node: Node) -> None:
        """Take the node out, with its operands and uses as they are."""
        assert node.block is self
        if node.previous is None:
            self.first = node.next
        else:
            node.previous.next = node.next
        if node.next is None:
            self.last = node.previous
        else:
            node.next.previous = node.previous
        node.block = node.previous = node.next = None
        self.size -= 1

    @property
    def terminator(self) -> Node | None:
        """The last node, if it ends the block."""
        return self.last if self.last is not None and self.last.op in TERMINATORS else None

    def __iter__(self) -> Iterator[Node]:
        """The nodes; the one at hand may be removed."""
        node = self.first
        while node is not None:
            following = node.next
            yield node
            node = following

    def __len__(self) -> int:
        return self.size

    def walk(self) -> Iterator[Node]:
        """The nodes, each before those of its regions."""
        stack = [iter(self)]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                continue
            yield node
            stack += [iter(region) for region in reversed(node.regions)]
