"""NON_MAX_SUPPRESSION_V4 and V5: the best boxes, without those that overlap a better one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .dynamic_output import dynamic_call
from .index_vector import check_counts, check_index_type, check_sizes, integers
from .operators import registration

# The outputs have room for `most` boxes, which is what must lie at `size`. soft tells whether sigma and
# selected_scores are there. The heap holds, for every box that waits, its number, its score, and how
# many selected boxes it has been compared with.
NMS_ARGS = argument_block(
    "boxes scores size iou_threshold score_threshold sigma selected selected_scores count heap_boxes "
    "heap_scores heap_compared boxes_count most soft cancellation"
)
NEGATIVE_SIGMA = 1

_FLOAT = (TensorType.FLOAT32,)
_INT = (TensorType.INT32,)


class Operands(NamedTuple):
    """The tensors of a node; sigma and selected_scores are None in V4."""

    boxes: Tensor
    scores: Tensor
    most: Tensor
    iou_threshold: Tensor
    score_threshold: Tensor
    sigma: Tensor | None
    selected: Tensor
    selected_scores: Tensor | None
    number: Tensor


def _operands(context: Context, node: Node, operator: str) -> Operands:
    soft = operator == "NON_MAX_SUPPRESSION_V5"
    check_counts(operator, node, 5 + soft, 2 + soft)
    inputs = [context.input(node, i) for i in range(5 + soft)]
    found = Operands(
        inputs[0],
        inputs[1],
        inputs[2],
        inputs[3],
        inputs[4],
        inputs[5] if soft else None,
        context.output(node, 0),
        context.output(node, 1) if soft else None,
        context.output(node, 1 + soft),
    )
    for what, tensor, types in (
        ("boxes", found.boxes, _FLOAT),
        ("scores", found.scores, _FLOAT),
        ("the size", found.most, _INT),
        ("selected boxes", found.selected, _INT),
        ("their number", found.number, _INT),
    ):
        check_index_type(operator, what, tensor, types)
    if found.boxes.shape[1:] != (4,) or found.scores.shape != found.boxes.shape[:1]:
        raise PrepareError(
            f"{operator}: there must be 4 corners and a score a box, got {found.boxes!r} and {found.scores!r}"
        )
    for scalar in inputs[2:]:
        kind = TensorType.INT32 if scalar is found.most else TensorType.FLOAT32
        if scalar.shape != () or scalar.type != kind:
            raise PrepareError(f"{operator}: size, thresholds and sigma must be scalars, got {scalar!r}")
    if found.selected_scores is not None:
        check_index_type(operator, "selected scores", found.selected_scores, _FLOAT)
    return found


def _prepare(operator: str, context: Context, node: Node) -> Sequence[KernelCall]:
    found = _operands(context, node, operator)
    context.resize_tensor(found.number, ())
    args = np.zeros(1, NMS_ARGS)
    args["boxes_count"] = found.boxes.shape[0]
    tensors = {
        "boxes": found.boxes,
        "scores": found.scores,
        "size": found.most,
        "iou_threshold": found.iou_threshold,
        "score_threshold": found.score_threshold,
        "count": found.number,
    }
    for name in ("heap_boxes", "heap_scores", "heap_compared"):
        tensors[name] = context.add_temporary(node, max(found.boxes.shape[0], 1) * 4)
    outputs = {"selected": found.selected}
    if found.sigma is not None and found.selected_scores is not None:
        args["soft"] = 1
        tensors["sigma"] = found.sigma
        outputs["selected_scores"] = found.selected_scores
    messages = {NEGATIVE_SIGMA: f"{operator}: sigma must be at least 0"}
    call = KernelCall("non_max_suppression", "non_max_suppression", args, tensors, messages=messages)

    def most_of(args: np.ndarray) -> int:
        return check_sizes(operator, (integers(found.most)[0],))[0]

    if not found.most.is_constant:
        return [dynamic_call(call, context, {name: (y, ()) for name, y in outputs.items()}, "most", most_of)]
    args["most"] = most_of(args)
    for y in outputs.values():
        context.resize_tensor(y, (int(args["most"][0]),))
    tensors |= outputs
    return [call]


def _registration(name: str) -> Registration:
    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        return _prepare(name, context, node)

    return registration(name, prepare)


REGISTRATIONS = (
    _registration("NON_MAX_SUPPRESSION_V4"),
    _registration("NON_MAX_SUPPRESSION_V5"),
)
