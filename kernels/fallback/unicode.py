"""Text in Unicode encodings as code points, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.string_tensor import string_array
from .attributes import DataType
from .axis import rows_of, vector
from .dtypes import INDICES, numpy_dtype
from .each_string import mapped_strings
from .registry import kernel
from .status import InvalidArgumentError

_CODECS = {
    "UTF-8": "utf-8",
    "UTF-16": "utf-16-be",
    "UTF-16-BE": "utf-16-be",
    "UTF-16-LE": "utf-16-le",
    "UTF-32-BE": "utf-32-be",
    "UTF-32-LE": "utf-32-le",
    "US-ASCII": "ascii",
    "ISO-8859-1": "latin-1",
}
# Names without their hyphens, as TensorFlow's library for them (ICU) compares them; and other names.
_ALIASES = {name.replace("-", ""): codec for name, codec in _CODECS.items()}
_ALIASES |= {"ASCII": "ascii", "LATIN1": "latin-1"}


def _codec(encoding: str) -> str:
    codec = _CODECS.get(encoding.upper()) or _ALIASES.get(encoding.upper().replace("-", ""))
    if codec is None:
        raise UnsupportedError(f"encoding {encoding!r}: built are {', '.join(_CODECS)}")
    return codec


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How strings are read, and what comes of what is invalid (errors) and of control characters."""

    input_encoding: str
    errors: str
    replacement_char: int
    replace_control_characters: bool


def _decoded(text: bytes, how: Decoding) -> list[tuple[int, int]]:
    """Code points with the bytes that each begins at."""
    codec, errors, replacement = _codec(how.input_encoding), how.errors, how.replacement_char
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        rest = text[at:]
        try:
            good, stop = rest.decode(codec), None
        except UnicodeDecodeError as error:
            if errors == "strict":
                raise InvalidArgumentError(f"invalid formatting on input string at byte {at}") from None
            good, stop = rest[: error.start].decode(codec), error
        for character in good:
            found.append((ord(character), at))
            at += len(character.encode(codec))
        if stop is not None:
            if errors == "replace":
                found.append((replacement, at))
            at += max(stop.end - stop.start, 1)
    if not how.replace_control_characters:
        return found
    if errors == "ignore":
        return [(code, at) for code, at in found if not _is_control(code)]
    return [(replacement if _is_control(code) else code, at) for code, at in found]


def _is_control(code: int) -> bool:
    return code < 32 or code == 127


def _checked(errors: str, replacement: int) -> None:
    if errors not in ("strict", "replace", "ignore"):
        raise InvalidArgumentError(f"errors must be strict, replace or ignore, got {errors!r}")
    if not 0 <= replacement < 0x110000 or 0xD800 <= replacement < 0xE000:
        raise InvalidArgumentError(f"replacement_char out of unicode codepoint range, got {replacement}")


def unicode_decode_with_offsets(
    x: np.ndarray, *, decoding: Decoding, Tsplits: DataType
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Splits between the strings, code points of all, and the byte of its string that each begins at."""
    _checked(decoding.errors, decoding.replacement_char)
    rows = [_decoded(text, decoding) for text in x.reshape(-1)]
    splits = np.cumsum([0, *map(len, rows)]).astype(numpy_dtype(Tsplits))
    codes = np.array([code for row in rows for code, _ in row], np.int32)
    return splits, codes, np.array([at for row in rows for _, at in row], np.int64)


def unicode_decode(x: np.ndarray, *, decoding: Decoding, Tsplits: DataType) -> tuple[np.ndarray, np.ndarray]:
    """Splits between the strings, and the code points of all."""
    splits, codes, _ = unicode_decode_with_offsets(x, decoding=decoding, Tsplits=Tsplits)
    return splits, codes


def _valid(code: int) -> bool:
    return 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000


def unicode_encode(
    values: np.ndarray, splits: np.ndarray, *, errors: str, output_encoding: str, replacement_char: int
) -> np.ndarray:
    """Strings of code points, one for each row between two splits."""
    _checked(errors, replacement_char)
    codec, ends = _codec(output_encoding), list(vector(splits, "UnicodeEncode: splits"))
    count = rows_of(values, "UnicodeEncode: values")
    if not ends or ends[0] != 0 or ends[-1] != count or sorted(ends) != ends:
        message = f"splits must rise from 0 to {count}, got {ends[:16]}"
        raise InvalidArgumentError(f"UnicodeEncode: {message}")
    made = []
    for start, end in pairwise(ends):
        codes = [int(code) for code in values[start:end]]
        if errors == "strict" and not all(map(_valid, codes)):
            raise InvalidArgumentError("Code point is out of range for Unicode, or a noncharacter.")
        other = [replacement_char] if errors == "replace" else []
        kept = [one for code in codes for one in ([code] if _valid(code) else other)]
        made.append("".join(map(chr, kept)).encode(codec))
    return string_array(made, [len(made)])


def unicode_transcode(x: np.ndarray, *, decoding: Decoding, output_encoding: str) -> np.ndarray:
    """Each string in another encoding."""
    _checked(decoding.errors, decoding.replacement_char)
    codec = _codec(output_encoding)

    def transcode(text: bytes) -> bytes:
        return "".join(chr(code) for code, _ in _decoded(text, decoding)).encode(codec)

    return mapped_strings(transcode, x)


@lru_cache(1)
def _scripts() -> tuple[np.ndarray, np.ndarray]:
    """First code points of the stretches that belong to one script, and ICU's numbers of those scripts.

    Source: Unicode Standard Annex 24, as TensorFlow 2.21's UnicodeScript tells it of all code points.
    """
    text = resources.files(__package__).joinpath("unicode_scripts.txt").read_text()
    pairs = [line.split() for line in text.splitlines()]
    return np.array([int(first, 16) for first, _ in pairs]), np.array([int(n) for _, n in pairs], np.int32)


def unicode_script(x: np.ndarray) -> np.ndarray:
    """The number of the script that each code point belongs to, -1 for what is none: int32."""
    firsts, numbers = _scripts()
    found = numbers[np.maximum(np.searchsorted(firsts, x, "right") - 1, 0)]
    return np.where((x >= 0) & (x < 0x110000), found, np.int32(-1))


REGISTRATIONS = (
    kernel("UnicodeDecode", unicode_decode, Tsplits=INDICES),
    kernel("UnicodeDecodeWithOffsets", unicode_decode_with_offsets, Tsplits=INDICES),
    kernel("UnicodeEncode", unicode_encode, Tsplits=INDICES),
    kernel("UnicodeTranscode", unicode_transcode),
    kernel("UnicodeScript", unicode_script),
)
