"""Arrays of other libraries in device memory: where they lie, and what they hold."""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...lite.errors import UnsupportedError

_CUDA = (2, 13)  # DLPack's device types: device memory, managed memory
_CODES = {0: "i", 1: "u", 2: "f", 6: "b"}  # DLPack's types as NumPy's kinds


class DeviceArray(NamedTuple):
    """Contiguous elements from an address on; owner keeps them there."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype
    owner: object


def device_array(array: Any) -> DeviceArray:
    """An object with __cuda_array_interface__ or __dlpack__ in device memory.

    UnsupportedError for other objects, for memory of other devices and for elements that are not
    contiguous.
    """
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        found = DeviceArray(
            int(interface["data"][0]), tuple(interface["shape"]), np.dtype(interface["typestr"]), array
        )
        steps = interface.get("strides")
        strides = None if steps is None else tuple(step / found.dtype.itemsize for step in steps)
        return _contiguous(found, strides)
    if hasattr(array, "__dlpack__"):
        return _from_dlpack(array)
    raise UnsupportedError(
        f"a device array must have __cuda_array_interface__ or __dlpack__, got {type(array).__name__}"
    )


def _contiguous(array: DeviceArray, strides: tuple[float, ...] | None) -> DeviceArray:
    """The array itself; strides are counted in elements."""
    wanted = [prod(array.shape[k + 1 :]) for k in range(len(array.shape))]
    steps = strides or tuple(wanted)
    if any(size > 1 and a != b for size, a, b in zip(array.shape, steps, wanted, strict=True)):
        raise UnsupportedError(f"a device array must be contiguous, got strides {strides} of {array.shape}")
    return array


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack's dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def _from_dlpack(array: Any) -> DeviceArray:
    kind = int(array.__dlpack_device__()[0])
    if kind not in _CUDA:
        raise UnsupportedError(f"a device array must be in CUDA memory, got DLPack device type {kind}")
    capsule = array.__dlpack__(stream=-1)  # whoever uses the memory waits for all work on the device
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer_of(capsule, b"dltensor"))
    if tensor.code not in _CODES or tensor.lanes != 1:
        raise UnsupportedError(f"a device array must have NumPy's types, got DLPack type {tensor.code}")
    dtype = np.dtype(f"{_CODES[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    # The capsule frees what it stands for when it goes.
    owner = (array, capsule)
    return _contiguous(DeviceArray(tensor.data + tensor.byte_offset, shape, dtype, owner), strides)
