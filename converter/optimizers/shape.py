"""shape: what is asked of shapes, asked more directly."""

from __future__ import annotations

import numpy as np

from ..graph.rule import rule
from ..ir.node import Node
from ..shapes.dimensions import Symbol, is_known, number_of, product
from ..transforms.folding.tensors import constant_of_array, known_integers
from ..transforms.node_rewriter import data_type
from .arithmetic.nodes import become, element, shape, source
from .rewriter import OptimizingRewriter
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/shape_optimizer.cc"


def simplify_shapes(turn: Turn) -> None:
    """Products of shapes are sizes, and quotients of sizes of one shape are one."""
    turn.rewrite((prod_of_shape, quotient_of_sizes))


@rule("Prod", needs=("shapes",), source=_SOURCE)
def prod_of_shape(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The product of all sizes is the number of elements.

    Given:  s = Shape(x); y = Prod(s, 0)
    Result: y = Size(x)
    """
    found = source(node.operands[0], "Shape")
    if found is None or found.controls or known_integers(node.operands[1]) not in ([0], [-1]):
        return False
    if node.attributes.get("keep_dims", False) or element(node.results[0]) not in ("i32", "i64"):
        return False
    x = found.operands[0]
    kinds = {"T": data_type(x.type), "out_type": data_type(node.results[0].type)}
    return become(rewriter, node, "Size", [x], dict(kinds))


@rule("Div", "FloorDiv", needs=("shapes",), source=_SOURCE)
def quotient_of_sizes(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The quotient of two sizes whose unknown parts are the same.

    Given:  a = Size(x: 2 x n x 6); b = Size(y: n x 3); q = Div(a, b)
    Result: q = Const 4

    Equal parts that are empty make TensorFlow's own result an error.
    """
    sizes = [source(value, "Size") for value in node.operands]
    if element(node.results[0]) not in ("i32", "i64") or rewriter.is_kept(node):
        return False
    parts = [_parts(size) for size in sizes]
    if parts[0] is None or parts[1] is None or parts[0][1] != parts[1][1] or not parts[1][0]:
        return False
    if parts[0][0] % parts[1][0]:
        return False
    kind = data_type(node.results[0].type)
    dtype = np.int32 if kind.name == "i32" else np.int64
    value = constant_of_array(np.array(parts[0][0] // parts[1][0], dtype), kind)
    if value is None:
        return False
    rewriter.replace_with_constant(node, value)
    return True


def _parts(size: Node | None) -> tuple[int, list[int]] | None:
    """The known factor of a number of elements, and the numbers of the symbols beside it."""
    if size is None:
        return None
    whole = shape(size.operands[0])
    if whole is None:
        return None
    known = product([n for n in whole if n >= 0])
    symbols = [n for n in whole if n < 0]
    if any(not isinstance(n, Symbol) for n in symbols) or (is_known(whole) and not known):
        return None
    return known, sorted(map(number_of, symbols))
