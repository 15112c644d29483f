"""Vocabularies as tables: what stands for each token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32, DT_INT64, DT_STRING
from ..building.tensor import Tensor
from .call import Call

# Larger vocabularies would be compared in too many places.
_MOST_COMPARED = 1 << 16


def found_in(c: Call, x: Tensor, keys: Sequence[object], values: Sequence[int], default: int) -> Tensor:
    """The value of each element's key, int32; the default where it is none of them.

    Every element is compared with every key: EQUAL takes integers and strings, and needs no state.
    """
    if x.type == DT_STRING:
        table = np.array([str(key).encode() for key in keys], object)
    elif x.type in (DT_INT32, DT_INT64):
        table = np.array([int(str(key)) for key in keys], np.int64)
        x = c.body.cast(x, DT_INT64)
    else:
        raise ModelError("it must be called with integers or strings")
    if len(set(table.tolist())) < len(keys):
        raise ModelError("vocabulary must have each token once")
    if len(keys) > _MOST_COMPARED:
        raise UnsupportedError(
            f"a vocabulary of {len(keys)} tokens is not built, {_MOST_COMPARED} are the most"
        )
    if not keys:
        return x.body.op("Fill", c.body.vector(c.body.sizes_of(x)), c.body.scalar(default, DT_INT32))
    deep = c.make("ExpandDims", x, c.body.scalar(x.rank, DT_INT32))
    same = c.body.cast(c.make("Equal", deep, c.body.constant(table)), DT_INT32)
    moved = c.body.constant(np.array(values, np.int32) - np.int32(default))
    return c.make("Sum", same * moved, c.body.integers([deep.rank - 1])) + default
