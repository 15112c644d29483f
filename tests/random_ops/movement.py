"""Random cases of operators that move elements: shapes, slices, paddings, concatenations."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .draw import Draw, Kind, Shape
from .elementwise import ALL
from .entry import Entry, Make
from .one_op import OneOp, activation

MOVED = (*ALL, "string", "float32", "int8", "int32")
INDEX = ("int32", "int64")


def _operand(draw: Draw, op: OneOp, low: int, high: int, *types: str) -> tuple[int, Kind, Shape]:
    """An operand of any type, and its result in the same or another quantization."""
    kind = draw.kind(*(types or MOVED))
    shape = draw.shape(low, high, 1500)
    return op.input(shape, kind, constant=0.05), kind, shape


def _result(draw: Draw, op: OneOp, kind: Kind) -> None:
    op.output(kind if draw.chance(0.95) else draw.like(kind))


def _reshape(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 5)
    sizes = [n for n in shape if draw.chance(0.8)]
    count, rest = int(np.prod(shape)), int(np.prod(sizes))
    if rest and count % rest == 0 and rest != count:
        sizes.insert(draw.number(0, len(sizes)), count // rest)
    draw.random.shuffle(sizes)
    if sizes and draw.chance(0.4):
        sizes[draw.number(0, len(sizes) - 1)] = -1
    options = tflite.ReshapeOptionsT(new_shape=np.array(sizes, np.int32))
    inputs = [x] if draw.chance(0.2) else [x, op.numbers(sizes)]
    _result(draw, op, kind)
    op.op(inputs, options if len(inputs) == 1 or draw.chance() else None)


def _expand_dims(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 5)
    axis = draw.number(-len(shape) - 1, len(shape))
    axes = op.numbers(draw.pick(axis, [axis]), INDEX)
    _result(draw, op, kind)
    op.op([x, axes])


def _squeeze(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 6)
    ones = [axis - (len(shape) if draw.chance(0.4) else 0) for axis, n in enumerate(shape) if n == 1]
    dims = [axis for axis in ones if draw.chance(0.6)] + (
        [draw.axis(len(shape))] if draw.chance(0.05) else []
    )
    _result(draw, op, kind)
    op.op([x], tflite.SqueezeOptionsT(squeeze_dims=np.array(dims, np.int32)))


def _transpose(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 6)
    order = draw.random.permutation(len(shape)).astype(np.int32)
    if draw.chance(0.2):
        order -= len(shape) * draw.random.integers(0, 2, len(shape)).astype(np.int32)
    inputs = [x, op.numbers(order)]
    _result(draw, op, kind)
    op.op(inputs)


def _slice(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 5)
    begin = [draw.number(0, n) if draw.chance(0.6) else 0 for n in shape]
    size = [draw.pick(-1, draw.number(0, n - b), n - b) for n, b in zip(shape, begin, strict=True)]
    index = (draw.pick(*INDEX),)
    inputs = [x, op.numbers(begin, index), op.numbers(size, index)]
    _result(draw, op, kind)
    op.op(inputs)


def _strided_slice(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 5)
    count = len(shape) if draw.chance(0.6) else draw.number(0, len(shape) + 1)

    def mask(probability: float) -> int:
        return sum(1 << i for i in range(count) if draw.chance(probability))

    largest = max((*shape, 1)) + 2
    begin = [draw.number(-largest, largest) for _ in range(count)]
    end = [draw.number(-largest, largest) for _ in range(count)]
    strides = [draw.pick(1, 1, 1, 2, 3, -1, -2, 7) for _ in range(count)]
    often = draw.pick(0.0, 0.4)
    offset = draw.chance(0.1)
    fits = offset and count == len(shape) and draw.chance(0.8)
    if fits:  # end counts from begin
        begin = [draw.number(0, max(0, n - 1)) for n in shape[:count]]
        end = [draw.number(0, n - at) for n, at in zip(shape, begin, strict=False)]
        strides = [max(1, step) for step in strides]
        often = 0.0
    elif offset:
        op.told.append("odd offset")
    options = tflite.StridedSliceOptionsT(
        begin_mask=0 if fits else mask(0.4),
        end_mask=0 if fits else mask(0.4),
        ellipsis_mask=1 << draw.number(0, max(0, count - 1)) if draw.chance(often / 2) else 0,
        new_axis_mask=mask(often / 2),
        shrink_axis_mask=mask(often / 2),
        offset=offset,
    )
    if any(step < 0 and options.shrink_axis_mask >> i & 1 for i, step in enumerate(strides)):
        op.told.append("shrunk backwards")
    inputs = [x, *(op.numbers(each, ("int32",)) for each in (begin, end, strides))]
    _result(draw, op, kind)
    op.op(inputs, options)


def _pad(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 5)
    amounts = [[draw.pick(0, 0, 1, 2, 3), draw.pick(0, 0, 1, 2, 5)] for _ in shape]
    inputs = [x, op.numbers(np.reshape(np.array(amounts, np.int64), (-1, 2)), INDEX)]
    if op.name == "PADV2":
        inputs.append(op.input(draw.pick((), (1,)), kind, constant=0.6))
    _result(draw, op, kind)
    op.op(inputs)


def _mirror_pad(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 5)
    mode = tflite.MirrorPadMode(draw.pick(0, 1))
    most = [max(0, n - 1 + int(mode)) for n in shape]
    amounts = [[draw.number(0, n), draw.number(0, n)] for n in most]
    inputs = [x, op.numbers(np.reshape(np.array(amounts, np.int64), (-1, 2)), INDEX)]
    _result(draw, op, kind)
    op.op(inputs, tflite.MirrorPadOptionsT(mode=mode))


def _tile(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 4)
    times = [draw.pick(1, 1, 2, 3, 0) for _ in shape]
    inputs = [x, op.numbers(times, INDEX)]
    _result(draw, op, kind)
    op.op(inputs)


def _broadcast_to(draw: Draw, op: OneOp) -> None:
    shape = draw.shape(0, 6, 2000)
    kind = draw.kind(*MOVED)
    x = op.input(tuple(draw.pick(1, n) for n in shape)[draw.number(0, len(shape)) :], kind)
    target = op.numbers(np.array(shape, np.int64), INDEX)
    _result(draw, op, kind)
    op.op([x, target])


def _concatenation(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*MOVED, "int4"), draw.shape(0, 5, 800)
    axis = draw.axis(len(shape))
    parts = []
    for _ in range(draw.number(1, 6)):
        sizes = list(shape)
        if sizes and -len(shape) <= axis < len(shape):
            sizes[axis] = draw.size()
        parts.append(op.input(tuple(sizes), draw.like(kind) if draw.chance(0.3) else kind))
    _result(draw, op, kind)
    act = activation(draw) if draw.chance(0.1) else 0
    op.op(parts, tflite.ConcatenationOptionsT(axis=axis, fused_activation_function=act))


def _pack(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*MOVED), draw.shape(0, 4, 800)
    parts = [op.input(shape, kind) for _ in range(draw.number(1, 5))]
    axis = draw.number(-len(shape) - 1, len(shape))
    _result(draw, op, kind)
    op.op(parts, tflite.PackOptionsT(values_count=len(parts), axis=axis))


def _unpack(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*MOVED), draw.shape(1, 5, 800)
    axis = draw.axis(len(shape))
    count = shape[axis] if -len(shape) <= axis < len(shape) else 1
    x = op.input(shape, kind)
    for _ in range(count):
        op.output(kind)
    op.op([x], tflite.UnpackOptionsT(num=count, axis=axis))


def _split(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*MOVED), list(draw.shape(1, 5, 800))
    axis, count = draw.number(-len(shape), len(shape) - 1), draw.number(1, 5)
    shape[axis] = count * draw.number(0 if draw.chance(0.1) else 1, 4) + draw.chance(0.03)
    inputs = [op.numbers(draw.pick(axis, axis, [axis])), op.input(tuple(shape), kind)]
    for _ in range(count):
        op.output(kind)
    op.op(inputs, tflite.SplitOptionsT(num_splits=count))


def _split_v(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*MOVED), list(draw.shape(1, 5, 800))
    axis = draw.number(-len(shape), len(shape) - 1)
    sizes = [draw.number(0, 4) for _ in range(draw.number(1, 5))]
    shape[axis] = sum(sizes)
    if draw.chance(0.4):
        sizes[draw.number(0, len(sizes) - 1)] = -1
    x = op.input(tuple(shape), kind)
    inputs = [x, op.numbers(sizes, INDEX), op.numbers(draw.pick(axis, axis, [axis]))]
    for _ in sizes:
        op.output(kind)
    op.op(inputs, tflite.SplitVOptionsT(num_splits=len(sizes)))


def _reverse_v2(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 6)
    axes = [axis for axis in range(len(shape)) if draw.chance(draw.pick(0.3, 0.8))]
    if draw.chance(0.5):
        axes = list(range(draw.number(0, len(shape)), len(shape)))
    axes = [axis - (len(shape) if draw.chance(0.3) else 0) for axis in axes]
    inputs = [x, op.numbers(np.array(axes, np.int32))]
    _result(draw, op, kind)
    op.op(inputs)


def _reverse_sequence(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 1, 5)
    sequence, batch = draw.number(0, len(shape) - 1), draw.number(0, len(shape) - 1)
    lengths = [draw.number(0, shape[sequence]) for _ in range(shape[batch])]
    inputs = [x, op.numbers(np.array(lengths, np.int32), INDEX, constant=0.3)]
    _result(draw, op, kind)
    sequence -= len(shape) if draw.chance(0.05) else 0
    op.op(inputs, tflite.ReverseSequenceOptionsT(seq_dim=sequence, batch_dim=batch))


def _space(draw: Draw, op: OneOp) -> None:
    block = draw.number(1, 4)
    n, h, w, c = (draw.size() for _ in range(4))
    kind = draw.kind(*MOVED)
    if op.name == "SPACE_TO_DEPTH":
        shape, options = (n, h % 5 * block, w % 5 * block, c), tflite.SpaceToDepthOptionsT(block_size=block)
    else:
        shape, options = (n, h, w, c % 6 * block**2), tflite.DepthToSpaceOptionsT(block_size=block)
    x = op.input(shape, kind)
    _result(draw, op, kind)
    op.op([x], options)


def _space_batch(draw: Draw, op: OneOp) -> None:
    spatial = draw.pick(1, 2, 2, 2)
    blocks = [draw.number(1, 3) for _ in range(spatial)]
    kind = draw.kind(*MOVED)
    ends = [[draw.number(0, 2), draw.number(0, 3)] for _ in blocks]
    tail = (draw.number(1, 5),) if spatial == 2 or draw.chance() else ()
    sizes = [draw.number(1, 4) * b for b in blocks]
    if op.name == "SPACE_TO_BATCH_ND":
        shape = (draw.number(1, 3), *(max(0, n - sum(e)) for n, e in zip(sizes, ends, strict=True)), *tail)
    else:
        shape = (draw.number(1, 3) * int(np.prod(blocks)), *(draw.size() for _ in blocks), *tail)
    x = op.input(shape, kind)
    inputs = [x, op.numbers(blocks), op.numbers(ends)]
    op.output(kind)
    op.op(inputs)


def _fill(draw: Draw, op: OneOp) -> None:
    kind = draw.kind(*MOVED)
    inputs = [op.numbers(np.array(draw.shape(), np.int64), INDEX), op.input((), kind, constant=0.5)]
    _result(draw, op, kind)
    op.op(inputs)


def _range(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("int32", "int64", "float32")
    start, stop = (draw.number(-9, 9) * (0.5 if kind.type == "float32" else 1) for _ in range(2))
    step = draw.pick(1, 2, 3, -1, -2, 0.3 if kind.type == "float32" else 4)
    step = -step if (stop - start) * step < 0 and draw.chance(0.95) else step
    inputs = [op.numbers(value, (kind.type,), 0.5) for value in (start, stop, step)]
    op.output(kind)
    op.op(inputs)


def _shape(draw: Draw, op: OneOp) -> None:
    x, _, _ = _operand(draw, op, 0, 6)
    out = draw.pick(*INDEX)
    op.output("int32" if op.name == "RANK" else out)
    type_ = tflite.TensorType[out.upper()]
    op.op([x], None if op.name == "RANK" else tflite.ShapeOptionsT(out_type=type_))


def _broadcast_args(draw: Draw, op: OneOp) -> None:
    type_ = (draw.pick(*INDEX),)
    inputs = [op.numbers(np.array(shape, np.int64), type_, 0.4) for shape in draw.broadcast(draw.shape(0, 6))]
    op.output(type_[0])
    op.op(inputs)


def _one_hot(draw: Draw, op: OneOp) -> None:
    depth, shape = draw.number(0, 6), draw.shape(0, 4, 300)
    kind = draw.kind("float32", "int32", "int64", "bool", "int8!", "uint8!", "int16!", "int8")
    index = draw.pick(*INDEX)
    ids = op.input(shape, index, lambda shape: draw.random.integers(-2, depth + 2, shape).astype(index), 0.1)
    inputs = [ids, op.numbers(depth), op.input((), kind, constant=0.7), op.input((), kind, constant=0.7)]
    op.output(kind)
    op.op(inputs, tflite.OneHotOptionsT(axis=draw.number(-1, len(shape))))


def _matrix_diag(draw: Draw, op: OneOp) -> None:
    low = 1 if op.name == "MATRIX_DIAG" else 2
    kind, shape = (
        draw.kind("float32", "int8", "int16", "int32", "int64", "uint8", "bool"),
        draw.shape(low, 4, 500),
    )
    inputs = [op.input(shape, kind)]
    if op.name == "MATRIX_SET_DIAG":
        inputs.append(op.input((*shape[:-2], min(shape[-2:])), kind))
    op.output(kind)
    op.op(inputs)


def _dilate(draw: Draw, op: OneOp) -> None:
    x, kind, shape = _operand(draw, op, 0, 5)
    inputs = [x, op.numbers([draw.number(1, 3) for _ in shape]), op.input((), kind, constant=0.8)]
    op.output(kind)
    op.op(inputs)


def _dynamic_update_slice(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*MOVED), draw.shape(0, 5, 1000)
    part = tuple(draw.number(0, n) if draw.chance() else min(1, n) for n in shape)
    starts = [draw.number(-1, n + 1) for n in shape]
    inputs = [op.input(shape, kind), op.input(part, kind), op.numbers(np.array(starts, np.int64), INDEX, 0.4)]
    op.output(kind)
    op.op(inputs)


def _same(make: Make, *names: str) -> dict[str, Entry]:
    return {name: Entry(make) for name in names}


ENTRIES = {
    **_same(_reshape, "RESHAPE"),
    **_same(_expand_dims, "EXPAND_DIMS"),
    **_same(_squeeze, "SQUEEZE"),
    **_same(_transpose, "TRANSPOSE"),
    **_same(_slice, "SLICE"),
    **_same(_strided_slice, "STRIDED_SLICE"),
    **_same(_pad, "PAD", "PADV2"),
    **_same(_mirror_pad, "MIRROR_PAD"),
    **_same(_tile, "TILE"),
    **_same(_broadcast_to, "BROADCAST_TO"),
    **_same(_concatenation, "CONCATENATION"),
    **_same(_pack, "PACK"),
    **_same(_unpack, "UNPACK"),
    **_same(_split, "SPLIT"),
    **_same(_split_v, "SPLIT_V"),
    **_same(_reverse_v2, "REVERSE_V2"),
    **_same(_reverse_sequence, "REVERSE_SEQUENCE"),
    **_same(_space, "SPACE_TO_DEPTH", "DEPTH_TO_SPACE"),
    **_same(_space_batch, "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"),
    **_same(_fill, "FILL"),
    **_same(_range, "RANGE"),
    **_same(_shape, "SHAPE", "RANK"),
    **_same(_broadcast_args, "BROADCAST_ARGS"),
    **_same(_one_hot, "ONE_HOT"),
    **_same(_matrix_diag, "MATRIX_DIAG", "MATRIX_SET_DIAG"),
    **_same(_dilate, "DILATE"),
    **_same(_dynamic_update_slice, "DYNAMIC_UPDATE_SLICE"),
}
