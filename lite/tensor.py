"""Tensor: the type, shape, quantization and memory of one value of a subgraph."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from ..schema.shown import shown_name
from .errors import StateError, UnsupportedError
from .string_tensor import check_strings

if TYPE_CHECKING:
    from collections.abc import Callable

    from .delegate import Delegate
    from .quantization import Quantization

Shape = tuple[int, ...]

MOST_KNOWN_BYTES = 4096  # of a result that is computed in prepare: more is no arithmetic on shapes


class TensorType(IntEnum):
    """The schema's TensorType, by value."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    UINT8 = 3
    INT64 = 4
    STRING = 5
    BOOL = 6
    INT16 = 7
    COMPLEX64 = 8
    INT8 = 9
    FLOAT64 = 10
    COMPLEX128 = 11
    UINT64 = 12
    RESOURCE = 13
    VARIANT = 14
    UINT32 = 15
    UINT16 = 16
    INT4 = 17
    BFLOAT16 = 18
    INT2 = 19
    UINT4 = 20
    FLOAT8_E4M3FN = 21
    FLOAT8_E5M2 = 22


class AllocationType(IntEnum):
    """Who owns a tensor's bytes; the names are TFLite's."""

    NONE = 0
    MMAP_RO = 1
    ARENA_RW = 2
    ARENA_RW_PERSISTENT = 3
    DYNAMIC = 4
    PERSISTENT_RO = 5
    CUSTOM = 6
    VARIANT_OBJECT = 7
    NON_CPU = 8


# Types NumPy has itself. The others (bfloat16, float8, 2- and 4-bit integers, strings,
# resources) are held as raw bytes and read by the ops that know them.
NUMPY_DTYPES: dict[int, np.dtype] = {
    TensorType.FLOAT32: np.dtype(np.float32),
    TensorType.FLOAT16: np.dtype(np.float16),
    TensorType.INT32: np.dtype(np.int32),
    TensorType.UINT8: np.dtype(np.uint8),
    TensorType.INT64: np.dtype(np.int64),
    TensorType.BOOL: np.dtype(np.bool_),
    TensorType.INT16: np.dtype(np.int16),
    TensorType.COMPLEX64: np.dtype(np.complex64),
    TensorType.INT8: np.dtype(np.int8),
    TensorType.FLOAT64: np.dtype(np.float64),
    TensorType.COMPLEX128: np.dtype(np.complex128),
    TensorType.UINT64: np.dtype(np.uint64),
    TensorType.UINT32: np.dtype(np.uint32),
    TensorType.UINT16: np.dtype(np.uint16),
}

# Bits an element takes in the types that NumPy does not have; strings and resources have none.
_BITS: dict[int, int] = {
    TensorType.INT4: 4,
    TensorType.UINT4: 4,
    TensorType.INT2: 2,
    TensorType.BFLOAT16: 16,
    TensorType.FLOAT8_E4M3FN: 8,
    TensorType.FLOAT8_E5M2: 8,
}


_UNSIZED = frozenset((TensorType.STRING, TensorType.RESOURCE, TensorType.VARIANT))
_CONSTANT = (AllocationType.MMAP_RO, AllocationType.PERSISTENT_RO)


class Tensor:
    """One value of a subgraph.

    data is the tensor's bytes as a flat uint8 array (a view of the mapped file, of the arena,
    or memory of its own), or None while unallocated. address is where they start, 0 if nowhere.
    signature is the file's shape signature (None when it gives none), and declared_shape the
    signature or else the shape in the file, whatever the tensor is resized to; declared_type is the
    file's type, whatever type an operator gives its result. first_shape is what LiteRT's delegates choose
    their nodes by: the file's shape, for inputs the one that they have at the first allocation. packed is
    what nodes that read a constant have made of it and share.
    """

    __slots__ = (
        "_quantization",
        "address",
        "allocation_type",
        "buffer_handle",
        "data",
        "data_is_stale",
        "declared_shape",
        "declared_type",
        "delegate",
        "first_shape",
        "index",
        "is_variable",
        "name",
        "packed",
        "shape",
        "signature",
        "sparsity",
        "type",
    )

    def __init__(
        self,
        index: int,
        name: str,
        type: int,
        shape: Shape,
        quantization: Quantization | Callable[[], Quantization | None] | None = None,
        is_variable: bool = False,
        shape_signature: Shape | None = None,
    ) -> None:
        self.index = index
        self.name = name
        self.type = self.declared_type = type
        self.shape = self.first_shape = shape
        self.signature = shape_signature
        self.declared_shape = shape if shape_signature is None else shape_signature
        self._quantization = quantization
        self.is_variable = is_variable
        self.sparsity: object | None = None
        self.packed: dict[object, object] = {}
        self.allocation_type = AllocationType.NONE
        self.data: np.ndarray | None = None
        self.address = 0
        self.delegate: Delegate | None = None
        self.buffer_handle = -1
        self.data_is_stale = False

    def __repr__(self) -> str:
        return f"{shown_name(self.name)} {self.type_name} {'x'.join(map(str, self.shape)) or 'scalar'}"

    @property
    def quantization(self) -> Quantization | None:
        """None where the file has none. Given as a function, it is made when it is first asked for."""
        known = self._quantization
        if callable(known):
            known = self._quantization = known()
        return known

    @quantization.setter
    def quantization(self, quantization: Quantization | None) -> None:
        self._quantization = quantization

    @property
    def type_name(self) -> str:
        return TensorType(self.type).name.lower()

    @property
    def shape_signature(self) -> Shape:
        """The shape with -1 for the sizes that are open; without a signature the shape as it is now.

        Source: LiteRT tflite/python/interpreter_wrapper, TensorSizeSignature.
        """
        return self.shape if self.signature is None else self.signature

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype; StateError for a type that NumPy does not have."""
        try:
            return NUMPY_DTYPES[self.type]
        except KeyError:
            raise StateError(f"tensor {self!r}: NumPy has no such type") from None

    @property
    def nbytes(self) -> int:
        """Bytes that the shape needs (not what is allocated); 0 for strings and resources."""
        return self.nbytes_of(self.shape)

    def nbytes_of(self, shape: Shape) -> int:
        """What nbytes would be with another shape."""
        dtype = NUMPY_DTYPES.get(self.type)
        if dtype is not None:
            return math.prod(shape) * dtype.itemsize
        return (math.prod(shape) * _BITS.get(self.type, 0) + 7) // 8

    @property
    def alignment(self) -> int:
        """Bytes that the address of the values must be a multiple of."""
        dtype = NUMPY_DTYPES.get(self.type)
        if dtype is not None:
            return dtype.alignment
        return {TensorType.STRING: 4, TensorType.BFLOAT16: 2}.get(TensorType(self.type), 1)

    @property
    def has_fixed_size(self) -> bool:
        """Whether type and shape say how many bytes it takes: not so for strings and resources."""
        return self.type not in _UNSIZED

    @property
    def is_constant(self) -> bool:
        return self.allocation_type in _CONSTANT

    @property
    def is_dynamic(self) -> bool:
        return self.allocation_type == AllocationType.DYNAMIC

    def array(self) -> np.ndarray:
        """A view of the tensor's memory, shaped and typed; StateError while unallocated."""
        if self.data is None:
            raise StateError(f"tensor {self!r} has no memory yet")
        return self.dense_bytes().view(self.dtype).reshape(self.shape)

    def dense_bytes(self) -> np.ndarray:
        """The bytes of its elements (flat uint8 [nbytes]), none while unallocated.

        UnsupportedError when the file stores it sparse: its bytes are then other ones.
        """
        if self.data is None:
            return np.zeros(0, np.uint8)
        if self.sparsity is not None or len(self.data) < self.nbytes:
            raise UnsupportedError(f"tensor {self!r}: it is stored sparse, which only DENSIFY reads")
        return self.data[: self.nbytes]

    def resize(self, shape: Shape) -> None:
        """Change the shape. Strings that are not as many as it has elements are given up."""
        if self.type == TensorType.STRING and math.prod(shape) != self.size:
            self.bind(None)
        self.shape = shape

    def bind(self, data: np.ndarray | None) -> None:
        """Place the tensor's bytes at data (flat uint8), or nowhere.

        StateError for strings that are not as many as the shape has elements: whoever gives a
        string tensor its value does it here, so that whoever reads it can rely on the count.
        """
        if data is not None and self.type == TensorType.STRING:
            try:
                check_strings(data, self.size)
            except StateError as error:
                raise StateError(f"tensor {self.index} {self!r}: {error}") from error
        self.data = data
        self.address = 0 if data is None else data.__array_interface__["data"][0]
