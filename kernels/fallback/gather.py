"""Parts of a tensor, chosen by indices."""

from __future__ import annotations

import numpy as np

from .axis import axis_of, flattened, scalar
from .dtypes import ANY, INDICES, SIGNED
from .registry import kernel
from .status import InvalidArgumentError


def check_indices(indices: np.ndarray, size: int, what: str = "indices") -> None:
    """InvalidArgumentError that names the first index which is not in [0, size)."""
    wrong = (indices < 0) | (indices >= size)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = ",".join(map(str, place))
        raise InvalidArgumentError(f"{what}[{where}] = {indices[place]} is not in [0, {size})")


def gather(params: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """params[indices]: indices' axes in place of the first."""
    if not params.ndim:
        raise InvalidArgumentError("Gather: params must have an axis, got a scalar")
    return gather_v2(params, indices, np.array(0), batch_dims=0)


def gather_v2(params: np.ndarray, indices: np.ndarray, axis: np.ndarray, *, batch_dims: int) -> np.ndarray:
    """Slices of params along an axis, indices' axes in its place.

    The first batch_dims axes of both are one: an index there chooses in its own batch.
    """
    along = axis_of(scalar(axis, "axis"), params.ndim)
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not 0 <= batch <= min(indices.ndim, along):
        message = f"batch_dims must be at most axis {along} and {indices.ndim} axes of indices"
        raise InvalidArgumentError(f"GatherV2: {message}, got {batch_dims}")
    if params.shape[:batch] != indices.shape[:batch]:
        message = f"got {list(params.shape)} and {list(indices.shape)}"
        raise InvalidArgumentError(f"GatherV2: the first {batch} sizes must agree, {message}")
    shape = (*params.shape[:along], *indices.shape[batch:], *params.shape[along + 1 :])
    if 0 in shape:
        return np.zeros(shape, params.dtype)  # indices are looked at where there is something to take
    check_indices(indices, params.shape[along])
    if not batch:
        return np.take(params, indices, along)
    flat = flattened(params, batch)
    chosen = flattened(indices, batch)
    rows = np.arange(len(flat)).reshape(-1, *(1,) * (chosen.ndim - 1))
    moved = np.moveaxis(flat, along - batch + 1, 1)
    taken = moved[rows, chosen]
    inner = list(range(1, chosen.ndim))
    placed = np.moveaxis(taken, inner, [i + along - batch for i in inner])
    return placed.reshape(shape)


def gather_nd(params: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Slices of params at the places that rows of indices, its last axis, name."""
    if indices.ndim and not indices.shape[-1]:
        # Rows of no indices name the whole, each time.
        return np.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    return params[nd_index(indices, params.shape)]


def nd_index(indices: np.ndarray, sizes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Rows of indices, each of one or more, as an index for NumPy.

    InvalidArgumentError for one outside of the sizes.
    """
    if not indices.ndim:
        raise InvalidArgumentError("indices must have an axis, got a scalar")
    depth = indices.shape[-1]
    if depth > len(sizes):
        raise InvalidArgumentError(f"indices name {depth} axes, but there are {len(sizes)}")
    bounds = np.array(sizes[:depth], np.int64)
    wrong = ((indices < 0) | (indices >= bounds)).any(-1)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        row = indices[place].tolist()
        raise InvalidArgumentError(
            f"indices[{','.join(map(str, place))}] = {row} does not index into shape {list(sizes)}"
        )
    return tuple(np.moveaxis(indices, -1, 0))


REGISTRATIONS = (
    kernel("Gather", gather, Tparams=ANY, Tindices=INDICES),
    kernel("GatherV2", gather_v2, Tparams=ANY, Tindices=SIGNED, Taxis=INDICES),
    kernel("GatherNd", gather_nd, Tparams=ANY, Tindices=SIGNED),
)
