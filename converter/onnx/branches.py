"""Branches of which one runs: what they use of the graph around them, and what they give, also sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_STRING
from ...schema.onnx import AttributeProto, GraphProto
from ..building.body import Body
from ..building.control_flow import if_node
from ..building.module_builder import ModuleBuilder
from ..building.region import Region
from ..building.tensor import Tensor
from ..shapes.dimensions import PartialShape, same_shape
from .stacked import Branched, Growing, NothingError, Stacked, tensors_of, with_tensors

if TYPE_CHECKING:
    from .call import Held
    from .graph_import import Importer

# What a branch gives, its ops in the body that it is given; the outer tensors by their names.
Run = Callable[[Body, dict[str, Tensor]], Sequence["Held"]]
# A value, of the results of the node that runs one of the branches.
_Made = Callable[[Sequence[Tensor]], "Held"]


def outer_names(graph: GraphProto) -> Iterator[str]:
    """What the graph uses and does not give itself, in order of use."""
    own = {info.name for info in graph.input} | {proto.name for proto in graph.initializer}
    for node in graph.node:
        yield from (name for name in node.input if name and name not in own)
        for attribute in node.attribute:
            if attribute.type in (AttributeProto.GRAPH, AttributeProto.UNDEFINED):
                yield from (name for name in outer_names(attribute.g) if name not in own)
        own.update(node.output)
    yield from (info.name for info in graph.output if info.name not in own)


def captures(importer: Importer, *graphs: GraphProto) -> dict[str, Tensor]:
    """Tensors of the graph around that the subgraphs use, but for constants; a sequence's one by one."""
    names = dict.fromkeys(name for graph in graphs for name in outer_names(graph))
    return captured({name: importer.find(name) for name in names})


def captured(values: dict[str, Held]) -> dict[str, Tensor]:
    """The tensors of values by names of their own, but for constants."""
    found: dict[str, Tensor] = {}
    for name, held in values.items():
        tensors = tensors_of(held)
        found |= {_part(name, held, i): each for i, each in enumerate(tensors) if each.data is None}
    return found


def within(body: Body, values: dict[str, Held], outer: dict[str, Tensor]) -> dict[str, Held]:
    """The same values, of the tensors that a body has for captured ones, and its own constants."""
    found = {}
    for name, held in values.items():
        parts = [
            outer[_part(name, held, i)] if each.data is None else body.constant(each.data, each.name)
            for i, each in enumerate(tensors_of(held))
        ]
        found[name] = with_tensors(held, iter(parts))
    return found


def sequences_within(
    importer: Importer, body: Body, graph: GraphProto, outer: dict[str, Tensor]
) -> dict[str, Held]:
    """What a subgraph uses of the graph around that is no tensor, made of the body's tensors."""
    used = {name: importer.find(name) for name in outer_names(graph)}
    return within(body, {name: held for name, held in used.items() if not isinstance(held, Tensor)}, outer)


def _part(name: str, held: Held, place: int) -> str:
    return name if isinstance(held, Tensor) else f"\0{place}/{name}"


def chosen(
    builder: ModuleBuilder, body: Body, condition: Tensor, outer: dict[str, Tensor], runs: Sequence[Run]
) -> list[Held]:
    """What the first branch gives where a condition is true, else what the second one does.

    Sequences of one length are chosen item by item. Those of several lengths are one tensor where all items
    have one shape; what else differs is Branched, so that who uses it can run in a branch in its turn. A
    branch that asks for an item that is not there gives zeros: nobody may run it.
    """
    regions = [Region(builder, f"{body.prefix}/{what}", list(outer.values()), what) for what in _SIDES]
    results: list[list[Held]] = []
    faults = []
    for run, region in zip(runs, regions, strict=True):
        try:
            results.append(list(run(region.body, dict(zip(outer, region.given, strict=True)))))
        except NothingError as error:
            faults.append(error)
            results.append([])
    if len(faults) == len(runs):
        raise faults[0]
    if faults:
        missing = 0 if not results[0] else 1
        results[missing] = [_nobodys(regions[missing].body, held) for held in results[1 - missing]]
    if len(results[0]) != len(results[1]):
        counts = " and ".join(str(len(each)) for each in results)
        raise ModelError(f"both branches must give as much, got {counts} values")
    if condition.shape != ():
        condition = body.op("Reshape", condition, body.integers([]))
    ends = _Ends(condition, outer, regions)
    made = [ends.value(one, other) for one, other in zip(*results, strict=True)]
    types = [region.finish(side) for region, side in zip(regions, ends.sides, strict=True)]
    names = [region.function.name for region in regions]
    found = if_node(body, condition, list(outer.values()), types, names) if ends.sides[0] else []
    return [each(found) for each in made]


_SIDES = ("then", "else")


class _Ends:
    """What both branches give, side by side, until it is one node's results."""

    def __init__(self, condition: Tensor, outer: dict[str, Tensor], regions: Sequence[Region]) -> None:
        self.condition = condition
        self.regions = regions
        self.sides: tuple[list[Tensor], list[Tensor]] = ([], [])
        self._outer = [
            {id(given): tensor for given, tensor in zip(region.given, outer.values(), strict=True)}
            for region in regions
        ]

    def value(self, one: Held, other: Held) -> _Made:
        if isinstance(one, Tensor) and isinstance(other, Tensor):
            return self.tensor(one, other)
        if one is None and other is None:
            return lambda _: None
        if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            items = [self.tensor(*pair) for pair in zip(one, other, strict=True)]
            return lambda results: [_tensor(item(results)) for item in items]
        if isinstance(one, Growing) and isinstance(other, Growing):
            return self._growing(one, other)
        rows = self._rows(one, other)
        if rows is None:
            return self._apart(one, other)
        made = self.tensor(*rows)
        return lambda results: Stacked(_tensor(made(results)))

    def tensor(self, one: Tensor, other: Tensor) -> _Made:
        """A tensor of each; what both have alike, and what the condition itself says, takes no result."""
        known = self._known(one, other)
        if known is not None:
            return lambda _: known
        place = len(self.sides[0])
        for side, each in zip(self.sides, (one, other), strict=True):
            side.append(each)
        return lambda results: results[place]

    def _known(self, one: Tensor, other: Tensor) -> Tensor | None:
        body = self.condition.body
        if one.data is None or other.data is None:
            return None
        if one.type == other.type and one.data.shape == other.data.shape:
            if one.data.tobytes() == other.data.tobytes() and one.type != DT_STRING:
                return body.constant(one.data)
            if one.type == DT_BOOL and one.shape == ():
                return self.condition if one.data else body.op("LogicalNot", self.condition)
        return None

    def _rows(self, one: Held, other: Held) -> tuple[Tensor, Tensor] | None:
        """Both sequences as tensors with the items along the first axis, None where that cannot be."""
        if not (isinstance(one, list | Stacked) and isinstance(other, list | Stacked)):
            return None
        kinds = [_item_kind(each) for each in (one, other) if not isinstance(each, list) or each]
        type, shape = kinds[0]
        if shape is None or any(each[0] != type or not same_shape(each[1], shape) for each in kinds):
            return None
        first, second = (
            _as_rows(region.body, each, type, shape)
            for region, each in zip(self.regions, (one, other), strict=True)
        )
        return first, second

    def _growing(self, one: Growing, other: Growing) -> _Made:
        """What both have put, then what the one has where the condition is true, then what the other has."""
        if one.place != other.place:
            raise UnsupportedError(
                "two sequences that a loop carries, of which a branch takes the one or the other"
            )
        body = self.condition.body
        pairs = zip(self._put(one, 0), self._put(other, 1), strict=False)
        shared = [first for first, second in takewhile(lambda pair: _is_same(*pair), pairs)]
        count = len(shared)
        made: list[tuple[_Made, _Made | None, Tensor]] = []
        negated = body.op("LogicalNot", self.condition)
        for side, (held, runs) in enumerate(((one, self.condition), (other, negated))):
            for item, condition in list(zip(held.items, held.conditions, strict=True))[count:]:
                blank = _blank(self.regions[1 - side].body, item)
                pair = (item, blank) if side == 0 else (blank, item)
                own = None
                if condition is not None:
                    false = self.regions[1 - side].body.scalar(False, DT_BOOL)
                    own = self.tensor(*((condition, false) if side == 0 else (false, condition)))
                made.append((self.tensor(*pair), own, runs))

        def grown(results: Sequence[Tensor]) -> Held:
            items = [item for item, _ in shared] + [_tensor(item(results)) for item, _, _ in made]
            conditions = [condition for _, condition in shared]
            conditions += [runs if own is None else _tensor(own(results)) for _, own, runs in made]
            return Growing(one.place, tuple(items), tuple(conditions))

        return grown

    def _put(self, held: Growing, side: int) -> list[tuple[Tensor, Tensor | None]]:
        """The items and conditions as tensors of the graph around, as far as they come from there."""
        found = []
        for item, condition in zip(held.items, held.conditions, strict=True):
            outer = self._outer_tensor(item, side)
            when = None if condition is None else self._outer_tensor(condition, side)
            if outer is None or (condition is not None and when is None):
                break
            found.append((outer, when))
        return found

    def _outer_tensor(self, tensor: Tensor, side: int) -> Tensor | None:
        if tensor.data is not None:
            return self.condition.body.constant(tensor.data, tensor.name)
        return self._outer[side].get(id(tensor))

    def _apart(self, one: Held, other: Held) -> _Made:
        """Both values, of which one is zeros."""
        if isinstance(one, Growing) or isinstance(other, Growing):
            raise UnsupportedError(
                "a sequence that a loop carries, beside another value of the other branch: "
                "both must give the sequence, with or without more items"
            )
        made = []
        for side, held in enumerate((one, other)):
            blanks = self.regions[1 - side].body
            parts = tensors_of(held)
            pairs = [(part, _blank(blanks, part)) for part in parts]
            results = [self.tensor(*(pair if side == 0 else pair[::-1])) for pair in pairs]
            made.append((held, results, [part.shape for part in parts]))

        def apart(results: Sequence[Tensor]) -> Held:
            sides = []
            for held, parts, shapes in made:
                found = [
                    _seen_as(_tensor(part(results)), shape) for part, shape in zip(parts, shapes, strict=True)
                ]
                sides.append(with_tensors(held, iter(found)))
            return Branched(self.condition, *sides)

        return apart


def _tensor(held: Held) -> Tensor:
    assert isinstance(held, Tensor)
    return held


def _is_same(one: tuple[Tensor, Tensor | None], other: tuple[Tensor, Tensor | None]) -> bool:
    """Whether an item and its condition are the same tensors, or constants of the same array."""
    return all(
        a is b or (a and b and a.data is not None and a.data is b.data)
        for a, b in zip(one, other, strict=True)
    )


def _item_kind(held: list[Tensor] | Stacked) -> tuple[int, PartialShape]:
    """Type and shape that all items have, None for the shape where they have several."""
    if isinstance(held, Stacked):
        return held.tensor.type, held.tensor.sizes[1:]
    first = held[0]
    is_one = all(item.type == first.type and same_shape(item.shape, first.shape) for item in held)
    return first.type, first.shape if is_one else None


def _as_rows(body: Body, held: list[Tensor] | Stacked, type: int, shape: tuple[int, ...]) -> Tensor:
    if isinstance(held, Stacked):
        return held.tensor
    if held:
        return body.op("Pack", *held, axis=0)
    return body.op("Fill", body.integers([0, *(max(size, 0) for size in shape)]), _nothing(body, type))


def _blank(body: Body, like: Tensor) -> Tensor:
    """Zeros in place of a tensor that the other branch gives."""
    sizes = [0] if like.shape is None else [max(size, 0) for size in like.shape]
    return body.op("Fill", body.integers(sizes), _nothing(body, like.type))


def _nobodys(body: Body, held: Held) -> Held:
    """The same of zeros."""
    return with_tensors(held, iter([_blank(body, each) for each in tensors_of(held)]))


def _nothing(body: Body, type: int) -> Tensor:
    return body.constant(np.array(b"", object)) if type == DT_STRING else body.scalar(0, type)


def _seen_as(tensor: Tensor, shape: PartialShape) -> Tensor:
    """The tensor with the shape that it has where its branch runs: nobody looks at it where it does not."""
    if tensor.data is not None:
        return tensor
    return Tensor(tensor.body, tensor.type, shape, tensor.value, name=tensor.name)
