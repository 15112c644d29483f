"""Strings."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, broadcast


def join(c: ShapeContext) -> Results:
    """Scalars stretch; the others have one shape."""
    whole = [shape for shape in c.inputs if shape != ()]
    return [c.merged(*whole) if whole else ()]


def split(c: ShapeContext) -> Results:
    """StringSplit, StringSplitV2: a sparse matrix of words."""
    return [(ANY, 2), (ANY,), (2,)]


def words(c: ShapeContext) -> Results:
    """StringNGrams, UnicodeDecode: vectors of all rows' parts and where these begin."""
    return [(ANY,), (ANY,)]


def encoded_text(c: ShapeContext) -> Results:
    """UnicodeEncode: a text for each row."""
    ends = c.shape_of(1)
    return [(ANY if not ends or ends[0] == ANY else max(ends[0] - 1, 0),)]


def substr(c: ShapeContext) -> Results:
    return [broadcast(*c.inputs[:2])]


def decode_raw(c: ShapeContext) -> Results:
    shape = c.shape_of(0)
    return [None if shape is None else (*shape, ANY)]


def decode_csv(c: ShapeContext) -> Results:
    return [c.shape_of(0)] * max(len(c.given), 1)


def one_string(c: ShapeContext) -> Results:
    return [()]


def encoded_image(c: ShapeContext) -> Results:
    """A string for each image of the batch."""
    shape = c.at_least(0, 3)
    return [None if shape is None else shape[:-3]]


_ONE = ("StringFormat", "SerializeTensor", "EncodeJpeg", "EncodeWav", "ShardedFilename", "ShardedFilespec")
REGISTRATIONS: dict[str, ShapeFunction] = {
    "StringJoin": join,
    **dict.fromkeys(("StringSplit", "StringSplitV2"), split),
    "Substr": substr,
    **dict.fromkeys(("StringNGrams", "UnicodeDecode"), words),
    "UnicodeEncode": encoded_text,
    **dict.fromkeys(("DecodeRaw", "DecodePaddedRaw"), decode_raw),
    "DecodeCSV": decode_csv,
    **dict.fromkeys(_ONE, one_string),
    "EncodePng": encoded_image,
}
