"""One run of a model's main graph on inputs from files, the rest of them random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .media_inputs import MediaReader
from .model_inputs import fill_inputs, named, read_inputs, settable

if TYPE_CHECKING:
    import numpy as np

    from ..interpreter import Interpreter

Arrays = dict[str, "np.ndarray"]


def run_model(interpreter: Interpreter, sources: tuple[str, ...], seed: int) -> tuple[Arrays, Arrays]:
    """Set the inputs (from sources, else random), invoke, and return inputs and outputs by name."""
    inputs = set_inputs(interpreter, sources, seed)
    interpreter.invoke()
    details = named(interpreter.get_output_details())
    return inputs, {name: interpreter.get_tensor(detail["index"]) for name, detail in details.items()}


def set_inputs(interpreter: Interpreter, sources: tuple[str, ...], seed: int) -> Arrays:
    """Resize to the given inputs, allocate, and set every input but constants; returns the arrays by name."""
    details = named(settable(interpreter))
    media = MediaReader(interpreter, details)
    arrays = fill_inputs(details, read_inputs(sources, list(details), media), seed)
    for name, array in arrays.items():
        if tuple(details[name]["shape"]) != array.shape:
            interpreter.resize_tensor_input(details[name]["index"], array.shape)
    interpreter.allocate_tensors()
    for name, array in arrays.items():
        interpreter.set_tensor(details[name]["index"], array)
    return arrays
