"""Cases of VAR_HANDLE, ASSIGN_VARIABLE, READ_VARIABLE and CALL_ONCE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder, SubgraphBuilder
from .case import Case


def _handle(graph: SubgraphBuilder, name: str) -> int:
    handle = graph.tensor((), TensorType.RESOURCE)
    options = tflite.VarHandleOptionsT(container="", shared_name=name)
    graph.op(BuiltinOperator.VAR_HANDLE, [], [handle], options)
    return handle


def _assigned_model(dtype: type) -> bytes:
    """x is assigned to a variable of the first name and read; the second name keeps its initial value."""
    model = ModelBuilder()
    start = model.add_subgraph("start")
    value = start.constant(np.array([[3, 4]], dtype))
    start.op(BuiltinOperator.ASSIGN_VARIABLE, [_handle(start, "second"), value], [])
    start.finish([], [])
    x, y, z = (model.tensor((1, 2), dtype) for _ in range(3))
    options = tflite.CallOnceOptionsT(init_subgraph_index=start.index)
    model.op(BuiltinOperator.CALL_ONCE, [], [], options)
    first, second = _handle(model, "first"), _handle(model, "second")
    model.op(BuiltinOperator.ASSIGN_VARIABLE, [first, x], [])
    model.op(BuiltinOperator.READ_VARIABLE, [first], [y])
    model.op(BuiltinOperator.READ_VARIABLE, [second], [z])
    return model.build([x], [y, z], {"run": ({"x": x}, {"y": y, "z": z})})


CASES = [
    Case(
        f"variables-{np.dtype(dtype).name}",
        lambda dtype=dtype: _assigned_model(dtype),
        [np.array([[5, 6]], dtype)],
        lambda x: [x, np.array([[3, 4]], x.dtype)],
    )
    for dtype in (np.float32, np.int8, np.int32, np.int64, np.bool_)
]
