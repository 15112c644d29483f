"""Sorting along an axis: TOPK_V2 of all elements, whose equal ones stay in order."""

from __future__ import annotations

import re

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import (
    DT_BOOL,
    DT_FLOAT,
    DT_INT8,
    DT_INT16,
    DT_INT32,
    DT_INT64,
    DT_UINT8,
    DT_UINT16,
    DT_UINT32,
)
from ..building.tensor import Tensor
from .computation import described
from .program import UNKNOWN
from .step import Result, Rule, Step

_GREATER = re.compile(r"G[TE]\((\w),(\w)\)")
# The order by the first key, and where that is equal by the others.
_NEXT_KEY = re.compile(r"or\((GT\(\w,\w\)),and\(EQ\((\w),(\w)\),(.+)\)\)")


def sort(step: Step) -> Result:
    """Keys in order, and the other operands in the keys' order. What is no number has no order of its own."""
    rank = len(step.held(0).shape)
    axis = rank - 1 if step.integer("dimension") == -1 else step.axis("dimension", rank)
    order = [*(each for each in range(rank) if each != axis), axis]
    operands = [step.body.transposed(x, order) for x in step.inputs()]
    keys = _keys(step, len(operands))
    sorted_operands = operands
    # The last key first: what is equal by one stays in the order of the others.
    for place, falls in reversed(keys):
        sorted_operands = _by(sorted_operands, place, falls)
    back = [int(each) for each in np.argsort(order)]
    return [step.body.transposed(x, back) for x in sorted_operands]


def _keys(step: Step, count: int) -> list[tuple[int, bool]]:
    """Which operands are compared, the first one first, and whether they fall."""
    formula = text = described(step.region(0), step.importer.number)[0]
    found = []
    while True:
        match = _NEXT_KEY.fullmatch(text)
        greater = _GREATER.fullmatch(match.group(1) if match else text)
        if greater is None or (match and set(match.group(2, 3)) != set(greater.group(1, 2))):
            raise UnsupportedError(f"sorting by {formula}")
        left, right = (ord(each) - ord("a") for each in greater.group(1, 2))
        if left ^ 1 != right or max(left, right) >= 2 * count:
            raise UnsupportedError(f"sorting by {formula}")
        found.append((left // 2, left < right))
        if match is None:
            return found
        text = match.group(4)


def _by(operands: list[Tensor], place: int, falls: bool) -> list[Tensor]:
    key = operands[place]
    body, count = key.body, key.sizes[-1]
    size = body.scalar(count, DT_INT32) if count != UNKNOWN else body.size(key, key.rank - 1)
    values, at = body.ops("TopKV2", key if falls else _turned(key), size, sorted=True)
    if not falls:
        # What was turned for the order may be of a wider type.
        values = _turned(values) if values.type == key.type else _along(key, at)
    return [values if n == place else _along(x, at) for n, x in enumerate(operands)]


def _turned(x: Tensor) -> Tensor:
    """The numbers in reverse order."""
    if x.type == DT_FLOAT:
        return -x
    if x.type in (DT_INT32, DT_INT64):
        return -1 - x
    if x.type in (DT_BOOL, DT_UINT32, DT_INT8, DT_INT16, DT_UINT8, DT_UINT16):
        return -1 - x.body.cast(x, DT_INT64 if x.type == DT_UINT32 else DT_INT32)
    raise UnsupportedError(f"sorting of type {x.type}")


def _along(x: Tensor, at: Tensor) -> Tensor:
    """The elements of the last axis at places that are told for each line."""
    last = x.body.scalar(x.rank - 1, DT_INT32)
    return x.body.op("GatherV2", x, at, last, batch_dims=x.rank - 1)


REGISTRATIONS: dict[str, Rule] = {"sort": sort}
