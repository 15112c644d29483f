"""Verification of nodes with regions."""

from __future__ import annotations

from .attributes import RegionAttrs
from .fault import op_fault
from .node import CASE_REGIONS, CONDITION, FOR_REGIONS, IF_REGIONS, YIELD, Block, Node
from .types import ElementType, OpaqueType, TensorType, Type, compatible


def verify_region_op(node: Node) -> None:
    """ModelError when the node's regions do not fit its operands and results."""
    if node.op in IF_REGIONS:
        _verify_if(node)
    elif node.op in CASE_REGIONS:
        _verify_case(node)
    elif node.op in FOR_REGIONS:
        _verify_for(node)
    else:
        _verify_while(node)


def _verify_if(node: Node) -> None:
    if len(node.operands) != 1 or len(node.regions) != 2:
        raise op_fault(node, "expected one operand and two regions")
    if not _holds(node.operands[0].type, "i1"):
        raise op_fault(
            node,
            f"operand #0 must be tensor of 1-bit signless integer values, but got '{node.operands[0].type}'",
        )
    for region, name in zip(node.regions, ("then", "else"), strict=True):
        _check_terminator(node, region, f"{name} region", YIELD)
        _check_yields(node, region, f"{name} region")
        _check_preserved(node, node.attributes.get(f"{name}_region_attrs"), None, len(node.results))


def _verify_case(node: Node) -> None:
    if len(node.operands) != 1 or not node.regions:
        raise op_fault(node, "expected one operand and at least one region")
    if not _holds(node.operands[0].type, "i32"):
        found = node.operands[0].type
        raise op_fault(
            node, f"operand #0 must be tensor of 32-bit signless integer values, but got '{found}'"
        )
    for i, region in enumerate(node.regions):
        if region.last is None or region.last.op != YIELD:
            raise op_fault(node, f"branch region #{i} is not terminated by a 'tfg.yield' op")
        _check_yields(node, region, f"branch region #{i}")
    count = len(node.regions)
    branches = node.attributes.get("branch_attrs")
    if isinstance(branches, tuple) and len(branches) != count:
        raise op_fault(node, f"has {count} regions but {len(branches)} branch function attributes")
    preserved = node.attributes.get("region_attrs")
    if isinstance(preserved, tuple):
        if len(preserved) != count:
            raise op_fault(node, f"expected {count} region attribute(s) but got {len(preserved)}")
        for attributes in preserved:
            _check_preserved(node, attributes, None, len(node.results))


def _verify_while(node: Node) -> None:
    if len(node.regions) != 2:
        raise op_fault(node, "expected two regions")
    condition, body = node.regions
    for region, name in ((condition, "condition region"), (body, "body region")):
        _check_arguments(node, region, name)
        _check_types(node, region, 0, [value.type for value in node.operands], name)
    if condition.last is None or condition.last.op != CONDITION:
        raise op_fault(node, "condition region must be terminated by a 'tfg.condition' op")
    _check_terminator(node, body, "body region", YIELD)
    _check_yields(node, body, "body region")
    data = len(body.arguments) // 2
    _check_preserved(node, node.attributes.get("cond_region_attrs"), data, 1)
    _check_preserved(node, node.attributes.get("body_region_attrs"), data, len(node.results))


def _verify_for(node: Node) -> None:
    if len(node.regions) != 1 or len(node.operands) < 3:
        raise op_fault(node, "expected a start, limit and delta, and one region")
    body = node.regions[0]
    if not body.arguments:
        raise op_fault(node, "expected the body block to have at least have the loop index as an argument")
    _check_arguments(node, body, "body region")
    if not _holds(body.arguments[0].type, "i32"):
        raise op_fault(node, "expected first body block argument to be an i32 tensor")
    _check_types(node, body, 1, [value.type for value in node.operands[3:]], "body region")
    _check_terminator(node, body, "body region", YIELD)
    _check_yields(node, body, "body region")
    data = len(body.arguments) // 2
    _check_preserved(node, node.attributes.get("region_attrs"), data, len(node.results))


def _check_arguments(node: Node, region: Block, name: str) -> None:
    """Data first, then as many control tokens."""
    count = len(region.arguments)
    if count % 2:
        raise op_fault(node, f"{name}: expected same number of data values and control tokens")
    for i, value in enumerate(region.arguments):
        if value.is_control and i < count // 2:
            raise op_fault(node, f"{name}: argument #{i} should not be a control token")
        if not value.is_control and i >= count // 2:
            raise op_fault(node, f"{name}: argument #{i} should be a control token")


def _check_types(node: Node, region: Block, first: int, types: list[Type], name: str) -> None:
    data = region.arguments[first : len(region.arguments) // 2]
    if len(data) != len(types):
        raise op_fault(node, f"{name} has {len(data)} data arguments but was provided {len(types)}")
    for i, (value, type) in enumerate(zip(data, types, strict=True)):
        if not compatible(value.type, type):
            raise op_fault(
                node,
                f"{name} argument #{i + first} type '{value.type}' is not compatible with "
                f"corresponding operand type: '{type}'",
            )


def _check_terminator(node: Node, region: Block, name: str, op: str) -> None:
    if region.last is None or region.last.op != op:
        raise op_fault(node, f"{name} must be terminated by a 'tfg.{op}' op")


def _check_yields(node: Node, region: Block, name: str) -> None:
    assert region.last is not None
    given = region.last.operands
    if len(given) != len(node.results):
        raise op_fault(node, f"{name} has {len(given)} results but expected {len(node.results)}")
    for i, (value, result) in enumerate(zip(given, node.results, strict=True)):
        if not compatible(value.type, result.type):
            raise op_fault(
                node,
                f"{name} result #{i} type '{value.type}' is not compatible with "
                f"corresponding result type: '{result.type}'",
            )


def _check_preserved(node: Node, preserved: object, arguments: int | None, results: int) -> None:
    if not isinstance(preserved, RegionAttrs):
        return
    if arguments is not None and arguments != len(preserved.arguments):
        found = len(preserved.arguments)
        raise op_fault(node, f"has {arguments} argument(s) but preserved attributes has {found}")
    if results != len(preserved.results):
        found = len(preserved.results)
        raise op_fault(node, f"has {results} result(s) but preserved attributes has {found}")


def _holds(type: Type, name: str) -> bool:
    """Whether it is a tensor of these elements, or may be one."""
    if isinstance(type, OpaqueType):
        return True
    return isinstance(type, TensorType) and type.element == ElementType(name)
