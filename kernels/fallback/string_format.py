"""Numbers as strings, one by one or as whole tensors in a text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...lite.string_tensor import string_array
from .attributes import DataType
from .dtypes import PLAIN
from .each_string import mapped_strings
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError

_FILLS = ("", " ", "+", "-", "0", "#")


def as_string(
    x: np.ndarray, *, precision: int, scientific: bool, shortest: bool, width: int, fill: str
) -> np.ndarray:
    """Each element as C's printf writes it: %d, or %f, %e (scientific), %g (shortest).

    width, precision and the flag fill count where they are given (-1 and "" are not).
    """
    if fill not in _FILLS or (scientific and shortest):
        raise InvalidArgumentError(f"AsString: fill must be one of {_FILLS}, got {fill!r}")
    if precision > -1 and x.dtype.kind in "iub":
        raise InvalidArgumentError(f"AsString: precision is for floats, got {precision} for {x.dtype}")
    # Four times: a text is copied while it is put together.
    checked_shape((x.size, 4 * max(width, precision, 1)), np.dtype(np.int8))
    if x.dtype.kind == "b":
        return mapped_strings(lambda value: b"true" if value else b"false", x)
    size, digits = (str(width) if width > -1 else ""), (f".{precision}" if precision > -1 else "")
    if x.dtype.kind == "O":
        return mapped_strings(lambda value: f"%{fill}{size}{digits}s".encode() % value, x)
    if x.dtype.kind in "iu":
        # Without a sign there is no place for one.
        flag = "" if x.dtype.kind == "u" and fill in ("+", " ") else fill
        return mapped_strings(lambda value: f"%{flag}{size}d".encode() % value, x)
    form = f"%{fill}{size}{digits}{'g' if shortest else 'e' if scientific else 'f'}".encode()

    def number(value: float) -> bytes:
        return form % value if math.isfinite(value) else _endless(value, fill, width)

    if x.dtype.kind == "c":
        return mapped_strings(lambda value: b"(%b,%b)" % (number(value.real), number(value.imag)), x)
    return mapped_strings(number, x if x.dtype.kind == "f" else x.astype(np.float32))


def _endless(value: float, fill: str, width: int) -> bytes:
    """An infinity or NaN as C writes it: NaN, too, has a sign, and there are no zeros before them."""
    sign = "-" if np.signbit(value) else fill if fill in ("+", " ") else ""
    text = (sign + ("nan" if math.isnan(value) else "inf")).encode()
    return text.ljust(width) if fill == "-" else text.rjust(width)


def _real(value: float, short: int, long: int) -> str:
    """The few digits if they say the number, else as many as always do."""
    text = f"{value:.{short}g}"
    return text if float(text) == value else f"{value:.{long}g}"


def _written(dtype: np.dtype) -> Callable[[object], str]:
    if dtype.kind == "b":
        return lambda value: "1" if value else "0"
    if dtype.kind == "O":
        return lambda value: f'"{value.decode(errors="replace")}"'  # type: ignore[attr-defined]
    if dtype.kind in "iu":
        return str
    if dtype == np.float64:
        return lambda value: _real(float(value), 15, 17)  # type: ignore[arg-type]
    return lambda value: _short_float(float(value))  # type: ignore[arg-type]


def _short_float(value: float) -> str:
    text = f"{value:.6g}"
    return text if np.float32(text) == np.float32(value) else f"{value:.9g}"


def summary(x: np.ndarray, most: int) -> str:
    """The tensor in brackets: at most the first and last `most` of each axis, all when that is -1."""
    write = _written(x.dtype)

    def part(value: np.ndarray, depth: int) -> str:
        if value.ndim == 0:
            return write(value[()])
        items = [part(value[i, ...], depth + 1) for i in _shown(len(value), most)]
        if 0 <= 2 * most < len(value):
            items.insert(most, "...")
        between = " " if value.ndim == 1 else "\n" * (value.ndim - 1) + " " * (depth + 1)
        return "[" + between.join(items) + "]"

    return part(x, 0)


def _shown(count: int, most: int) -> Sequence[int]:
    return range(count) if most < 0 or count <= 2 * most else (*range(most), *range(count - most, count))


def string_format(
    inputs: list[np.ndarray], *, template: str, placeholder: str, summarize: int, T: list[DataType]
) -> np.ndarray:
    """The template with each placeholder replaced by an input's summary: string []."""
    parts = template.split(placeholder) if placeholder else [template]
    if len(parts) != len(inputs) + 1:
        message = f"template must have {len(inputs)} placeholders, got {len(parts) - 1}"
        raise InvalidArgumentError(f"StringFormat: {message}")
    text = parts[0] + "".join(summary(x, summarize) + rest for x, rest in zip(inputs, parts[1:], strict=True))
    return string_array([text.encode(errors="surrogateescape")], ())


REGISTRATIONS = (kernel("AsString", as_string, T=PLAIN), kernel("StringFormat", string_format))
