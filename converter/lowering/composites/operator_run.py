"""What a custom operator computes: a model of nothing else, run by numlite's kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....lite.errors import InvokeError, ModelError, PrepareError, UnsupportedError
from ....lite.model import Model
from ....lite.tensor import TensorType
from ....schema.tflite import BuiltinOperator
from ...element_types import tensor_type_of
from ...flatbuffer import model_file
from ...lite_graph import LiteGraph, LiteModel, LiteOperator, LiteSignature, LiteTensor
from ...model_runner import model_interpreter


def operator_results(
    code: str, options: bytes, arguments: Sequence[np.ndarray], types: Sequence[TensorType]
) -> list[np.ndarray] | None:
    """The results of these types for these arguments; None where the operator does not take them."""
    graph = LiteGraph()
    graph.inputs = [
        LiteTensor(f"x{i}", tensor_type_of(argument.dtype), argument.shape)
        for i, argument in enumerate(arguments)
    ]
    results = [LiteTensor(f"y{i}", type, None) for i, type in enumerate(types)]
    operator = LiteOperator(BuiltinOperator.CUSTOM, graph.inputs, results, None, (code,))
    operator.custom_code, operator.custom_options = code, options
    graph.append(operator)
    graph.outputs = results
    names = [[tensor.name for tensor in tensors] for tensors in (graph.inputs, results)]
    model = LiteModel([LiteSignature("run", graph, *names)])
    try:
        interpreter = model_interpreter(Model(model_file(model).content()))
        interpreter.allocate_tensors()
        for index, argument in zip(interpreter.subgraph().inputs, arguments, strict=True):
            interpreter.set_tensor(index, argument)
        interpreter.invoke()
    except (InvokeError, ModelError, PrepareError, UnsupportedError):
        return None
    return [interpreter.get_tensor(index) for index in interpreter.subgraph().outputs]
