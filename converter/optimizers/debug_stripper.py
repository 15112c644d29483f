"""debug_stripper: checks and prints go."""

from __future__ import annotations

from ..graph.rule import rule
from ..ir.node import Node
from ..transforms.bodies import token_of
from ..transforms.node_rewriter import data_type
from .rewriter import OptimizingRewriter
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/debug_stripper.cc"


def strip(turn: Turn) -> None:
    """Take assertions, prints and checks of numbers out. CheckNumericsV2 goes with the stage strip_v2 on."""
    rules = [strip_effect, strip_check]
    if turn.config.stages.get("strip_v2", False):
        rules.append(strip_v2)
    turn.rewrite(rules, shapes=False)


@rule("Assert", "PrintV2", source=_SOURCE)
def strip_effect(rewriter: OptimizingRewriter, node: Node) -> bool:
    """What is only run for its effect does nothing.

    Given:  a = Assert(c, x) [^b]
    Result: a = NoOp [^c, ^x, ^b]
    """
    tokens = [*map(token_of, node.operands), *node.controls]
    made = rewriter.add(node, "NoOp", node.name, (), {}, (), dict.fromkeys(tokens))
    rewriter.replace(node, made)
    return True


def _become_identity(rewriter: OptimizingRewriter, node: Node) -> bool:
    operand = node.operands[0]
    tokens = [*map(token_of, node.operands[1:]), *node.controls]
    attributes = {"T": data_type(operand.type)}
    types = [value.type for value in node.results]
    made = rewriter.add(
        node, "Identity", node.name, [operand], dict(attributes), types, dict.fromkeys(tokens)
    )
    rewriter.replace(node, made)
    return True


@rule("CheckNumerics", "Print", source=_SOURCE)
def strip_check(rewriter: OptimizingRewriter, node: Node) -> bool:
    """What passes a value on and looks at it passes it on.

    Given:  y = CheckNumerics(x)
    Result: y = Identity(x)
    """
    return _become_identity(rewriter, node)


@rule("CheckNumericsV2")
def strip_v2(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The second version of CheckNumerics, which TensorFlow leaves.

    Given:  y = CheckNumericsV2(x)
    Result: y = Identity(x)
    """
    return _become_identity(rewriter, node)
