"""TF_Tensor: arrays as a plugin's kernels see them, and what they give as arrays."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import TensorProto
from ..fallback.dtypes import numpy_dtype, type_name
from ..fallback.kernel import checked_shape
from ..fallback.status import InvalidArgumentError, ResourceExhaustedError
from ..fallback.tensor_proto import array_of
from .shim import shim

# What TensorFlow aligns to, and compilers of kernels rely on.
ALIGNMENT = 64
_P, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_MOST_DIMS = 254


class _Tensor(ctypes.Structure):
    """native_tensor.py's %tensor."""

    _fields_ = (("type", ctypes.c_int32), ("rank", ctypes.c_int32), ("dims", _P), ("storage", _P))


class _Storage(ctypes.Structure):
    """native_tensor.py's %storage."""

    _fields_ = (
        ("references", ctypes.c_int64),
        ("data", _P),
        ("length", _SIZE),
        ("deallocator", _P),
        ("argument", _P),
    )


def kernel_dtype(type: int) -> np.dtype:
    """NumPy's type; UnsupportedError for elements that are no numbers in a row."""
    dtype = numpy_dtype(type)
    if dtype.hasobject:
        raise UnsupportedError(
            f"kernel of a plugin: tensors must hold numbers, got {type_name(type)}; "
            "numlite's own kernel takes it"
        )
    return dtype


def aligned(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """A new array, its content undefined, that begins where kernels expect it. OpError for too large a
    shape.
    """
    sizes = checked_shape(shape, dtype)
    nbytes = prod(sizes) * dtype.itemsize
    room = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + nbytes].view(dtype).reshape(sizes)


_constants: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}


def as_aligned(array: np.ndarray) -> np.ndarray:
    """The array itself where it is aligned and in one piece, else a copy; of one that nobody can write a
    copy for good.
    """
    if array.flags.c_contiguous and not array.ctypes.data % ALIGNMENT:
        return array
    if not is_constant(array):
        return _copied(array)
    held = _constants.get(id(array))
    if held is not None and held[0]() is array:
        return held[1]
    key, made = id(array), _copied(array)
    _constants[key] = weakref.ref(array, lambda gone: _constants.pop(key, None)), made
    return made


def is_constant(array: np.ndarray) -> bool:
    """Whether nobody can write the array's memory through another one either."""
    held: object = array
    while isinstance(held, np.ndarray):
        if held.flags.writeable:
            return False
        held = held.base
    return held is None or isinstance(held, bytes)


def _copied(array: np.ndarray) -> np.ndarray:
    made = aligned(array.shape, array.dtype)
    made[...] = array
    return made


_kept: list[np.ndarray] = []


def keep(arrays: Iterable[np.ndarray]) -> None:
    """Let arrays live as long as the process."""
    _kept.extend(arrays)


def shape_at(dims: int, rank: int) -> tuple[int, ...]:
    """Sizes that a plugin gives; InvalidArgumentError for what is no shape."""
    if not 0 <= rank <= _MOST_DIMS or (rank and not dims):
        raise InvalidArgumentError(f"shape: rank must be 0 to {_MOST_DIMS} with sizes, got {rank}")
    return tuple((ctypes.c_int64 * rank).from_address(dims)) if rank else ()


def storage_of(tensor: int) -> int:
    """The storage of a TF_Tensor, which tensors of one memory share."""
    if not tensor:
        raise InvalidArgumentError("tensor: must be a TF_Tensor, got null")
    return _Tensor.from_address(tensor).storage or 0


def array_at(tensor: int) -> np.ndarray:
    """A copy of what a TF_Tensor holds."""
    storage = _Storage.from_address(storage_of(tensor))
    held = _Tensor.from_address(tensor)
    shape, dtype = shape_at(held.dims or 0, held.rank), kernel_dtype(held.type)
    nbytes = prod(checked_shape(shape, dtype)) * dtype.itemsize
    if nbytes > storage.length:
        raise InvalidArgumentError(
            f"tensor: must have {nbytes} bytes for {list(shape)}, got {storage.length}"
        )
    made = aligned(shape, dtype)
    ctypes.memmove(made.ctypes.data, storage.data, nbytes)
    return made


def allocate(shape: Sequence[int], type: int) -> int:
    """A new TF_Tensor with memory of its own, for the plugin to delete."""
    dtype = kernel_dtype(type)
    sizes = checked_shape(shape, dtype)
    dims = (ctypes.c_int64 * max(len(sizes), 1))(*sizes)
    nbytes = prod(sizes) * dtype.itemsize
    found = shim().call("TF_AllocateTensor", _P, type, dims, len(sizes), _SIZE(nbytes))
    if not found:
        raise ResourceExhaustedError(f"a tensor of {dtype} {list(sizes)} does not fit in memory")
    return found


def tensor_of_proto(proto: TensorProto) -> int:
    """A new TF_Tensor of a message, for the plugin to delete."""
    array = np.ascontiguousarray(array_of(proto))
    made = allocate(np.shape(array_of(proto)), proto.dtype)
    if array.nbytes:
        ctypes.memmove(shim().call("TF_TensorData", _P, _P(made)), array.ctypes.data, array.nbytes)
    return made
