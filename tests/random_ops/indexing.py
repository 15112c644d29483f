"""Random cases of operators that look up, scatter, or choose by value."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .draw import Draw, Kind, Shape
from .elementwise import ALL
from .entry import Entry
from .movement import INDEX, MOVED
from .one_op import OneOp


def _indices(draw: Draw, op: OneOp, shape: Shape, size: int, types: tuple[str, ...] = INDEX) -> int:
    """Of an axis of so many elements; seldom one that does not exist."""
    low, high = (-1, size + 1) if draw.chance(0.03) else (0, max(size, 1))
    values = draw.random.integers(low, high, shape)
    return op.numbers(values, types, constant=0.4)


def _gather(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*MOVED, "int4"), draw.shape(1, 4, 600)
    axis = draw.axis(len(shape))
    place = axis % len(shape)
    batches = draw.number(0, place) if draw.chance(0.3) else 0
    index_shape = (*shape[:batches], *draw.shape(0, 2, 20))
    x = op.input(shape, kind)
    inputs = [x, _indices(draw, op, index_shape, shape[place], (*INDEX, "int16"))]
    op.output(kind)
    negative = batches and draw.chance(0.3)
    batch_dims = batches - len(index_shape) if negative else batches
    op.op(inputs, tflite.GatherOptionsT(axis=axis, batch_dims=batch_dims))


def _gather_nd(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*MOVED), draw.shape(1, 5, 600)
    depth = draw.number(0 if draw.chance(0.1) else 1, len(shape))
    rows = draw.shape(0, 3, 20)
    values = [draw.random.integers(0, max(n, 1), rows) for n in shape[:depth]]
    ids = np.stack(values, -1) if values else np.zeros((*rows, 0), np.int64)
    inputs = [op.input(shape, kind), op.numbers(ids, (*INDEX, "int16"), 0.4)]
    op.output(kind)
    op.op(inputs)


def _scatter_nd(draw: Draw, op: OneOp) -> None:
    kind, shape = (
        draw.kind("float32", "int8", "uint8", "int64", "int32", "bool", "int16"),
        draw.shape(1, 4, 400),
    )
    depth = draw.number(1, len(shape))
    rows = draw.shape(0, 2, 20)
    ids = np.stack([draw.random.integers(0, max(n, 1), rows) for n in shape[:depth]], -1)
    inputs = [op.numbers(ids, INDEX, 0.4), op.input((*rows, *shape[depth:]), kind)]
    inputs.append(op.numbers(np.array(shape), (draw.pick(*INDEX),)))
    op.output(kind)
    op.op(inputs)


def _sparse_to_dense(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind("float32", "int32", "int64", "int8!", "uint8!"), draw.shape(1, 4, 400)
    shape = tuple(max(1, n) for n in shape)
    count = draw.number(1, 5)
    ids = np.stack([draw.random.integers(0, n, count) for n in shape], -1)
    if len(shape) == 1 and draw.chance():
        ids = ids[:, 0] if count > 1 or draw.chance() else ids[0, 0]
    index = (draw.pick(*INDEX),)
    single = draw.chance(0.3)
    inputs = [op.numbers(ids, index, 0.5), op.numbers(np.array(shape), index)]
    inputs += [op.input(() if single else (count,), kind), op.input((), kind, constant=0.8)]
    op.output(kind)
    op.op(inputs, tflite.SparseToDenseOptionsT(validate_indices=draw.chance()))


def _embedding_lookup(draw: Draw, op: OneOp) -> None:
    type_ = draw.pick("float32", "int8", "uint8", "int4", "int2", "float16", "int32", "int64")
    shape = draw.shape(2, 2 if type_ in ("int4", "int2") else 4, 600)
    kind = Kind(type_) if type_ not in ("int8", "uint8", "int4", "int2") else Kind(type_, (0.1,))
    if kind.scale and draw.chance() and type_ != "uint8":
        kind = Kind(type_, tuple(0.01 + draw.random.random() for _ in range(max(1, shape[0]))))
    ids = _indices(draw, op, draw.shape(1, 1 if draw.chance(0.8) else 3, 20), shape[0], ("int32",))
    table = op.input(shape, kind, constant=0.9)
    op.output(draw.pick("float32", "float32", "float16") if kind.scale and draw.chance(0.7) else kind)
    op.op([ids, table])


def _embedding_sparse(draw: Draw, op: OneOp) -> None:
    rows, count, width = draw.number(1, 8), draw.number(1, 6), draw.number(1, 5)
    batch = np.sort(draw.random.integers(0, 4, count))
    ids = op.numbers(draw.random.integers(0, rows, count))
    inputs = [ids, op.numbers(np.stack([batch, np.arange(count)], 1)), op.numbers([4, count])]
    inputs += [op.input((count,), "float32", constant=0.5), op.input((rows, width), "float32", constant=0.8)]
    op.output("float32")
    op.op(inputs, tflite.EmbeddingLookupSparseOptionsT(combiner=tflite.CombinerType(draw.number(0, 2))))


def _hashtable_lookup(draw: Draw, op: OneOp) -> None:
    keys = np.sort(draw.random.choice(50, draw.number(1, 8), replace=False)).astype(np.int32)
    kind = draw.kind("float32", "string", "int32")
    sought = draw.random.choice([*keys, 7, 99], draw.number(1, 6)).astype(np.int32)
    inputs = [op.numbers(sought, constant=0.3), op.numbers(keys)]
    inputs.append(op.input((len(keys), *draw.shape(0, 1)), kind))
    op.output(kind)
    op.output("uint8")
    op.op(inputs)


def _where(draw: Draw, op: OneOp) -> None:
    x = op.input(
        draw.shape(0, 6), draw.kind("bool", "bool", "float32", "int32", "int64", "int8!", "uint8!", "uint32")
    )
    op.output("int64")
    op.op([x])


def _unique(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "int8!", "uint8!", "int16!", "int32", "int64")
    x = op.input(draw.shape(1, 1), kind)
    out = draw.pick(*INDEX)
    op.output(kind)
    op.output(out)
    op.op([x], tflite.UniqueOptionsT(idx_out_type=tflite.TensorType[out.upper()]))


def _nms(draw: Draw, op: OneOp) -> None:
    count = draw.number(0, 12)
    corners = draw.random.random((count, 2)) * 3
    boxes = np.concatenate([corners, corners + draw.random.random((count, 2)) * 2], 1).astype(np.float32)
    if draw.chance(0.3):
        boxes = boxes[:, [2, 3, 0, 1]]
    scores = draw.random.random(count).astype(np.float32)
    if draw.chance(0.3):
        scores = np.round(scores, 1)
    inputs = [
        op.input(boxes.shape, "float32", lambda shape: boxes, 0.1),
        op.input((count,), "float32", lambda shape: scores, 0.1),
    ]
    inputs.append(op.numbers(draw.number(0, 14), constant=0.6))
    inputs.append(op.numbers(draw.pick(0.0, 0.3, 0.5, 1.0), ("float32",), 0.6))
    inputs.append(op.numbers(draw.pick(0.0, 0.2, 0.6, -1.0), ("float32",), 0.6))
    if op.name.endswith("V5"):
        inputs.append(op.numbers(draw.pick(0.0, 0.5, 1.0), ("float32",), 0.6))
    op.output("int32")
    if op.name.endswith("V5"):
        op.output("float32")
    op.output("int32")
    op.op(inputs)


def _random(draw: Draw, op: OneOp) -> None:
    if op.name == "MULTINOMIAL":
        inputs = [op.input((draw.number(1, 3), draw.number(1, 6)), "float32"), op.numbers(draw.number(0, 20))]
        op.output(draw.pick(*INDEX))
    else:
        inputs = [op.numbers(np.array(draw.shape(0, 3), np.int64), ("int32",))]
        op.output("float32")
    op.op(inputs, tflite.RandomOptionsT(seed=draw.number(0, 5), seed2=draw.number(0, 5)))


def _lsh(draw: Draw, op: OneOp) -> None:
    functions, bits = draw.number(1, 4), draw.number(1, 6)
    dense = draw.chance()
    kind = draw.kind("float32", "int32", "string", *ALL[:1])
    shape = draw.shape(1, 3, 60)
    inputs = [op.input((functions, bits), "float32", constant=0.9), op.input(shape, kind)]
    if draw.chance(0.4):
        inputs.append(op.input(shape[:1], "float32"))
    op.output("int32")
    op.op(inputs, tflite.LSHProjectionOptionsT(type=tflite.LSHProjectionType(2 if dense else 1)))


def _skip_gram(draw: Draw, op: OneOp) -> None:
    words = [draw.pick("the", "quick", "fox", "", "jumps", "\u00e9", ".") for _ in range(draw.number(0, 7))]
    text = np.array(" ".join(words).encode())
    x = op.input((), "string", lambda shape: text)
    op.output("string")
    op.op([x], tflite.SkipGramOptionsT(
        ngram_size=draw.number(1, 4), max_skip_size=draw.number(0, 3), include_all_ngrams=draw.chance()
    ))  # fmt: skip


ENTRIES = {
    "GATHER": Entry(_gather),
    "GATHER_ND": Entry(_gather_nd),
    "SCATTER_ND": Entry(_scatter_nd),
    "SPARSE_TO_DENSE": Entry(_sparse_to_dense),
    "EMBEDDING_LOOKUP": Entry(_embedding_lookup),
    "EMBEDDING_LOOKUP_SPARSE": Entry(_embedding_sparse),
    "HASHTABLE_LOOKUP": Entry(_hashtable_lookup),
    "WHERE": Entry(_where),
    "UNIQUE": Entry(_unique),
    "NON_MAX_SUPPRESSION_V4": Entry(_nms),
    "NON_MAX_SUPPRESSION_V5": Entry(_nms),
    "RANDOM_UNIFORM": Entry(_random, random=True),
    "RANDOM_STANDARD_NORMAL": Entry(_random, random=True),
    "MULTINOMIAL": Entry(_random, random=True),
    "LSH_PROJECTION": Entry(_lsh),
    "SKIP_GRAM": Entry(_skip_gram),
}
