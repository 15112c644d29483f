"""Updates put at places that indices name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .axis import flattened, vector
from .dtypes import ANY, BOOL, INDICES, NUMBERS, REAL, SIGNED
from .gather import check_indices, nd_index
from .kernel import checked_shape, zeros
from .registry import KernelRegistration, kernel
from .status import InvalidArgumentError

_Update = Callable[[np.ndarray, tuple[np.ndarray, ...], np.ndarray], None]


def _assign(target: np.ndarray, index: tuple[np.ndarray, ...], updates: np.ndarray) -> None:
    """One after another: where an index comes twice, the last wins."""
    target[index] = updates


def _with(ufunc: np.ufunc) -> _Update:
    def update(target: np.ndarray, index: tuple[np.ndarray, ...], updates: np.ndarray) -> None:
        ufunc.at(target, index, updates)

    return update


def _extreme(ufunc: np.ufunc) -> _Update:
    def update(target: np.ndarray, index: tuple[np.ndarray, ...], updates: np.ndarray) -> None:
        # A NaN is never the greater one: it stays in the target, and no update brings it there.
        held = np.isnan(target) if target.dtype.kind not in "iu" else None
        ufunc.at(target, index, updates)
        if held is not None:
            target[held] = np.nan

    return update


UPDATES: dict[str, _Update] = {
    "Update": _assign,
    "Add": _with(np.add),
    "Sub": _with(np.subtract),
    "Mul": _with(np.multiply),
    "Div": _with(np.true_divide),
    "Max": _extreme(np.fmax),
    "Min": _extreme(np.fmin),
}


def scatter_nd_into(how: str, target: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> None:
    """Change target, in place, at the places that rows of indices name.

    updates is [indices' axes but the last, the target's axes that no index names].
    """
    depth = indices.shape[-1] if indices.ndim else 0
    wanted = (*indices.shape[:-1], *target.shape[depth:])
    if not indices.ndim or depth > target.ndim or updates.shape != wanted:
        message = f"updates must be {list(wanted)} for indices {list(indices.shape)}"
        raise InvalidArgumentError(f"{message} of {list(target.shape)}, got {list(updates.shape)}")
    if depth:
        UPDATES[how](target, nd_index(indices, target.shape), updates)
        return
    # Rows of no indices name the whole target, each time.
    for update in flattened(updates, indices.ndim - 1):
        UPDATES[how](target[None], (np.zeros(1, np.intp),), update[None])


def scatter_into(how: str, target: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> None:
    """Change slices of target's first axis, in place; updates is [indices' axes, rest], or a scalar."""
    check_indices(indices, target.shape[0])
    wanted = (*indices.shape, *target.shape[1:])
    if updates.ndim and updates.shape != wanted:
        raise InvalidArgumentError(f"updates must be {list(wanted)}, got {list(updates.shape)}")
    UPDATES[how](target, (indices,), np.broadcast_to(updates, wanted))


def scatter_nd(indices: np.ndarray, updates: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Zeros (empty strings) of the shape, with updates added at the places that rows of indices name."""
    sizes = checked_shape(vector(shape, "ScatterNd: shape"), updates.dtype)
    made = zeros(sizes, updates.dtype)
    _check_rows(indices, updates, made)
    scatter_nd_into("Add", made, indices, updates)
    return made


def _check_rows(indices: np.ndarray, updates: np.ndarray, target: np.ndarray) -> None:
    if not indices.ndim or not updates.ndim or not indices.shape[-1]:
        message = f"must have axes, got {list(indices.shape)} and {list(updates.shape)}"
        raise InvalidArgumentError(f"indices, with rows of one or more, and updates {message}")
    if target.size == 0 and (indices.size or updates.size):
        raise InvalidArgumentError(f"indices and updates must be empty for the shape {list(target.shape)}")


def _tensor_scatter(how: str) -> Callable[..., np.ndarray]:
    def scattered(tensor: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        made = tensor.copy()
        _check_rows(indices, updates, made)
        scatter_nd_into(how, made, indices, updates)
        return made

    scattered.__doc__ = f"tensor with updates at the places that rows of indices name ({how})."
    return scattered


def scatter_nd_non_aliasing_add(x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """x with updates added at the places that rows of indices name."""
    made = x.copy()
    _check_rows(indices, updates, made)
    scatter_nd_into("Add", made, indices, updates)
    return made


def _inplace(how: str) -> Callable[..., np.ndarray]:
    def changed(x: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
        made = x.copy()
        if not x.ndim or v.shape != (*i.shape, *x.shape[1:]):
            raise InvalidArgumentError(f"v must be {[*i.shape, *x.shape[1:]]}, got {list(v.shape)}")
        if len(x):
            # Places wrap around, as TensorFlow's do.
            UPDATES[how](made, (np.mod(i, len(x)),), v)
        return made

    changed.__doc__ = f"x with rows of v at the places i of its first axis ({how})."
    return changed


def _tensor_scatters() -> list[KernelRegistration]:
    types = {"Update": ANY, "Add": NUMBERS, "Sub": NUMBERS, "Max": REAL, "Min": REAL}
    return [
        kernel(f"TensorScatter{how}", _tensor_scatter(how), T=allowed, Tindices=SIGNED)
        for how, allowed in types.items()
    ]


REGISTRATIONS = (
    kernel("ScatterNd", scatter_nd, T=ANY, Tindices=SIGNED),
    kernel("ScatterNdNonAliasingAdd", scatter_nd_non_aliasing_add, T=NUMBERS | BOOL, Tindices=INDICES),
    *_tensor_scatters(),
    kernel("InplaceUpdate", _inplace("Update"), T=ANY),
    kernel("InplaceAdd", _inplace("Add"), T=NUMBERS),
    kernel("InplaceSub", _inplace("Sub"), T=NUMBERS),
)
