"""What a file is that is not what it was taken for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ..schema.fault import ModelError
from ..schema.varint import varint

_STARTS = (
    (b"PK\x03\x04", "a zip archive (a .keras or PyTorch model, say)"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (a Keras model, say)"),
    (b"\x1f\x8b", "compressed by gzip: decompress it first"),
    (b"version https://git-lfs", "a pointer of Git LFS: git lfs pull fetches the file"),
    (b"<", "HTML or XML"),
    (b"\x80", "a Python pickle (a PyTorch model, say)"),
)
_VARINT, _BYTES = 0, 2
# Fields by number and wire type that are at the top of these messages.
_MESSAGES = (
    (frozenset(((1, _VARINT), (7, _BYTES))), "an ONNX model"),
    (frozenset(((1, _VARINT), (2, _BYTES))), "the saved_model.pb of a SavedModel: give its folder"),
)
_MOST_FIELDS = 64


def what_it_is(content: bytes) -> str | None:
    """In words, None where that is not known: `an ONNX model`. The first bytes of a file will do."""
    if not content:
        return "empty"
    if content[4:8] == b"TFL3":
        return "a .tflite model, which is converted already"
    for start, words in _STARTS:
        if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(start) or content.startswith(start):
            return words
    found = frozenset(_fields(content))
    return next((words for fields, words in _MESSAGES if fields <= found), None)


def _fields(content: bytes) -> Iterator[tuple[int, int]]:
    """Number and wire type of the first fields of a protobuf message, as far as it is one."""
    at, end = 0, len(content)
    with suppress(ModelError):
        for _ in range(_MOST_FIELDS):
            tag, at = varint(content, at, end, "field")
            kind = tag & 7
            if at >= end or not tag >> 3 or kind not in (_VARINT, _BYTES):
                return
            yield tag >> 3, kind  # also where the part of the file that is looked at ends in its value
            value, at = varint(content, at, end, "field")
            at += value if kind == _BYTES else 0
