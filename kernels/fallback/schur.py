"""Schur's form of matrices, and roots of triangular ones."""

from __future__ import annotations

import numpy as np

from .status import InvalidArgumentError

# QR steps for each eigenvalue, which mostly takes three.
_MOST_STEPS = 60


def schur(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An upper triangular t and a unitary u with x = u t u*, all complex128 [n, n].

    By shifted QR steps on a Hessenberg matrix, from the last eigenvalue to the first.
    """
    t, u = _hessenberg(x)
    tiny = np.finfo(np.float64).eps
    last, steps = len(t) - 1, 0
    while last > 0:
        first = last
        while first > 0 and abs(t[first, first - 1]) > tiny * (
            abs(t[first, first]) + abs(t[first - 1, first - 1])
        ):
            first -= 1
        if first > 0:
            t[first, first - 1] = 0
        if first == last:
            last, steps = last - 1, 0
            continue
        steps += 1
        if steps > _MOST_STEPS:
            raise InvalidArgumentError("input must have a Schur form, got none in time")
        _qr_step(t, u, first, last, steps)
    return np.triu(t), u


def _hessenberg(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x without what is below the first lower diagonal, and the unitary matrix that makes it so."""
    t, u = x.astype(np.complex128), np.eye(len(x), dtype=np.complex128)
    for column in range(len(x) - 2):
        v = t[column + 1 :, column].copy()
        norm = np.linalg.norm(v)
        if norm == 0:
            continue
        v[0] += norm * (v[0] / abs(v[0]) if v[0] else 1)
        v /= np.linalg.norm(v)
        t[column + 1 :] -= 2 * np.outer(v, v.conj() @ t[column + 1 :])
        for held in (t, u):
            held[:, column + 1 :] -= 2 * np.outer(held[:, column + 1 :] @ v, v.conj())
    return t, u


def _qr_step(t: np.ndarray, u: np.ndarray, first: int, last: int, number: int) -> None:
    """One step on rows and columns first to last, in place."""
    a, b, c, d = t[last - 1, last - 1], t[last - 1, last], t[last, last - 1], t[last, last]
    half, root = (a - d) / 2, np.sqrt(((a - d) / 2) ** 2 + b * c + 0j)
    shift = d - b * c / (half + root if abs(half + root) >= abs(half - root) else half - root) if b * c else d
    if number % 10 == 0:
        # A shift of another kind leads out of a circle.
        shift = abs(c) + abs(t[last - 1, max(last - 2, 0)])
    active = slice(first, last + 1)
    shifted = shift * np.eye(last + 1 - first)
    q = np.linalg.qr(t[active, active] - shifted)[0]
    t[active, first:] = q.conj().T @ t[active, first:]
    t[: last + 1, active] = t[: last + 1, active] @ q
    u[:, active] = u[:, active] @ q


def triangular_root(t: np.ndarray) -> np.ndarray:
    """The upper triangular matrix whose square is t and whose diagonal has no negative real part.

    Not finite where eigenvalues are 0 in ways that have no root.
    """
    root = np.zeros_like(t)
    diagonal = np.sqrt(np.diagonal(t))
    with np.errstate(divide="ignore", invalid="ignore"):
        for j in range(len(t)):
            root[j, j] = diagonal[j]
            for i in range(j - 1, -1, -1):
                rest = t[i, j] - root[i, i + 1 : j] @ root[i + 1 : j, j]
                root[i, j] = 0 if rest == 0 else rest / (root[i, i] + root[j, j])
    return root
