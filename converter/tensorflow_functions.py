"""Graphs of functions and models that live in TensorFlow; imports it only when called."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..lite.errors import UnsupportedError
from .conversion import SIGNATURE, Entry, import_for_conversion

_RESOURCE = "resource"


def frozen_function(functions: Sequence[object], owner: object) -> Entry:
    """The graph of a concrete function with its variables as constants, and how it is called.

    owner holds the variables alive, as TensorFlow's converter wants it; it may be None.
    """
    if not functions:
        raise ValueError("functions: there must be one, got none")
    if len(functions) > 1:
        raise UnsupportedError(
            f"{len(functions)} concrete functions: one is built; a SavedModel of them would convert"
        )
    convert_to_constants = _tensorflow(
        "tensorflow.python.framework.convert_to_constants"
    ).convert_variables_to_constants_v2
    frozen = convert_to_constants(functions[0], lower_control_flow=False)
    inputs = {_argument_name(t): t.name for t in frozen.inputs if t.dtype.name != _RESOURCE}
    outputs = {name: t.name for name, t in _named_outputs(functions[0], frozen.outputs)}
    module = import_for_conversion(frozen.graph.as_graph_def().SerializeToString())
    return Entry(module, inputs, outputs, SIGNATURE)


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
