"""Sequences and optional values: lists whose length is known while the graph is read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..building.body import Body
from ..building.control_flow import while_loop
from ..building.movement import axis_of, equal_parts, split_of
from ..building.tensor import Tensor
from .branches import captured, captures, sequences_within, within
from .call import Call, Held, Rule
from .stacked import Branched, Growing, NothingError, Stacked, place_among, stacked

# A sequence that is mapped is written out item by item.
_MOST_ITEMS = 256


def construct(c: Call) -> list[Held]:
    return [c.inputs()]


def empty(c: Call) -> list[Held]:
    return [[]]


def _place(c: Call, at: int, length: int) -> int:
    """A position that must be constant, from the front; the end where it is left out."""
    if c.optional(at) is None:
        return length
    return int(c.constant(at, "the position").reshape(-1)[0])


def at(c: Call) -> Tensor:
    """One item."""
    held = c.operands[0]
    if isinstance(held, Stacked):
        return held.item(c.input(1))
    items = c.sequence(0)
    if c.input(1).data is None and items:
        return stacked(items).item(c.input(1))
    return items[place_among(_place(c, 1, 0), len(items))]


def insert(c: Call) -> list[Held]:
    held = c.operands[0]
    if isinstance(held, Growing) and c.optional(2) is None:
        return [held.put(c.input(1))]
    if isinstance(held, Stacked):
        return [held.with_item(c.input(1), c.optional(2))]
    items = list(c.sequence(0))
    place = _place(c, 2, len(items))
    if not -len(items) <= place <= len(items):
        raise NothingError(f"position must be in [{-len(items)}, {len(items)}], got {place}")
    items.insert(place, c.input(1))
    return [items]


def erase(c: Call) -> list[Held]:
    held = c.operands[0]
    if isinstance(held, Stacked):
        return [held.without_item(c.optional(1))]
    items = list(c.sequence(0))
    del items[place_among(_place(c, 1, len(items) - 1), len(items))]
    return [items]


def length(c: Call) -> Tensor:
    held = c.operands[0]
    if isinstance(held, Stacked):
        return held.length()
    return c.body.constant(np.array(len(c.sequence(0)), np.int64))


def concat_from(c: Call) -> Tensor:
    """All items as one tensor, along an axis or a new one."""
    held = c.operands[0]
    if isinstance(held, Stacked):
        return held.joined(c.integer("axis"), c.flag("new_axis"))
    items = c.sequence(0)
    if not items:
        raise NothingError("a sequence must have items to be joined")
    axis, rank = c.integer("axis"), items[0].rank
    if c.flag("new_axis"):
        return c.make("Pack", *items, axis=axis_of(axis, rank + 1))
    if len(items) == 1:
        return items[0]
    return c.make("ConcatV2", *items, c.body.scalar(axis_of(axis, rank), DT_INT32))


def split_to(c: Call) -> list[Held]:
    """Parts along an axis: of the sizes that are told, of one size, or of 1."""
    x = c.input(0)
    axis = axis_of(c.integer("axis", 0), x.rank)
    whole = x.sizes[axis]
    if whole == -1:
        raise UnsupportedError("the size of the axis must be known")
    told = c.optional(1)
    if told is None:
        parts = split_of(x, [1] * whole, axis)
        return [
            parts if c.flag("keepdims", True) else [c.make("Squeeze", y, squeeze_dims=[axis]) for y in parts]
        ]
    sizes = c.constants(1, "the sizes")
    if told.rank == 0:
        count = -(-whole // max(sizes[0], 1))
        sizes = [min(sizes[0], whole - sizes[0] * place) for place in range(count)]
    return [split_of(x, sizes or equal_parts(whole, 1), axis)]


def mapped(c: Call) -> list[Held]:
    """The subgraph on each item, and on those of other sequences beside it."""
    if any(isinstance(held, Stacked) for held in c.operands):
        return _mapped_in_turns(c)
    graph, items = c.graph("body"), c.sequence(0)
    if len(items) > _MOST_ITEMS:
        raise UnsupportedError(f"a sequence of at most {_MOST_ITEMS} items is mapped, got {len(items)}")
    results: list[list[Tensor]] = [[] for _ in graph.output]
    for place in range(len(items)):
        inner = c.importer.inner(c.body)
        for info, held in zip(graph.input, c.operands, strict=True):
            inner.values[info.name] = held[place] if isinstance(held, list) else held
        inner.initializers(graph)
        inner.run(graph.node)
        for found, info in zip(results, graph.output, strict=True):
            value = inner.find(info.name)
            if not isinstance(value, Tensor):
                raise UnsupportedError("sequences of sequences")
            found.append(value)
    return list(results)


def _mapped_in_turns(c: Call) -> list[Held]:
    """The subgraph on items whose number is known only when the model runs."""
    graph, importer = c.graph("body"), c.importer
    given: dict[str, Held] = {
        f"\0{place}": stacked(held) if isinstance(held, list) else held
        for place, held in enumerate(c.operands)
    }
    rows = next(held.tensor for held in given.values() if isinstance(held, Stacked))
    if len(graph.input) != len(given):
        raise ModelError(f"the subgraph must have {len(given)} inputs, got {len(graph.input)}")

    def turn(body: Body, place: Tensor, _: Sequence[Tensor], outer: dict[str, Tensor]) -> list[Tensor]:
        inner = importer.inner(body)
        inner.values.update({**outer, **sequences_within(importer, body, graph, outer)})
        inner.initializers(graph)
        for info, held in zip(graph.input, within(body, given, outer).values(), strict=True):
            inner.values[info.name] = held.item(place) if isinstance(held, Stacked) else held
        inner.run(graph.node)
        results = [inner.find(info.name) for info in graph.output]
        return [body.scalar(True, DT_BOOL), *(each for each in results if isinstance(each, Tensor))]

    outer = captures(importer, graph) | captured(given)
    count, keeps = c.body.size(rows, 0), c.body.scalar(True, DT_BOOL)
    lists = while_loop(importer.shared, c.body, outer, [], len(graph.output), turn, count, keeps)
    return [Stacked(each) for each in lists]


def optional(c: Call) -> list[Held]:
    """The value, or nothing."""
    return [c.operands[0] if c.operands else None]


def has_element(c: Call) -> Tensor:
    return _has(c, c.operands[0] if c.operands else None)


def _has(c: Call, held: Held) -> Tensor:
    if not isinstance(held, Branched):
        return c.body.constant(np.array(held is not None))
    yes, no = _has(c, held.yes), _has(c, held.no)
    both = (
        c.make("LogicalAnd", held.condition, yes),
        c.make("LogicalAnd", c.make("LogicalNot", held.condition), no),
    )
    return c.make("LogicalOr", *both)


def get_element(c: Call) -> list[Held]:
    found = _element(c.operands[0] if c.operands else None)
    if found is None:
        raise NothingError("there must be a value to be got")
    return [found]


def _element(held: Held) -> Held:
    """The value where there is one: nobody may ask for it where there is none."""
    if not isinstance(held, Branched):
        return held
    yes, no = _element(held.yes), _element(held.no)
    if yes is None or no is None:
        return no if yes is None else yes
    return Branched(held.condition, yes, no)


REGISTRATIONS: dict[str, Rule] = {
    "ConcatFromSequence": concat_from,
    "Optional": optional,
    "OptionalGetElement": get_element,
    "OptionalHasElement": has_element,
    "SequenceAt": at,
    "SequenceConstruct": construct,
    "SequenceEmpty": empty,
    "SequenceErase": erase,
    "SequenceInsert": insert,
    "SequenceLength": length,
    "SequenceMap": mapped,
    "SplitToSequence": split_to,
}
