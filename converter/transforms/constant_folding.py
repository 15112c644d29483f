"""Constant folding: what constants and shapes decide is decided beforehand."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..ir.arity import has_arity
from ..ir.module import Function, Module
from .bodies import Body, typed_bodies
from .folding.editor import GraphEditor
from .folding.register import EARLY_RULES, RULES, Rule
from .toposort import topological_order

# Rewrites per node, after which the rest stays as it is.
MOST_REWRITES = 16


def fold_constants(module: Module, pattern_category: int = 0) -> None:
    """Compute nodes of constants, and change the graph so that there are more of them.

    Given:  a = Const 1; b = Const 2; c = Add(a, b); d = Add(c, x); e = Add(d, b); s = Shape(x: 2x3)
    Result: c = Const 3; d = Const 5; e = Add(x, d); s = Const [2, 3] ..

    The rules and their order are in folding/register.py; a category of 1 or 2 runs only those that
    compute, or only the others. Nodes keep their names, new ones are called after them. Nodes whose tokens a
    function returns stay. Generic functions stay as they are.
    Source: TensorFlow core/transforms/constant_folding.
    """
    for body in typed_bodies(module):
        for rules in (EARLY_RULES, RULES):
            chosen = [rule for rule in rules if pattern_category in (0, rule.category)]
            _fold(body, chosen)
        if isinstance(body, Function) and body.terminator is not None:
            body.result_types = [value.type for value in body.terminator.operands]


def _fold(body: Body, rules: Sequence[Rule]) -> None:
    editor = GraphEditor()
    nodes = topological_order(body.body)
    waiting = deque(nodes)
    queued = set(nodes)
    left = MOST_REWRITES * len(nodes)
    while waiting and left:
        node = waiting.popleft()
        queued.discard(node)
        if node.block is None or node.regions or not has_arity(node):
            continue
        for rule in rules:
            if not rule.apply(editor, node):
                continue
            left -= 1
            again = [*editor.changed, node]
            editor.changed = []
            for changed in again:
                if changed.block is not None and changed not in queued:
                    queued.add(changed)
                    waiting.append(changed)
            break
