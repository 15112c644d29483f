"""FFT and its kin in one to three dimensions."""

from __future__ import annotations

from types import EllipsisType

import numpy as np

from .attributes import DataType
from .dtypes import numpy_dtype
from .kernel import checked_shape
from .registry import KernelRegistration, kernel
from .status import InvalidArgumentError


def _check_rank(op: str, x: np.ndarray, rank: int) -> None:
    if x.ndim < rank:
        raise InvalidArgumentError(f"{op}: input must have {rank} dimensions or more, got {list(x.shape)}")


def _lengths(op: str, fft_length: np.ndarray, rank: int) -> tuple[int, ...]:
    if fft_length.shape != (rank,) or np.any(fft_length < 0):
        found = fft_length.tolist() if fft_length.size < 8 else list(fft_length.shape)
        raise InvalidArgumentError(f"{op}: fft_length must be {rank} sizes, got {found}")
    return tuple(int(length) for length in fft_length)


def _cut(op: str, x: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """x with its last axes cut to the sizes; it must have as much."""
    inner = x.shape[x.ndim - len(sizes) :]
    if any(0 < have < want for have, want in zip(inner, sizes, strict=True)):
        raise InvalidArgumentError(
            f"{op}: input's last axes must be at least {list(sizes)}, got {list(x.shape)}"
        )
    places: tuple[EllipsisType | slice, ...] = (..., *(slice(size) for size in sizes))
    return x[places]


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _complex(op: str, rank: int, inverse: bool) -> KernelRegistration:
    """The transform of the last axes, complex64 or complex128 to the same."""
    transform = np.fft.ifftn if inverse else np.fft.fftn

    def compute(x: np.ndarray) -> np.ndarray:
        _check_rank(op, x, rank)
        return transform(x, axes=_axes(rank)).astype(x.dtype) if x.size else x

    return kernel(op, compute)


def _of_real(op: str, rank: int) -> KernelRegistration:
    """The transform of real numbers: fft_length / 2 + 1 along the last axis."""

    def compute(x: np.ndarray, fft_length: np.ndarray, *, Tcomplex: DataType) -> np.ndarray:
        _check_rank(op, x, rank)
        lengths = _lengths(op, fft_length, rank)
        dtype = numpy_dtype(Tcomplex)
        shape = (*x.shape[: x.ndim - rank], *lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)
        seen = _cut(op, x, lengths)
        if 0 in shape:
            return np.zeros(checked_shape(shape, dtype), dtype)
        return np.fft.rfftn(seen, axes=_axes(rank)).astype(dtype)

    return kernel(op, compute)


def _to_real(op: str, rank: int) -> KernelRegistration:
    """The transform's inverse, to real numbers: fft_length along the last axes."""

    def compute(x: np.ndarray, fft_length: np.ndarray, *, Treal: DataType) -> np.ndarray:
        _check_rank(op, x, rank)
        lengths = _lengths(op, fft_length, rank)
        dtype = numpy_dtype(Treal)
        shape = (*x.shape[: x.ndim - rank], *lengths)
        seen = _cut(op, x, (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0))
        if 0 in shape or not seen.size:
            return np.zeros(checked_shape(shape, dtype), dtype)
        return np.fft.irfftn(seen, lengths, axes=_axes(rank)).astype(dtype)

    return kernel(op, compute)


REGISTRATIONS = (
    *(_complex(op, rank, False) for op, rank in (("FFT", 1), ("FFT2D", 2), ("FFT3D", 3))),
    *(_complex(op, rank, True) for op, rank in (("IFFT", 1), ("IFFT2D", 2), ("IFFT3D", 3))),
    *(_of_real(op, rank) for op, rank in (("RFFT", 1), ("RFFT2D", 2), ("RFFT3D", 3))),
    *(_to_real(op, rank) for op, rank in (("IRFFT", 1), ("IRFFT2D", 2), ("IRFFT3D", 3))),
)
