"""TypeGraph: the type attributes of a graph's nodes, and which feeds which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ...ir.attributes import Attribute
from ...ir.node import Node, Value
from ...ir.signature import Argument, registered
from ...ir.types import ElementType, TensorType

FLOAT = "f32"


@dataclass(frozen=True)
class TypeId:
    """One type of a node: an attribute, or a place in one that is a list; "" for types that the op fixes."""

    node: Node
    attribute: str
    index: int = -1

    @property
    def type(self) -> str:
        """The element type's name, "" where there is none."""
        held = self.node.attributes.get(self.attribute)
        if self.index >= 0 and isinstance(held, tuple):
            held = held[self.index]
        return held.name if isinstance(held, ElementType) else ""

    def change(self, type: ElementType) -> None:
        """Give the attribute another type."""
        held = self.node.attributes[self.attribute]
        made: Attribute = type
        if self.index >= 0 and isinstance(held, tuple):
            made = (*held[: self.index], type, *held[self.index + 1 :])
        self.node.attributes[self.attribute] = made

    def takes(self, type: ElementType) -> bool:
        """Whether the op may have such a type there."""
        signature = registered(self.node.op)
        rules = () if signature is None else signature.attributes
        rule = next((each for each in rules if each.name == self.attribute), None)
        return rule is not None and (not rule.allowed or type in rule.allowed)


class TypeGraph:
    """Type attributes as nodes of a graph: those whose outputs are inputs of another's."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.of_input: dict[tuple[Node, int], TypeId] = {}
        self.of_value: dict[Value, TypeId] = {}
        self.ids: dict[TypeId, None] = {}
        self.before: dict[TypeId, list[TypeId]] = defaultdict(list)
        self.behind: dict[TypeId, list[TypeId]] = defaultdict(list)
        known = list(nodes)
        for node in known:
            self._add(node)
        for (node, place), user in self.of_input.items():
            source = self.of_value.get(node.operands[place])
            if source is not None:
                self.connect(source, user)

    def connect(self, source: TypeId, user: TypeId) -> None:
        """What the one gives the other takes."""
        self.behind[source].append(user)
        self.before[user].append(source)

    def reached(
        self,
        roots: Iterable[TypeId],
        enters: Callable[[TypeId], bool],
        *,
        inputs: bool = False,
        outputs: bool = False,
    ) -> set[TypeId]:
        """The roots, and what is reached from them over inputs or outputs where it may be entered."""
        found = set(roots)
        waiting = list(found)
        while waiting:
            each = waiting.pop()
            for other in (*(self.before[each] if inputs else ()), *(self.behind[each] if outputs else ())):
                if other not in found and enters(other):
                    found.add(other)
                    waiting.append(other)
        return found

    def _add(self, node: Node) -> None:
        signature = registered(node.op)
        if signature is None:
            return
        for place, each in enumerate(_ids(node, signature.inputs)):
            if place < len(node.operands):
                self.ids[each] = None
                self.of_input[node, place] = each
        for value, each in zip(node.results, _ids(node, signature.outputs), strict=False):
            self.ids[each] = None
            self.of_value[value] = each


def _ids(node: Node, arguments: Iterable[Argument]) -> Iterator[TypeId]:
    """The types of a node's inputs or outputs, in order."""
    for argument in arguments:
        if argument.type_list_attr:
            held = node.attributes.get(argument.type_list_attr)
            count = len(held) if isinstance(held, tuple) else 0
            yield from (TypeId(node, argument.type_list_attr, i) for i in range(count))
            continue
        number = node.attributes.get(argument.number_attr, 1) if argument.number_attr else 1
        for _ in range(number if isinstance(number, int) else 0):
            yield TypeId(node, argument.type_attr)


def is_float(value: Value) -> bool:
    """Whether the value is a tensor of float32 and no reference."""
    type = value.type
    return (
        isinstance(type, TensorType) and isinstance(type.element, ElementType) and type.element.name == FLOAT
    )
