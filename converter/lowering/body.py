"""Lowering of bodies: the nodes of a graph or function, each by folding, its op's rule, or as it is."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.shown import shown
from ..ir.module import Function
from ..ir.node import Node, Value
from ..ir.signature import registered
from ..lite_graph import Failure, LiteGraph, LiteOperator, LiteTensor
from .flex import as_tensorflow_op, may_be_part, refused_for_now, setting_for
from .folding import empty_constant, folded, without_elements
from .known_sizes import known_results
from .lowering import Lowering, Rule
from .order import ordered
from .program import Program
from .register import is_structural, rule_of

# Of such a result nothing behind the node can be told.
_OPAQUE = (TensorType.RESOURCE, TensorType.VARIANT)
# What rules say at the end of a reason when a shape is missing.
_UNKNOWN = "must be known"
# Calls within calls. Each takes six frames of the thousand that Python has; a model may have 100 levels.
_DEEPEST_CALL = 64


class BodyFailedError(Exception):
    """A body holds nodes that cannot be converted; the program's failures say which."""


def lower_body(lowering: Lowering, outputs: Sequence[Value], tokens: Sequence[Value]) -> list[LiteTensor]:
    """Lower what the outputs need; returns the outputs' tensors.

    The lowering has values for the body's arguments. Raises BodyFailedError when a node of it
    failed, ModelError for a node that breaks its op's rules.
    """
    failed = False
    lowering.wanted = frozenset(outputs)
    for node in ordered(outputs, tokens, lowering.values, lowering.program.effects):
        if not _lower_node(lowering, node):
            failed = True
    if failed:
        raise BodyFailedError
    return [lowering.values[value] for value in outputs]


def lower_function(
    program: Program, function: Function, arguments: Sequence[LiteTensor], graph: LiteGraph, prefix: str
) -> list[LiteTensor]:
    """Lower the function's body into the graph; returns its results.

    Raises ModelError when the arguments do not fit or functions call each other in a circle.
    """
    if function.generic:
        raise UnsupportedError(f"function {function.name!r} has types that only a call of it tells")
    if len(function.arguments) != len(arguments):
        raise ModelError(
            f"function {function.name!r} takes {len(function.arguments)} arguments, got {len(arguments)}"
        )
    if function.name in program.calls:
        raise ModelError(
            f"functions must not call themselves, got {' -> '.join(program.calls)} -> {shown(function.name)}"
        )
    if len(program.calls) >= _DEEPEST_CALL:
        raise ModelError(f"functions: calls must be at most {_DEEPEST_CALL} deep, got more")
    lowering = Lowering(program, graph, prefix, function.name)
    lowering.values.update(zip(function.arguments, arguments, strict=True))
    terminator = function.terminator
    assert terminator is not None
    program.calls.append(function.name)
    try:
        return lower_body(lowering, terminator.operands, terminator.controls)
    finally:
        program.calls.pop()


def function_named(program: Program, name: str) -> Function:
    """The library's function; ModelError when there is none of the name."""
    if name not in program.functions:
        raise ModelError(f"the library has no function {name!r}")
    return program.functions[name]


def _lower_node(lowering: Lowering, node: Node) -> bool:
    """Lower one node and keep its results; False when it cannot be, for a reason that was noted."""
    lowering.program.limits.lower_node()
    rule = rule_of(node.op, lowering)
    if any(operand not in lowering.values for operand in node.operands):
        if rule is None and not is_structural(node.op):
            lowering.program.failures.add(_failure(lowering, node, ""))
        return False
    try:
        return _lower_ready_node(lowering, node, rule)
    except BodyFailedError:
        return False
    except (ModelError, PrepareError, ValueError, OverflowError) as error:
        # The last two are what NumPy says of sizes and shapes that make no sense.
        raise ModelError(f"{_described(lowering, node)}: {error}") from error


def _lower_ready_node(lowering: Lowering, node: Node, rule: Rule | None) -> bool:
    reason = ""
    results: LiteTensor | Sequence[LiteTensor] | None = None
    last = lowering.graph.last
    try:
        if node.operands and not is_structural(node.op):
            results = folded(lowering, node)
        if results is None and rule is not None:
            results = rule(lowering, node)
    except UnsupportedError as error:
        reason = str(error)
        for operator in reversed(lowering.graph.behind(last)):
            operator.erase()
    try:
        if results is None and not is_structural(node.op):
            results = without_elements(lowering, node) or as_tensorflow_op(lowering, node)
    except UnsupportedError as error:
        reason = reason or str(error)
    if results is None:
        results = _stand_in(lowering, node, _failure(lowering, node, reason))
        if results is None:
            return False
    _keep(lowering, node, results, lowering.graph.behind(last))
    return True


def _stand_in(lowering: Lowering, node: Node, failure: Failure) -> Sequence[LiteTensor] | None:
    """An operator that no model may hold, so that the nodes behind it are looked at too; None without one.

    The failure is noted, but for nodes that may yet be taken in.
    """
    if not may_be_part(lowering, node):
        lowering.program.failures.add(failure)
    if is_structural(node.op):
        return None
    try:
        results = refused_for_now(lowering, node, failure)
    except UnsupportedError:
        lowering.program.failures.add(failure)
        return None
    return None if any(tensor.type in _OPAQUE for tensor in results) else results


def _described(lowering: Lowering, node: Node) -> str:
    within = f" of function {lowering.scope!r}" if lowering.scope else ""
    return f"node {lowering.name(node)!r} ({shown(node.op)}){within}"


def _failure(lowering: Lowering, node: Node, reason: str) -> Failure:
    if not reason and registered(node.op) is None:
        # Whatever setting takes it needs these.
        try:
            for i in range(len(node.results)):
                lowering.result_type(node, i)
        except UnsupportedError as error:
            reason = str(error)
    setting = "" if is_structural(node.op) else setting_for(lowering, node.op)
    if reason.endswith(_UNKNOWN):
        setting = " or ".join(filter(None, ("known input_shapes (--input-shapes)", setting)))
    return Failure(lowering.name(node), node.op, lowering.scope, reason, setting)


def _keep(
    lowering: Lowering,
    node: Node,
    results: LiteTensor | Sequence[LiteTensor],
    operators: Sequence[LiteOperator],
) -> None:
    """Note the results; those that the node's own operators compute get the node's name."""
    listed = [results] if isinstance(results, LiteTensor) else results
    if len(listed) < len(node.results):
        raise ModelError(f"the rule gave {len(listed)} results, the node has {len(node.results)}")
    own = lowering.name(node)
    # What a node with operators became is told by them, unless passes take them all.
    lowering.program.outcomes.setdefault(own, "absorbed by a pass" if operators else "folded")
    computed = {id(t) for o in operators if o.sources[0] == own for t in o.results}
    for i, result in enumerate(listed):
        if id(result) in computed:
            result.name = f"{own}:{i}" if i else own
    listed = [_empty(lowering, result) or result for result in listed[: len(node.results)]]
    known = known_results(lowering, node, listed)
    lowering.values.update(zip(node.results, known, strict=True))


def _empty(lowering: Lowering, tensor: LiteTensor) -> LiteTensor | None:
    """A constant in place of a tensor that has no elements; None for one that has, or may have."""
    if tensor.data is not None or tensor.quantization is not None:
        return None
    return empty_constant(lowering, tensor.name, tensor.shape, tensor.type)
