"""Arrays of other libraries in device memory: where they lie, and what they hold."""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...lite.errors import UnsupportedError

NO_STREAM = -1
_CUDA = (2, 13)  # DLPack's device types: device memory, managed memory
_CODES = {0: "i", 1: "u", 2: "f", 6: "b"}  # DLPack's types as NumPy's kinds


class DeviceArray(NamedTuple):
    """Contiguous elements from an address on; owner keeps them there.

    stream is what has to be waited for before they are read: NO_STREAM, None where nobody says, or the
    handle of one.
    """

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype
    owner: object
    stream: int | None


def device_array(array: Any, ordinal: int, stream: int) -> DeviceArray:
    """An object with __dlpack__ or __cuda_array_interface__ in memory of the GPU with that number.

    By DLPack, the library has the stream, -1 for none, wait for what it is writing.
    UnsupportedError for other objects, for memory of other devices and for elements that are not
    contiguous.
    Source: the Python array API's DLPack page; Numba's page on the CUDA Array Interface, version 3.
    """
    if hasattr(array, "__dlpack_device__"):
        return _from_dlpack(array, ordinal, stream)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        raise UnsupportedError(
            f"a device array must have __cuda_array_interface__ or __dlpack__, got {type(array).__name__}"
        )
    return _from_interface(array, interface)


def _from_interface(array: Any, interface: dict[str, Any]) -> DeviceArray:
    says = interface["version"] >= 3  # None then stands for nothing to wait for
    writer = interface.get("stream") if says else None
    found = DeviceArray(
        int(interface["data"][0]),
        tuple(interface["shape"]),
        np.dtype(interface["typestr"]),
        array,
        NO_STREAM if says and writer is None else writer,
    )
    steps = interface.get("strides")
    return _contiguous(found, None if steps is None else tuple(step / found.dtype.itemsize for step in steps))


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


def _from_dlpack(array: Any, ordinal: int, stream: int) -> DeviceArray:
    kind, number = map(int, array.__dlpack_device__())
    if kind not in _CUDA or number != ordinal:
        raise UnsupportedError(
            f"a device array must be in memory of CUDA device {ordinal}, got DLPack's device {kind}:{number}"
        )
    try:
        capsule = array.__dlpack__(stream=stream)
    except (BufferError, RuntimeError) as error:  # as PyTorch has it for what needs a gradient
        raise UnsupportedError(f"a device array must be one that can be lent, got {error}") from error
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
    address = (tensor.data or 0) + tensor.byte_offset
    return _contiguous(DeviceArray(address, shape, dtype, owner, NO_STREAM), strides)
