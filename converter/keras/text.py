"""TextVectorization: texts as places of their words in a vocabulary, or as rows of counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32, DT_INT64, DT_STRING
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call
from .categories import MODES, vocabulary, weighted
from .config import Config, integers_of, plain
from .kind import Kind, Read
from .layer import Layer
from .tables import found_in

# Words that are joined into runs, in all: each has operators of its own.
_MOST_WORDS = 4096

_LOWER = ("lower", "lower_and_strip_punctuation")
_STRIPPED = ("strip_punctuation", "lower_and_strip_punctuation")
# Source: Keras layers/preprocessing/text_vectorization.py.
_PUNCTUATION = r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']"
_STRANGER = "[UNK]"
# What Unicode has for bytes that are no text.
_REPLACEMENT = 0xFFFD


class _Words(NamedTuple):
    """Words of all texts behind each other (or what stands for them), and where each text's begin and end."""

    texts: Tensor
    splits: Tensor


def text_vectorization(c: Call) -> Tensor:
    """Lower case without punctuation, split, joined to n-grams, looked up; needs select TF ops."""
    mode = c.config.choice("output_mode", (*MODES, "tf-idf"), "int").replace("tf-idf", "tf_idf")
    c.refuse_true("ragged", "sparse")
    is_int = mode == "int"
    special: list[object] = ["", _STRANGER] if is_int else [_STRANGER]
    tokens = vocabulary(c, special)
    first = len(special)
    keys, places = ["", *tokens], [0 if is_int else -1, *range(first, first + len(tokens))]
    x = _standard(c, c.x if c.x.type == DT_STRING else c.make("AsString", c.x))
    length = c.config.integer("output_sequence_length") if c.config.has("output_sequence_length") else -1

    def found(texts: Tensor) -> Tensor:
        return found_in(c, texts, keys, places, first - 1)

    words, widths = _words(c, x), _widths(c)
    if words is None:
        ids = found(x) if length == -1 else _of_length(c, found(x), length)
    else:
        flat = _joined(c, words, widths, found) if widths else _Words(found(words.texts), words.splits)
        ids = _rows(c, flat.texts, flat.splits, length, c.body.scalar(0 if is_int else -1, DT_INT32))
    return weighted(c, ids, mode, first + len(tokens))


def _standard(c: Call, x: Tensor) -> Tensor:
    told = c.config.get("standardize")
    if told not in (None, "lower", "strip_punctuation", "lower_and_strip_punctuation"):
        raise UnsupportedError("a function as standardize is code; custom_layers takes one for the layer")
    encoding = "utf-8" if c.config.get("encoding") == "utf-8" and c.importer.shared.is_keras_2 else ""
    if told in _LOWER:
        x = c.make("StringLower", x, encoding=encoding)
    return c.make("StaticRegexReplace", x, pattern=_PUNCTUATION, rewrite="") if told in _STRIPPED else x


def _words(c: Call, x: Tensor) -> _Words | None:
    """What texts are split into; None where they are words already and stay so."""
    how = c.config.get("split")
    if how is None and not _widths(c):
        return None
    if how is None:
        raise UnsupportedError("ngrams of texts that are not split are not built")
    if how not in ("whitespace", "character"):
        raise UnsupportedError("a function as split is code; custom_layers takes one for the layer")
    if x.rank > 2 or (x.rank == 2 and x.sizes[1] != 1):
        raise ModelError(f"it must be called with one text for each row, got {x}")
    x = c.body.reshaped(x, [-1])
    return _by_space(c, x) if how == "whitespace" else _characters(c, x)


def _lookup(config: Config, read: Read) -> Mapping[str, Layer]:
    """The layer within that has the vocabulary, and by some files its weights."""
    return {"_lookup_layer": Layer("StringLookup", "lookup", config, True)}


def _widths(c: Call) -> list[int]:
    """How many words are joined: each number up to one, or those that are listed."""
    told = plain(c.config.get("ngrams"))
    if told is None:
        return []
    widths = range(1, told + 1) if isinstance(told, int) else integers_of(told, "ngrams")
    if len(widths) > _MOST_WORDS or sum(widths) > _MOST_WORDS:
        raise UnsupportedError(f"ngrams: at most {_MOST_WORDS} words in all, got {told}")
    return list(widths)


def _by_space(c: Call, x: Tensor) -> _Words:
    nothing = c.body.constant(np.array(b"", object))
    places, texts, _ = c.body.ops("StringSplitV2", x, nothing, maxsplit=-1)
    row = c.make("GatherV2", places, c.body.scalar(0, DT_INT32), c.body.scalar(1, DT_INT32))
    # Where a text begins: so many words are of texts before it.
    ends = c.make("ExpandDims", _up_to(c, x), c.body.scalar(1, DT_INT32))
    before = c.body.cast(c.body.cast(row, DT_INT32) < ends, DT_INT32)
    return _Words(texts, c.make("Sum", before, c.body.integers([1])))


def _up_to(c: Call, x: Tensor) -> Tensor:
    """The numbers from 0 to the length of x, which is one of them."""
    zero, one = (c.body.scalar(n, DT_INT32) for n in (0, 1))
    return c.make("Range", zero, c.body.as_int32(c.body.size(x, 0)) + 1, one)


def _characters(c: Call, x: Tensor) -> _Words:
    encoding: dict[str, str | int] = {"errors": "replace", "replacement_char": _REPLACEMENT}
    splits, points = c.body.ops(
        "UnicodeDecode",
        x,
        input_encoding="UTF-8",
        replace_control_characters=False,
        Tsplits=element_type(DT_INT64),
        **encoding,
    )
    each = c.body.cast(_up_to(c, points), DT_INT64)
    texts = c.make("UnicodeEncode", points, each, output_encoding="UTF-8", **encoding)
    return _Words(texts, c.body.cast(splits, DT_INT32))


def _joined(c: Call, words: _Words, widths: list[int], found: Callable[[Tensor], Tensor]) -> _Words:
    """What stands for each run of so many words, those of one width behind those of another.

    found gives a number for each text. TensorFlow's op for this is none of those that models may hold.
    """
    one, splits = c.body.scalar(1, DT_INT32), words.splits
    rows = _rows(c, words.texts, splits, -1, c.body.constant(np.array(b"", object)))
    count = c.body.as_int32(c.body.size(splits, 0)) - 1
    lengths = _part(c, splits, [1], [count]) - _part(c, splits, [0], [count])
    width = c.body.as_int32(c.body.size(rows, 1))
    places, runs = [], []
    for most in widths:
        starts = (width - (most - 1)).maximum(0)
        parts = [_part(c, rows, [0, width.minimum(n)], [-1, starts]) for n in range(most)]
        places.append(found(c.make("StringJoin", *parts, separator=" ") if most > 1 else parts[0]))
        at = c.make("ExpandDims", c.make("Range", c.body.scalar(0, DT_INT32), starts, one), one * 0)
        runs.append(at < c.make("ExpandDims", lengths - (most - 1), one))
    numbers, is_run = (c.make("ConcatV2", *x, one) if len(widths) > 1 else x[0] for x in (places, runs))
    counts = c.make("Sum", c.body.cast(is_run, DT_INT32), c.body.integers([1]))
    ends = c.make("Cumsum", counts, one * 0)
    flat = c.make("GatherNd", numbers, c.make("Where", is_run))
    return _Words(flat, c.make("ConcatV2", c.body.integers([0]), ends, one * 0))


def _part(c: Call, x: Tensor, begin: Sequence[int | Tensor], size: Sequence[int | Tensor]) -> Tensor:
    return c.make("Slice", x, c.body.vector(begin), c.body.vector(size))


def _rows(c: Call, flat: Tensor, splits: Tensor, length: int, fill: Tensor) -> Tensor:
    """A row for each text, as long as the longest one or as told."""
    return c.make(
        "RaggedTensorToTensor",
        c.body.constant(np.array([-1, length], np.int64)),
        flat,
        fill,
        c.body.cast(splits, DT_INT64),
        row_partition_types=(b"ROW_SPLITS",),
        num_row_partition_tensors=1,
    )


def _of_length(c: Call, x: Tensor, length: int) -> Tensor:
    """Rows cut off, or with zeros behind."""
    pads = np.zeros((x.rank, 2), np.int32)
    pads[-1, 1] = length
    longer = c.make("Pad", x, c.body.constant(pads))
    return c.make(
        "Slice", longer, c.body.integers([0] * x.rank), c.body.integers([-1] * (x.rank - 1) + [length])
    )


REGISTRATIONS: dict[str, Kind] = {"TextVectorization": Kind(text_vectorization, parts=_lookup)}
