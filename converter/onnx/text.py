"""Strings: joined, split, matched and made alike, by TensorFlow's ops (--select-tf-ops)."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.string_tensor import string_array
from ...schema.graph_def import DT_INT32, DT_INT64
from ..building.tensor import Tensor
from .call import Call, Rule

_CASES = {"NONE": "", "LOWER": "StringLower", "UPPER": "StringUpper"}


def text_constant(c: Call, words: list[bytes]) -> Tensor:
    """A vector of strings."""
    return c.body.constant(string_array(words, [len(words)]))


def concat(c: Call) -> Tensor:
    """The strings of one behind those of the other."""
    x, y = c.inputs()
    if x.is_known and y.is_known and x.rank and y.rank:
        shape = np.broadcast_shapes(x.sizes, y.sizes)
        sizes = c.body.integers(shape)
        x, y = (each if each.shape == shape else c.make("BroadcastTo", each, sizes) for each in (x, y))
    return c.make("StringJoin", x, y)


def full_match(c: Call) -> Tensor:
    """Whether the whole of each string is what the pattern says."""
    return c.make("StaticRegexFullMatch", c.input(0), pattern=c.text("pattern"))


def split(c: Call) -> list[Tensor]:
    """The parts of each string along a new last axis, filled up with empty ones, and how many there are."""
    body, x = c.body, c.input(0)
    most, mark = c.integer("maxsplit", -1), c.text("delimiter", "")
    if most == 0:
        raise UnsupportedError("maxsplit 0: strings that are not split are not built")
    flat = body.reshaped(x, [-1])
    places, words, shape = body.ops("StringSplitV2", flat, _text(c, mark), maxsplit=most)
    if most > 0 and not mark:
        places, words = _not_empty(c, places, words)
    row = c.make("Slice", places, body.integers([0, 0], DT_INT64), body.integers([-1, 1], DT_INT64))
    ones = c.make("Squeeze", c.make("OnesLike", row), squeeze_dims=[1])
    rows = c.make("Slice", shape, body.integers([0]), body.integers([1]))
    counts = c.make("ScatterNd", row, ones, rows)
    widest = c.make(
        "Max",
        c.make("ConcatV2", counts, body.integers([0], DT_INT64), body.scalar(0, DT_INT32)),
        body.integers([0]),
        keep_dims=False,
    )
    whole = c.make("ConcatV2", rows, body.reshaped(widest, [1]), body.scalar(0, DT_INT32))
    dense = c.make("SparseToDense", places, whole, words, _text(c, ""))
    sizes = body.sizes_of(x)
    parts = body.reshaped(dense, [*sizes, body.cast(widest, DT_INT32)])
    return [parts, body.reshaped(counts, sizes)][: len(c.wanted)]


def _text(c: Call, text: str) -> Tensor:
    return c.body.constant(np.array(text.encode(), object))


def _not_empty(c: Call, places: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """Without the empty rest that StringSplitV2 gives behind the last word where it has split enough."""
    kept = c.make("Where", c.make("NotEqual", words, _text(c, "")))
    at = c.body.cast(c.body.reshaped(kept, [-1]), DT_INT32)
    zero = c.body.scalar(0, DT_INT32)
    return c.make("GatherV2", places, at, zero), c.make("GatherV2", words, at, zero)


def normalize(c: Call) -> Tensor:
    """Strings [n] or [1, n] without stop words, in one case; one empty string where none is left."""
    x, how = c.input(0), c.text("case_change_action", "NONE")
    if how not in _CASES:
        raise ModelError(f"case_change_action must be one of {', '.join(_CASES)}, got {how!r}")
    stops = c.texts("stopwords", [])
    if x.rank not in (1, 2) or (x.rank == 2 and x.sizes[0] != 1):
        raise ModelError(f"x must be [n] or [1, n], got {x.sizes}")
    words = c.body.reshaped(x, [-1])
    if stops:
        words = _without(c, words, stops, c.flag("is_case_sensitive"))
    if _CASES[how]:
        words = c.make(_CASES[how], words, encoding="utf-8")
    return words if x.rank == 1 else c.body.reshaped(words, [1, -1])


def _without(c: Call, words: Tensor, stops: list[bytes], is_case_sensitive: bool) -> Tensor:
    """The words that are none of the others."""
    body, compared = c.body, words
    if not is_case_sensitive:
        compared = c.make("StringLower", words, encoding="utf-8")
        stops = [
            word.decode(errors="surrogateescape").lower().encode(errors="surrogateescape") for word in stops
        ]
    column = c.make("ExpandDims", compared, body.scalar(1, DT_INT32))
    known = c.make("Any", column.equals(text_constant(c, stops)), body.integers([1]), keep_dims=False)
    at = body.cast(body.reshaped(c.make("Where", known.apply("LogicalNot")), [-1]), DT_INT32)
    # The empty string stands behind all words, and is taken where none is.
    missing = (1 - body.size(at, 0)).maximum(0)
    last = c.make("Fill", body.vector([missing]), body.size(words, 0))
    zero = body.scalar(0, DT_INT32)
    return c.make(
        "GatherV2",
        c.make("ConcatV2", words, text_constant(c, [b""]), zero),
        c.make("ConcatV2", at, last, zero),
        zero,
    )


REGISTRATIONS: dict[str, Rule] = {
    "RegexFullMatch": full_match,
    "StringConcat": concat,
    "StringNormalizer": normalize,
    "StringSplit": split,
}
