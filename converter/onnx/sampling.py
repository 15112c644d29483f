"""Non-maximum suppression of boxes; running products and windows."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32, DT_INT64
from ...schema.onnx import TensorProto
from ..building.computed_types import inner_array
from ..building.movement import axis_of
from ..building.special import running_product
from ..building.tensor import Tensor
from .call import Call, Rule
from .element_types import outside_type, stored_dtype

_MOST_CLASSES = 256


def non_max_suppression(c: Call) -> Tensor:
    """Batch, class and box of each box that is kept; one operator for each batch and class."""
    boxes, scores = c.input(0), c.input(1)
    batches, classes = scores.sizes[:2]
    if -1 in (batches, classes, boxes.sizes[1]) or batches * classes > _MOST_CLASSES:
        raise UnsupportedError(
            f"batches, classes and boxes must be known, and at most {_MOST_CLASSES} classes in all"
        )
    most = c.constants(2, "the number of boxes")[0] if c.optional(2) is not None else 0
    most = min(most, boxes.sizes[1])
    if c.flag("center_point_box"):
        boxes = _corners(c, boxes)
    overlap, least = (_number(c, place, default) for place, default in ((3, 0.0), (4, -math.inf)))
    if overlap.data is not None:
        # ONNX keeps boxes that overlap by just the limit, the operator does not.
        overlap = c.body.constant(np.nextafter(overlap.data, np.float32(math.inf)))
    pairs = itertools.product(range(batches), range(classes))
    rows = [_kept(c, boxes, scores, batch, kind, most, overlap, least) for batch, kind in pairs]
    if most == 0 or not rows:
        return c.body.constant(np.zeros((0, 3), np.int64))
    found = rows[0] if len(rows) == 1 else c.make("ConcatV2", *rows, c.body.scalar(0, DT_INT32))
    return c.body.cast(found, DT_INT64)


def _number(c: Call, place: int, default: float) -> Tensor:
    given = c.optional(place)
    return (
        c.body.scalar(default, DT_FLOAT) if given is None else c.make("Reshape", given, c.body.integers([]))
    )


def _corners(c: Call, boxes: Tensor) -> Tensor:
    """[x, y, width, height] of the center as [y1, x1, y2, x2]."""
    x, y, width, height = c.body.ops("Split", c.body.scalar(2, DT_INT32), boxes, num_split=4)
    width, height = width * 0.5, height * 0.5
    return c.make("ConcatV2", y - height, x - width, y + height, x + width, c.body.scalar(2, DT_INT32))


def _kept(
    c: Call, boxes: Tensor, scores: Tensor, batch: int, kind: int, most: int, overlap: Tensor, least: Tensor
) -> Tensor:
    """Rows [batch, class, box] of one class."""
    zero = c.body.scalar(0, DT_INT32)
    own = c.make("GatherV2", boxes, c.body.scalar(batch, DT_INT32), zero)
    of_class = c.make("GatherNd", scores, c.body.integers([batch, kind]))
    limit = c.body.scalar(most, DT_INT32)
    places, count = c.body.ops(
        "NonMaxSuppressionV4", own, of_class, limit, overlap, least, pad_to_max_output_size=True
    )
    kept = c.make("Slice", places, c.body.integers([0]), c.make("Reshape", count, c.body.integers([1])))
    column = c.make("ExpandDims", kept, c.body.scalar(1, DT_INT32))
    ends = [c.make("ZerosLike", column) + number for number in (batch, kind)]
    return c.make("ConcatV2", *ends, column, c.body.scalar(1, DT_INT32))


def cum_prod(c: Call) -> Tensor:
    """Products from the start on."""
    x = c.input(0)
    axis = axis_of(c.constants(1, "the axis")[0], x.rank)
    return running_product(x, axis, c.flag("exclusive"), c.flag("reverse"))


def _window(weights: tuple[float, ...]) -> Rule:
    """A sum of cosines over a constant number of places."""

    def rule(c: Call) -> Tensor:
        size = c.constants(0, "the size")[0]
        steps = size if c.flag("periodic", True) else size - 1
        at = 2 * np.pi * np.arange(size) / max(steps, 1)
        data = sum((-1) ** k * weight * np.cos(k * at) for k, weight in enumerate(weights))
        type = c.integer("output_datatype", TensorProto.FLOAT)
        outside_type(type)
        return c.body.constant(inner_array(np.asarray(data).astype(stored_dtype(type))))

    return rule


REGISTRATIONS: dict[str, Rule] = {
    "BlackmanWindow": _window((0.42, 0.5, 0.08)),
    "CumProd": cum_prod,
    "HammingWindow": _window((25 / 46, 21 / 46)),
    "HannWindow": _window((0.5, 0.5)),
    "NonMaxSuppression": non_max_suppression,
}
