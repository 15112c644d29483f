"""Freezing: the graph of a signature, with its variables, tables and assets, becomes complete in itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...lite.errors import ModelError
from ..declared import composites
from ..ir.attributes import ShapeAttr
from ..ir.dense import dense_attr
from ..ir.module import Module
from ..ir.node import Node, Value
from ..ir.types import ElementType, TensorType, element_type, unranked
from ..transforms.bodies import bodies, typed_bodies
from ..transforms.effects import Effects
from ..transforms.inline import inline_calls
from ..transforms.needless_controls import drop_needless_controls
from ..transforms.unused_functions import drop_unused_functions, privatize
from .frozen_graph import FrozenGraph
from .own_functions import copy_shared_functions
from .reachable import import_part, node_name
from .restore import stored_parts
from .session import Session, with_ancestors
from .signature import Signature, SignatureTensor

if TYPE_CHECKING:
    from .loader import SavedModel

# The op of a node that holds on to values while the graph around them changes: it does nothing.
_HOLDER = "NoOp"


def freeze(model: SavedModel, chosen: Signature, others: Sequence[Signature]) -> FrozenGraph:
    """The graph of a signature. See SavedModel.freeze."""
    tensors = [*chosen.inputs.values(), *chosen.outputs.values()]
    tensors += [tensor for other in others for tensor in other.outputs.values()]
    init = node_name(model.init_op)
    roots = dict.fromkeys(node_name(tensor.tensor) for tensor in tensors)
    module = import_part(model.meta_graph, [*roots, *([init] if init else [])])
    nodes = _Nodes(module)
    _fill_assets(model, nodes)
    outputs = nodes.holder([nodes.value(t.tensor) for t in chosen.outputs.values()])
    alongside = nodes.holder([nodes.value(t.tensor) for other in others for t in other.outputs.values()])
    start = nodes.holder([], [nodes.nodes[init].control] if init else [])
    inputs = nodes.holder([nodes.value(t.tensor) for t in chosen.inputs.values()])
    inline_calls(module, composites(module.functions.values()))
    copy_shared_functions(module)
    stored = stored_parts(model.meta_graph, model.checkpoint)
    session = Session(module, stored, model.checkpoint, model.folder)
    written = session.written([*_before(outputs), *_before(alongside)])
    alongside.drop_operands()
    fed = _feed(inputs, chosen, nodes, session)
    session.settle(_before(outputs), _before(start), written)
    initializers = session.initializers(_before(outputs), _before(start))
    start.drop_operands()
    _keep(module, [outputs, inputs], initializers)
    effects = Effects(module.functions)
    for body in typed_bodies(module):
        drop_needless_controls(body, effects)
    session.elide_reads([value for holder in (outputs, inputs) for value in holder.operands])
    _keep(module, [outputs, inputs], initializers)
    given = {
        name: SignatureTensor(_name(value), tensor.dtype, tensor.shape)
        for (name, tensor), value in zip(chosen.outputs.items(), outputs.operands, strict=True)
    }
    _clean(module, [outputs, inputs])
    return FrozenGraph(module, chosen, fed, given, tuple(node.name for node in initializers))


class _Nodes:
    """The nodes of the imported graph by name, and new ones."""

    def __init__(self, module: Module) -> None:
        assert module.graph is not None
        self.graph = module.graph
        self.nodes = {node.name: node for node in self.graph.body}

    def value(self, tensor: str) -> Value:
        """A tensor by its name, "n" or "n:1"."""
        node = self.nodes[node_name(tensor)]
        digits = tensor.partition(":")[2] or "0"
        index = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else -1
        if not 0 <= index < len(node.results):
            raise ModelError(f"tensor {tensor!r}: node {node.name!r} has {len(node.results)} results")
        return node.results[index]

    def holder(self, operands: Iterable[Value], controls: Iterable[Value] = ()) -> Node:
        node = self.graph.body.append(Node(_HOLDER))
        node.operands, node.controls = operands, controls
        return node


def _fill_assets(model: SavedModel, nodes: _Nodes) -> None:
    """Put the files' paths where the graph takes them."""
    string = ElementType("string")
    for tensor, path in model.assets.items():
        node = nodes.nodes.get(node_name(tensor))
        if node is None:
            continue
        value = dense_attr(TensorType(string, ()), (str(path).encode(),))
        if not node.results or nodes.value(tensor).type != TensorType(string):
            raise ModelError(f"asset {path.name!r}: tensor {tensor!r} must be a string")
        node.op, node.operands, node.controls = "Const", (), ()
        node.attributes = {"dtype": string, "value": value}


def _before(*holders: Node) -> dict[Node, None]:
    """The nodes that a holder's values and tokens come from, itself not among them."""
    return with_ancestors(*(value.owner for node in holders for value in (*node.operands, *node.controls)))


def _feed(inputs: Node, signature: Signature, nodes: _Nodes, session: Session) -> dict[str, SignatureTensor]:
    """Make every input a Placeholder, also where the signature feeds what the graph computes."""
    found: dict[str, SignatureTensor] = {}
    for (name, tensor), value in zip(signature.inputs.items(), inputs.operands, strict=True):
        node = value.owner
        assert isinstance(node, Node)
        if node.op != "Placeholder":
            taken = session.fresh(f"{node.name}/{name}")
            placeholder = Node("Placeholder", taken, [unranked(tensor.dtype)])
            placeholder.attributes = {"dtype": element_type(tensor.dtype), "shape": ShapeAttr(tensor.shape)}
            nodes.graph.body.append(placeholder)
            value.replace_all_uses_with(placeholder.results[0])
            node = placeholder
        found[name] = SignatureTensor(f"{node.name}:0", tensor.dtype, tensor.shape)
    return found


def _keep(module: Module, holders: list[Node], initializers: list[Node]) -> None:
    """Drop what neither the holders nor the initializers need, and the functions that nothing uses."""
    assert module.graph is not None
    kept = _before(*holders) | dict.fromkeys(holders)
    waiting = list(initializers)
    while waiting:
        node = waiting.pop()
        if node not in kept:
            kept |= {node: None} | _before(node)
    gone = [node for node in module.graph.body if node not in kept]
    for node in gone:
        node.drop_operands()
    for node in gone:
        module.graph.body.remove(node)


def _clean(module: Module, holders: list[Node]) -> None:
    for holder in holders:
        holder.erase()
    assert module.graph is not None
    privatize(module)
    drop_unused_functions(module)
    for body in bodies(module):
        for node in body.body.walk():
            # Names of nodes to be near to, some of which are gone.
            node.attributes.pop("_class", None)
    for function in module.functions.values():
        function.visibility = ""


def _name(value: Value) -> str:
    assert isinstance(value.owner, Node)
    return f"{value.owner.name}:{value.index}"
