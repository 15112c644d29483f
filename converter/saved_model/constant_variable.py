"""A variable that nobody assigns to becomes its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...lite.errors import ModelError
from ..ir.attributes import DenseAttr, ShapeAttr, TensorProtoAttr
from ..ir.module import Function
from ..ir.node import Block, Node, Value
from ..ir.types import ElementType, TensorType
from .resources import FUNCTIONAL, LOOPS, PASSING, Uses, called_functions

_SHAPES = "_output_shapes"
# What arguments say of a handle, and not of its value.
_OF_HANDLES = (
    *("tfg.handle_data", "tfg.is_ref"),
    *("tf._output_shapes", "tf._handle_dtypes", "tf._handle_shapes"),
)


def constant_node(name: str, value: DenseAttr | TensorProtoAttr) -> Node:
    """A Const of the value."""
    assert isinstance(value.type.element, ElementType)
    node = Node("Const", name, [TensorType(value.type.element)])
    node.attributes = {"dtype": value.type.element, "value": value}
    return node


def make_constant(
    handles: Iterable[tuple[Node, Value]],
    uses: Uses,
    functions: Mapping[str, Function],
    fresh: Callable[[str], str],
) -> list[Node]:
    """Use values in the place of handles of one variable; returns the reads, which are Identity now.

    Given:  v = VarHandleOp(); y = ReadVariableOp(v); z = While(v) {body = @f}, where @f reads its argument
    Result: y = Identity(c); z = While(c) {body = @f}, where @f takes the value

    All uses must be reads; fresh makes names that are not taken. ModelError when a use reads another
    type than the value has.
    """
    pairs = list(handles)
    value_type = pairs[0][1].type
    shape = _shape(pairs[0][1])
    for handle, value in pairs:
        handle.results[0].replace_all_uses_with(value)
        del uses.values[handle.results[0]]
    for value in uses.values:
        value.type = value_type
        _retype_owner(value)
    for node in uses.functional:
        _retype_call(node, uses, shape, functions)
    return [node for node, _ in uses.leaves if _read(node, value_type, fresh)]


def _shape(value: Value) -> ShapeAttr:
    held = value.owner.attributes.get("value") if isinstance(value.owner, Node) else None
    if isinstance(held, DenseAttr | TensorProtoAttr) and held.type.shape is not None:
        return ShapeAttr(held.type.shape)
    return ShapeAttr(None)


def _element(type: object) -> ElementType:
    if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
        raise ModelError(f"variables and their indices must have a known element type, got {type}")
    return type.element


def _retype_owner(value: Value) -> None:
    """What gives the value on says that it is no handle any more."""
    owner = value.owner
    if isinstance(owner, Block):
        function = owner.owner
        assert isinstance(function, Function)
        function.attributes.pop("tf._input_shapes", None)
        attributes = function.argument_attributes[value.index // 2]
        for name in (
            "tfg.handle_data",
            "tfg.is_ref",
            "tf._output_shapes",
            "tf._handle_dtypes",
            "tf._handle_shapes",
        ):
            attributes.pop(name, None)
    elif owner.op in PASSING:
        owner.op = owner.op.removeprefix("Ref")
        owner.attributes["T"] = _element(value.type)
        owner.attributes.pop(_SHAPES, None)


def _retype_call(node: Node, uses: Uses, shape: ShapeAttr, functions: Mapping[str, Function]) -> None:
    """Types and shapes in the attributes of a functional op, and the results of its functions."""
    node.attributes.pop(_SHAPES, None)
    inputs = tuple(_element(value.type) for value in node.operands[FUNCTIONAL[node.op][1] :])
    results = tuple(_element(value.type) for value in node.results)
    if node.op in LOOPS:
        node.attributes["T"] = inputs
    else:
        node.attributes["Tin"], node.attributes["Tout"] = inputs, results
    shapes = node.attributes.get("output_shapes")
    if isinstance(shapes, tuple) and len(shapes) == len(node.results):
        node.attributes["output_shapes"] = tuple(
            shape if value in uses.values else held for value, held in zip(node.results, shapes, strict=True)
        )
    for function in called_functions(node, functions):
        end = function.terminator
        for i, value in enumerate(end.operands if end is not None else ()):
            if value in uses.values:
                function.result_types[i] = value.type
                function.result_attributes[i].pop("tfg.handle_data", None)


def _read(node: Node, type: object, fresh: Callable[[str], str]) -> bool:
    """Make a use of the handle one of the value; whether it only gives it on now."""
    element = _element(type)
    _check(node, element)
    if node.op == "ReadVariableOp":
        node.op, node.attributes = "Identity", {"T": element}
        return True
    if node.op == "ResourceGather":
        _gather(node, element, fresh)
    elif node.op == "ResourceGatherNd":
        indices = _element(node.operands[1].type)
        node.op, node.attributes = "GatherNd", {"Tparams": element, "Tindices": indices}
    elif node.op == "VariableShape":
        out = node.attributes.get("out_type", ElementType("i32"))
        node.op, node.attributes = "Shape", {"T": element, "out_type": out}
    elif node.op in ("VarIsInitializedOp", "IsVariableInitialized"):
        node.op = "Const"
        truth = DenseAttr(TensorType(ElementType("i1"), ()), b"\1")
        node.operands, node.attributes = (), {"dtype": ElementType("i1"), "value": truth}
    elif node.op == "DisableCopyOnRead":
        node.op, node.operands, node.attributes = "NoOp", (), {}
    return False


def _check(node: Node, element: ElementType) -> None:
    dtype = node.attributes.get("dtype")
    if node.op != "VariableShape" and isinstance(dtype, ElementType) and dtype.name != element.name:
        raise ModelError(f"node {node.name!r} ({node.op}): it reads {dtype}, but the variable is {element}")


def _gather(node: Node, element: ElementType, fresh: Callable[[str], str]) -> None:
    """The dimension that is gathered from comes as an operand."""
    batch = node.attributes.get("batch_dims", 0)
    assert node.block is not None and isinstance(batch, int)
    i32 = ElementType("i32")
    axis = DenseAttr(TensorType(i32, ()), (batch & 0xFFFFFFFF).to_bytes(4, "little"))
    operand = node.block.insert_before(node, constant_node(fresh(f"{node.name}/axis"), axis))
    operand.controls = node.controls
    indices = _element(node.operands[1].type)
    node.operands = (*node.operands, operand.results[0])
    node.op = "GatherV2"
    node.attributes = {"Tparams": element, "Tindices": indices, "Taxis": i32, "batch_dims": batch}
