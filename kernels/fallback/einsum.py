"""Einsum: sums of products, by an equation of axis names."""

from __future__ import annotations

import re
import string

import numpy as np

from .dtypes import NUMBERS
from .half_precision import in_float32
from .registry import kernel
from .status import InvalidArgumentError

_TERM = re.compile(r"[A-Za-z]*(\.\.\.[A-Za-z]*)?")


def einsum(inputs: list[np.ndarray], *, equation: str) -> np.ndarray:
    """The sum of products that the equation says, such as "bij,bjk->bik" and "...ii->...i".

    One or two inputs; an axis named twice in one input is its diagonal, "..." are axes that
    broadcast. An axis named twice in the result is refused, as the equation's other faults are.
    Source: TensorFlow tensorflow/core/util/einsum_op_util.cc.
    """
    terms, result = _terms(equation)
    if len(terms) != len(inputs) or len(inputs) not in (1, 2):
        raise InvalidArgumentError(f"Einsum: {equation!r} has {len(terms)} inputs, got {len(inputs)}")
    for term, value in zip(terms, inputs, strict=True):
        named = len(term.replace("...", ""))
        if value.ndim < named or (value.ndim > named and "..." not in term):
            raise InvalidArgumentError(f"Einsum: {term!r} does not fit the shape {list(value.shape)}")
    return np.asarray(in_float32(lambda *held: _summed(terms, result, held))(*inputs))


def _terms(equation: str) -> tuple[list[str], str]:
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    for term in (*terms, result):
        if not arrow or _TERM.fullmatch(term) is None:
            raise InvalidArgumentError(f"Einsum: {equation!r} is no equation")
    return terms, result


def _summed(terms: list[str], result: str, inputs: tuple[np.ndarray, ...]) -> np.ndarray:
    """By NumPy, which knows every case but names that the result repeats: those become diagonals."""
    unique = "".join(dict.fromkeys(result.replace("...", "@")))
    if len(unique) == len(result.replace("...", "@")):
        return np.asarray(np.einsum(f"{','.join(terms)}->{result}", *inputs, optimize=True))
    inner = np.asarray(np.einsum(f"{','.join(terms)}->{unique.replace('@', '...')}", *inputs, optimize=True))
    return _spread(inner, unique, result.replace("...", "@"))


def _spread(inner: np.ndarray, have: str, want: str) -> np.ndarray:
    """Axes that are wanted twice: the diagonal of zeros."""
    free = iter(set(string.ascii_letters) - set(want))
    extra = inner.ndim - (len(have) - ("@" in have))
    names = "".join(next(free) for _ in range(extra))
    have, want = have.replace("@", names), want.replace("@", names)
    sizes = dict(zip(have, inner.shape, strict=True))
    made = np.zeros([sizes[name] for name in want], inner.dtype)
    np.einsum(f"{want}->{have}", made)[...] = inner
    return made


REGISTRATIONS = (kernel("Einsum", einsum, T=NUMBERS),)
