"""ONNX models as modules of the graph IR, with the entry that convert and run_graph take."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike

import numpy as np
from google.protobuf.message import Message

from ...lite.errors import ModelError, UnsupportedError
from ...schema.onnx import GraphProto
from ...schema.shown import shown
from ..building.body import Body
from ..building.module_builder import FailedError, named_output, placeholder, refusal_error
from ..building.movement import channels_first, channels_last
from ..building.tensor import Tensor
from ..conversion import Entry
from ..ir.module import Graph
from ..named_values import Shapes
from ..shapes.dimensions import Symbol
from .element_types import inner_type, outside_type, stored_dtype
from .graph_import import Importer, Shared, declared_shape
from .model_file import model_of


def onnx_entry(
    source: Message | bytes | str | PathLike[str],
    input_shapes: Shapes | None = None,
    input_values: Mapping[str, object] | None = None,
    with_channels_last: Collection[str] = (),
) -> Entry:
    """An ONNX model's graph as a module, with its inputs and outputs by their names.

    source is a file, its content, or a ModelProto (ours or the onnx package's). input_shapes replace those of
    inputs by name; None or -1 in a shape is a size known only when the model runs. input_values are inputs
    that become constants (sizes or axes, say, which operators want to be so). with_channels_last are inputs
    and outputs that the result has as [n, ..., c] where the model has them as [n, c, ...]. External data are
    read from the file's folder alone.

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
    declared = {info.name: info.type.tensor_type.elem_type for info in graph.input}
    for name, value in values.items():
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise ModelError(f"input_values: {shown(name)} is no input, the inputs are {known}")
        type = declared[name]
        array = np.asarray(value, stored_dtype(type) or object)
        importer.values[name] = importer.constant(array, name)


def _inputs(
    importer: Importer,
    graph: GraphProto,
    shapes: dict[str, Sequence[int | None] | None],
    last: Collection[str],
) -> dict[str, str]:
    """A placeholder for each input that is no constant; their nodes by the inputs' names."""
    found = {}
    symbols: dict[str, Symbol] = {}
    for info in graph.input:
        if info.name in importer.values:
            continue
        if info.type.WhichOneof("value") != "tensor_type":
            raise UnsupportedError(f"input {shown(info.name)}: only tensors are built")
        shape = declared_shape(info, symbols)
        if info.name in shapes:
            given = shapes.pop(info.name)
            shape = None if given is None else tuple(-1 if size is None else int(size) for size in given)
        swaps = info.name in last
        number = outside_type(info.type.tensor_type.elem_type)
        tensor = placeholder(importer.body, info.name, number, _swapped(shape, info.name) if swaps else shape)
        found[info.name] = tensor.name
        value = importer.body.cast(tensor, inner_type(info.type.tensor_type.elem_type))
        importer.values[info.name] = channels_first(value) if swaps else value
    if shapes:
        known = ", ".join(found) or "none"
        raise ModelError(f"input_shapes: {', '.join(shapes)} is no input, the inputs are {known}")
    return found


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
        if not isinstance(value, Tensor):
            raise UnsupportedError(f"output {shown(info.name)}: only tensors are built")
        declared = info.type.tensor_type.elem_type
        body.prefix = info.name
        if info.name in last:
            _swapped(value.shape, info.name)
            value = channels_last(value)
        tensor = body.cast(value, outside_type(declared)) if declared else value
        found[info.name] = named_output(tensor, info.name)
    return found
