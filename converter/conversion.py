"""Conversion of a TensorFlow graph to a .tflite model, from start to end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from google.protobuf.message import Message

from ..lite.errors import ModelError
from ..schema.graph_def import GraphDef
from ..schema.tflite import BuiltinOperator, CallOnceOptionsT
from .flatbuffer import ModelFile, model_file
from .ir.edges import parse_edge
from .ir.graph_def_file import graph_def_of_bytes
from .ir.import_graph import ImportOptions, import_graph_def
from .ir.module import Module
from .ir.node import Node
from .lite_graph import Failure, LiteGraph, LiteModel, LiteOperator, LiteSignature
from .lowering.body import BodyFailedError, lower_body
from .lowering.lowering import Lowering
from .lowering.program import Program
from .lowering.register import may_be_of_lists
from .named_values import NamedValues, Shapes
from .operator_rules.graphs import share_graphs
from .operator_rules.register import finish, optimize
from .stablehlo.xla_calls import with_functions
from .target_spec import Settings
from .transforms.bodies import typed_bodies
from .transforms.default_attrs import add_default_attrs
from .transforms.raise_conditionals import raise_control_flow
from .transforms.unknown_ops import type_unknown_ops

# What stands for state that signatures share.
_HANDLES = (BuiltinOperator.VAR_HANDLE, BuiltinOperator.HASHTABLE)
# The key under which a model without signatures of its own can be called.
SIGNATURE = "serving_default"


@dataclass(frozen=True)
class Entry:
    """A part of a graph that becomes a signature of the model.

    inputs and outputs are values of the graph ("x" or "x:1") by the names that callers use.
    shapes replace the graph's for inputs, by value; None or -1 in a shape is a size known only when
    the model runs. initializers are nodes that run once, before the first call. has_foreign_forms says
    that the graph is of another framework's model: images may have their channels first, and operators
    on integers may stand as floats between DEQUANTIZE and QUANTIZE.
    """

    module: Module
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    key: str = SIGNATURE
    shapes: Shapes = field(default_factory=dict)
    initializers: Sequence[str] = ()
    has_foreign_forms: bool = False


@dataclass(frozen=True)
class NodeOutcome:
    """What became of a node: "CONV_2D", "fused into CONV_2D", "constant" ..."""

    node: str
    op: str
    became: str


@dataclass(frozen=True)
class Conversion:
    """A converted model and what became of each node of the graph."""

    file: ModelFile
    lite: LiteModel
    outcomes: tuple[NodeOutcome, ...]

    @property
    def fates(self) -> tuple[NodeOutcome, ...]:
        """The outcomes, by the name that they had first."""
        return self.outcomes

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
    """The .tflite model of a frozen TensorFlow graph.

    convert gives the same with what became of each node, and says what the arguments are.
    Raises ModelError for a graph that is wrong, UnsupportedError that lists the nodes without operators.
    """
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
    module = import_for_conversion(graph_def, input_arrays, output_arrays)
    entry = entry_of(module, input_arrays, output_arrays, input_shapes)
    return convert_entries([entry], settings or Settings())


def import_for_conversion(
    graph_def: Message | bytes,
    input_arrays: Iterable[str] | None = None,
    output_arrays: Iterable[str] | None = None,
) -> Module:
    """The graph with every attribute that its ops have, and with functional control flow only.

    Where output_arrays are given, it need not have what only others hang on.
    """
    message = _own_message(graph_def)
    if not message.node:
        raise ModelError("graph: a GraphDef must have nodes, this has none")
    module = import_graph_def(with_functions(message), ImportOptions(add_defaults=True))
    raise_control_flow(module, _nodes_of(*(input_arrays or ()), *output_arrays) if output_arrays else None)
    return module


def _nodes_of(*values: str) -> set[str]:
    return {parse_edge(value).node for value in values}


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
    names = [[text.removesuffix(":0") for text in texts] for texts in (inputs, outputs)]
    for role, listed in zip(("inputs", "outputs"), names, strict=True):
        twice = next((name for name, uses in Counter(listed).items() if uses > 1), None)
        if twice is not None:
            raise ModelError(f"{role}: {twice!r} is named twice")
    by_name = [dict(zip(*pair, strict=True)) for pair in zip(names, (inputs, outputs), strict=True)]
    return Entry(module, by_name[0], by_name[1], shapes=dict(input_shapes or {}))


def convert_entries(entries: Sequence[Entry], settings: Settings) -> Conversion:
    """Convert parts of graphs to the signatures of one model. See convert."""
    program, lite = _lowered_entries(entries, settings)
    graphs = lite.graphs()
    # Those of functions that could not be converted are in no model, but their faults count.
    graphs += [graph for graph in program.unfinished if graph not in graphs]
    _optimize(program, graphs)
    error = program.failures.error()
    if error is not None:
        raise error
    # Equal graphs become one, which is what the nodes of each became.
    outcomes = _outcomes(dict.fromkeys(entry.module for entry in entries), lite, program)
    share_graphs(lite)
    return Conversion(model_file(lite), lite, tuple(outcomes))


def find_failures(entries: Sequence[Entry], settings: Settings) -> list[Failure]:
    """The nodes for which convert_entries would find no way into a model; no model is made.

    Raises ModelError for a graph that is wrong.
    """
    program, _ = _lowered_entries(entries, settings)
    # A pass may take in what no rule could.
    _optimize(program, program.unfinished)
    return list(program.failures)


def _lowered_entries(entries: Sequence[Entry], settings: Settings) -> tuple[Program, LiteModel]:
    """What the entries become. Lists that cannot all be tensors stay with TensorFlow's ops, if allowed."""
    for module in dict.fromkeys(entry.module for entry in entries):
        _prepare(module, [entry for entry in entries if entry.module is module])
    program = Program(settings)
    program.has_foreign_forms = any(entry.has_foreign_forms for entry in entries)
    lite = _lowered_by(program, entries)
    if (settings.select or settings.custom_ops) and any(may_be_of_lists(f.op) for f in program.failures):
        program = Program(settings, keeps_lists=True)
        program.has_foreign_forms = any(entry.has_foreign_forms for entry in entries)
        lite = _lowered_by(program, entries)
    return program, lite


def _lowered_by(program: Program, entries: Sequence[Entry]) -> LiteModel:
    signatures = []
    for entry in entries:
        graph = _lowered(program, entry)
        signatures.append(LiteSignature(entry.key, graph, list(entry.inputs), list(entry.outputs)))
    lite = LiteModel(signatures)
    _call_once(program, entries, lite)
    return lite


def _optimize(program: Program, graphs: Sequence[LiteGraph]) -> None:
    """Run the passes, and note the operators that no model may hold and that are still there."""
    failed = any(program.failures)
    for graph in graphs:
        # What failed has no outputs, and is looked at; a branch that only changes state needs none.
        if failed and not graph.outputs:
            graph.outputs = graph.unused()
        optimize(graph, program.has_foreign_forms)
        for operator in graph:
            if operator.refusal is not None:
                program.failures.add(operator.refusal)
    for graph in graphs:
        finish(graph)


def _prepare(module: Module, entries: Sequence[Entry]) -> None:
    for body in typed_bodies(module):
        add_default_attrs(body)
        type_unknown_ops(body)
    names = (name for e in entries for name in (*e.inputs.values(), *e.outputs.values(), *e.initializers))
    raise_control_flow(module, _nodes_of(*names))


def _lowered(program: Program, entry: Entry) -> LiteGraph:
    """The entry's graph, without outputs when nodes of it failed."""
    program.use(entry.module)
    graph = LiteGraph("main" if entry.key == SIGNATURE else entry.key)
    values = NamedValues(entry.module)
    lowering = Lowering(program, graph)
    outputs = [values.find(text, "output") for text in entry.outputs.values()]
    fed = values.input_tensors(list(entry.inputs.values()), entry.shapes)
    lowering.values.update(fed)
    graph.inputs = list(fed.values())
    try:
        graph.outputs = lower_body(lowering, outputs, [])
    except BodyFailedError:
        return graph
    owners = (value.owner for value in fed)
    program.outcomes.update({owner.name: "input" for owner in owners if isinstance(owner, Node)})
    return graph


def _call_once(program: Program, entries: Sequence[Entry], lite: LiteModel) -> None:
    """CALL_ONCE of one subgraph that does what all initializers do, in every signature with state.

    One for all of them: a second would undo what the signature that came first has assigned.
    """
    first = LiteGraph("initialize")
    done: set[str] = set()
    for entry in entries:
        values = NamedValues(entry.module)
        nodes = [values.node(name) for name in entry.initializers if name not in done]
        done.update(entry.initializers)
        program.use(entry.module)
        with suppress(BodyFailedError):
            lower_body(Lowering(program, first), [], [node.control for node in nodes])
    if not len(first):
        return
    source = next(name for entry in entries for name in entry.initializers)
    for entry, signature in zip(entries, lite.signatures, strict=True):
        parts = LiteModel([signature]).graphs()
        handles = any(operator.code in _HANDLES for graph in parts for operator in graph)
        if entry.initializers or handles:
            call = LiteOperator(BuiltinOperator.CALL_ONCE, [], [], CallOnceOptionsT(), (source,))
            call.callees, call.option_fields = (first,), ("init_subgraph_index",)
            signature.graph.prepend(call)


def _own_message(graph_def: Message | bytes) -> GraphDef:
    if isinstance(graph_def, GraphDef):
        return graph_def
    content = graph_def.SerializeToString() if isinstance(graph_def, Message) else graph_def
    return graph_def_of_bytes(content)


def _outcomes(modules: Iterable[Module], lite: LiteModel, program: Program) -> list[NodeOutcome]:
    """What became of each node of the graphs, in their order."""
    own: dict[str, list[str]] = {}
    joined: dict[str, str] = {}
    for lite_graph in lite.graphs():
        for operator in lite_graph:
            main, *others = operator.sources
            name = operator.custom_code or operator.code.name
            own.setdefault(main, []).append(name)
            joined |= {other: f"fused into {name}" for other in others}
    outcomes = []
    graphs = (module.graph for module in modules)
    for node in (node for graph in graphs if graph is not None for node in graph.body):
        name = node.name
        if name in own:
            became = " + ".join(own[name])
        else:
            became = joined.get(name) or program.outcomes.get(name, "not needed")
        outcomes.append(NodeOutcome(name, node.op, became))
    return outcomes
