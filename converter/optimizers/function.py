"""function: calls become the nodes of their functions, or calls of functions that are made for them; branches
and loops are marked.
"""

from __future__ import annotations

from ..ir.attributes import SymbolAttr
from ..ir.module import Function
from ..ir.node import Node
from ..transforms.clone import clone_function
from ..transforms.inline import inline_calls
from ..transforms.lower_control_flow import FUNCTIONAL, MARK
from ..transforms.unused_functions import references
from .called import called_name
from .finish import compiled_functions
from .specialization import specialize_calls
from .turn import Turn

# A call or function with one of these is for others to look at whole.
COMPILED = ("_XlaMustCompile", "_XlaCompile", "_tpu_replicate", "_xla_compile_id")
_MARKS = ("_noinline", *COMPILED)


def simplify_calls(turn: Turn) -> None:
    """Put the nodes of functions in the place of their calls; calls that stay get functions of their own.

    One that was generic, or stayed for another call's sake, can be put in the call's place then.
    """
    inline(turn)
    functions = turn.item.module.functions
    left = recursive(functions) | {name for name, each in functions.items() if has_mark(each, COMPILED)}
    for node in turn.item.nodes():
        if any(node.attributes.get(mark) for mark in COMPILED):
            left.add(called_name(node, functions))
    if specialize_calls(turn, left):
        inline(turn)
    if turn.config.lower_control_flow and not turn.item.function:
        mark_functional_ops(turn)


def mark_functional_ops(turn: Turn) -> None:
    """Mark If, Case and While, in functions, too, so that they may be lowered to Switch and Merge.

    Not what is marked already, be it with false, nor what is for XLA or TPU.
    Source: TensorFlow python/ops/control_flow_util_v2.py, maybe_set_lowering_attr.
    """
    module = turn.item.module
    _mark(turn, list(turn.item.nodes()))
    compiled = compiled_functions(turn.item)
    for i, op in enumerate(module.ops):
        if not isinstance(op, Function) or op.name in compiled or has_mark(op, COMPILED):
            continue
        if any(map(_is_unmarked, op.body)):
            # A copy: the function of before is what a failing optimizer goes back to.
            module.ops[i] = copy = clone_function(op)
            _mark(turn, list(copy.body))


def _mark(turn: Turn, nodes: list[Node]) -> None:
    for node in filter(_is_unmarked, nodes):
        node.attributes[MARK] = True
        turn.count("mark_functional_op", node.label)


def _is_unmarked(node: Node) -> bool:
    return (
        node.op in FUNCTIONAL
        and MARK not in node.attributes
        and not any(node.attributes.get(mark) for mark in COMPILED)
    )


def inline(turn: Turn) -> None:
    """Put the nodes of called functions in the place of their calls.

    Given:  y = PartitionedCall(x) {f = @f}; func @f(a) { b = Neg(a); return b }
    Result: y/b = Neg(x)

    What runs, in which order, and what is dead in a loop of the first version stays as it was. Not
    functions that call themselves, are marked `_noinline` or for XLA or TPU, or have a gradient of their
    own; nor generic ones that the call does not fill in.
    Source: TensorFlow core/grappler/optimizers/function_optimizer.cc.
    """
    module = turn.item.module
    functions = module.functions
    kept = {name for name, function in functions.items() if _stays(function)} | recursive(functions)
    kept |= {name for name, function in functions.items() if function.generic}
    for node in turn.item.nodes():
        if any(node.attributes.get(mark) for mark in _MARKS):
            kept.add(called_name(node, functions))
    calls = [
        node
        for node in turn.item.nodes()
        if (name := called_name(node, functions)) and name not in kept and not _is_preserved(turn, node.name)
    ]
    if not calls:
        return
    for node in turn.item.nodes():
        name = called_name(node, functions)
        if name and _is_preserved(turn, node.name):
            kept.add(name)
    for node in calls:
        turn.count("inline_call", node.label)
    inline_calls(module, kept)
    turn.inferred.forget()


def _is_preserved(turn: Turn, name: str) -> bool:
    return name in turn.item.nodes_to_preserve()


def _stays(function: Function) -> bool:
    gradient = function.attributes.get("tf.gradient", function.attributes.get("gradient"))
    return has_mark(function, _MARKS) or isinstance(gradient, SymbolAttr)


def has_mark(function: Function, marks: tuple[str, ...]) -> bool:
    return any(function.attributes.get(f"tf.{mark}", function.attributes.get(mark)) for mark in marks)


def recursive(functions: dict[str, Function]) -> set[str]:
    """Names of functions that call themselves, straight or through others."""
    called = {name: {ref for ref in references(f) if ref in functions} for name, f in functions.items()}
    found = set()
    for name in functions:
        seen: set[str] = set()
        waiting = list(called[name])
        while waiting:
            other = waiting.pop()
            if other not in seen:
                seen.add(other)
                waiting += called[other]
        if name in seen:
            found.add(name)
    return found
