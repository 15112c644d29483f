"""Loops: variables that nothing needs, and values that the graph around them computes already."""

from __future__ import annotations

from collections.abc import Iterable

from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor, has_effects
from .dead_code import RemoveDeadCode
from .duplicates import operator_key


class DropLoopVariables:
    """Takes out loop variables on which neither the loop's end nor a result that is used depends.

    Given:  n, y = WHILE(i < 9, (n + 1, i + 1), ...)      n counts, and nothing uses it
    Result: y = WHILE(i < 9, (i + 1), ...)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many variables went."""
        uses = graph.uses()
        dropped = 0
        for operator in graph.operators:
            if operator.code != BuiltinOperator.WHILE:
                continue
            used = {i for i, y in enumerate(operator.outputs) if id(y) in uses}
            live = sorted(_live_variables(operator, used))
            if len(live) < len(operator.inputs):
                dropped += len(operator.inputs) - len(live)
                _keep(operator, live)
        return dropped


def _live_variables(operator: LiteOperator, used: set[int]) -> set[int]:
    """The variables that the loop cannot do without, given those whose results are used."""
    test, body = operator.callees
    wanted = _sources(test, test.outputs)
    # A loop has at least one variable.
    live = used | {i for i, tensor in enumerate(test.inputs) if id(tensor) in wanted} or {0}
    while True:
        wanted = _sources(body, [body.outputs[i] for i in live])
        needed = live | {i for i, tensor in enumerate(body.inputs) if id(tensor) in wanted}
        if needed == live:
            return live
        live = needed


def _sources(graph: LiteGraph, tensors: Iterable[LiteTensor]) -> set[int]:
    """The ids of all tensors that these, and the graph's effects, depend on; these included."""
    wanted = {id(tensor) for tensor in tensors}
    for operator in reversed(graph.operators):
        if any(id(tensor) in wanted for tensor in operator.outputs) or has_effects(operator):
            wanted.update(id(tensor) for tensor in operator.inputs if tensor is not None)
    return wanted


def _keep(operator: LiteOperator, places: list[int]) -> None:
    test, body = operator.callees
    operator.inputs = [operator.inputs[i] for i in places]
    operator.outputs = [operator.outputs[i] for i in places]
    body.outputs = [body.outputs[i] for i in places]
    for graph in (test, body):
        graph.inputs = [graph.inputs[i] for i in places]
    RemoveDeadCode().run(body)


class DropBranchResults:
    """Takes out results of IF that nothing uses, and operands that no branch uses then.

    Given:  p, q = IF(c, (x + 1, x * z), (x, z), x, z)      nothing uses q
    Result: p = IF(c, (x + 1), (x), x)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many results and operands went."""
        uses = graph.uses()
        dropped = 0
        for operator in graph.operators:
            if operator.code != BuiltinOperator.IF:
                continue
            before = len(operator.inputs) + len(operator.outputs)
            used = [i for i, y in enumerate(operator.outputs) if id(y) in uses]
            operator.outputs = [operator.outputs[i] for i in used]
            for branch in operator.callees:
                branch.outputs = [branch.outputs[i] for i in used]
                RemoveDeadCode().run(branch)
            _drop_operands(operator)
            dropped += before - len(operator.inputs) - len(operator.outputs)
        return dropped


def _drop_operands(operator: LiteOperator) -> None:
    used = [branch.uses() for branch in operator.callees]
    condition, *operands = operator.inputs
    kept = [
        i
        for i in range(len(operands))
        if any(id(branch.inputs[i]) in uses for branch, uses in zip(operator.callees, used, strict=True))
    ]
    operator.inputs = [condition, *(operands[i] for i in kept)]
    for branch in operator.callees:
        branch.inputs = [branch.inputs[i] for i in kept]


class ShareWithLoops:
    """Hands a loop what the graph around it computes already from values that the loop never changes.

    Given:  m = ADD(n, 1)      y = WHILE(i < n + 1, (i + 1), i, n)
    Result: m = ADD(n, 1)      y = WHILE(i < m, (i + 1), i, n, m)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went from the loops."""
        shared = 0
        for operator in [each for each in graph.operators if each.code == BuiltinOperator.WHILE]:
            if not _unchanged(operator):
                continue
            known = _known_before(graph, operator)
            for inner in operator.callees:
                used = _shared(operator, inner, known)
                shared += len(used)
                for each in used:
                    _move_before(graph, each, operator)
        return shared


def _known_before(graph: LiteGraph, operator: LiteOperator) -> dict[object, LiteOperator]:
    """The operators of one result that run before another one, or could, by what they compute."""
    place = graph.operators.index(operator)
    early, late = graph.operators[:place], graph.operators[place + 1 :]
    later = {id(tensor) for each in graph.operators[place:] for tensor in each.outputs}
    could = [each for each in late if not any(id(tensor) in later for tensor in each.inputs)]
    return {operator_key(each): each for each in (*could, *early) if len(each.outputs) == 1}


def _move_before(graph: LiteGraph, moved: LiteOperator, operator: LiteOperator) -> None:
    place = graph.operators.index(operator)
    if graph.operators.index(moved) > place:
        graph.remove([moved])
        graph.operators.insert(place, moved)


def _unchanged(operator: LiteOperator) -> list[int]:
    """The variables that the body hands on as they are."""
    _, body = operator.callees
    return [i for i, (x, y) in enumerate(zip(body.inputs, body.outputs, strict=True)) if x is y]


def _shared(
    operator: LiteOperator, inner: LiteGraph, known: dict[object, LiteOperator]
) -> list[LiteOperator]:
    """Take out of a subgraph of the loop what operators outside compute; returns these."""
    gone, used = [], []
    for each in inner.operators:
        outside = {id(inner.inputs[i]): operator.inputs[i] for i in _unchanged(operator)}
        if len(each.outputs) != 1 or not any(id(tensor) in outside for tensor in each.inputs):
            continue
        key = operator_key(each, outside)
        if key is None or key not in known:
            continue
        used.append(known[key])
        mine = inner.inputs[_variable(operator, known[key].outputs[0])]
        for user in inner.operators:
            user.inputs = [mine if tensor is each.outputs[0] else tensor for tensor in user.inputs]
        inner.outputs = [mine if tensor is each.outputs[0] else tensor for tensor in inner.outputs]
        gone.append(each)
    inner.remove(gone)
    return used


def _variable(operator: LiteOperator, value: LiteTensor) -> int:
    """The place of the variable that holds a value throughout the loop, a new one where there is none."""
    for i in _unchanged(operator):
        if operator.inputs[i] is value:
            return i
    test, body = operator.callees
    operator.inputs.append(value)
    operator.outputs.append(LiteTensor(f"{operator.outputs[0].name}/{value.name}", value.type, value.shape))
    for graph in (test, body):
        graph.inputs.append(LiteTensor(f"{graph.name}_{value.name}", value.type, value.shape))
    body.outputs.append(body.inputs[-1])
    return len(operator.inputs) - 1
