"""What the stages share: who gives a value, who uses it, and how a value takes a node's place."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...ir.arity import has_arity
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType, Type
from ...shapes.dimensions import PartialShape
from ...transforms.attribute_key import attributes_key
from ...transforms.folding.tensors import known_array
from ...transforms.node_rewriter import data_type, value_type
from ..rewriter import OptimizingRewriter

SOURCE = "TensorFlow core/grappler/optimizers/arithmetic_optimizer.cc"
FLOATS = frozenset(("f16", "bf16", "f32", "f64"))
COMPLEX = frozenset(("complex<f32>", "complex<f64>"))
INTEGERS = frozenset(("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"))
NUMBERS = FLOATS | COMPLEX | INTEGERS
# Ops of one operand that change each element by itself.
UNARY = frozenset(
    (
        *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Conj", "Cos", "Cosh", "Digamma"),
        *("Elu", "Erf", "Erfc", "Exp", "Expm1", "Floor", "Inv", "Invert", "Lgamma", "Log", "Log1p"),
        *("LogicalNot", "Neg", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Selu", "Sigmoid"),
        *("Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Square", "Tan", "Tanh"),
    )
)
# Ops that give the elements of their first operand, perhaps elsewhere.
VALUE_PRESERVING = frozenset(
    (
        *("Reshape", "Transpose", "Identity", "ExpandDims", "Squeeze", "ReverseV2", "BroadcastTo", "Tile"),
        *("StridedSlice", "Slice", "Snapshot"),
    )
)


def source(value: Value, *ops: str) -> Node | None:
    """The node that gives the value as its first result, if it is of one of the ops."""
    owner = value.owner
    if isinstance(owner, Node) and value.index == 0 and owner.op in ops and has_arity(owner):
        return owner
    return None


def inner(rewriter: OptimizingRewriter, node: Node, value: Value, *ops: str) -> Node | None:
    """As source, but only a node that nothing else uses or waits for, on the node's device, and without
    controls.
    """
    found = source(value, *ops)
    if found is None or len(value.users) != 1 or found.control.users or found.controls:
        return None
    same = device(found) == device(node) and found.block is node.block
    return found if same and not rewriter.is_named(found) else None


def device(node: Node) -> str:
    return node.assigned_device or node.device


def element(value: Value) -> str:
    """Name of the value's element type, "" when it has none."""
    type = value.type
    if isinstance(type, TensorType) and isinstance(type.element, ElementType):
        return type.element.name
    return ""


def shape(value: Value) -> PartialShape:
    """With Symbols for sizes that have one."""
    return value.type.shape if isinstance(value.type, TensorType) else None


def all_equal_to(value: Value, number: float) -> bool:
    """Whether the value is a constant all of whose elements, at least one, are the number."""
    array = known_array(value)
    return (
        array is not None and array.size > 0 and array.dtype.kind in "iufc" and bool((array == number).all())
    )


def is_scalar(value: Value) -> bool:
    return shape(value) == ()


def same_kind(one: Node, other: Node) -> bool:
    """Whether two nodes do the same, but for their operands."""
    return (
        one.op == other.op
        and device(one) == device(other)
        and attributes_key(one.attributes) == attributes_key(other.attributes)
    )


def pass_on(rewriter: OptimizingRewriter, node: Node, value: Value) -> bool:
    """What used the node's result uses a value that is the same; an Identity stays where the name is asked
    for, or something is waited for. True.
    """
    if rewriter.is_named(node) or rewriter.is_kept(node) or node.controls or node.control.users:
        made = rewriter.node(node, "Identity", [value], {"T": data_type(value.type)})
        made.results[0].type = value_type(value.type)
        rewriter.replace(node, made)
    else:
        rewriter.replace_value(node.results[0], value)
        rewriter.erase(node)
    return True


def become(
    rewriter: OptimizingRewriter, node: Node, op: str, operands: Iterable[Value], attributes: Attributes
) -> bool:
    """Another op gives the node's result, by its name. True."""
    rewriter.replace(node, rewriter.node(node, op, operands, attributes))
    return True


def before(
    rewriter: OptimizingRewriter,
    node: Node,
    stage: str,
    op: str,
    operands: Iterable[Value],
    attributes: Attributes,
    type: Type,
) -> Value:
    """The result of a new node in front of another one, named after it and the stage."""
    scope, slash, name = node.name.rpartition("/")
    made = rewriter.add(
        node, op, f"{scope}{slash}ArithmeticOptimizer/{stage}_{name}", operands, attributes, [type]
    )
    return made.results[0]


def number(
    rewriter: OptimizingRewriter, node: Node, stage: str, array: np.ndarray, like: str
) -> Value | None:
    """A constant in front of a node, of an element type by name; None for one that has no dense form."""
    from ...transforms.folding.tensors import constant_of_array

    held = constant_of_array(array, ElementType(like))
    if held is None:
        return None
    scope, slash, name = node.name.rpartition("/")
    label = f"{scope}{slash}ArithmeticOptimizer/{stage}_const_{name}"
    made = rewriter.add(node, "Const", label, (), {"dtype": held.type.element, "value": held}, [held.type])
    return made.results[0]
