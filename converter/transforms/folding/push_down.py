"""Constants moved towards other constants."""

from __future__ import annotations

from dataclasses import dataclass

from ...graph.rule import rule
from ...ir.arity import has_arity
from ...ir.attributes import Attributes, DenseAttr
from ...ir.node import Node, Value
from ...shapes.dimensions import PartialShape, broadcast
from ..node_rewriter import NodeRewriter, data_type, rank_of, shape_of
from .evaluate import run
from .tensors import MOST_OPERAND_BYTES, constant_of, known_array

# Types that Add has, too, and not AddV2 alone.
_ADDED = frozenset(("f16", "bf16", "f32", "f64", "i32", "i64"))
_ADD, _SUB = ("Add", "AddV2", "BiasAdd"), ("Sub",)
_MUL, _DIV = ("Mul",), ("Div", "RealDiv")
_SUMS, _PRODUCTS = (*_ADD, *_SUB), (*_MUL, *_DIV)
_REALS = ("f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>")
_CONVS = ("Conv2D", "Conv3D", "DepthwiseConv2dNative")


@rule(*_SUMS, *_PRODUCTS, keeps_bits=False)
def push_constant(rewriter: NodeRewriter, node: Node) -> bool:
    """Put the constants of a sum of sums, or a product of products, together.

    Given:  child = Add(c, x); parent = Add(d, child)
    Result: child = Const c + d; parent = Add(x, child)

    With Sub, or Div of real numbers, the signs follow: (x - c) - d becomes x - (c + d). Without a
    second constant the child takes the parent's: (x - y) + d becomes x + (d - y). Nothing but the parent may
    use the child, and both must be on one device.
    """
    if len(node.operands) != 2 or rewriter.is_kept(node):
        return False
    if node.op == "BiasAdd" and node.attributes.get("data_format", b"NHWC") != b"NHWC":
        return False
    for i in range(2):
        if constant_of(node.operands[i]) is not None:
            child = node.operands[1 - i].owner
            if isinstance(child, Node) and _fits(rewriter, node, child, 1 - i):
                return _push(rewriter, node, child, i)
    return False


@dataclass(frozen=True)
class _Signs:
    """The parent's result as a sum of its constant C, the leaf X and the child's other operand Y.

    True is a plus. For products, it is a factor; what is not is divided by.
    """

    constant: bool
    leaf: bool
    other: bool


def _fits(rewriter: NodeRewriter, parent: Node, child: Node, place: int) -> bool:
    family = _SUMS if parent.op in _SUMS else _PRODUCTS
    if child.op not in family or len(child.operands) != 2 or child.device != parent.device:
        return False
    if len(child.results[0].users) != 1 or child.control.users or rewriter.is_named(child):
        return False
    if child.block is not parent.block or (parent.op == "BiasAdd" and place):
        return False
    if child.op == "BiasAdd" and child.attributes.get("data_format", b"NHWC") != b"NHWC":
        return False
    real = data_type(parent.results[0].type).name in _REALS
    if family is _PRODUCTS and not real and (parent.op in _DIV or child.op in _DIV):
        return False
    return any(constant_of(value) is None for value in child.operands)


def _push(rewriter: NodeRewriter, parent: Node, child: Node, place: int) -> bool:
    """The parent has its constant at the place, the child a constant or none."""
    constant = parent.operands[place]
    at = 0 if constant_of(child.operands[0]) is not None else 1
    leaf, other = child.operands[1 - at], child.operands[at]
    signs = _signs(parent, child, place, at)
    if constant_of(other) is None:
        return _push_between(rewriter, parent, child, place, signs)
    if parent.op == "BiasAdd" and (rank_of(leaf) != 1 or (rank_of(other) or 0) < 2):
        # The matrix must stay a matrix and the bias a bias.
        return False
    op, operands = _inner(parent, child, signs, constant, other)
    value = _combined(parent, op, *operands)
    if value is None:
        return False
    # Where shapes are inferred again, the result's shape follows; the constants alone must not grow.
    shapes = (shape_of(constant), shape_of(other))
    if not (rewriter.infers and value.type.shape in shapes) and not _keeps_shape(parent, leaf, value):
        return False
    waits = [rewriter.wait_for(constant), rewriter.wait_for(other), *child.controls]
    made = rewriter.constant(child, child.name, value, waits, like=child)
    _rebuild(rewriter, parent, child, signs, place, (leaf, made.results[0]))
    return True


def _signs(parent: Node, child: Node, place: int, at: int) -> _Signs:
    inverse, inner_inverse = parent.op in (*_SUB, *_DIV), child.op in (*_SUB, *_DIV)
    constant, whole = not (inverse and place == 1), not (inverse and place == 0)
    leaf, other = not (inner_inverse and at == 0), not (inner_inverse and at == 1)
    return _Signs(constant, leaf is whole, other is whole)


def _inner(
    parent: Node, child: Node, signs: _Signs, constant: Value, other: Value
) -> tuple[str, tuple[Value, Value]]:
    """C and Y together; both negative make the same as both positive, to be subtracted."""
    if signs.constant is signs.other:
        return _plus(parent, child), (constant, other)
    return _minus(parent, child), ((constant, other) if signs.constant else (other, constant))


def _plus(parent: Node, child: Node) -> str:
    """The op that adds, or multiplies, among the two; one of its kind when neither does."""
    if parent.op in _PRODUCTS:
        return "Mul"
    return next((node.op for node in (parent, child) if node.op in ("Add", "AddV2")), "AddV2")


def _minus(parent: Node, child: Node) -> str:
    return next((node.op for node in (parent, child) if node.op in (*_SUB, *_DIV)), "Sub")


def _combined(parent: Node, operator: str, a: Value, b: Value) -> DenseAttr | None:
    x, y = (known_array(value, MOST_OPERAND_BYTES) for value in (a, b))
    if x is None or y is None:
        return None
    element = data_type(parent.results[0].type)
    found = run(operator, {"T": data_type(a.type)}, [x, y], [element])
    return None if found is None else found[0]


def _keeps_shape(parent: Node, leaf: Value, value: DenseAttr) -> bool:
    """Whether the constants do not stretch beyond the result; unknown shapes are taken as they come."""
    shape, whole = shape_of(leaf), shape_of(parent.results[0])
    if shape is None or value.type.shape is None:
        return False
    stretched = _stretched(shape, value.type.shape)
    return stretched is not None and (whole is None or stretched == whole)


def _stretched(one: tuple[int, ...], other: tuple[int, ...]) -> PartialShape:
    """The shape that both stretch to, None when they do not."""
    try:
        return broadcast(one, other)
    except ValueError:
        return None


def _rebuild(
    rewriter: NodeRewriter,
    parent: Node,
    child: Node,
    signs: _Signs,
    place: int,
    operands: tuple[Value, Value],
) -> None:
    """The parent of leaf and constants; the child is gone."""
    if not signs.constant and not signs.other:
        op = _minus(parent, child)
    elif not signs.leaf:
        op, operands = _minus(parent, child), operands[::-1]
    elif parent.op in _ADD + _MUL and child.op in _ADD + _MUL:
        # The leaf takes the place of the constant.
        op, operands = parent.op, operands if place == 0 else operands[::-1]
    else:
        op = _plus(parent, child)
        mixed = parent.op in _SUB or child.op in _SUB
        if mixed and rewriter.adds_by_add and data_type(parent.results[0].type).name in _ADDED:
            op = "Add"
    attributes: Attributes = (
        dict(parent.attributes) if op == parent.op else {"T": data_type(operands[0].type)}
    )
    made = rewriter.node(parent, op, operands, attributes)
    rewriter.replace(parent, made)
    rewriter.erase(child)


def _push_between(rewriter: NodeRewriter, parent: Node, child: Node, place: int, signs: _Signs) -> bool:
    """No second constant: the child takes the parent's, and gives up its first operand.

    For a difference or quotient that gives the usual form; for others it must bring the constant
    to another.
    """
    constant = parent.operands[place]
    leaf, other = child.operands
    shapes = [shape_of(value) for value in (leaf, other, constant)]
    if "BiasAdd" in (parent.op, child.op) or not signs.leaf or not (signs.constant or signs.other):
        return False
    if parent.op in _ADD + _MUL and child.op in _ADD + _MUL and not _has_constant(other, child):
        return False
    # The child must not become larger than it was, nor the result another.
    whole = shapes[0]
    if whole is None or shapes[1] != whole or shapes[2] is None or _stretched(whole, shapes[2]) != whole:
        return False
    op, operands = _inner(parent, child, signs, constant, other)
    made = rewriter.node(child, op, operands, {"T": data_type(other.type)})
    _rebuild(rewriter, parent, child, signs, place, (leaf, made.results[0]))
    return True


def _has_constant(value: Value, user: Node) -> bool:
    """Whether the value comes from a node of the family with a constant of its own."""
    family = _SUMS if user.op in _SUMS else _PRODUCTS
    owner = value.owner
    if not isinstance(owner, Node) or owner.op not in family:
        return False
    return any(constant_of(operand) is not None for operand in owner.operands)


@rule("Mul", keeps_bits=False)
def multiply_filter(rewriter: NodeRewriter, node: Node) -> bool:
    """A product with a convolution of constant filters is a convolution of other filters.

    Given:  v = Conv2D(x, w); y = Mul(c, v)
    Result: y = Conv2D(x, v/merged_input); v/merged_input = Const c * w

    c is one number, or one for each channel of the result. Nothing else may use the convolution.
    """
    if rewriter.is_kept(node):
        return False
    for i in range(2):
        factor, conv = node.operands[i], node.operands[1 - i].owner
        if constant_of(factor) is None or not isinstance(conv, Node) or conv.op not in _CONVS:
            continue
        if not has_arity(conv):
            continue
        if len(conv.results[0].users) != 1 or conv.control.users or conv.device != node.device:
            continue
        if rewriter.is_named(conv):
            continue
        value = _multiplied(node, conv, factor)
        if value is None:
            continue
        waits = [rewriter.wait_for(factor), rewriter.wait_for(conv.operands[1])]
        merged = rewriter.constant(node, f"{conv.name}/merged_input", value, waits, like=conv)
        made = rewriter.node(conv, conv.op, (conv.operands[0], merged.results[0]), dict(conv.attributes))
        made.name = node.name
        made.results[0].type = node.results[0].type
        made.controls = dict.fromkeys((*conv.controls, *node.controls))
        rewriter.replace(node, made)
        rewriter.erase(conv)
        return True
    return False


def _multiplied(node: Node, conv: Node, factor: Value) -> DenseAttr | None:
    """The filters times the factor, None when it does not go through the convolution."""
    shape, filters = shape_of(factor), shape_of(conv.operands[1])
    if shape is None or filters is None or constant_of(conv.operands[1]) is None:
        return None
    form = conv.attributes.get("data_format", b"NHWC")
    last = conv.op != "DepthwiseConv2dNative" and form in (b"NHWC", b"NDHWC")
    one = all(size == 1 for size in shape)
    per_channel = last and bool(shape) and shape[-1] == filters[-1] and all(n == 1 for n in shape[:-1])
    if len(shape) > len(filters) or not (one or per_channel):
        return None
    return _combined(node, "Mul", factor, conv.operands[1])
