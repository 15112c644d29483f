"""If, While and Case: IF and WHILE operators with subgraphs; calls, whose place the function's body takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, EqualOptionsT, IfOptionsT, NotEqualOptionsT, WhileOptionsT
from ..ir.module import Function
from ..ir.node import Node, Value
from ..lite_graph import LiteGraph, LiteTensor
from ..operator_rules.equal_operators import remove_dead_code
from ..partial_shape import joined
from .body import function_named, lower_function
from .composites.register import composite_results
from .led_list import lead_on, led, may_be_empty, without_leading
from .list_shape import lists_are_told
from .lowering import Lowering, Rule
from .tensor_list import ReservedList

# Each branch of a Case is an IF inside the one before, and models nest no deeper than 100.
_MOST_BRANCHES = 64
# After this many rounds a loop's shapes that still change are given up.
_MOST_ROUNDS = 4
# Lowers a branch into a graph for arguments; gives its results.
Branch = Callable[[Lowering, Sequence[LiteTensor]], Sequence[LiteTensor]]


def if_rule(lowering: Lowering, node: Node) -> Sequence[LiteTensor]:
    """IF, or the branch itself where the condition is constant."""
    condition, *operands = lowering.inputs(node)
    branches = [
        _branch_of(lowering, node, node.function(f"{name}_branch").name, name) for name in ("then", "else")
    ]
    return _if(lowering, node, _truth(lowering, node, condition), branches[0], branches[1], operands, "")


def case_rule(lowering: Lowering, node: Node) -> Sequence[LiteTensor]:
    """A chain of IFs; an index that names no branch takes the last."""
    index, *operands = lowering.inputs(node)
    functions = [f.name for f in node.functions("branches")]
    if not functions:
        raise ModelError("a Case must have branches")
    if len(functions) > _MOST_BRANCHES:
        raise UnsupportedError(f"a Case must have at most {_MOST_BRANCHES} branches, got {len(functions)}")
    branches = [_branch_of(lowering, node, function, f"branch{i}") for i, function in enumerate(functions)]
    return _case_from(0, branches, node, lowering, [index, *operands])


def _case_from(
    place: int, branches: Sequence[Branch], node: Node, lowering: Lowering, arguments: Sequence[LiteTensor]
) -> Sequence[LiteTensor]:
    """What remains of a Case when its index is at least `place`; the first argument is the index."""
    index, *operands = arguments
    if place == len(branches) - 1:
        return branches[place](lowering, operands)
    suffix = f"/case{place}"
    wanted = lowering.constant(lowering.name(node, f"{suffix}/index"), np.array(place, np.int32))
    if index.data is not None:
        is_this = lowering.constant(index.name, np.asarray(index.data == place))
    else:
        is_this = lowering.operator(
            node,
            BuiltinOperator.EQUAL,
            [index, wanted],
            (),
            EqualOptionsT(),
            type=TensorType.BOOL,
            suffix=f"{suffix}/is",
        )

    def this(inner: Lowering, given: Sequence[LiteTensor]) -> Sequence[LiteTensor]:
        return branches[place](inner, given[1:])

    rest = partial(_case_from, place + 1, branches, node)
    return _if(lowering, node, is_this, this, rest, arguments, "" if place == 0 else suffix)


def _branch_of(lowering: Lowering, node: Node, function: str, name: str) -> Branch:
    called = function_named(lowering.program, function)
    return partial(_lower_branch, node, called, lowering.graph, f"{lowering.name(node)}/{name}/")


def _lower_branch(
    node: Node,
    function: Function,
    outer: LiteGraph,
    prefix: str,
    lowering: Lowering,
    arguments: Sequence[LiteTensor],
) -> Sequence[LiteTensor]:
    # Nodes that are named after the conditional already, in a graph of their own, keep their names.
    named = all(inner.name.startswith(f"{node.name}/") for inner in function.body if inner.name)
    if named and lowering.graph is not outer:
        prefix = lowering.prefix
    return lower_function(lowering.program, function, arguments, lowering.graph, prefix)


def _truth(lowering: Lowering, node: Node, condition: LiteTensor) -> LiteTensor:
    """The condition as a bool scalar.

    Source: TensorFlow core/kernels/functional_ops.cc, ToBool.
    """
    if condition.data is not None:
        data = condition.data
        return lowering.constant(
            condition.name, np.array(bool(data.reshape(-1)[0]) if data.ndim == 0 else data.size)
        )
    # Of a condition whose rank is not known IF itself says when it runs that it must be one.
    if condition.shape not in ((), None):
        raise UnsupportedError("the condition must be a scalar")
    if condition.type == TensorType.BOOL:
        return condition
    zero = lowering.scalar(lowering.name(node, "/zero"), 0, condition)
    return lowering.operator(
        node,
        BuiltinOperator.NOT_EQUAL,
        [condition, zero],
        (),
        NotEqualOptionsT(),
        type=TensorType.BOOL,
        suffix="/truth",
    )


def _if(
    lowering: Lowering,
    node: Node,
    condition: LiteTensor,
    then: Branch,
    otherwise: Branch,
    operands: Sequence[LiteTensor],
    suffix: str,
) -> Sequence[LiteTensor]:
    if condition.data is not None:
        lowering.program.outcomes[lowering.name(node)] = "inlined"
        return (then if bool(condition.data) else otherwise)(lowering, operands)
    made: list[LiteGraph] = []
    for branch, name in ((then, "then"), (otherwise, "else")):
        graph, inner = _graph(lowering, node, f"{suffix}_{name}")
        graph.inputs = [_argument(graph.name, i, operand) for i, operand in enumerate(operands)]
        graph.outputs = branch(inner, graph.inputs)
        remove_dead_code(graph)
        made.append(graph)
    kept = _drop_inputs(made, [operand.data is None for operand in operands])
    results = _results(lowering, node, made[0].outputs, made[1].outputs, suffix)
    inputs = [condition, *(operands[i] for i in kept)]
    operator = lowering.add(node, BuiltinOperator.IF, inputs, results, IfOptionsT())
    operator.callees = (made[0], made[1])
    operator.option_fields = ("then_subgraph_index", "else_subgraph_index")
    return results


def _graph(lowering: Lowering, node: Node, suffix: str) -> tuple[LiteGraph, Lowering]:
    """An empty subgraph of the node, and the lowering that fills it."""
    graph = LiteGraph(lowering.name(node, suffix))
    return graph, Lowering(lowering.program, graph, lowering.prefix, lowering.scope)


def _argument(graph: str, index: int, operand: LiteTensor) -> LiteTensor:
    """The tensor of a subgraph that an operand becomes: a constant stays one."""
    if operand.data is not None:
        copy = LiteTensor(operand.name, operand.type, operand.shape, operand.data)
    else:
        copy = LiteTensor(f"{graph}_arg{index}", operand.type, operand.shape)
    copy.sizes = operand.sizes
    return copy


def _drop_inputs(graphs: Sequence[LiteGraph], wanted: Sequence[bool]) -> list[int]:
    """Leave the subgraphs the inputs that are wanted and that one of them uses; returns which."""
    kept = [i for i, is_wanted in enumerate(wanted) if is_wanted and any(g.inputs[i].users for g in graphs)]
    for graph in graphs:
        graph.inputs = [graph.inputs[i] for i in kept]
    return kept


def _results(
    lowering: Lowering, node: Node, one: Sequence[LiteTensor], other: Sequence[LiteTensor], suffix: str
) -> list[LiteTensor]:
    """Tensors that may hold either branch's results."""
    if len(one) != len(other) or any(a.type != b.type for a, b in zip(one, other, strict=True)):
        raise ModelError(f"branches must give the same types, got {list(one)} and {list(other)}")
    shapes = [joined(a.shape, b.shape) for a, b in zip(one, other, strict=True)]
    return lowering.results(node, shapes, [a.type for a in one], suffix)


def while_rule(lowering: Lowering, node: Node) -> Sequence[LiteTensor]:
    """WHILE. What the body hands on as it is and is constant becomes part of the subgraphs."""
    operands = lowering.inputs(node)
    condition, body = (
        function_named(lowering.program, node.function(name).name) for name in ("cond", "body")
    )
    terminator = body.terminator
    if (
        terminator is None
        or len(terminator.operands) != len(operands)
        or len(body.arguments) != len(operands)
    ):
        raise ModelError(f"the body must take and give {len(operands)} values")
    same = [_source(v) is a for v, a in zip(terminator.operands, body.arguments, strict=True)]
    carried = [
        not (is_same and operand.data is not None) for is_same, operand in zip(same, operands, strict=True)
    ]
    shapes = [operand.shape for operand in operands]
    unfinished = len(lowering.program.unfinished)
    for round_ in range(_MOST_ROUNDS + len(operands) + 1):
        # What the body was for other shapes is no part of the model.
        del lowering.program.unfinished[unfinished:]
        graph = _loop_graph(lowering, node, body, "body", operands, shapes, carried)
        _check_types(graph.outputs, operands)
        if lists_are_told(lowering, node, operands, graph):
            shapes = [operand.shape for operand in operands]
            continue
        wider = [joined(shape, y.shape) for shape, y in zip(shapes, graph.outputs, strict=True)]
        if wider == shapes:
            break
        shapes = [
            new if new == old or round_ < _MOST_ROUNDS - 1 else None
            for new, old in zip(wider, shapes, strict=True)
        ]
    if any(isinstance(operand, ReservedList) for operand in operands):
        raise UnsupportedError("the rank of a list's elements must be known")
    lists = [
        is_carried and may_be_empty(lowering, operand, x.shape, y)
        for is_carried, operand, x, y in zip(carried, operands, graph.inputs, graph.outputs, strict=True)
    ]
    if any(lists):
        del lowering.program.unfinished[unfinished:]
        graph = _loop_graph(lowering, node, body, "body", operands, shapes, carried, lists)
    test = _loop_graph(lowering, node, condition, "cond", operands, shapes, carried, lists)
    _check_condition(test)
    return _while(lowering, node, test, graph, operands, carried, same, lists)


def _while(
    lowering: Lowering,
    node: Node,
    test: LiteGraph,
    body: LiteGraph,
    operands: Sequence[LiteTensor],
    carried: Sequence[bool],
    same: Sequence[bool],
    lists: Sequence[bool],
) -> list[LiteTensor]:
    """The operator. What never changes is no result, and no operand either where nothing uses it."""
    shapes = [tensor.shape for tensor in body.inputs]
    results = lowering.results(node, shapes, [operand.type for operand in operands])
    given = [led(lowering, node, x) if is_list else x for x, is_list in zip(operands, lists, strict=True)]
    handed_on = body.outputs
    # An unchanged value that only the body's own return uses is of no use to the loop.
    body.outputs = [y for y, is_same in zip(handed_on, same, strict=True) if not is_same]
    kept = [
        i
        for i, is_carried in enumerate(carried)
        if not same[i] or (is_carried and any(graph.inputs[i].users for graph in (test, body)))
    ]
    body.outputs = [handed_on[i] for i in kept]
    for graph in (test, body):
        graph.inputs = [graph.inputs[i] for i in kept]
    operator = lowering.add(
        node, BuiltinOperator.WHILE, [given[i] for i in kept], [results[i] for i in kept], WhileOptionsT()
    )
    operator.callees = (test, body)
    operator.option_fields = ("cond_subgraph_index", "body_subgraph_index")
    for i, is_list in enumerate(lists):
        if is_list and not same[i]:
            name, results[i].name = results[i].name, f"{results[i].name}/led"
            results[i] = without_leading(lowering, node, results[i], name)
    return [operand if is_same else y for operand, y, is_same in zip(operands, results, same, strict=True)]


def _loop_graph(
    lowering: Lowering,
    node: Node,
    function: Function,
    name: str,
    operands: Sequence[LiteTensor],
    shapes: Sequence[tuple[int, ...] | None],
    carried: Sequence[bool],
    lists: Sequence[bool] = (),
) -> LiteGraph:
    """The function as a subgraph for loop variables of these shapes; lists are led."""
    graph, inner = _graph(lowering, node, f"_{name}")
    inputs = []
    for i, (operand, shape, is_carried) in enumerate(zip(operands, shapes, carried, strict=True)):
        if is_carried:
            inputs.append(LiteTensor(f"{graph.name}_arg{i}", operand.type, shape))
            if operand in lowering.program.sized_lists:
                lowering.program.sized_lists.add(inputs[-1])
        else:
            inputs.append(_argument(graph.name, i, operand))
    graph.inputs = inputs
    arguments = list(inputs)
    led_places = [i for i, is_list in enumerate(lists) if is_list]
    for i in led_places:
        arguments[i] = without_leading(inner, node, inputs[i], f"{inputs[i].name}/list")
    # A body's nodes are named after the loop already, and share their graph with no others.
    graph.outputs = lower_function(lowering.program, function, arguments, inner.graph, "")
    if len(graph.outputs) == len(inputs) and name == "body":
        for i in led_places:
            lead_on(inner, node, graph, i)
    remove_dead_code(graph)
    return graph


def _source(value: Value) -> Value:
    """Where a value comes from, past nodes that only hand it on."""
    while isinstance(value.owner, Node) and value.owner.op == "Identity" and not value.owner.controls:
        value = value.owner.operands[0]
    return value


def _check_types(results: Sequence[LiteTensor], operands: Sequence[LiteTensor]) -> None:
    for y, operand in zip(results, operands, strict=True):
        if y.type != operand.type:
            raise ModelError(f"the body must keep the types of its values, got {operand!r} and {y!r}")


def _check_condition(test: LiteGraph) -> None:
    if len(test.outputs) != 1:
        raise ModelError(f"the condition must give one value, got {len(test.outputs)}")
    [output] = test.outputs
    if output.type != TensorType.BOOL or output.shape not in ((), (1,), None):
        raise UnsupportedError(f"the condition must be a bool scalar, got {output!r}")


def call(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """The results of the function, whose operators become part of the graph.

    Those of what the function says it implements, where it computes that.
    """
    is_legacy = node.op in lowering.program.functions
    function = function_named(lowering.program, node.op if is_legacy else node.function("f").name)
    made = composite_results(lowering, node, function)
    if made is not None:
        return made
    lowering.program.outcomes[lowering.name(node)] = "inlined"
    prefix = f"{lowering.name(node)}/"
    return lower_function(lowering.program, function, lowering.inputs(node), lowering.graph, prefix)


REGISTRATIONS: dict[str, Rule] = {
    "PartitionedCall": call,
    "StatefulPartitionedCall": call,
    "If": if_rule,
    "StatelessIf": if_rule,
    "While": while_rule,
    "StatelessWhile": while_rule,
    "Case": case_rule,
    "StatelessCase": case_rule,
}
