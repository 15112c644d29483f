"""lower_functional_ops: marked If, Case and While become Switch, Merge and loops of the first version."""

from __future__ import annotations

from ..transforms.bodies import bodies
from ..transforms.effects import called_names
from ..transforms.lower_control_flow import lower_control_flow
from .finish import compiled_functions
from .function import COMPILED, has_mark, recursive
from .turn import Turn


def lower_functional_ops(turn: Turn) -> None:
    """Lower what is marked in the graph, and in the branches and loops that this brings into it.

    Functions that stay keep theirs: a loop of the first version in a function would be the same loop for two
    calls of it that are inlined. What is for XLA or TPU, or calls itself, stays.
    """
    item = turn.item
    if item.function:
        return
    functions = item.module.functions
    left = recursive(functions) | compiled_functions(item)
    left |= {name for name, each in functions.items() if has_mark(each, COMPILED)}
    nodes = (node for each in bodies(item.module) for node in each.body)
    for node in nodes:
        if any(node.attributes.get(mark) for mark in COMPILED):
            left.update(called_names(node, functions))
    for name in lower_control_flow(item.module, item.body.body, item.nodes_to_preserve(), left):
        turn.count("lower_functional_op", name)
    turn.inferred.forget()
