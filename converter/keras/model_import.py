"""Keras models as modules of the graph IR, with the entry that convert and run_graph take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ...schema.shown import shown
from ..building.body import Body
from ..building.module_builder import FailedError, named_output, placeholder, refusal_error
from ..building.tensor import Tensor
from ..conversion import Entry
from ..ir.module import Graph
from ..ir.node import Node
from ..named_values import Shapes
from .call import Call, Given, Result, Value, flat
from .config import Config, cut, integers_of
from .dtypes import FLOATS, outside_type
from .graph_import import Importer, Shared
from .inbound import references
from .layer import Layer, Model
from .model_file import ModelConfig, Source, read_model

CustomLayers = Mapping[str, Callable[[Call], Result]]


def keras_entry(
    source: Source,
    config: ModelConfig | None = None,
    input_shapes: Shapes | None = None,
    custom_layers: CustomLayers | None = None,
) -> Entry:
    """A Keras model, called for inference, as a module, with its inputs and outputs by their names.

    See model_file.read_model for source and config. input_shapes replace those of inputs by name; None or -1
    in a shape is a size known only when the model runs. custom_layers are functions by names of classes or
    layers: each is given a Call and gives the layer's result.

    Raises ModelError for a model that is wrong, UnsupportedError that lists the layers for which there is no
    rule, each with the reason.
    """
    model = read_model(source, config)
    shared = Shared(model.is_keras_2)
    graph = Graph()
    shared.module.ops.append(graph)
    importer = Importer(shared, Body(graph.body, shared.names), custom_layers or {})
    shapes = dict(input_shapes or {})
    inputs: dict[str, str] = {}
    given = _inputs(importer, model, shapes, inputs)
    if shapes:
        known = ", ".join(inputs) or "none"
        raise ModelError(f"input_shapes: {', '.join(map(shown, shapes))} is no input, the inputs are {known}")
    try:
        result = importer.modelled(model, given)
    except FailedError:
        result = []
    if shared.refusals:
        raise refusal_error("Keras layers", shared.refusals)
    return Entry(shared.module, inputs, _outputs(model, result, importer.body))


def _inputs(importer: Importer, model: Model, shapes: dict[str, Any], found: dict[str, str]) -> Given:
    """A placeholder for each input layer; found are their nodes by the layers' names."""
    made = []
    for layer, shape, type in _input_layers(model):
        if layer in shapes:
            given = shapes.pop(layer)
            shape = None if given is None else [-1 if size is None else int(size) for size in given]
        tensor = placeholder(importer.body, layer, type, None if shape is None else tuple(shape))
        found[layer] = tensor.name
        made.append(Value(importer.body.cast(tensor, DT_FLOAT) if type in FLOATS else tensor))
    return made[0] if len(made) == 1 else made


def _input_layers(model: Model) -> list[tuple[str, list[int] | None, int]]:
    """Name, shape and type of each input."""
    layers = list(model.layers.values())
    if model.inputs is not None:
        named = [model.layers.get(reference.layer) for reference in references(model.inputs)]
        found = [layer for layer in named if layer is not None]
        if len(found) < len(named):
            raise ModelError("config: input_layers must name layers of the model")
        return [_input(layer) for layer in found]
    if not layers:
        raise ModelError(f"model {shown(model.name)}: it must have layers, it has none")
    first = layers[0]
    while isinstance(first, Model):
        if first.inputs is not None:
            return _input_layers(first)
        first = next(iter(first.layers.values()))
    name, shape, type = _input(first, model.config)
    return [(name if first.class_name == "InputLayer" else f"{name}_input", shape, type)]


def _input(layer: Layer, around: Config | None = None) -> tuple[str, list[int] | None, int]:
    config = layer.config
    shape: object = None
    for name in ("batch_shape", "batch_input_shape", "build_input_shape"):
        shape = config.get(name) if shape is None else shape
    if shape is None and around is not None:
        shape = around.get("build_input_shape")
    if config.flag("sparse") or config.flag("ragged"):
        raise UnsupportedError(f"input {shown(layer.name)}: sparse and ragged inputs are not built")
    if shape is None:
        raise ModelError(
            f"layer {shown(layer.name)}: the shape of the model's input is not in the file; "
            "build the model before it is saved"
        )
    shape = Config({"shape": shape}).list("shape")
    sizes = integers_of([-1 if size is None else size for size in shape], "batch_shape")
    if any(size < -1 or size >= 1 << 31 for size in sizes):
        raise ModelError(f"layer {shown(layer.name)}: sizes of the input must be positive, got {cut(shape)}")
    return layer.name, sizes, _type(layer)


def _type(layer: Layer) -> int:
    dtype = layer.config.get("dtype")
    if layer.class_name == "InputLayer" and isinstance(dtype, str):
        return outside_type(dtype)
    return DT_FLOAT


def _outputs(model: Model, result: Result, body: Body) -> dict[str, str]:
    """Each output's node by its name: the layer that gives it, or the key that the model has for it."""
    values = list(flat(result))
    if isinstance(result, Mapping):
        names = sorted(map(str, result))
    elif model.outputs is not None:
        names = [reference.layer for reference in references(model.outputs)]
    else:
        names = [list(model.layers)[-1]]
    if len(names) != len(values):
        names = [f"output_{place}" for place in range(len(values))]
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name, value in zip(names, values, strict=True):
        count = sum(each == name or each.startswith(f"{name}_") for each in found) if name in found else 0
        found[f"{name}_{count}" if count else name] = _named(value.tensor, name, body, taken)
    if not found:
        raise ModelError(f"model {shown(model.name)}: it must have outputs, it has none")
    return found


def _named(tensor: Tensor, name: str, body: Body, taken: set[str]) -> str:
    """The text by which the value is found; its node is called like the output where it can be.

    taken are the nodes that are outputs already.
    """
    owner = tensor.value.owner
    assert isinstance(owner, Node)
    if owner.op in ("Placeholder", "Const") or owner.name in taken:
        tensor = body.op("Identity", tensor)
    text = named_output(tensor, name)
    taken.add(text.partition(":")[0])
    return text
