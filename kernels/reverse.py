"""REVERSE_V2 and REVERSE_SEQUENCE: axes, or leading parts of them, read backwards."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.tensor import TensorType
from .data_movement import Movement, item_bytes_of, movement_registration
from .index_vector import check_counts, check_index_type, integers, normalized_axis, output_of
from .operators import registration
from .strided_copy import COPY_BYTES_PER_NS, StridedCopy, element_bytes, row_major_strides

# The input is [outer, first, middle, second, inner_bytes]; the sequence is along `first` when
# sequence_first is 1, and the batch along `second`, or the other way round.
REVERSE_SEQUENCE_ARGS = argument_block(
    "x lengths y length_bytes sequence_first outer first middle second inner_bytes"
)
TOO_LONG = 1


def _reverse(context: Context, node: Node) -> Movement:
    check_counts("REVERSE_V2", node, 2)
    x, axes = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "REVERSE_V2", x)
    check_index_type("REVERSE_V2", "axes", axes, (TensorType.INT32,))
    if len(axes.shape) != 1:
        raise PrepareError(f"REVERSE_V2: axes must be a vector, got {axes!r}")
    chosen = [normalized_axis("REVERSE_V2", axis, len(x.shape)) for axis in integers(axes)]
    if len(set(chosen)) != len(chosen) and 0 not in x.shape:
        raise PrepareError(f"REVERSE_V2: axes must differ, got {integers(axes)}")
    item_bytes = item_bytes_of(x, "REVERSE_V2")
    target = row_major_strides(x.shape, item_bytes)
    source = tuple(-stride if axis in chosen else stride for axis, stride in enumerate(target))
    last = sum((x.shape[axis] - 1) * target[axis] for axis in chosen)
    copy = StridedCopy(item_bytes, x.shape, last, source, 0, target)
    return Movement([(y, x.shape)], [(copy, x, y)])


def _prepare_reverse_sequence(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("REVERSE_SEQUENCE", node, 2)
    x, lengths = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "REVERSE_SEQUENCE", x)
    check_index_type("REVERSE_SEQUENCE", "lengths", lengths)
    sequence = int(getattr(node.options, "seq_dim", 0))
    batch = int(getattr(node.options, "batch_dim", 0))
    rank = len(x.shape)
    if not (0 <= sequence < rank and 0 <= batch < rank and sequence != batch):
        raise PrepareError(
            f"REVERSE_SEQUENCE: seq_dim and batch_dim must be two axes in [0, {rank}), "
            f"got {sequence} and {batch}"
        )
    if lengths.shape != (x.shape[batch],):
        raise PrepareError(
            f"REVERSE_SEQUENCE: there must be one length a batch, got {lengths!r} for axis {batch} of {x!r}"
        )
    context.resize_tensor(y, x.shape)
    if x.size == 0:
        return []
    first, second = min(sequence, batch), max(sequence, batch)
    args = np.zeros(1, REVERSE_SEQUENCE_ARGS)
    args["length_bytes"] = lengths.dtype.itemsize
    args["sequence_first"] = sequence < batch
    args["outer"] = math.prod(x.shape[:first])
    args["first"] = x.shape[first]
    args["middle"] = math.prod(x.shape[first + 1 : second])
    args["second"] = x.shape[second]
    args["inner_bytes"] = math.prod(x.shape[second + 1 :]) * element_bytes(x, "REVERSE_SEQUENCE")
    rows = math.prod(x.shape[: second + 1])
    chunks = chunk_count(context, rows * (3 + int(args["inner_bytes"][0]) / COPY_BYTES_PER_NS))
    messages = {TOO_LONG: f"REVERSE_SEQUENCE: lengths must be {x.shape[sequence]} at most"}
    tensors = {"x": x, "lengths": lengths, "y": y}
    return [KernelCall("reverse", "reverse_sequence", args, tensors, chunks, messages=messages)]


REGISTRATIONS = (
    movement_registration("REVERSE_V2", _reverse, (1,)),
    registration("REVERSE_SEQUENCE", _prepare_reverse_sequence),
)
