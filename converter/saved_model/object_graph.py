"""Variables by the Python objects that they were: how newer SavedModels say which tensor is whose."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import DecodeError

from ...lite.errors import ModelError
from ...schema.graph_def import NodeDef
from ...schema.saved_model import MetaGraphDef, TrackableObjectGraph
from .checkpoint import Checkpoint
from .reachable import node_name
from .resources import ResourceName, shared_resource

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "VARIABLE_VALUE"


def tensors_of_objects(meta_graph: MetaGraphDef, checkpoint: Checkpoint) -> dict[ResourceName, str]:
    """Names of the checkpoint's tensors by resource, as far as its description of the objects tells.

    Where the graph calls a function of the model, the objects that this function holds on to tell which
    handle is which variable; else a variable's shared name does, where only one has it. Empty for a
    checkpoint without such a description.
    """
    if OBJECT_GRAPH not in checkpoint.tensors:
        return {}
    objects = _parsed(checkpoint)
    return _by_full_name(objects) | _by_calls(meta_graph, _tensors_by_node(meta_graph, objects))


def _parsed(checkpoint: Checkpoint) -> TrackableObjectGraph:
    content = checkpoint.read(OBJECT_GRAPH).elements
    if not isinstance(content, tuple) or len(content) != 1:
        raise ModelError(f"tensor '{OBJECT_GRAPH}': it must be one string")
    try:
        graph = TrackableObjectGraph.FromString(content[0])
    except DecodeError as error:
        raise ModelError(f"tensor '{OBJECT_GRAPH}': not an object graph ({error})") from error
    assert isinstance(graph, TrackableObjectGraph)
    return graph


def _by_full_name(objects: TrackableObjectGraph) -> dict[ResourceName, str]:
    keys: dict[str, set[str]] = {}
    for node in objects.nodes:
        for attribute in node.attributes:
            if attribute.name == _VALUE and attribute.full_name:
                keys.setdefault(attribute.full_name, set()).add(attribute.checkpoint_key)
    return {ResourceName(False, "", name): min(found) for name, found in keys.items() if len(found) == 1}


def _tensors_by_node(meta_graph: MetaGraphDef, objects: TrackableObjectGraph) -> dict[int, str]:
    """Names of tensors by the number of the saved object, found by walking both graphs by the same names."""
    saved = meta_graph.object_graph_def.nodes
    found: dict[int, str] = {}
    waiting, seen = [(0, 0)], {0}
    while waiting:
        one, other = waiting.pop()
        if not (0 <= one < len(saved) and 0 <= other < len(objects.nodes)):
            continue
        stored = objects.nodes[other]
        for attribute in stored.attributes:
            if attribute.name == _VALUE:
                found[one] = attribute.checkpoint_key
        children = {child.local_name: child.node_id for child in stored.children}
        for child in saved[one].children:
            if child.local_name in children and child.node_id not in seen:
                seen.add(child.node_id)
                waiting.append((child.node_id, children[child.local_name]))
    return found


def _by_calls(meta_graph: MetaGraphDef, tensors: dict[int, str]) -> dict[ResourceName, str]:
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    found: dict[ResourceName, str] = {}
    for node in meta_graph.graph_def.node:
        for text, number in _bound(node, meta_graph):
            handle = nodes.get(node_name(text))
            if number in tensors and handle is not None and handle.op == "VarHandleOp":
                found[_name_of(handle)] = tensors[number]
    return found


def _bound(node: NodeDef, meta_graph: MetaGraphDef) -> Iterator[tuple[str, int]]:
    """The inputs of a call that are objects which its function holds on to, and their numbers."""
    functions = meta_graph.object_graph_def.concrete_functions
    name = node.attr["f"].func.name if "f" in node.attr else ""
    if name in functions:
        bound = functions[name].bound_inputs
        inputs = [text for text in node.input if not text.startswith("^")]
        if 0 < len(bound) <= len(inputs):
            yield from zip(inputs[-len(bound) :], bound, strict=True)


def _name_of(node: NodeDef) -> ResourceName:
    texts = {
        key: node.attr[key].s.decode(errors="surrogateescape") if key in node.attr else ""
        for key in ("shared_name", "container")
    }
    return shared_resource(False, texts["container"], texts["shared_name"], node.name)
