"""ONNX models as modules of the graph IR, with the entry that convert and run_graph take."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike

import numpy as np
from google.protobuf.message import Message

from ...lite.errors import ModelError, UnsupportedError
from ...schema.onnx import GraphProto, TypeProto
from ...schema.shown import shown
from ..building.body import Body
from ..building.module_builder import FailedError, named_output, placeholder, refusal_error
from ..building.movement import channels_first, channels_last
from ..building.tensor import Tensor
from ..conversion import Entry
from ..ir.module import Graph
from ..shapes.dimensions import Symbol
from .call import Held
from .element_types import inner_type, outside_type, stored_dtype
from .graph_import import Importer, Shared, declared_shape
from .model_file import model_of
from .stacked import Stacked

# Of a sequence the shapes of its items are told, one by one.
Told = Sequence[int | None] | Sequence[Sequence[int | None] | None] | None
OnnxShapes = Mapping[str, Told]


def onnx_entry(
    source: Message | bytes | str | PathLike[str],
    input_shapes: OnnxShapes | None = None,
    input_values: Mapping[str, object] | None = None,
    with_channels_last: Collection[str] = (),
) -> Entry:
    """An ONNX model's graph as a module, with its inputs and outputs by their names.

    source is a file, its content, or a ModelProto (ours or the onnx package's). input_shapes replace those of
    inputs by name; None or -1 in a shape is a size known only when the model runs. An input that is a
    sequence takes a list of shapes, and becomes an input for each item (`x[0]`, `x[1]` ...). input_values are
    inputs that become constants (sizes or axes, say, which operators want to be so). with_channels_last are
    inputs and outputs that the result has as [n, ..., c] where the model has them as [n, c, ...]. External
    data are read from the file's folder alone.

    Raises ModelError for a model that is wrong, UnsupportedError that lists the nodes for which there are no
    operators, each with the reason.
    """
    model, folder = model_of(source)
    shared = Shared(model, folder)
    graph = Graph()
    shared.module.ops.append(graph)
    importer = Importer(shared, Body(graph.body, shared.names))
    importer.initializers(model.graph)
    _bind(importer, model.graph, input_values or {})
    inputs = _inputs(importer, model.graph, dict(input_shapes or {}), with_channels_last)
    importer.outputs = {info.name for info in model.graph.output}
    importer.run(model.graph.node)
    outputs = _outputs(importer, model.graph, with_channels_last)
    unknown = [name for name in with_channels_last if name not in inputs and name not in outputs]
    if unknown and not shared.refusals:
        raise ModelError(f"channels_last: {', '.join(map(shown, unknown))} is neither input nor output")
    if shared.refusals:
        raise refusal_error("ONNX operators", shared.refusals)
    return Entry(shared.module, inputs, outputs, has_foreign_forms=True)


def _bind(importer: Importer, graph: GraphProto, values: Mapping[str, object]) -> None:
    """Make constants of inputs, in the types that they declare."""
    declared = {info.name: info.type for info in graph.input}
    for name, value in values.items():
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise ModelError(f"input_values: {shown(name)} is no input, the inputs are {known}")
        importer.values[name] = _constant(importer, name, declared[name], value)


def _constant(importer: Importer, name: str, type: TypeProto, value: object) -> Held:
    """A value of an input's type: an array, a list of arrays for a sequence, None for what is not there."""
    kind = type.WhichOneof("value")
    if kind == "optional_type":
        return None if value is None else _constant(importer, name, type.optional_type.elem_type, value)
    if kind == "sequence_type" and isinstance(value, Sequence):
        element = type.sequence_type.elem_type
        items = [_constant(importer, name, element, each) for each in value]
        return [item for item in items if isinstance(item, Tensor)]
    if kind != "tensor_type" or value is None:
        raise ModelError(f"input_values: {shown(name)}: a value must be {_VALUES.get(kind, 'a tensor')}")
    return importer.constant(np.asarray(value, stored_dtype(type.tensor_type.elem_type) or object), name)


_VALUES = {"tensor_type": "an array", "sequence_type": "a list of arrays"}


def _inputs(
    importer: Importer,
    graph: GraphProto,
    shapes: dict[str, Told],
    last: Collection[str],
) -> dict[str, str]:
    """A placeholder for each input that is no constant; their nodes by the inputs' names."""
    ends = _Inputs(importer, shapes, last)
    for info in graph.input:
        if info.name not in importer.values:
            importer.values[info.name] = ends.value(info.name, info.type)
    if shapes:
        known = ", ".join(ends.nodes) or "none"
        raise ModelError(f"input_shapes: {', '.join(shapes)} is no input, the inputs are {known}")
    return ends.nodes


class _Inputs:
    """Placeholders for inputs: nodes are their nodes by the inputs' names."""

    def __init__(self, importer: Importer, shapes: dict[str, Told], last: Collection[str]) -> None:
        self.importer = importer
        self.shapes = shapes
        self.last = last
        self.symbols: dict[str, Symbol] = {}
        self.nodes: dict[str, str] = {}

    def value(self, name: str, type: TypeProto) -> Held:
        kind = type.WhichOneof("value")
        if kind == "optional_type":
            return self.value(name, type.optional_type.elem_type)
        if kind == "sequence_type":
            return self._sequence(name, type.sequence_type.elem_type)
        if kind != "tensor_type":
            raise UnsupportedError(
                f"input {shown(name)}: only tensors, sequences and optional ones are built"
            )
        shape = declared_shape(type.tensor_type, self.symbols)
        return self._tensor(name, type.tensor_type.elem_type, self._told(name, shape))

    def _told(self, name: str, declared: tuple[int, ...] | None) -> tuple[int, ...] | None:
        return _plain(name, self.shapes.pop(name)) if name in self.shapes else declared

    def _sequence(self, name: str, type: TypeProto) -> Held:
        """An input for each item where their shapes are told, else one with the items along a first axis."""
        if type.WhichOneof("value") != "tensor_type":
            raise UnsupportedError(f"input {shown(name)}: sequences are built of tensors alone")
        number = type.tensor_type.elem_type
        if name in self.shapes:
            told = self.shapes.pop(name)
            if told is None or any(isinstance(each, int) for each in told):
                raise ModelError(
                    f"input_shapes: {shown(name)} is a sequence: it must be a list of its items' shapes"
                )
            items = [
                self._tensor(f"{name}[{place}]", number, _plain(name, shape))
                for place, shape in enumerate(told)
            ]
            return items
        shape = declared_shape(type.tensor_type, {})
        if shape is None or -1 in shape:
            raise UnsupportedError(
                f"input {shown(name)}: a sequence whose items are not said to have one known shape: "
                f"input_shapes={{{name!r}: [[2, 3], [4, 3]]}} says how many items there are, and their shapes"
            )
        return Stacked(self._tensor(name, number, (-1, *shape)))

    def _tensor(self, name: str, type: int, shape: tuple[int, ...] | None) -> Tensor:
        body, swaps = self.importer.body, name in self.last
        tensor = placeholder(body, name, outside_type(type), _swapped(shape, name) if swaps else shape)
        self.nodes[name] = tensor.name
        value = body.cast(tensor, inner_type(type))
        return channels_first(value) if swaps else value


def _plain(name: str, told: object) -> tuple[int, ...] | None:
    """The shape that a person has told, -1 where a size is open."""
    if told is None:
        return None
    sizes = list(told) if isinstance(told, Sequence) else [told]
    found = []
    for size in sizes:
        if size is not None and not isinstance(size, int | np.integer):
            raise ModelError(f"input_shapes: {shown(name)}: a shape must be a list of sizes, got {told}")
        found.append(-1 if size is None else int(size))
    return tuple(found)


def _swapped(shape: tuple[int, ...] | None, name: str) -> tuple[int, ...]:
    """The shape [n, c, ...] as [n, ..., c]."""
    if shape is None or len(shape) < 3:
        raise ModelError(f"channels_last: {shown(name)} must have 3 axes or more")
    return (shape[0], *shape[2:], shape[1])


def _outputs(importer: Importer, graph: GraphProto, last: Collection[str]) -> dict[str, str]:
    """Each output's node by its name."""
    if not graph.output:
        raise ModelError("graph: it must have outputs, this has none")
    found = {}
    body = importer.body
    for info in graph.output:
        try:
            value = importer.find(info.name)
        except FailedError:
            if not importer.shared.refusals:
                raise
            continue
        body.prefix = info.name
        kind, parts = _output_parts(info.name, info.type, value)
        for name, tensor in parts.items():
            if name in last:
                _swapped(tensor.shape, name)
                tensor = channels_last(tensor)
            tensor = body.cast(tensor, outside_type(kind)) if kind else tensor
            found[name] = named_output(tensor, name)
    return found


def _output_parts(name: str, type: TypeProto, value: Held) -> tuple[int, dict[str, Tensor]]:
    """The element type of an output, and the tensors that it is given as.

    A sequence is an output for each item, or one with the items along its first axis where their number is
    known only when the model runs.
    """
    if type.WhichOneof("value") == "optional_type":
        return _output_parts(name, type.optional_type.elem_type, value)
    of = type.sequence_type.elem_type if type.WhichOneof("value") == "sequence_type" else type
    parts: dict[str, Tensor] = {}
    if isinstance(value, Tensor):
        parts = {name: value}
    elif isinstance(value, Stacked):
        parts = {name: value.tensor}
    elif isinstance(value, list):
        parts = {f"{name}[{place}]": item for place, item in enumerate(value)}
    elif value is not None:
        raise UnsupportedError(
            f"output {shown(name)}: branches give it several numbers of tensors, of several shapes; "
            "a .tflite model has a fixed number of outputs: join the sequence, take items of it, or tell the "
            "condition (input_values)"
        )
    return of.tensor_type.elem_type, parts
