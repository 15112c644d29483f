"""Rows of reshapes and transposes as one transpose with what reshapes it needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import ReshapeOptionsT, TransposeOptionsT
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from .axis_chain import OPEN, Step, cost, merged_steps
from .pattern import has_scales_along_axis, integer_constant, is_reshape, order_of
from .rewriter import OperatorRewriter


@rule(Op.RESHAPE, Op.TRANSPOSE, needs=("shapes",))
def merge_moves(rewriter: OperatorRewriter, last: LiteOperator) -> bool:
    """Makes one transpose of several with reshapes between them.

    Given:  y = TRANSPOSE(RESHAPE(TRANSPOSE(x, [0, 1, 3, 2]), [n, h * d, s]), [0, 2, 1])    x: [n, h, s, d]
    Result: y = RESHAPE(TRANSPOSE(x, [0, 2, 1, 3]), [n, s, h * d])

    Nothing else may use what is between, and one size at most may be unknown. It must be fewer transposes,
    or as many and fewer operators.
    """
    chain = _chain(last)
    for start in range(len(chain) - 1):
        row = chain[start:]
        steps = _steps(row)
        count = sum(each.code == Op.TRANSPOSE for each in row)
        if steps is not None and cost(steps) < (count, len(row)):
            _replace(rewriter, row, steps)
            return True
    return False


def _chain(last: LiteOperator) -> list[LiteOperator]:
    """The reshapes and transposes that lead to this one, the first one first; none where more follow."""
    users = last.result.users
    if len(users) == 1:
        (user,) = users
        if _moves(user) and user.operand(0) is last.result:
            return []
    found = [last] if _moves(last) else []
    while found:
        before = found[0].sole_producer(0)
        if before is None or not _moves(before):
            break
        found.insert(0, before)
    return found


def _moves(operator: LiteOperator) -> bool:
    """Whether it is one whose effect is known."""
    if not is_reshape(operator) and order_of(operator) is None:
        return False
    x, y = operator.operand(0).shape, operator.result.shape
    if x is None or y is None or list(x).count(OPEN) > 1 or list(y).count(OPEN) > 1 or 0 in (*x, *y):
        return False
    return not has_scales_along_axis(operator.operand(0))


def _steps(row: Sequence[LiteOperator]) -> list[Step] | None:
    """What does the same as these operators; None where that is not known, or takes too many axes."""
    moves: list[Step] = []
    for operator in row:
        order, shape = order_of(operator), operator.result.shape
        assert shape is not None
        moves.append((Op.RESHAPE, list(shape)) if order is None else (Op.TRANSPOSE, order))
    shape = row[0].operand(0).shape
    assert shape is not None
    return merged_steps(shape, moves)


def _replace(rewriter: OperatorRewriter, row: Sequence[LiteOperator], steps: Sequence[Step]) -> None:
    """Other steps in place of a row of operators, of which the last one stays as the last step."""
    last, x = row[-1], row[0].operand(0)
    y = last.result
    if not steps:
        rewriter.skip(last, x)
        return
    for place, step in enumerate(steps[:-1]):
        made = LiteTensor(f"{y.name}/moved{place}", y.type, _shape_after(x, step))
        made.quantization = y.quantization
        operands = [x, _vector(y, place, step)]
        rewriter.insert_before(last, LiteOperator(step[0], operands, [made], _options(step[0]), last.sources))
        x = made
    code = steps[-1][0]
    rewriter.become(last, code, [x, _vector(y, len(steps), steps[-1])], _options(code), row[:-1])


def _shape_after(x: LiteTensor, step: Step) -> tuple[int, ...]:
    assert x.shape is not None
    return tuple(step[1]) if step[0] == Op.RESHAPE else tuple(x.shape[axis] for axis in step[1])


def _vector(y: LiteTensor, place: int, step: Step) -> LiteTensor:
    return integer_constant(f"{y.name}/moving{place}", np.array(step[1], np.int32))


def _options(code: Op) -> ReshapeOptionsT | TransposeOptionsT:
    return ReshapeOptionsT() if code == Op.RESHAPE else TransposeOptionsT()
