"""Random models with tables, sparse constants, blocks of weights and verified numbers."""

from __future__ import annotations

import numpy as np
from flatbuffers import flexbuffers
from numlite.lite.string_tensor import pack_strings
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator as B
from numlite.schema.tflite import TensorType

from ..cases.case import Case
from ..cases.densify import densify_case
from ..cases.packed_weights import blockwise_case
from ..model_builder import SubgraphBuilder
from .draw import Draw
from .entry import Entry
from .one_op import OneOp, Trial

_WORDS = (b"", b"a", b"b", b"one", b"zwei", b"\xc3\xa9", b"x" * 40)


def _of(draw: Draw, case: Case) -> Trial:
    """The case's model, with other values in the runs behind the first."""
    others = [
        tuple(draw.floats(x.shape).astype(x.dtype) for x in case.inputs) for _ in range(draw.number(0, 2))
    ]
    return Trial(case.make(), (tuple(case.inputs), *others), case.id + draw.special)


def _densify(draw: Draw, op: OneOp) -> Trial:
    block = draw.pick(None, (1, 4), (2, 2), (4, 1), (2, 4), (8, 2))
    high, wide = block or (1, 1)
    shape = (high * draw.number(1, 9), wide * draw.number(1, 9))
    name = f"{shape}-{block}-{draw.number(0, 9)}"
    return _of(draw, densify_case(name, shape, block, draw.pick(np.float32, np.int8)))


def _blockwise(draw: Draw, op: OneOp) -> Trial:
    size = draw.pick(32, 64, 128, 256)
    rows, units = draw.pick(1, 1, 2, 3, 9), draw.number(1, 40)
    depth = size * draw.number(1, 4)
    return _of(draw, blockwise_case(f"blockwise-{rows}-{depth}-{units}-{size}", rows, depth, units, size))


def _stored(graph: SubgraphBuilder, values: np.ndarray) -> int:
    if values.dtype != object:
        return graph.constant(values)
    return graph.tensor(values.shape, TensorType.STRING, pack_strings(values.tolist()).tobytes())


def _elements(draw: Draw, texts: bool, count: int) -> np.ndarray:
    if texts:
        return np.array([draw.pick(*_WORDS) for _ in range(count)] + [None], object)[:-1]
    return draw.random.integers(-5, 6, count)


def _hashtable(draw: Draw, op: OneOp) -> Trial:
    """A table that CALL_ONCE or the model itself fills, perhaps twice; some keys, and its size."""
    model, texts = op.model, draw.chance()
    types = (TensorType.STRING, TensorType.INT64) if texts else (TensorType.INT64, TensorType.STRING)
    held = [_elements(draw, texts, n) for n in (draw.number(0, 6), draw.number(1, 4))]
    named = [_elements(draw, not texts, len(keys)) for keys in held]

    def table(graph: SubgraphBuilder) -> int:
        handle = graph.tensor((1,), TensorType.RESOURCE)
        options = tflite.HashtableOptionsT(table_id=3, key_dtype=types[0], value_dtype=types[1])
        graph.op(B.HASHTABLE, [], [handle], options)
        return handle

    def fill(graph: SubgraphBuilder, which: int) -> None:
        filled = [table(graph), _stored(graph, held[which]), _stored(graph, named[which])]
        graph.op(B.HASHTABLE_IMPORT, filled, [], tflite.HashtableImportOptionsT())

    once, again = draw.chance(), draw.chance(0.2)
    if once:
        start = op.subgraph("start")
        fill(start, 0)
        start.finish([], [])
        model.op(B.CALL_ONCE, [], [], tflite.CallOnceOptionsT(init_subgraph_index=start.index))
    if again or not once:
        fill(model, 1)
    shape = draw.shape(1, 3, 24)
    x, y, size = model.tensor(shape, types[0]), model.tensor(shape, types[1]), model.tensor((1,), np.int64)
    handle, default = table(model), _stored(model, _elements(draw, not texts, 1))
    model.op(B.HASHTABLE_FIND, [handle, x, default], [y], tflite.HashtableFindOptionsT())
    model.op(B.HASHTABLE_SIZE, [handle], [size], tflite.HashtableSizeOptionsT())
    count = int(np.prod(shape))
    runs = [(_elements(draw, texts, count).reshape(shape),) for _ in range(draw.number(1, 3))]
    return Trial(model.build([x], [y, size]), tuple(runs), f"{texts} {once} {again} {held} {named}")


def _verified(draw: Draw, op: OneOp) -> None:
    shape, kind = draw.shape(1, 4), draw.kind("int8", "uint8", "int16", "float16")
    op.input(shape, kind, constant=0)
    op.input(shape, "float32", constant=0)
    op.output("float32")
    options = {"tolerance": draw.pick(0.1, 5.0, 1e6), "log_if_failed": draw.chance(0.3)}
    op.told.append(f"{options}")
    op.op([0, 1], custom_options=bytes(flexbuffers.Dumps(options)))


ENTRIES = {
    "DENSIFY": Entry(_densify, atol=1e-5, nan=True),
    "blockwise": Entry(_blockwise, rtol=1e-5, atol=1e-5),
    "HASHTABLE": Entry(_hashtable),
    "NumericVerify": Entry(_verified),
}
