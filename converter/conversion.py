"""Conversion of a TensorFlow graph to a .tflite model, from start to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from google.protobuf.message import Message

from ..lite.errors import ModelError
from ..schema.graph_def import GraphDef
from .flatbuffer import ModelFile
from .fusing.register import optimize
from .graph_file import parse_binary
from .ir.import_graph import ImportOptions, import_graph_def
from .ir.module import Module
from .lite_graph import LiteGraph, LiteModel, LiteSignature
from .lowering.body import BodyFailedError, lower_body
from .lowering.lowering import Lowering
from .lowering.program import Program
from .named_values import NamedValues, Shapes
from .target_spec import Settings
from .transforms.raise_control_flow import raise_control_flow

# The key under which a model without signatures of its own can be called.
SIGNATURE = "serving_default"


@dataclass(frozen=True)
class Entry:
    """A part of the graph that becomes a signature of the model.

    inputs and outputs are values of the graph ("x" or "x:1") by the names that callers use.
    shapes replace the graph's for inputs, by value; None or -1 in a shape is a size known only when
    the model runs.
    """

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    key: str = SIGNATURE
    shapes: Shapes = field(default_factory=dict)


@dataclass(frozen=True)
class Fate:
    """What became of a node: "CONV_2D", "fused into CONV_2D", "constant" ..."""

    node: str
    op: str
    became: str


@dataclass(frozen=True)
class Conversion:
    """A converted model and what became of each node of the graph."""

    file: ModelFile
    lite: LiteModel
    fates: tuple[Fate, ...]

    @property
    def model(self) -> bytes:
        """The .tflite file."""
        return self.file.content()


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
    settings: Settings | None = None,
) -> Conversion:
    """Convert a frozen TensorFlow graph.

    graph_def is a GraphDef (ours or TensorFlow's) or its serialized form. input_arrays name the
    values that are fed ("x" or "x:1"), by default the placeholders that the outputs need;
    output_arrays those that are wanted, by default the results that no node uses. input_shapes
    replace the shapes of inputs; None or -1 in a shape is a size known only when the model runs.
    Raises ModelError for a graph that is wrong, UnsupportedError that lists the nodes for which
    there is no way into a model of these settings.
    """
    module = import_for_conversion(graph_def)
    entry = entry_of(module, input_arrays, output_arrays, input_shapes)
    return convert_module(module, [entry], settings or Settings())


def import_for_conversion(graph_def: Message | bytes) -> Module:
    """The graph with every attribute that its ops have."""
    return import_graph_def(_own_message(graph_def), ImportOptions(add_defaults=True))


def entry_of(
    module: Module,
    input_arrays: Sequence[str] | None = None,
    output_arrays: Sequence[str] | None = None,
    input_shapes: Shapes | None = None,
) -> Entry:
    """The entry of a graph without signatures: names of inputs and outputs are those of the values."""
    values = NamedValues(module)
    outputs = list(output_arrays or values.default_outputs())
    if not outputs:
        raise ModelError("graph: it has no outputs, name them with output_arrays")
    inputs = values.default_inputs(outputs) if input_arrays is None else list(input_arrays)
    names = [{name: text for name, text in zip(texts, texts, strict=True)} for texts in (inputs, outputs)]
    return Entry(names[0], names[1], shapes=dict(input_shapes or {}))


def convert_module(module: Module, entries: Sequence[Entry], settings: Settings) -> Conversion:
    """Convert the parts of a graph that the entries name. See convert."""
    raise_control_flow(module)
    program = Program(module, settings)
    values = NamedValues(module)
    signatures = [
        LiteSignature(entry.key, graph, list(entry.inputs), list(entry.outputs))
        for entry in entries
        if (graph := _lowered(program, values, entry)) is not None
    ]
    error = program.failures.error()
    if error is not None:
        raise error
    lite = LiteModel(signatures)
    for graph in lite.graphs():
        optimize(graph)
    return Conversion(ModelFile(lite), lite, tuple(_fates(module, lite, program)))


def _lowered(program: Program, values: NamedValues, entry: Entry) -> LiteGraph | None:
    """The entry's graph, None when nodes of it failed."""
    graph = LiteGraph("main" if entry.key == SIGNATURE else entry.key)
    lowering = Lowering(program, graph)
    outputs = [values.find(text, "output") for text in entry.outputs.values()]
    fed = values.input_tensors(list(entry.inputs.values()), entry.shapes)
    lowering.values.update(fed)
    graph.inputs = list(fed.values())
    try:
        graph.outputs = lower_body(lowering, outputs, [])
    except BodyFailedError:
        return None
    program.fates.update({tensor.name: "input" for tensor in graph.inputs})
    return graph


def _own_message(graph_def: Message | bytes) -> GraphDef:
    if isinstance(graph_def, GraphDef):
        return graph_def
    content = graph_def.SerializeToString() if isinstance(graph_def, Message) else graph_def
    return parse_binary(content)


def _fates(module: Module, lite: LiteModel, program: Program) -> list[Fate]:
    """What became of each node of the graph, in its order."""
    own: dict[str, list[str]] = {}
    joined: dict[str, str] = {}
    for graph in lite.graphs():
        for operator in graph.operators:
            main, *others = operator.sources
            name = operator.custom_code or operator.code.name
            own.setdefault(main, []).append(name)
            joined |= {other: f"fused into {name}" for other in others}
    fates = []
    for node in () if module.graph is None else module.graph.body:
        name = node.name
        if name in own:
            became = " + ".join(own[name])
        else:
            became = joined.get(name) or program.fates.get(name, "not needed")
        fates.append(Fate(name, node.op, became))
    return fates
