"""Export of nodes as NodeDefs."""

from __future__ import annotations

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import NodeDef
from .attribute_export import write_attribute
from .attributes import FullTypeAttr
from .full_type import full_type_proto
from .import_body import ASSIGNED_DEVICE, FULL_TYPE
from .node import REGION_OPS, Node


def write_node(node: Node, inputs: list[str], proto: NodeDef) -> None:
    """Set the NodeDef to the node; its inputs are given as text, data before control."""
    if not node.op:
        raise ModelError("Can't export graph with missing op-name")
    if node.op in REGION_OPS:
        raise UnsupportedError(
            f"node {node.name!r} ({node.op}): GraphDef has no regions, turn them into functions first"
        )
    proto.name, proto.op, proto.device = node.name, node.op, node.device
    proto.input.extend(inputs)
    attrs = proto.attr
    for name, attribute in node.attributes.items():
        if name == FULL_TYPE and isinstance(attribute, FullTypeAttr):
            proto.experimental_type.CopyFrom(full_type_proto(attribute))
            continue
        try:
            write_attribute(attribute, attrs[name])
        except (ModelError, UnsupportedError) as error:
            raise type(error)(f"node {node.name!r} ({node.op}), attribute {name!r}: {error}") from error
    if node.assigned_device:
        attrs[ASSIGNED_DEVICE].s = node.assigned_device.encode()
    if node.location is not None:
        info = proto.experimental_debug_info
        info.SetInParent()
        info.original_node_names.extend(name for name, _ in node.location)
        functions = [function for _, function in node.location]
        if any(functions):
            info.original_func_names.extend(functions)
