"""Variables: what is read where it is known what they hold, and when they are assigned."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import VarHandleOptionsT
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor, has_effects
from .rewriter import OperatorRewriter

# So many operators before a read are looked at.
_MOST_STEPS = 1000


@rule(Op.READ_VARIABLE)
def read_what_is_known(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Takes out a read behind an assignment or another read, with nothing between that may assign.

    Given:  ASSIGN_VARIABLE(v, x); y = READ_VARIABLE(v)
    Result: ASSIGN_VARIABLE(v, x); x wherever y was used

    Only where both have the same shape, known or not, and y is no output of the graph.
    """
    name, y = _variable(operator.operand(0)), operator.result
    if name is None or rewriter.block.gives(y):
        return False
    before = operator.previous
    for _ in range(_MOST_STEPS):
        if before is None:
            return False
        held = _held(before, name)
        if held is not None:
            if held.shape != y.shape or held.type != y.type:
                return False
            return rewriter.skip(operator, held)
        if _may_assign(before, name):
            return False
        before = before.previous
    return False


@rule(Op.ASSIGN_VARIABLE)
def assign_at_once(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Assigns a value as soon as it is there, so that it may be computed in the variable's memory.

    Given:  y = ADD(READ_VARIABLE(v), x); z = SIN(y); ASSIGN_VARIABLE(v, y)
    Result: y = ADD(READ_VARIABLE(v), x); ASSIGN_VARIABLE(v, y); z = SIN(y)

    Only where nothing between may read or assign the variable.
    """
    name, value = _variable(operator.operand(0)), operator.operand(1)
    if name is None or value.producer is None:
        return False
    made = operator.operand(0).producer, value.producer
    before, following = operator.previous, None
    for _ in range(_MOST_STEPS):
        if before is None:
            return False
        if before in made or _may_use(before, name):
            break
        if before.code not in (Op.VAR_HANDLE, Op.ASSIGN_VARIABLE):
            following = before
        before = before.previous
    if following is None or before is None:
        return False
    rewriter.block.remove(operator)
    rewriter.block.insert_before(following, operator)
    rewriter.changed(operator)
    return True


def _may_use(operator: LiteOperator, name: tuple[object, object]) -> bool:
    """Whether the operator may read or assign the variable."""
    if operator.code in (Op.ASSIGN_VARIABLE, Op.READ_VARIABLE):
        return _variable(operator.operand(0)) in (None, name)
    return bool(operator.callees) or has_effects(operator)


def _variable(handle: LiteTensor) -> tuple[object, object] | None:
    """What tells the variable from others; None for a handle that comes from elsewhere."""
    options = None if handle.producer is None else handle.producer.options
    return (options.container, options.shared_name) if isinstance(options, VarHandleOptionsT) else None


def _held(operator: LiteOperator, name: tuple[object, object]) -> LiteTensor | None:
    """What the variable holds right behind the operator, where that tells it."""
    if operator.code not in (Op.ASSIGN_VARIABLE, Op.READ_VARIABLE) or _variable(operator.operand(0)) != name:
        return None
    return operator.operand(1) if operator.code == Op.ASSIGN_VARIABLE else operator.result


def _may_assign(operator: LiteOperator, name: tuple[object, object]) -> bool:
    """Whether the variable may hold something else behind the operator."""
    if operator.code != Op.ASSIGN_VARIABLE:
        return has_effects(operator)
    return _variable(operator.operand(0)) in (None, name)
