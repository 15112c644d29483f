"""Cases of HASHTABLE, HASHTABLE_IMPORT, HASHTABLE_FIND and HASHTABLE_SIZE."""

from __future__ import annotations

import numpy as np
from numlite.lite.string_tensor import pack_strings
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder, SubgraphBuilder
from .case import NO_KERNEL, Case

_INTEGERS = np.array([7, -3, 1 << 40], np.int64)
_TEXTS = np.array([b"one", b"", b"drei"], object)
_TYPES = {"int": TensorType.INT64, "text": TensorType.STRING}
_KEYS = {
    "int": np.array([[-3, 8], [7, 0]], np.int64),
    "text": np.array([[b"drei", b"two"], [b"one", b""]], object),
}
_VALUES = {"int": _INTEGERS, "text": _TEXTS}
_DEFAULTS = {"int": np.array([-1], np.int64), "text": np.array([b"none"], object)}


def _constant(graph: SubgraphBuilder, values: np.ndarray) -> int:
    if values.dtype != object:
        return graph.constant(values)
    return graph.tensor(values.shape, TensorType.STRING, pack_strings(values.tolist()).tobytes())


def _table(graph: SubgraphBuilder, keys: str, values: str) -> int:
    table = graph.tensor((1,), TensorType.RESOURCE)
    options = tflite.HashtableOptionsT(table_id=5, key_dtype=_TYPES[keys], value_dtype=_TYPES[values])
    graph.op(BuiltinOperator.HASHTABLE, [], [table], options)
    return table


def _fill(graph: SubgraphBuilder, keys: str, values: str) -> None:
    filled = [_table(graph, keys, values), _constant(graph, _VALUES[keys]), _constant(graph, _VALUES[values])]
    graph.op(BuiltinOperator.HASHTABLE_IMPORT, filled, [], tflite.HashtableImportOptionsT())


def _model(keys: str, values: str, once: bool) -> bytes:
    """The values of some keys, and the size, of a table that is filled by CALL_ONCE or by the model."""
    model = ModelBuilder()
    if once:
        start = model.add_subgraph("start")
        _fill(start, keys, values)
        start.finish([], [])
        options = tflite.CallOnceOptionsT(init_subgraph_index=start.index)
        model.op(BuiltinOperator.CALL_ONCE, [], [], options)
    else:
        _fill(model, keys, values)
    x, y = model.tensor((2, 2), _TYPES[keys]), model.tensor((2, 2), _TYPES[values])
    size = model.tensor((1,), np.int64)
    table = _table(model, keys, values)
    default = _constant(model, _DEFAULTS[values])
    model.op(BuiltinOperator.HASHTABLE_FIND, [table, x, default], [y], tflite.HashtableFindOptionsT())
    model.op(BuiltinOperator.HASHTABLE_SIZE, [table], [size], tflite.HashtableSizeOptionsT())
    return model.build([x], [y, size], {"run": ({"x": x}, {"y": y, "size": size})})


def _found(x: np.ndarray, keys: str, values: str) -> list[np.ndarray]:
    table = dict(zip(_VALUES[keys].tolist(), _VALUES[values].tolist(), strict=True))
    found = [table.get(key, _DEFAULTS[values][0]) for key in x.ravel().tolist()]
    return [np.array(found, _VALUES[values].dtype).reshape(x.shape), np.array([3], np.int64)]


CASES = [
    Case(
        f"hashtable-{keys}-{values}-{once}",
        lambda keys=keys, values=values, once=once: _model(keys, values, once),
        [_KEYS[keys]],
        lambda x, keys=keys, values=values: _found(x, keys, values),
        litert_reference=NO_KERNEL,
    )
    for keys, values in (("int", "text"), ("text", "int"))
    for once in (True, False)
]
