"""Constant folding: what constants and shapes decide is decided beforehand."""

from __future__ import annotations

from functools import partial

from ..ir.module import Function, Module
from .bodies import typed_bodies
from .folding.evaluate import evaluate
from .folding.register import EARLY_RULES, RULES
from .node_rewriter import NodeRewriter
from .toposort import topological_order


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
            chosen = [rule for rule in rules if pattern_category in (0, 1 if rule is evaluate else 2)]
            NodeRewriter(body.body, [chosen], order=partial(topological_order, body.body)).run()
        if isinstance(body, Function) and body.terminator is not None:
            body.result_types = [value.type for value in body.terminator.operands]
