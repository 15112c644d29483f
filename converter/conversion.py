"""Conversion of a GraphDef to a .tflite model, from start to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from ..lite.errors import ModelError
from ..schema.graph_def import GraphDef
from .flatbuffer import model_bytes
from .fusing.register import optimize
from .graph import Graph, Node, Value
from .graph_file import parse_binary
from .lite_graph import LiteGraph, LiteTensor, PartialShape
from .lowering.lowering import lower, tensor_type
from .lowering.register import RULES

Shapes = Mapping[str, Sequence[int | None] | None]


@dataclass(frozen=True)
class Fate:
    """What became of a node: "CONV_2D", "fused into CONV_2D", "constant" ..."""

    node: str
    op: str
    became: str


@dataclass(frozen=True)
class Conversion:
    """A converted model and what became of each node of the graph."""

    model: bytes
    fates: tuple[Fate, ...]


def convert_graph(
    graph_def: Message | bytes,
    input_arrays: Sequence[str] | None = None,
    output_arrays: Sequence[str] | None = None,
    input_shapes: Shapes | None = None,
) -> bytes:
    """The .tflite model of a frozen TensorFlow graph. See convert."""
    return convert(graph_def, input_arrays, output_arrays, input_shapes).model


def convert(
    graph_def: Message | bytes,
    input_arrays: Sequence[str] | None = None,
    output_arrays: Sequence[str] | None = None,
    input_shapes: Shapes | None = None,
) -> Conversion:
    """Convert a frozen TensorFlow graph.

    graph_def is a GraphDef (ours or TensorFlow's) or its serialized form. input_arrays name the
    values that are fed ("x" or "x:1"), by default the placeholders that the outputs need;
    output_arrays those that are wanted, by default the results that no node uses. input_shapes
    replace the shapes of inputs; None or -1 in a shape is a size known only when the model runs.
    Raises ModelError for a graph that is wrong, UnsupportedError for ops that are not built.
    """
    graph = Graph.from_graph_def(_own_message(graph_def))
    outputs = [_existing(graph, name, "output") for name in output_arrays or ()] or graph.default_outputs()
    if not outputs:
        raise ModelError("graph: it has no outputs, name them with output_arrays")
    if input_arrays is None:
        inputs = graph.default_inputs(outputs)
    else:
        inputs = [_existing(graph, name, "input") for name in input_arrays]
        twice = next((value for value in inputs if inputs.count(value) > 1), None)
        if twice is not None:
            raise ModelError(f"inputs: {str(twice)!r} is named twice")
    shapes = {Value.parse(name): _partial(shape) for name, shape in (input_shapes or {}).items()}
    unknown = [str(value) for value in shapes if value not in inputs]
    if unknown:
        raise ModelError(f"input_shapes: {', '.join(unknown)} is no input, the inputs are {_names(inputs)}")
    fed = {value: _input_tensor(graph, value, shapes) for value in inputs}
    lite = lower(graph, fed, outputs, RULES)
    optimize(lite)
    try:
        model = model_bytes(lite, [str(value) for value in inputs], [str(value) for value in outputs])
    except ValueError as error:
        # A size that grew too large on the way, or more than 2 GB of constants.
        raise ModelError(f"model: {error}") from error
    return Conversion(model, tuple(_fates(graph, lite, inputs, outputs)))


def _own_message(graph_def: Message | bytes) -> GraphDef:
    if isinstance(graph_def, GraphDef):
        return graph_def
    content = graph_def.SerializeToString() if isinstance(graph_def, Message) else graph_def
    return parse_binary(content)


def _existing(graph: Graph, name: str, role: str) -> Value:
    value = Value.parse(name)
    if value.node not in graph.nodes:
        raise ModelError(f"{role} {name!r}: the graph has no such node")
    return value


def _partial(shape: Sequence[int | None] | None) -> PartialShape:
    return None if shape is None else tuple(-1 if size is None else size for size in shape)


def _names(values: Sequence[Value]) -> str:
    return ", ".join(map(str, values)) or "none"


def _input_tensor(graph: Graph, value: Value, shapes: Mapping[Value, PartialShape]) -> LiteTensor:
    """The input's tensor: the type by the node's attributes, the shape as given or as the node says."""
    node = graph.nodes[value.node]
    type_attribute = next((name for name in ("dtype", "T", "DstT") if name in node.attributes), "dtype")
    declared = _declared_shape(node) if node.op == "Placeholder" else None
    shape = shapes.get(value, declared)
    if shape is not None and not all(-1 <= size < 2**31 for size in shape):
        raise ModelError(f"input {str(value)!r}: sizes must be -1 to {2**31 - 1}, got {list(shape)}")
    return LiteTensor(str(value), tensor_type(node.type(type_attribute)), shape)


def _declared_shape(node: Node) -> PartialShape:
    """A placeholder's shape, None when even the rank is unknown."""
    if "shape" not in node.attributes or node.attributes["shape"].shape.unknown_rank:
        return None
    return tuple(max(dim.size, -1) for dim in node.attributes["shape"].shape.dim)


def _fates(graph: Graph, lite: LiteGraph, inputs: Sequence[Value], outputs: Sequence[Value]) -> list[Fate]:
    """What became of each node, in the graph's order."""
    own: dict[str, list[str]] = {}
    joined: dict[str, str] = {}
    for operator in lite.operators:
        main, *others = operator.sources
        own.setdefault(main, []).append(operator.code.name)
        joined |= {other: f"fused into {operator.code.name}" for other in others}
    needed = {node.name for node in graph.needed(outputs, inputs)}
    fed = {value.node for value in inputs}
    fates = []
    for node in graph.nodes.values():
        if node.name in fed:
            became = "input"
        elif node.name not in needed:
            became = "not needed"
        elif node.name in own:
            became = " + ".join(own[node.name])
        else:
            became = joined.get(node.name) or _without_operator(node)
        fates.append(Fate(node.name, node.op, became))
    return fates


def _without_operator(node: Node) -> str:
    return {"Const": "constant", "Identity": "removed"}.get(node.op, "folded")
