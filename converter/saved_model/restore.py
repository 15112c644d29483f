"""Which tensors of the checkpoint the variables and tables of a graph are."""

from __future__ import annotations

from dataclasses import dataclass

from ...lite.errors import ModelError
from ...schema.saved_model import MetaGraphDef
from ..ir.attributes import DenseAttr
from ..ir.dense import is_splat
from ..ir.node import Node, Value
from ..transforms.effects import HANDLES
from ..transforms.inline import inline_calls
from .checkpoint import Checkpoint
from .object_graph import tensors_of_objects
from .reachable import import_part, node_name
from .resources import ResourceName, resource_name
from .stored_tensor import StoredTensor
from .tensor_slice import parse_spec

_RESTORES = frozenset(("RestoreV2", "Restore", "RestoreSlice"))
_IMPORTS = frozenset(("LookupTableImportV2", "LookupTableImport"))


@dataclass(frozen=True)
class StoredPart:
    """A tensor of the checkpoint, or the part of it that the text ("10 6 0,4:-") describes."""

    name: str
    part: str = ""

    def read(self, checkpoint: Checkpoint) -> StoredTensor:
        """The value; ModelError when the checkpoint does not have it."""
        value = checkpoint.read(self.name)
        if not self.part:
            return value
        shape, ranges = parse_spec(self.part)
        if shape != value.shape:
            raise ModelError(f"tensor {self.name!r}: shape must be {list(shape)}, got {list(value.shape)}")
        return value.part(ranges)


def stored_parts(
    meta_graph: MetaGraphDef, checkpoint: Checkpoint | None
) -> dict[ResourceName, list[StoredPart]]:
    """What the checkpoint has for each resource: a variable's value, or a table's keys and values.

    Found by the graph's own nodes that restore. For what these leave out there is the checkpoint's
    description of its objects, and for a graph without such nodes the variables' own names.
    """
    if checkpoint is None:
        return {}
    root = meta_graph.saver_def.restore_op_name
    names = {} if root else {ResourceName(False, "", name): name for name in checkpoint.tensors}
    names |= tensors_of_objects(meta_graph, checkpoint)
    found = {name: [StoredPart(tensor)] for name, tensor in names.items()}
    return found | (_by_nodes(meta_graph, node_name(root)) if root else {})


def _by_nodes(meta_graph: MetaGraphDef, root: str) -> dict[ResourceName, list[StoredPart]]:
    module = import_part(meta_graph, [root])
    inline_calls(module)
    assert module.graph is not None
    found: dict[ResourceName, list[StoredPart]] = {}
    for node in module.graph.body:
        if node.op in _RESTORES:
            for value in node.results:
                for target, index in _targets(value):
                    parts = found.setdefault(target, [])
                    parts += [StoredPart("")] * (index - len(parts))
                    parts[index - 1] = _part(node, value.index)
    return found


def _targets(value: Value) -> list[tuple[ResourceName, int]]:
    """The resources that take a restored value, and as which operand."""
    found = []
    waiting = [value]
    while waiting:
        value = waiting.pop()
        for user in dict.fromkeys(value.users):
            if user.op == "Identity":
                waiting.append(user.results[0])
            elif user.op in _IMPORTS or user.op in ("AssignVariableOp", "Assign"):
                owner = origin(user.operands[0])
                if owner.op in HANDLES:
                    index = next(i for i, operand in enumerate(user.operands) if operand is value)
                    found.append((resource_name(owner), index))
    return found


def origin(value: Value) -> Node:
    """The node that gives the value, seen through Identity."""
    owner = value.owner
    assert isinstance(owner, Node)
    while owner.op == "Identity" and isinstance(owner.operands[0].owner, Node):
        owner = owner.operands[0].owner
    return owner


def _part(node: Node, index: int) -> StoredPart:
    what = f"node {node.name!r} ({node.op})"
    if node.op == "RestoreV2":
        return StoredPart(_string(node, 1, index, what), _string(node, 2, index, what))
    part = _string(node, 2, 0, what) if node.op == "RestoreSlice" else ""
    return StoredPart(_string(node, 1, 0, what), part)


def _string(node: Node, operand: int, index: int, what: str) -> str:
    """A string of a constant operand."""
    dense = None
    if operand < len(node.operands):
        dense = origin(node.operands[operand]).attributes.get("value")
    if not isinstance(dense, DenseAttr) or not isinstance(dense.elements, tuple):
        raise ModelError(f"{what}: operand {operand} must be a constant of strings")
    elements = dense.elements
    if not index < dense.count:
        raise ModelError(f"{what}: operand {operand} must have more than {index} strings, got {dense.count}")
    return elements[0 if is_splat(dense) else index].decode(errors="surrogateescape")
