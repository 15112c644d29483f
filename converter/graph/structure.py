"""Values with their users, nodes and blocks: the structure that both dialects have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Generic, TypeVar

# A dialect's own classes: its nodes, its values, and what its nodes may have as operands.
NodeT = TypeVar("NodeT", bound="AnyNode")
ValueT = TypeVar("ValueT", bound="AnyValue")
OperandT = TypeVar("OperandT", bound="AnyValue[Any] | None")
Item = TypeVar("Item")

# A list of more users would be searched for too long when one of them goes.
_MANY = 32
# Nodes of more values are not rebuilt for each that is exchanged.
_FEW_VALUES = 16
# Room between the places of neighbours, so that most nodes put between them need no new numbering.
_GAP = 1 << 20


class ManyUsers(Generic[Item]):
    """Users, each as often as it uses the value; none takes long to add or to remove."""

    __slots__ = ("_counts", "_total")

    def __init__(self, users: Iterable[Item]) -> None:
        self._counts: dict[Item, int] = {}
        self._total = 0
        for user in users:
            self.append(user)

    def append(self, user: Item) -> None:
        """One use more."""
        self._counts[user] = self._counts.get(user, 0) + 1
        self._total += 1

    def remove(self, user: Item) -> None:
        """One use less; KeyError where there is none."""
        if self._counts[user] == 1:
            del self._counts[user]
        else:
            self._counts[user] -= 1
        self._total -= 1

    def __len__(self) -> int:
        return self._total

    def __iter__(self) -> Iterator[Item]:
        for user, count in self._counts.items():
            for _ in range(count):
                yield user

    def __contains__(self, user: object) -> bool:
        return user in self._counts


class AnyValue(Generic[NodeT]):
    """A result of a node, an argument of a block, or what belongs to neither (a constant).

    users holds a node once per use.
    """

    __slots__ = ("index", "owner", "users")

    def __init__(self, owner: Any = None, index: int = 0) -> None:
        self.owner = owner
        self.index = index
        # A list from the first use on: most values of large graphs have few users or none.
        self.users: tuple[NodeT, ...] | list[NodeT] | ManyUsers[NodeT] = ()

    def replace_all_uses_with(self, other: AnyValue[NodeT]) -> None:
        """Every node that used this value uses the other instead."""
        if other is self:
            return
        users, self.users = self.users, ()
        for user in dict.fromkeys(users):
            user.exchange_value(self, other)
        for user in users:
            other.add_user(user)

    def add_user(self, node: NodeT) -> None:
        """One use more by the node."""
        users = self.users
        if isinstance(users, list):
            users.append(node)
            if len(users) > _MANY:
                self.users = ManyUsers(users)
        elif isinstance(users, ManyUsers):
            users.append(node)
        else:
            self.users = [node]

    def remove_user(self, node: NodeT) -> None:
        """One use less by the node."""
        users = self.users
        assert not isinstance(users, tuple)
        if isinstance(users, list) and users[-1] is node:  # graphs are taken apart from either end
            users.pop()
        else:
            users.remove(node)


class AnyNode(Generic[OperandT, ValueT]):
    """An op applied to values. A dialect adds what else it knows of one: attributes, options, a device."""

    __slots__ = ("_exchanged", "_operands", "block", "next", "place", "previous", "regions", "results")

    def __init__(self) -> None:
        self._operands: tuple[OperandT, ...] = ()
        # Values of a node of many that others have taken the place of, in that order, while nobody looks.
        self._exchanged: dict[Any, Any] | None = None
        self.results: tuple[ValueT, ...] = ()
        self.regions: Sequence[AnyBlock[Any, Any]] = ()
        self.block: AnyBlock[Any, Any] | None = None
        self.previous: Any = None
        self.next: Any = None
        self.place = 0

    @property
    def op(self) -> Hashable:
        """What the node does, for rules to be found by."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """What people know the node by."""
        raise NotImplementedError

    @property
    def operands(self) -> tuple[OperandT, ...]:
        """What the node is applied to, in order; None for an optional operand that is not there."""
        if self._exchanged is not None:
            self._settle()
        return self._operands

    @operands.setter
    def operands(self, values: Iterable[OperandT]) -> None:
        self._operands = self._counted(self.operands, tuple(values))

    def _counted(self, old: tuple[OperandT, ...], new: tuple[OperandT, ...]) -> tuple[OperandT, ...]:
        """The new values, as whose user the node is known from now on."""
        for value in old:
            if value is not None:
                value.remove_user(self)
        for value in new:
            if value is not None:
                value.add_user(self)
        return new

    def set_operand(self, index: int, value: OperandT) -> None:
        """Another value as operand `index`."""
        operands = self.operands
        self.operands = (*operands[:index], value, *operands[index + 1 :])

    def exchange_value(self, old: Any, new: Any) -> None:
        """The new value wherever the node has the old one; the users of the two are the caller's."""
        exchanged = self._exchanged or {}
        if old in exchanged or new in exchanged:
            self._settle()
            exchanged = {}
        exchanged[old] = new
        self._exchanged = exchanged
        if self._value_count() <= _FEW_VALUES:
            self._settle()

    def _value_count(self) -> int:
        return len(self._operands)

    def _settle(self) -> None:
        """Look up what the values were exchanged for."""
        final, self._exchanged = self._exchanged or {}, None
        # A value's own exchange comes behind the one that put it in: the end of each chain is known first.
        for old, new in reversed(final.items()):
            final[old] = final.get(new, new)
        self._take_exchanged(final)

    def _take_exchanged(self, final: dict[Any, Any]) -> None:
        self._operands = tuple([final.get(value, value) for value in self._operands])

    @property
    def used(self) -> bool:
        """Whether any node uses a result."""
        return any(value.users for value in self.results)

    def neighbours_before(self) -> Iterator[Any]:
        """The nodes whose results this one uses."""
        for value in self.operands:
            if value is not None and isinstance(value.owner, AnyNode):
                yield value.owner

    def neighbours_behind(self) -> Iterator[Any]:
        """The nodes that use this one's results."""
        return chain.from_iterable(value.users for value in self.results)

    def give(self, values: Iterable[ValueT]) -> None:
        """The values are the node's results from now on, whatever gave them before."""
        self.results = tuple(values)
        for i, value in enumerate(self.results):
            value.owner, value.index = self, i

    def replace_with(self, other: Any) -> None:
        """Uses of this node's results become uses of the other's."""
        for mine, theirs in zip(self.results, other.results, strict=True):
            mine.replace_all_uses_with(theirs)

    def erase(self) -> None:
        """Take the node out of its block; nothing may use it."""
        if self.used:
            raise ValueError(f"node {self.label!r} ({self.op}): cannot be erased while it is used")
        self.drop_operands()
        if self.block is not None:
            self.block.remove(self)

    def drop_operands(self) -> None:
        """Use nothing any more, nor do the nodes of the regions."""
        self.operands = ()
        for region in self.regions:
            for node in region:
                node.drop_operands()


class AnyBlock(Generic[NodeT, ValueT]):
    """Nodes in a list that each knows its place in, and arguments."""

    __slots__ = ("_is_numbered", "arguments", "first", "last", "owner", "size")

    def __init__(self, owner: object = None) -> None:
        self._is_numbered = True  # whether the places of the nodes grow from each to the next
        self.arguments: list[ValueT] = []
        self.first: NodeT | None = None
        self.last: NodeT | None = None
        self.size = 0
        # The node, graph or function whose body this is.
        self.owner = owner

    def set_arguments(self, values: Iterable[ValueT]) -> None:
        """Make the values the arguments; nothing may use one of the block's own that is left out."""
        self.arguments = list(values)
        for i, value in enumerate(self.arguments):
            value.owner, value.index = self, i

    def append(self, node: NodeT) -> NodeT:
        """Put the node last."""
        return self._link(node, self.last, None)

    def prepend(self, node: NodeT) -> NodeT:
        """Put the node first."""
        return self._link(node, None, self.first)

    def insert_before(self, place: NodeT, node: NodeT) -> NodeT:
        """Put the node right before another one of the block."""
        assert place.block is self
        return self._link(node, place.previous, place)

    def insert_after(self, place: NodeT, node: NodeT) -> NodeT:
        """Put the node right behind another one of the block."""
        assert place.block is self
        return self._link(node, place, place.next)

    def _link(self, node: NodeT, previous: NodeT | None, following: NodeT | None) -> NodeT:
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
        before = 0 if previous is None else previous.place
        node.place = before + _GAP if following is None else (before + following.place) // 2
        if node.place == before:
            self._is_numbered = False
        return node

    def comes_before(self, first: NodeT, second: NodeT) -> bool:
        """Whether the first one stands before the second one; both are nodes of the block."""
        if not self._is_numbered:
            for i, node in enumerate(self, 1):
                node.place = i * _GAP
            self._is_numbered = True
        return first.place < second.place

    def remove(self, node: NodeT) -> None:
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

    def __iter__(self) -> Iterator[NodeT]:
        """The nodes; the one at hand may be removed."""
        node = self.first
        while node is not None:
            following = node.next
            yield node
            node = following

    def __reversed__(self) -> Iterator[NodeT]:
        """The nodes, the last first; the one at hand may be removed."""
        node = self.last
        while node is not None:
            previous = node.previous
            yield node
            node = previous

    def __len__(self) -> int:
        return self.size

    def behind(self, node: NodeT | None) -> list[NodeT]:
        """The nodes behind one of the block, all for None."""
        found = []
        following = self.first if node is None else node.next
        while following is not None:
            found.append(following)
            following = following.next
        return found

    def walk(self) -> Iterator[NodeT]:
        """The nodes, each before those of its regions."""
        stack = [iter(self)]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                continue
            yield node
            stack += [iter(region) for region in reversed(node.regions)]
