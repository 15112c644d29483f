"""Loops that run as often as a sequence has steps, and take one step in each turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import GatherOptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..size_source import same_size

# A number of steps is computed by few operators.
_MOST_STEPS = 8


@dataclass(frozen=True)
class CountedLoop:
    """A WHILE that ends when a counter from 0 has come to a limit.

    unchanged are the variables that the body hands on as they are, counters those that go from 0 up by 1,
    limits what the counters are held against, of which the least counts.
    """

    operator: LiteOperator
    unchanged: frozenset[int]
    counters: frozenset[int]
    limits: Sequence[LiteTensor]

    @staticmethod
    def of(operator: LiteOperator) -> CountedLoop | None:
        """The loop, None where it ends otherwise."""
        test, body = operator.callees
        same = frozenset(i for i, (x, y) in enumerate(zip(body.inputs, body.outputs, strict=True)) if x is y)
        counters = frozenset(i for i in range(len(body.inputs)) if _counts(operator, i))
        limits = list(_limits(operator, test.outputs[0], same, counters))
        known = [limit for limit in limits if limit is not None]
        if not known or len(known) < len(limits):
            return None
        return CountedLoop(operator, same, counters, known)

    @property
    def body(self) -> LiteGraph:
        return self.operator.callees[1]

    @property
    def turns(self) -> int | None:
        """How often the body runs, None where that is not known."""
        known = [limit.data for limit in self.limits if limit.data is not None]
        return max(0, min(int(data) for data in known)) if len(known) == len(self.limits) else None

    def turns_are(self, x: LiteTensor, axis: int) -> bool:
        """Whether the body runs as often as a tensor outside has elements along an axis."""
        size = -1 if x.shape is None else x.shape[axis]
        if size != -1:
            return self.turns == size
        return all(_is_size(limit, x, axis) for limit in self.limits)

    def constant(self, x: LiteTensor) -> np.ndarray | None:
        """What the body's tensor holds in every turn."""
        return self._outside(x).data

    def steps(self) -> dict[LiteTensor, LiteTensor]:
        """What the body takes in each turn of sequences [steps, ...], which are outside."""
        found = {}
        for each in self.body:
            sequence = self._outside(each.operand(0)) if each.operands and each.operands[0] else None
            if sequence is None or sequence is each.operands[0] or sequence.shape is None:
                continue
            if self._takes_step(each) and len(sequence.shape) == 3:
                found[each.result] = sequence
        return found

    def listed(self, place: int) -> LiteTensor | None:
        """What the body puts into the list in each turn, one step behind the other; None for no such list."""
        put, begin = self.body.outputs[place].producer, self.operator.operand(place)
        if (
            put is None
            or put.code != Op.DYNAMIC_UPDATE_SLICE
            or put.operand(0) is not self.body.inputs[place]
        ):
            return None
        if len(put.operand(0).users) != 1:
            return None
        if not self._is_start(put.operand(2)) or not begin.shape or not self._is_as_long(begin):
            return None
        # A smaller item leaves something of the list that was there.
        item = put.operand(1)
        return item if item.shape == (1, *begin.shape[1:]) else None

    def _outside(self, x: LiteTensor) -> LiteTensor:
        """What a variable that never changes is outside; other tensors as they are."""
        places = [i for i in self.unchanged if self.body.inputs[i] is x]
        return self.operator.operand(places[0]) if places else x

    def _takes_step(self, each: LiteOperator) -> bool:
        if each.code == Op.GATHER and isinstance(each.options, GatherOptionsT):
            return not each.options.axis and not each.options.batch_dims and self._is_counter(each.operand(1))
        if each.code != Op.SLICE or not self._is_start(each.operand(1)):
            return False
        sizes, shape = each.constant(2), each.operand(0).shape
        whole = sizes is not None and shape is not None and sizes[0] == 1
        return whole and all(n in (-1, size) for n, size in zip(sizes[1:], shape[1:], strict=True))  # type: ignore[index]

    def _is_counter(self, x: LiteTensor) -> bool:
        while x.producer is not None and x.producer.code in (Op.RESHAPE, Op.CAST):
            x = x.producer.operand(0)
        return any(self.body.inputs[i] is x for i in self.counters)

    def _is_start(self, place: LiteTensor) -> bool:
        """Whether a vector is the counter and zeros."""
        parts = place.producer
        if parts is None or parts.code not in (Op.PACK, Op.CONCATENATION):
            return False
        first, *others = [x for x in parts.operands if x is not None]
        return self._is_counter(first) and all(x.data is not None and not x.data.any() for x in others)

    def _is_as_long(self, held: LiteTensor) -> bool:
        """Whether a list outside has as many elements as the body runs."""
        assert held.shape
        if held.shape[0] != -1:
            return self.turns == held.shape[0]
        filled = held.producer
        sizes = None if filled is None or filled.code != Op.FILL else filled.producer(0)
        if sizes is None or sizes.code not in (Op.PACK, Op.CONCATENATION):
            return False
        return all(_plain(sizes.operand(0)) is _plain(limit) for limit in self.limits)


def _counts(operator: LiteOperator, place: int) -> bool:
    """Whether a variable begins with 0 and goes up by 1."""
    body, begin = operator.callees[1], operator.constant(place)
    step = body.outputs[place].producer
    if begin is None or begin.size != 1 or begin.dtype.kind != "i" or begin.any() or step is None:
        return False
    if step.code != Op.ADD:
        return False
    for x, other in ((step.operand(0), step.operand(1)), (step.operand(1), step.operand(0))):
        if x is body.inputs[place] and other.data is not None and other.data.size == 1 and other.data == 1:
            return True
    return False


def _limits(
    operator: LiteOperator, condition: LiteTensor, same: frozenset[int], counters: frozenset[int]
) -> Iterator[LiteTensor | None]:
    """What counters must be below for the loop to go on; None for any other condition."""
    test, body = operator.callees
    made = condition.producer
    if made is not None and made.code == Op.LOGICAL_AND:
        for operand in (made.operand(0), made.operand(1)):
            yield from _limits(operator, operand, same, counters)
    elif made is not None and made.code in (Op.LESS, Op.GREATER):
        small, large = made.operand(0), made.operand(1)
        if made.code == Op.GREATER:
            small, large = large, small
        is_counted = any(test.inputs[i] is small for i in counters)
        places = [i for i in same if test.inputs[i] is large]
        limit = operator.operand(places[0]) if places else large
        yield limit if is_counted and (places or large.data is not None) else None
    elif not (condition.data is not None and condition.data.all()):
        places = [i for i, x in enumerate(test.inputs) if x is condition]
        held = [operator.constant(i) for i in places] + [body.outputs[i].data for i in places]
        # What begins true and stays so is no condition.
        if not held or not all(data is not None and data.all() for data in held):
            yield None


def _plain(x: LiteTensor) -> LiteTensor:
    """Where a number comes from, past operators that only shape it."""
    for _ in range(_MOST_STEPS):
        if x.producer is None or x.producer.code not in (Op.RESHAPE, Op.EXPAND_DIMS, Op.SQUEEZE):
            break
        x = x.producer.operand(0)
    return x


def _is_size(number: LiteTensor, x: LiteTensor, axis: int) -> bool:
    """Whether a number is computed as a size that is the same as that of x."""
    taken = _plain(number).producer
    sizes = None if taken is None or taken.code not in (Op.GATHER, Op.STRIDED_SLICE) else taken.producer(0)
    place = None if taken is None or sizes is None else taken.constant(1)
    if sizes is None or sizes.code != Op.SHAPE or place is None or place.size != 1:
        return False
    measured = sizes.operand(0)
    at = int(place.reshape(-1)[0]) % len(measured.shape or (0,))
    return same_size(x, axis, measured, at)
