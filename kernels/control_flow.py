"""IF, WHILE, CALL and their StableHLO kin: operators that run other subgraphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..lite.called_subgraph import CalledSubgraph
from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .kept_turns import KeptTurns
from .native_call import BRANCHES, LOOP, NativeCall, native_plans, reads
from .operators import registration
from .subgraph_call import (
    Value,
    called,
    check_signature,
    give_outputs,
    is_known_handle,
    leave_open,
    match_inputs,
    node_inputs,
    outputs_of,
    prepare_called,
    run,
    same_handle,
    size_outputs,
    value_of,
)

CONDITION_FAILED = 1  # of LOOP
BODY_FAILED = 2
BRANCH_FAILED = 1  # of BRANCHES, plus the number of the branch


# IF, CALL, STABLEHLO_CASE and STABLEHLO_COMPOSITE: one of several subgraphs runs.
Branches = Callable[[Context, Node], list[CalledSubgraph]]


def _option(name: str, operator: str, what: str) -> Callable[[Context, Node], CalledSubgraph]:
    def subgraph(context: Context, node: Node) -> CalledSubgraph:
        if node.options is None:
            raise PrepareError(f"{operator}: it must have options that name its subgraphs")
        return called(context, node, operator, what, int(getattr(node.options, name)))

    return subgraph


def _case_branches(context: Context, node: Node) -> list[CalledSubgraph]:
    indices = [] if node.options is None else [int(i) for i in node.options.branch_subgraph_indices]
    if not indices:
        raise PrepareError("STABLEHLO_CASE: it must have a branch at least, got none")
    return [called(context, node, "STABLEHLO_CASE", f"branch {k}", index) for k, index in enumerate(indices)]


def _selector(context: Context, node: Node, operator: str, type: int) -> Tensor:
    selector = context.input(node, 0)
    if selector.type != type or selector.size != 1:
        name = TensorType(type).name.lower()
        raise PrepareError(f"{operator}: input 0 must be one {name}, got {selector!r}")
    return selector


def chosen(selector: Tensor | None, branches: int) -> int:
    """Which branch runs: the first when a bool is true; the last when a number is out of range."""
    if selector is None:
        return 0
    value = int(selector.array().ravel()[0])
    if selector.type == TensorType.BOOL:
        return 0 if value else 1
    return value if 0 <= value < branches else branches - 1


def _branch_operator(name: str, branches_of: Branches, selector_type: int | None) -> Registration:
    """An operator that runs one subgraph on its inputs (those behind the selector, if it has one)."""
    first = 0 if selector_type is None else 1

    def selector_of(context: Context, node: Node) -> Tensor | None:
        return None if selector_type is None else _selector(context, node, name, selector_type)

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        selector = selector_of(context, node)
        inputs = node_inputs(context, node, first)
        branches = branches_of(context, node)
        unfit: list[PrepareError] = []
        for k, branch in enumerate(branches):
            check_signature(name, f"branch {k}", branch, len(inputs), len(node.outputs))
            match_inputs(branch, inputs)
            try:
                branch.allocate_tensors()
            except PrepareError as error:
                # The inputs may be meant for another branch: it is refused when it is to run.
                unfit.append(error)
        if len(unfit) == len(branches):
            raise unfit[0]
        if unfit or not all(branch.outputs_known for branch in branches) or _differ(branches):
            leave_open(context, node)
            return None
        size_outputs(context, node, name, branches[0])
        plans = native_plans(branches)
        if plans is None or not all(x is None or _is_placed(x) for x in inputs):
            return None
        return _branch_calls(context, node, selector, inputs, branches)

    def invoke(context: Context, node: Node) -> None:
        branches = branches_of(context, node)
        branch = branches[chosen(selector_of(context, node), len(branches))]
        run(branch, [None if x is None else value_of(x) for x in node_inputs(context, node, first)])
        give_outputs(context, node, name, outputs_of(branch))

    return registration(name, prepare, invoke)


def _is_placed(x: Tensor) -> bool:
    """Whether a native call can pass the input on: copy it, or rely on its handle."""
    return x.has_fixed_size or is_known_handle(x)


def _differ(branches: list[CalledSubgraph]) -> bool:
    """Whether the branches' outputs have different shapes, or are different resources."""
    outputs = [[branch.tensor(t) for t in branch.outputs] for branch in branches]
    return any(
        x.shape != y.shape or not same_handle(x, y)
        for other in outputs
        for x, y in zip(outputs[0], other, strict=True)
    )


def _branch_calls(
    context: Context,
    node: Node,
    selector: Tensor | None,
    inputs: list[Tensor | None],
    branches: list[CalledSubgraph],
) -> list[KernelCall]:
    plans = native_plans(branches)
    assert plans is not None
    call = NativeCall(BRANCHES, plans)
    call.head["branches"] = len(branches)
    if selector is not None:
        call.head["selector_bytes"] = selector.nbytes
        call.tensors["selector"] = selector
    for k, (branch, plan) in enumerate(zip(branches, plans, strict=True)):
        into = [(x, branch.tensor(t)) for x, t in zip(inputs, branch.inputs, strict=True)]
        outputs = [(branch.tensor(t), y) for t, y in zip(branch.outputs, node.outputs, strict=True)]
        out_of = [(x, context.tensor(y)) for x, y in outputs if y >= 0]
        into_copies, out_copies = call.copies(into, branch), call.copies(out_of)
        call.words(plan.address if plan else 0, len(into_copies), len(out_copies))
        call.add(into_copies)
        call.add(out_copies)
        call.failures[BRANCH_FAILED + k] = branch
    return call.kernel_calls("run_branch")


def _check_condition(operator: str, output: Tensor) -> None:
    if output.type != TensorType.BOOL or output.size != 1:
        raise PrepareError(f"{operator}: the condition must be one bool, got {output!r}")


def _while_operator(operator: str) -> Registration:
    condition_of = _option("cond_subgraph_index", operator, "condition")
    body_of = _option("body_subgraph_index", operator, "body")

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        inputs = node_inputs(context, node, 0)
        condition, body = condition_of(context, node), body_of(context, node)
        check_signature(operator, "condition", condition, len(inputs), 1)
        check_signature(operator, "body", body, len(inputs), len(inputs))
        if len(node.outputs) != len(inputs):
            raise PrepareError(
                f"{operator}: must have as many outputs as inputs, got {len(node.outputs)} and {len(inputs)}"
            )
        prepare_called(condition, inputs)
        if condition.outputs_known:
            _check_condition(operator, condition.tensor(condition.outputs[0]))
        if not _fits(body, inputs) or not body.outputs_known or _changes_shape(body):
            leave_open(context, node)
            node.user_data = KeptTurns()
            return None
        size_outputs(context, node, operator, body)
        plans = native_plans([condition, body])
        if plans is None or not condition.outputs_known or not _all_sized(inputs):
            node.user_data = KeptTurns()
            return None
        return _loop_calls(context, node, [x for x in inputs if x is not None], condition, body)

    def invoke(context: Context, node: Node) -> None:
        inputs = node_inputs(context, node, 0)
        assert isinstance(node.user_data, KeptTurns)
        loop = node.user_data.loop(inputs)
        values, ended = loop.replay(context, node, inputs)
        if values is None:
            values = [None if x is None else value_of(x) for x in inputs]
        if ended:  # the usual end, from the second run on
            give_outputs(context, node, operator, values)
            return
        condition, body = condition_of(context, node), body_of(context, node)
        is_read = [reads(condition, condition.tensor(t)) for t in condition.inputs]
        while not ended:
            tested = [x if r else None for x, r in zip(values, is_read, strict=True)]
            ended = not _holds(operator, condition, tested)
            loop.saw_condition(condition)
            if not ended:
                context.cancellation.check()
                run(body, values)
                loop.saw_body(body)
                values = outputs_of(body)
        give_outputs(context, node, operator, values)

    return registration(operator, prepare, invoke)


def _fits(body: CalledSubgraph, inputs: list[Tensor | None]) -> bool:
    """Whether a body takes the loop's first values.

    One that does not is refused now; where a value is empty only when it is to run: loops over
    nothing take no turn, and what a turn would put into a list of nothing has no place in it.
    """
    try:
        prepare_called(body, inputs)
    except PrepareError:
        if not any(x is not None and 0 in x.shape for x in inputs):
            raise
        return False
    return True


def _holds(operator: str, condition: CalledSubgraph, values: Sequence[Value | None]) -> bool:
    run(condition, values)
    output = condition.tensor(condition.outputs[0])
    _check_condition(operator, output)
    return bool(output.array().ravel()[0])


def _all_sized(inputs: list[Tensor | None]) -> bool:
    return all(x is not None and _is_placed(x) for x in inputs)


def _changes_shape(body: CalledSubgraph) -> bool:
    """Whether a turn may give a value another shape than it had before, or another resource."""
    pairs = [(body.tensor(t), body.tensor(u)) for t, u in zip(body.inputs, body.outputs, strict=True)]
    return any(x.shape != y.shape or not same_handle(x, y) for x, y in pairs)


def _loop_calls(
    context: Context, node: Node, inputs: list[Tensor], condition: CalledSubgraph, body: CalledSubgraph
) -> list[KernelCall]:
    """The values of the loop lie in the body's inputs, and what the condition reads also in its own."""
    plans = native_plans([condition, body])
    assert plans is not None
    call = NativeCall(LOOP, plans)
    call.head["condition_plan"], call.head["body_plan"] = (plan.address if plan else 0 for plan in plans)
    call.tensors["condition"] = condition.tensor(condition.outputs[0])
    values = [body.tensor(t) for t in body.inputs]
    tests = [condition.tensor(t) for t in condition.inputs]
    changed = [i for i, t in enumerate(body.outputs) if t != body.inputs[i]]
    begin = call.copies([*zip(inputs, values, strict=True)])
    begin += call.copies([*zip(inputs, tests, strict=True)], condition)
    turn: list[tuple[Tensor, Tensor]] = []
    back: list[tuple[Tensor, Tensor]] = []
    for i in changed:
        after = body.tensor(body.outputs[i])
        if body.outputs[i] in body.inputs:
            # It is another value's input, which is about to be written.
            kept = context.add_temporary(node, after.nbytes)
            turn.append((after, kept))
            after = kept
        back.append((after, values[i]))
    turn = call.copies(turn + back)
    turn += call.copies([(values[i], tests[i]) for i in changed], condition)
    outputs = [(values[i], context.tensor(t)) for i, t in enumerate(node.outputs) if t >= 0]
    end = call.copies(outputs)
    for copies in (begin, turn, end):
        call.add(copies)
    call.head["begin_copies"], call.head["turn_copies"], call.head["end_copies"] = map(
        len, (begin, turn, end)
    )
    call.head["cost"] = 1 + sum(y.nbytes for _, y in turn) // 1024
    call.failures[CONDITION_FAILED], call.failures[BODY_FAILED] = condition, body
    return call.kernel_calls("run_loop")


_then = _option("then_subgraph_index", "IF", "then")
_else = _option("else_subgraph_index", "IF", "else")
_callee = _option("subgraph", "CALL", "callee")
_decomposition = _option("decomposition_subgraph_index", "STABLEHLO_COMPOSITE", "decomposition")

REGISTRATIONS = (
    _branch_operator("IF", lambda c, n: [_then(c, n), _else(c, n)], TensorType.BOOL),
    _branch_operator("CALL", lambda c, n: [_callee(c, n)], None),
    _branch_operator("STABLEHLO_CASE", _case_branches, TensorType.INT32),
    _branch_operator("STABLEHLO_COMPOSITE", lambda c, n: [_decomposition(c, n)], None),
    _while_operator("WHILE"),
    _while_operator("STABLEHLO_WHILE"),
)
