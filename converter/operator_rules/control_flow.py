"""IF and WHILE: what nothing needs of them, and what the graph around them computes already."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from ...lite.tensor import TensorType
from ...schema.objects import TableT
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import ReshapeOptionsT, SliceOptionsT
from ..graph.rule import rule
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor, PartialShape, has_effects
from .equal_operators import operator_key, remove_dead_code
from .rewriter import OperatorRewriter


@rule(Op.WHILE)
def drop_loop_variables(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Takes out loop variables on which neither the loop's end nor a result that is used depends.

    Given:  n, y = WHILE(i < 9, (n + 1, i + 1), ...)      n counts, and nothing uses it
    Result: y = WHILE(i < 9, (i + 1), ...)
    """
    live = sorted(_live_variables(operator))
    if len(live) == len(operator.operands):
        return False
    test, body = operator.callees
    operator.give([operator.results[i] for i in live])
    body.outputs = tuple(body.outputs[i] for i in live)
    remove_dead_code(body)
    for graph in (test, body):
        graph.inputs = [graph.inputs[i] for i in live]
    rewriter.set_operands(operator, [operator.operands[i] for i in live])
    return True


def _live_variables(operator: LiteOperator) -> set[int]:
    """The variables that the loop cannot do without."""
    test, body = operator.callees
    wanted = _needed(test, test.outputs)
    live = {i for i, y in enumerate(operator.results) if y.users}
    # A loop has at least one variable.
    live |= {i for i, tensor in enumerate(test.inputs) if tensor in wanted} or {0}
    while True:
        wanted = _needed(body, [body.outputs[i] for i in live])
        needed = live | {i for i, tensor in enumerate(body.inputs) if tensor in wanted}
        if needed == live:
            return live
        live = needed


def _needed(graph: LiteGraph, tensors: Iterable[LiteTensor]) -> set[LiteTensor | None]:
    """All tensors that these, and the graph's effects, depend on; these included."""
    wanted: set[LiteTensor | None] = set(tensors)
    for operator in reversed(graph):
        if any(tensor in wanted for tensor in operator.results) or has_effects(operator):
            wanted.update(operator.operands)
    return wanted


@rule(Op.IF)
def drop_branch_results(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Takes out results of IF that nothing uses, and operands that no branch uses then.

    Given:  p, q = IF(c, (x + 1, x * z), (x, z), x, z)      nothing uses q
    Result: p = IF(c, (x + 1), (x), x)
    """
    used = [i for i, y in enumerate(operator.results) if y.users]
    before = len(operator.operands) + len(operator.results)
    operator.give([operator.results[i] for i in used])
    for branch in operator.callees:
        branch.outputs = tuple(branch.outputs[i] for i in used)
        remove_dead_code(branch)
    condition, *operands = operator.operands
    kept = [i for i in range(len(operands)) if any(branch.inputs[i].users for branch in operator.callees)]
    if len(kept) + 1 + len(used) == before:
        return False
    for branch in operator.callees:
        branch.inputs = [branch.inputs[i] for i in kept]
    rewriter.set_operands(operator, [condition, *(operands[i] for i in kept)])
    return True


@rule(Op.WHILE)
def copy_moved_variables(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Copies what the body hands on to a later variable, as LiteRT assigns one after the other.

    Given:  a, b = WHILE(..., (b, a), a, b)
    Result: a, b = WHILE(..., (b, SLICE(a)), a, b)
    """
    _, body = operator.callees
    places = {tensor: place for place, tensor in enumerate(body.inputs)}
    outputs = list(body.outputs)
    for place, tensor in enumerate(outputs):
        # Of an unknown rank there is no operator that copies.
        if places.get(tensor, place) < place and tensor.shape is not None:
            outputs[place] = _copied(body, tensor, operator.sources)
    if outputs == list(body.outputs):
        return False
    body.outputs = tuple(outputs)
    return True


def _copied(body: LiteGraph, x: LiteTensor, sources: tuple[str, ...]) -> LiteTensor:
    """SLICE of all: RESHAPE and others may leave their result where their operand is."""
    assert x.shape is not None
    if x.shape == ():
        one = _made(body, Op.RESHAPE, [x, _vector(x, "one", [1])], (1,), ReshapeOptionsT(), sources)
        copy = _copied(body, one, sources)
        return _made(body, Op.RESHAPE, [copy, _vector(x, "scalar", [])], (), ReshapeOptionsT(), sources)
    bounds = [_vector(x, "begin", [0] * len(x.shape)), _vector(x, "size", [-1] * len(x.shape))]
    return _made(body, Op.SLICE, [x, *bounds], x.shape, SliceOptionsT(), sources)


def _vector(x: LiteTensor, name: str, numbers: Sequence[int]) -> LiteTensor:
    data = np.array(numbers, np.int32)
    return LiteTensor(f"{x.name}/{name}", TensorType.INT32, data.shape, data)


def _made(
    body: LiteGraph,
    code: Op,
    operands: Sequence[LiteTensor],
    shape: PartialShape,
    options: TableT,
    sources: tuple[str, ...],
) -> LiteTensor:
    """The result of a new operator at the end, of the first operand's type."""
    y = LiteTensor(f"{operands[0].name}/{code.name.lower()}", operands[0].type, shape)
    body.append(LiteOperator(code, operands, [y], options, sources))
    return y


@rule(Op.WHILE)
def share_with_loops(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Hands a loop what the graph around it computes already from values that the loop never changes.

    Given:  m = ADD(n, 1)      y = WHILE(i < n + 1, (i + 1), i, n)
    Result: m = ADD(n, 1)      y = WHILE(i < m, (i + 1), i, n, m)
    """
    if not _unchanged(operator):
        return False
    shared = False
    for inner in operator.callees:
        for each in inner:
            outer = _computed_around(rewriter, operator, inner, each)
            if outer is None:
                continue
            place = _variable(rewriter, operator, outer.result)
            mine = inner.inputs[place]
            each.result.replace_all_uses_with(mine)
            each.erase()
            _put_before(outer, operator)
            shared = True
    return shared


def _computed_around(
    rewriter: OperatorRewriter, loop: LiteOperator, inner: LiteGraph, each: LiteOperator
) -> LiteOperator | None:
    """The operator before the loop, or that could stand there, that computes what one inside does."""
    outside = {inner.inputs[i]: loop.operands[i] for i in _unchanged(loop)}
    if len(each.results) != 1 or not any(tensor in outside for tensor in each.operands):
        return None
    key = operator_key(each, outside)  # type: ignore[arg-type]  # no None is among the keys
    known = rewriter.turn_notes.get(share_with_loops)
    if known is None:
        known = rewriter.turn_notes[share_with_loops] = _by_key(rewriter.block)
    found = [other for other in known.get(key, ()) if other.block is loop.block and other is not loop]
    early = [other for other in found if rewriter.block.comes_before(other, loop)]
    late = [other for other in found if other not in early and _may_stand_before(other, loop)]
    return early[-1] if early else late[-1] if late else None


def _by_key(graph: LiteGraph) -> dict[Hashable, list[LiteOperator]]:
    """The operators of one result by what they compute."""
    found: dict[Hashable, list[LiteOperator]] = {}
    for operator in graph:
        key = operator_key(operator) if len(operator.results) == 1 else None
        if key is not None:
            found.setdefault(key, []).append(operator)
    return found


def _may_stand_before(operator: LiteOperator, loop: LiteOperator) -> bool:
    graph = loop.block
    assert graph is not None
    return all(each is not loop and graph.comes_before(each, loop) for each in operator.neighbours_before())


def _put_before(operator: LiteOperator, loop: LiteOperator) -> None:
    graph = loop.block
    assert graph is not None
    if not graph.comes_before(operator, loop):
        graph.remove(operator)
        graph.insert_before(loop, operator)


def _unchanged(operator: LiteOperator) -> list[int]:
    """The variables that the body hands on as they are."""
    _, body = operator.callees
    return [i for i, (x, y) in enumerate(zip(body.inputs, body.outputs, strict=True)) if x is y]


def _variable(rewriter: OperatorRewriter, operator: LiteOperator, value: LiteTensor) -> int:
    """The place of the variable that holds a value throughout the loop, a new one where there is none."""
    for i in _unchanged(operator):
        if operator.operands[i] is value:
            return i
    test, body = operator.callees
    y = LiteTensor(f"{operator.result.name}/{value.name}", value.type, value.shape)
    rewriter.set_operands(operator, (*operator.operands, value))
    operator.give((*operator.results, y))
    for graph in (test, body):
        made = LiteTensor(f"{graph.name}_{value.name}", value.type, value.shape)
        graph.inputs = [*graph.inputs, made]
    body.outputs = (*body.outputs, body.inputs[-1])
    return len(operator.operands) - 1
