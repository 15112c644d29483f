"""TensorBuffer: memory for an input or output of a CompiledModel, LiteRT's class name for name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .lite.available_memory import allocate
from .lite.errors import StateError
from .lite.tensor import NUMPY_DTYPES, Shape, TensorType
from .lite.tensor_access import numpy_type

__all__ = ["TensorBuffer"]


class TensorBuffer:
    """The values of one tensor, in memory of its own or in a NumPy array's.

    Those of a model's inputs and outputs come from CompiledModel.create_input_buffers() and the others of
    its kind, filled with zeros. Runs read and write it where it lies; one buffer may serve several models.
    """

    def __init__(self, type: int, shape: Sequence[int], memory: np.ndarray, is_host_memory: bool) -> None:
        """memory: the bytes, flat uint8, that hold at least the elements of that type and shape."""
        self.type = type
        self.shape: Shape = tuple(shape)
        self.is_host_memory = is_host_memory
        self._memory: np.ndarray | None = memory

    @classmethod
    def allocated(cls, type: int, shape: Sequence[int], nbytes: int) -> TensorBuffer:
        """A buffer of zeros; PrepareError where there is no room for it."""
        return cls(type, shape, allocate(nbytes), is_host_memory=False)

    @classmethod
    def create_from_host_memory(cls, data_array: np.ndarray) -> TensorBuffer:
        """A buffer that is the array's own memory: what is written to one is in the other.

        ValueError for what is no array, is not C-contiguous, or has a type that models do not have.
        Runs copy from and to an array that does not start at a multiple of 64 bytes, or ends less than
        128 bytes before its memory page does. Any array of an input's type and number of elements
        serves, whatever its shape.
        """
        type = _type_of(data_array)
        if not data_array.flags.c_contiguous:
            raise ValueError(
                f"data_array: must be C-contiguous, got {data_array.shape} of strides {data_array.strides}"
            )
        return cls(type, (data_array.size,), data_array.reshape(-1).view(np.uint8), is_host_memory=True)

    def write(self, data_array: np.ndarray) -> None:
        """Copy the array's elements, in C order, to the buffer's start.

        ValueError unless the type is the buffer's (buffers of types that NumPy lacks take their bytes),
        RuntimeError for more than there is room for, and for memory that cannot be written to.
        """
        _type_of(data_array)
        self._check_dtype("write", data_array.dtype)
        memory = self.memory
        data = np.ascontiguousarray(data_array).reshape(-1).view(np.uint8)
        if len(data) > len(memory):
            raise StateError(f"write: the buffer has room for {len(memory):,} bytes, got {len(data):,}")
        if not memory.flags.writeable:
            raise StateError("write: the host memory of the buffer is read-only")
        memory[: len(data)] = data

    def read(self, num_elements: int, output_dtype: Any) -> np.ndarray:
        """A copy of the first elements, of rank 1.

        ValueError unless output_dtype is the buffer's type, RuntimeError for more than it holds.
        """
        try:
            dtype = np.dtype(output_dtype)
        except TypeError as error:
            raise ValueError(f"Unsupported dtype: {output_dtype!r}") from error
        self._check_dtype("read", dtype)
        if dtype.hasobject or not dtype.itemsize:
            raise ValueError(f"Unsupported dtype: {dtype}")
        nbytes = num_elements * dtype.itemsize
        if not 0 <= nbytes <= len(self.memory):
            raise StateError(f"read: the buffer holds {len(self.memory):,} bytes, got {num_elements} {dtype}")
        return self.memory[:nbytes].copy().view(dtype)

    def get_tensor_details(self) -> dict[str, Any]:
        """dtype, as NumPy's name ("unknown" where it has none), and shape; of host memory a vector's."""
        return {"dtype": dtype_name(self.type), "shape": list(self.shape)}

    def destroy(self) -> None:
        """Give the memory back. Calls that need it raise ValueError from now on."""
        self._memory = None

    @property
    def memory(self) -> np.ndarray:
        """The bytes, flat uint8: a view, not a copy."""
        if self._memory is None:
            raise ValueError("TensorBuffer has been destroyed")
        return self._memory

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def _check_dtype(self, what: str, dtype: np.dtype) -> None:
        expected = NUMPY_DTYPES.get(self.type)
        if expected is not None and dtype != expected:
            raise ValueError(f"{what}: the buffer's elements are {expected}, got {dtype}")

    def __getstate__(self) -> NoReturn:
        raise TypeError("a TensorBuffer cannot be copied or pickled: read() gives its values")


def dtype_name(type: int) -> str:
    """NumPy's name of a tensor type, bfloat16 and float8 included, "unknown" for those without one."""
    if type in NUMPY_DTYPES:
        return NUMPY_DTYPES[type].name
    name = TensorType(type).name.lower()
    return name if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2") else "unknown"


def _type_of(array: object) -> TensorType:
    """The tensor type of an array's elements; ValueError where there is none."""
    if not isinstance(array, np.ndarray):
        raise ValueError(f"data_array: must be a NumPy array, got {type(array).__name__}")
    for code in (*NUMPY_DTYPES, TensorType.BFLOAT16, TensorType.FLOAT8_E4M3FN, TensorType.FLOAT8_E5M2):
        if np.dtype(numpy_type(code)) == array.dtype and array.dtype.isnative:
            return TensorType(code)
    raise ValueError(f"Unsupported dtype: {array.dtype}")
