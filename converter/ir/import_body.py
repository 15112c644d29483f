"""Import of the nodes of a graph or of an instantiated function."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import NodeDef
from ...schema.shown import shown
from .attribute_import import attributes_of
from .attributes import Attributes
from .edges import Edge, parse_edge
from .full_type import constructed, full_type_of
from .import_options import ImportOptions, Signatures
from .module import text_attribute
from .node import RESERVED_OPS, Block, Location, Node, Value
from .signature import Signature
from .types import OPAQUE, Type, unranked

FULL_TYPE = "_mlir_fulltype"
ASSIGNED_DEVICE = "_mlir_assigned_device"
# More results than this no unknown op has; a larger index comes from a damaged file.
_MOST_OPAQUE = 1 << 12


class BodyImporter:
    """Fills a block. Arguments, where there are any, are put into `arguments` first."""

    def __init__(self, block: Block, signatures: Signatures, options: ImportOptions) -> None:
        self.block = block
        self.signatures = signatures
        self.options = options
        # Name: value and control token.
        self.arguments: dict[str, tuple[Value, Value]] = {}
        self.nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}

    def add(self, node_defs: Sequence[NodeDef]) -> None:
        """All nodes, then their inputs; ModelError names the node that is wrong."""
        made = [self._made(node_def) for node_def in node_defs]
        missing: dict[str, str] = {}
        for node_def, node in zip(node_defs, made, strict=True):
            self._connect(node_def, node, missing)
        if missing:
            raise ModelError("\n".join(missing[name] for name in sorted(missing)))

    def _made(self, node_def: NodeDef) -> Node:
        name = node_def.name
        try:
            if not node_def.op:
                raise ModelError(f"Node {shown(name)} has an empty op name")
            if node_def.op in RESERVED_OPS:
                raise ModelError("no op may have this name")
            node = self._node(node_def)
        except (ModelError, UnsupportedError) as error:
            raise type(error)(f"{error} (node {name!r}, op {node_def.op!r})") from error
        if name in self.nodes or name in self.arguments:
            raise ModelError(f"Duplicated node (or function argument) with the same name: `{shown(name)}`")
        self.nodes[name] = node
        return self.block.append(node)

    def _node(self, node_def: NodeDef) -> Node:
        signature = self.signatures.find(node_def.op)
        if signature is None and not self.options.allow_unknown_ops:
            raise ModelError(f"Unable to find OpDef for {node_def.op}")
        attributes = attributes_of(node_def.attr)
        assigned = text_attribute(attributes.pop(ASSIGNED_DEVICE, None))
        types: list[Type] = []
        if signature is not None:
            if self.options.add_defaults:
                attributes = with_defaults(attributes, signature)
            held = attributes if self.options.add_defaults else {**signature.defaults, **attributes}
            types = [unranked(number) for number in signature.result_types(held)]
        if node_def.HasField("experimental_type"):
            attributes[FULL_TYPE] = full_type_of(node_def.experimental_type)
        elif self.options.construct_full_types and signature is not None and signature.full_types is not None:
            attributes[FULL_TYPE] = constructed(signature.full_types, attributes)
        node = Node(node_def.op, node_def.name, types, attributes, node_def.device, assigned)
        node.location = location_of(node_def)
        return node

    def _connect(self, node_def: NodeDef, node: Node, missing: dict[str, str]) -> None:
        operands: list[Value] = []
        controls: list[Value] = []
        for text in node_def.input:
            is_control = text.startswith("^")
            if controls and not is_control and self.options.check_nodes:
                raise ModelError(
                    f"Node {node.name!r}: Control dependencies must come after regular dependencies"
                )
            try:
                value = self.token(text[1:]) if is_control else self.value(text)
            except (ModelError, UnsupportedError) as error:
                raise type(error)(f"{error} (input of node {node.name!r})") from error
            if value is None:
                source = text[1:] if is_control else parse_edge(text).node
                missing.setdefault(source, f"Non-existent input {shown(text)} in node {shown(node.name)}")
            else:
                (controls if is_control else operands).append(value)
        node.operands, node.controls = operands, controls

    def token(self, name: str) -> Value | None:
        """The control token of a node or argument, None when there is none of that name."""
        if name in self.arguments:
            return self.arguments[name][1]
        node = self.nodes.get(name)
        return None if node is None else node.control

    def value(self, text: str) -> Value | None:
        """The value that an input or result names, None when there is no such node."""
        edge = parse_edge(text)
        if edge.node in self.arguments:
            if edge.number or edge.output:
                raise ModelError(f"Result #{edge.number} of node {edge.node!r} is out of bounds")
            return self.arguments[edge.node][0]
        node = self.nodes.get(edge.node)
        if node is None:
            return None
        signature = self.signatures.find(node.op)
        if signature is None:
            return _opaque_result(node, edge)
        if edge.output:
            return _of_output(node, signature, edge)
        if edge.number >= len(node.results):
            raise ModelError(f"Result #{edge.number} of node {edge.node!r} is out of bounds")
        return node.results[edge.number]


def _of_output(node: Node, signature: Signature, edge: Edge) -> Value:
    if len(signature.outputs) == 1:
        segments = [(signature.outputs[0].name, 0, len(node.results))]
    else:
        segments = list(signature.segments({**signature.defaults, **node.attributes}))
    for name, start, count in segments:
        if name == edge.output:
            if edge.number < count:
                return node.results[start + edge.number]
            raise ModelError(f"Result #{edge.number} of segment '{edge.node}:{edge.output}' is out of bounds")
    raise ModelError(f"Node {edge.node!r} has no output called {edge.output!r}")


def _opaque_result(node: Node, edge: Edge) -> Value:
    """A result of an op that nobody knows: it has as many as are used."""
    if edge.output:
        raise UnsupportedError(
            f"Unable to find OpDef for {shown(node.op)}, so its output {edge.output!r} is unknown"
        )
    if edge.number > _MOST_OPAQUE:
        raise ModelError(f"Result #{edge.number} of node {edge.node!r} is out of bounds")
    while len(node.results) <= edge.number:
        node.add_result(OPAQUE)
    return node.results[edge.number]


def with_defaults(attributes: Attributes, signature: Signature) -> Attributes:
    """The attributes and the defaults of those that lack, sorted by name."""
    lacking = [name for name in signature.defaults if name not in attributes]
    if not lacking:
        return attributes
    both = {**signature.defaults, **attributes}
    return {name: both[name] for name in sorted(both)}


def location_of(node_def: NodeDef) -> Location | None:
    """Where the node came from, None when it does not say."""
    if not node_def.HasField("experimental_debug_info"):
        return None
    info = node_def.experimental_debug_info
    functions = list(info.original_func_names)
    functions += [""] * (len(info.original_node_names) - len(functions))
    return tuple(zip(info.original_node_names, functions, strict=False))
