"""The function that a graph became, as a graph again."""

from __future__ import annotations

from ...schema.shown import shown
from ..ir.attributes import NumberAttr, VersionAttr
from ..ir.fault import scope_fault
from ..ir.module import Function, Graph, Module, text_attribute
from ..ir.node import Node, Value
from ..transforms.graph_to_func import LIFTED_VALUE, LIFTED_VERSION, is_lifted


def lower_func_to_graph(module: Module) -> None:
    """Make the lifted graph a graph again: arguments are the fed nodes' results.

    Given:  func @_mlir_lifted_graph(x_0) -> y_0 { x = Placeholder; y = Neg(x_0); return(y) }
    Result: graph { x = Placeholder; y = Neg(x) }

    A module without such a function stays as it is. ModelError when the function does not say what its
    arguments were, or has lost their nodes.
    """
    lifted = next((op for op in module.ops if is_lifted(op)), None)
    if not isinstance(lifted, Function):
        return
    version = lifted.attributes.get(LIFTED_VERSION)
    if not isinstance(version, VersionAttr):
        raise scope_fault(lifted, "lifted graph func is missing version attribute")
    graph = Graph(version, {k: v for k, v in lifted.attributes.items() if k != LIFTED_VERSION})
    graph.line = lifted.line
    nodes = {node.name: node for node in lifted.body if node.name}
    sources = [_source(lifted, i, nodes) for i in range(len(lifted.arguments))]
    if lifted.terminator is not None:
        lifted.terminator.erase()
    for argument, source in zip(lifted.arguments, sources, strict=True):
        token = lifted.control_of(argument)
        argument.replace_all_uses_with(source)
        assert isinstance(source.owner, Node)
        token.replace_all_uses_with(source.owner.control)
    for node in lifted.body:
        lifted.body.remove(node)
        graph.body.append(node)
    module.ops = [graph if op is lifted else op for op in module.ops]


def _source(function: Function, index: int, nodes: dict[str, Node]) -> Value:
    """What the argument was in the graph."""
    held = function.argument_attributes[index].get(LIFTED_VALUE)
    if not isinstance(held, tuple) or len(held) != 2 or not isinstance(held[1], NumberAttr | int):
        raise scope_fault(function, f"arg #{index} is missing {LIFTED_VALUE}, can't be lowered")
    name = text_attribute(held[0])
    if name not in nodes:
        raise scope_fault(function, f"lifted arg can't find the associated operation: {shown(name)}")
    number = held[1].value if isinstance(held[1], NumberAttr) else held[1]
    results = nodes[name].results
    if not isinstance(number, int) or not 0 <= number < len(results):
        # The control token counts as a result here.
        raise scope_fault(
            function,
            f"result index out of bound: seeing index {number} from lifted_value_attr of arg #{index}, "
            f"but op only has {len(results) + 1} results",
        )
    return results[number]
