"""tftext's custom operators, in Python: words between spaces, joined neighbours, projections of hashes."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from math import prod

import numpy as np

from ..lite.available_memory import check_room
from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.string_tensor import OBJECT_BYTES, pack_strings, strings_of
from ..lite.tensor import Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .custom_options import FlexOptions
from .fingerprint import fingerprint64
from .index_vector import check_index_type

# Unicode's White_Space, but for what U+FFFD stands for.
_SPACES = re.compile(
    "|".join(
        ["[\t-\r ]", *(chr(code) for code in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))]
        + [chr(code) for code in range(0x2000, 0x200B)]
    ).encode()
)
_NO_CHARACTER = "\N{REPLACEMENT CHARACTER}".encode()
_MOST_SEEDS = 1 << 16
_STRING, _INT64, _FLOAT32 = (TensorType.STRING,), (TensorType.INT64,), (TensorType.FLOAT32,)


def words_of(text: bytes) -> list[bytes]:
    """What stands between spaces, in UTF-8; the text ends where it is no UTF-8, or has U+FFFD."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        text = text[: error.start]
    return [word for word in _SPACES.split(text.partition(_NO_CHARACTER)[0]) if word]


def prepare_words(context: Context, node: Node) -> None:
    """Words of x (strings of any shape): one tensor with an axis more, filled up with empty strings, or
    values [n] and for each axis of x the splits (int64) of a ragged tensor's rows.

    Source: tflite-support custom_ops/kernel/whitespace_tokenizer.cc.
    """
    name, outputs = node.registration.name, len(node.outputs)
    x = context.input(node, 0)
    if len(node.inputs) != 1 or outputs not in (1, 1 + len(x.shape)):
        raise PrepareError(
            f"{name}: must have 1 input and 1 output, or one more for each axis of the input, "
            f"got {len(node.inputs)} and {outputs} for {x!r}"
        )
    check_index_type(name, "input", x, _STRING)
    check_index_type(name, "output 0", context.output(node, 0), _STRING)
    context.set_dynamic(context.output(node, 0))
    for axis in range(outputs - 1):
        splits = context.output(node, 1 + axis)
        check_index_type(name, f"output {1 + axis}", splits, _INT64)
        context.resize_tensor(splits, (prod(x.shape[: axis + 1]) + 1,))


def invoke_words(context: Context, node: Node) -> None:
    x, y = context.input(node, 0), context.output(node, 0)
    rows = [words_of(text) for text in strings_of(x)]
    if len(node.outputs) == 1:
        most = max(map(len, rows), default=0)
        check_room(OBJECT_BYTES * most * len(rows))
        context.resize_tensor(y, (*x.shape, most))
        y.bind(pack_strings([word for row in rows for word in [*row, *[b""] * (most - len(row))]]))
        return
    for axis in range(len(x.shape) - 1):
        splits = context.output(node, 1 + axis).array()
        splits[...] = np.arange(splits.size) * x.shape[axis + 1]
    context.output(node, len(x.shape)).array()[...] = [0, *accumulate(map(len, rows))]
    words = [word for row in rows for word in row]
    context.resize_tensor(y, (len(words),))
    y.bind(pack_strings(words))


class _Ngrams(NamedTuple):
    width: int
    separator: bytes


def prepare_ngrams(context: Context, node: Node) -> None:
    """Each run of `width` strings along the last axis, joined.

    Of a tensor x [.., n], y [.., n - width + 1]; of a ragged one (values [n] and int64 splits for each
    axis) the same. Source: tflite-support custom_ops/kernel/ngrams.cc.
    """
    name, count = node.registration.name, len(node.inputs)
    if not count or count != len(node.outputs):
        raise PrepareError(
            f"{name}: must have as many outputs as inputs, got {count} inputs and {len(node.outputs)} outputs"
        )
    options = FlexOptions(node)
    width, axis, reduction = options.integer("width"), options.integer("axis"), options.text("reduction_type")
    if width < 1 or axis != -1 or reduction != "STRING_JOIN":
        raise PrepareError(
            f"{name}: width must be at least 1, axis -1 and reduction_type STRING_JOIN, "
            f"got {width}, {axis} and {reduction!r}"
        )
    x, y = context.input(node, 0), context.output(node, 0)
    check_index_type(name, "input 0", x, _STRING)
    check_index_type(name, "output 0", y, _STRING)
    if not x.shape or (count > 1 and len(x.shape) > 1):
        raise PrepareError(f"{name}: input 0 must have an axis, and values of rows no more, got {x!r}")
    node.user_data = _Ngrams(width, options.text("string_separator").encode(errors="surrogateescape"))
    if count == 1:
        context.resize_tensor(y, (*x.shape[:-1], max(0, x.shape[-1] - width + 1)))
        return
    context.set_dynamic(y)
    for i in range(1, count):
        splits = _splits(context, node, i)
        check_index_type(name, f"output {i}", context.output(node, i), _INT64)
        context.resize_tensor(context.output(node, i), splits.shape)


def invoke_ngrams(context: Context, node: Node) -> None:
    settings, x, y = node.user_data, context.input(node, 0), context.output(node, 0)
    assert isinstance(settings, _Ngrams)
    strings, last = strings_of(x), len(node.inputs) - 1
    if last:
        bounds = _rising(node, last, context.input(node, last), len(strings))
    else:
        bounds = [i * x.shape[-1] for i in range(prod(x.shape[:-1]) + 1)]
    joined: list[bytes] = []
    ends = [0]
    for begin, end in pairwise(bounds):
        starts = range(begin, end - settings.width + 1)
        joined += [settings.separator.join(strings[i : i + settings.width]) for i in starts]
        ends.append(len(joined))
    if last:
        for i in range(1, last):
            context.output(node, i).array()[...] = context.input(node, i).array()
        context.output(node, last).array()[...] = ends
        context.resize_tensor(y, (len(joined),))
    y.bind(pack_strings(joined))


def _splits(context: Context, node: Node, place: int) -> Tensor:
    """An input that divides rows, checked."""
    splits = context.input(node, place)
    check_index_type(node.registration.name, f"input {place}", splits, _INT64)
    if len(splits.shape) != 1 or not splits.size:
        raise PrepareError(
            f"{node.registration.name}: input {place} must be a vector of a number or more, got {splits!r}"
        )
    return splits


def _rising(node: Node, place: int, splits: Tensor, count: int) -> list[int]:
    """Where rows of so many values begin and end; InvokeError where they are not among the values."""
    bounds = [int(number) for number in splits.array()]
    if bounds[0] < 0 or bounds[-1] > count or any(b < a for a, b in pairwise(bounds)):
        raise InvokeError(
            f"{node.registration.name}: input {place} must rise from 0 or more to {count} at most, "
            f"got {bounds[:16]}"
        )
    return bounds


class _Projection(NamedTuple):
    """seeds is int64 [k]."""

    seeds: np.ndarray
    buckets: int


def prepare_projection(context: Context, node: Node) -> None:
    """y [rows, seeds], float32: means of the strings' hashes times each seed, from -1 to 1.

    Inputs are values [n] and int64 splits [rows + 1]; a row without strings gives NaN.
    Source: seq_flow_lite tflite_ops/sgnn_projection.cc.
    """
    name = node.registration.name
    if len(node.inputs) != 2 or len(node.outputs) != 1:
        raise PrepareError(
            f"{name}: must have 2 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    options = FlexOptions(node)
    seeds, buckets = options.integers("hash_seed", _MOST_SEEDS), options.integer("buckets")
    if buckets < 2 or any(abs(seed) >= 1 << 31 for seed in seeds):
        raise PrepareError(
            f"{name}: buckets must be 2 or more, and each hash_seed fit 32 bits, "
            f"got {buckets} and {seeds[:16]}"
        )
    x, y = context.input(node, 0), context.output(node, 0)
    check_index_type(name, "input 0", x, _STRING)
    check_index_type(name, "output", y, _FLOAT32)
    node.user_data = _Projection(np.array(seeds, np.int64), buckets)
    context.resize_tensor(y, (_splits(context, node, 1).size - 1, len(seeds)))


def invoke_projection(context: Context, node: Node) -> None:
    settings, y = node.user_data, context.output(node, 0)
    assert isinstance(settings, _Projection)
    strings, half = strings_of(context.input(node, 0)), np.float32(settings.buckets // 2)
    bounds = _rising(node, 1, context.input(node, 1), len(strings))
    for row, (begin, end) in enumerate(pairwise(bounds)):
        context.cancellation.check()
        hashes = [fingerprint64(text) % settings.buckets for text in strings[begin:end]]
        check_room(3 * np.dtype(np.int64).itemsize * len(hashes) * settings.seeds.size)
        values = np.abs(np.outer(np.array(hashes, np.int64), settings.seeds)) % settings.buckets
        values[values > settings.buckets // 2] -= settings.buckets
        with np.errstate(invalid="ignore"):  # no strings: 0 / 0
            y.array()[row] = values.sum(0, np.float64).astype(np.float32) / half / np.float32(end - begin)


REGISTRATIONS = (
    Registration("tftext:WhitespaceTokenizer", prepare_words, invoke_words),
    Registration("tftext:Ngrams", prepare_ngrams, invoke_ngrams),
    Registration("tftext:custom:SgnnProjection", prepare_projection, invoke_projection),
)
