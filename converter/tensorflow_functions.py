"""Graphs of functions and models that live in TensorFlow; imports it only when called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

from ..lite.errors import UnsupportedError
from ..schema.graph_def import DT_RESOURCE
from .conversion import SIGNATURE, Entry, import_for_conversion
from .ir.signature import registered
from .saved_model.loader import load_saved_model
from .signature_entry import signature_entries

_RESOURCE = "resource"
# Ops that read variables, which become constants then.
_READERS = frozenset(("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"))


def function_entries(functions: Sequence[Any], owner: object) -> list[Entry]:
    """The graphs of concrete functions, complete in themselves, and how they are called.

    Several are signatures by their names, one is SIGNATURE. Variables become constants. Where a
    function assigns to one or looks up a table, all are converted as the SavedModel that their
    owner, which holds the variables, would be saved as; UnsupportedError where there is no owner.
    """
    if not functions:
        raise ValueError("functions: there must be one, got none")
    _tensorflow("tensorflow")
    names = [str(f.graph.name) for f in functions] if len(functions) > 1 else [SIGNATURE]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"functions: names must differ, got {twice!r} twice")
    if any(_keeps_state(function) for function in functions):
        return _saved_entries(dict(zip(names, functions, strict=True)), owner)
    return [_frozen_entry(name, function) for name, function in zip(names, functions, strict=True)]


def _keeps_state(function: Any) -> bool:
    """Whether a function does more to what it captures than to read variables."""
    graph = function.graph.as_graph_def()
    nodes = [*graph.node, *(node for body in graph.library.function for node in body.node_def)]
    return any(node.op not in _READERS and _takes_state(node.op) for node in nodes)


def _takes_state(op: str) -> bool:
    signature = registered(op)
    return signature is not None and any(argument.type == DT_RESOURCE for argument in signature.inputs)


def _frozen_entry(key: str, function: Any) -> Entry:
    convert_to_constants = _tensorflow(
        "tensorflow.python.framework.convert_to_constants"
    ).convert_variables_to_constants_v2
    frozen = convert_to_constants(function, lower_control_flow=False)
    inputs = {_argument_name(t): t.name for t in frozen.inputs if t.dtype.name != _RESOURCE}
    outputs = {name: t.name for name, t in _named_outputs(function, frozen.outputs)}
    graph = frozen.graph.as_graph_def().SerializeToString()
    module = import_for_conversion(graph, inputs.values(), outputs.values())
    return Entry(module, inputs, outputs, key)


def _saved_entries(functions: Mapping[str, Any], owner: object) -> list[Entry]:
    """The functions as a SavedModel's signatures; their inputs stay in order."""
    if owner is None:
        raise UnsupportedError(
            f"functions that keep state ({', '.join(functions)}): trackable_obj must hold their variables"
        )
    save = _tensorflow("tensorflow.saved_model").save
    with TemporaryDirectory() as folder:
        save(owner, folder, signatures=dict(functions))
        entries = signature_entries(load_saved_model(folder), list(functions), {})
    orders = [[_argument_name(t) for t in f.inputs if t.dtype.name != _RESOURCE] for f in functions.values()]
    return [
        replace(entry, inputs={name: entry.inputs[name] for name in order if name in entry.inputs})
        for entry, order in zip(entries, orders, strict=True)
    ]


def keras_function(model: Any) -> object:
    """The model's call for inference, with inputs as it declares them."""
    tf = _tensorflow("tensorflow")
    signature = [tf.TensorSpec(x.shape, x.dtype, name=_keras_name(x, i)) for i, x in enumerate(model.inputs)]

    def call(*inputs: object) -> object:
        return model(inputs[0] if len(inputs) == 1 else list(inputs), training=False)

    return tf.function(call, input_signature=signature, autograph=False).get_concrete_function()


def _tensorflow(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise UnsupportedError(
            "TensorFlow is not installed; a SavedModel or a frozen graph converts without it"
        ) from error


def _argument_name(tensor: Any) -> str:
    return str(tensor.name).split(":")[0]


def _keras_name(tensor: Any, index: int) -> str:
    name = str(getattr(tensor, "name", "") or f"input_{index}")
    return name.split(":")[0]


def _named_outputs(function: Any, outputs: Sequence[Any]) -> list[tuple[str, Any]]:
    """Names of a dictionary's entries where the function returns one, else output_0, output_1 ..."""
    structured = function.structured_outputs
    if isinstance(structured, dict) and len(structured) == len(outputs):
        return list(zip(sorted(structured), outputs, strict=True))
    return [(f"output_{i}", tensor) for i, tensor in enumerate(outputs)]
