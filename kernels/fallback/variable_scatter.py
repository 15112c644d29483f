"""Variables read and changed at indices, by resource or by reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .dtypes import ANY, INDICES, NUMBERS, REAL
from .gather import gather_nd, gather_v2
from .registry import KernelRegistration, kernel
from .scatter import UPDATES, scatter_into, scatter_nd_into
from .slice import Masks, tensor_strided_slice_update
from .status import InvalidArgumentError
from .variable import variable_of

_Scatter = Callable[[str, np.ndarray, np.ndarray, np.ndarray], None]
_TYPES = {how: REAL if how in ("Max", "Min") else NUMBERS for how in UPDATES} | {"Update": ANY}


def _changed(how: str, scatter: _Scatter) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    def scattered(ref: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        def change(old: np.ndarray) -> np.ndarray:
            if not old.ndim:
                raise InvalidArgumentError("a variable that is scattered into must have an axis")
            made = old.copy()
            scatter(how, made, indices, updates)
            return made

        variable_of(ref).update(change)
        return ref

    scattered.__doc__ = f"The variable, changed at the indices ({how}): its reference, or nothing."
    return scattered


def _scatters(op: str, scatter: _Scatter, ways: tuple[str, ...]) -> list[KernelRegistration]:
    made = []
    for how in ways:
        changed = _changed(how, scatter)
        made.append(kernel(f"{op}{how}", changed, T=_TYPES[how], Tindices=INDICES))
        resource = _TYPES[how]
        attribute = "T" if op == "ScatterNd" else "dtype"
        constraints = {attribute: resource, "Tindices": INDICES}
        made.append(kernel(f"Resource{op}{how}", changed, **constraints))
    return made


def resource_gather(resource: np.ndarray, indices: np.ndarray, *, batch_dims: int) -> np.ndarray:
    """Slices of the variable's first axis (behind batch_dims common ones) at indices."""
    return gather_v2(variable_of(resource).value, indices, np.array(batch_dims), batch_dims=batch_dims)


def resource_gather_nd(resource: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Slices of the variable at the places that rows of indices name."""
    return gather_nd(variable_of(resource).value, indices)


def strided_slice_assign(
    ref: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    value: np.ndarray,
    *,
    masks: Masks,
) -> np.ndarray:
    """The variable, with value where the slice would have read: its reference, or nothing."""

    def change(old: np.ndarray) -> np.ndarray:
        return tensor_strided_slice_update(old, begin, end, strides, value, masks=masks)

    variable_of(ref).update(change)
    return ref


REGISTRATIONS = (
    *_scatters("Scatter", scatter_into, ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min")),
    *_scatters("ScatterNd", scatter_nd_into, ("Update", "Add", "Sub", "Max", "Min")),
    kernel("ResourceGather", resource_gather, dtype=ANY, Tindices=INDICES),
    kernel("ResourceGatherNd", resource_gather_nd, dtype=ANY, Tindices=INDICES),
    kernel("StridedSliceAssign", strided_slice_assign, T=ANY),
    kernel("ResourceStridedSliceAssign", strided_slice_assign, T=ANY),
)
