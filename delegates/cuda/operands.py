"""Operands: where a partition's tensors, constants and scratch memory lie on the device, and as what type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import NUMPY_DTYPES, Tensor, TensorType
from .launch import ELEMENT_BYTES, MOST_ELEMENTS, Place, Pointer, element_type

if TYPE_CHECKING:
    from ...lite.node import Node
    from .partition_graph import PartitionGraph

PRECISIONS = ("tf32x3", "ieee", "tf32", "float16", "bfloat16")
_FLOAT_TYPES = {"float16": "fp16", "bfloat16": "bf16"}


@dataclass(frozen=True)
class Weights:
    """Constants in the form that a kernel reads; made when they are first needed."""

    make: Callable[[], np.ndarray]
    type: str


@dataclass
class Operands:
    """The memory of a partition, for one set of shapes; its addresses are known when a plan is bound.

    inputs and outputs are the partition's. precision is how float32 operators compute: the matrix products
    of float32 tensors by "tf32x3", "ieee" or "tf32", or everything in "float16" or "bfloat16" storage.
    weights_of are constants packed once for all shapes, by node or tensor and name; tables those of these
    shapes. owners are the tensors whose memory others are in.
    """

    graph: PartitionGraph
    inputs: Sequence[int]
    outputs: Sequence[int]
    precision: str = "tf32x3"
    weights_of: dict[tuple[int, str], Weights] = field(default_factory=dict)
    tables: list[Weights] = field(default_factory=list)
    scratch_bytes: list[int] = field(default_factory=list)
    owners: dict[int, int] = field(default_factory=dict)

    @property
    def float_type(self) -> str:
        """What float32 tensors are held in inside the partition."""
        return _FLOAT_TYPES.get(self.precision, "fp32")

    @property
    def is_half(self) -> bool:
        return self.float_type != "fp32"

    def type_of(self, tensor: Tensor) -> str:
        """The elements of a tensor on the device. UnsupportedError for types that it does not have."""
        if tensor.type == TensorType.FLOAT32:
            return self.float_type
        if tensor.type == TensorType.BFLOAT16:
            return "bf16"
        dtype = NUMPY_DTYPES.get(tensor.type)
        if dtype is None or dtype.kind == "c" or dtype.name in ("uint32", "uint64"):
            raise UnsupportedError(f"tensors of {tensor.type_name} are not built")
        return element_type(dtype)

    def nbytes_of(self, t: int) -> int:
        """Bytes of a tensor on the device."""
        tensor = self.graph.tensor(t)
        return tensor.size * ELEMENT_BYTES[self.type_of(tensor)]

    def product_type(self, x: Tensor, w: Tensor) -> str:
        """What elements of float tensors are multiplied as: both as they are held, or else in float32."""
        types = {self.type_of(self.graph.tensor(tensor.index)) for tensor in (x, w)}
        return types.pop() if len(types) == 1 else "fp32"

    def dot_precision(self, element: str) -> str:
        """How tensor cores multiply such floats; 16 bits lose nothing in tf32."""
        return self.precision if element == "fp32" and not self.is_half else "tf32"

    def pointer(self, tensor: Tensor) -> Pointer:
        """Where a tensor lies, a constant one among the weights; a widened one is where the stored one is."""
        if tensor.index >= 0:
            tensor = self.graph.tensor(tensor.index)
        if tensor.size >= MOST_ELEMENTS:
            raise UnsupportedError(
                f"tensor {tensor!r}: it must have less than 2**31 elements; a smaller batch would run"
            )
        type_ = self.type_of(tensor)
        if not tensor.is_constant:
            return Pointer(Place("tensor", self.owner(tensor.index)), type_)
        key = (tensor.index, "")
        self.weights_of.setdefault(key, Weights(lambda: self.held(tensor), type_))
        return Pointer(Place("weights", key), type_)

    def held(self, tensor: Tensor) -> np.ndarray:
        """A constant as it is held on the device."""
        if tensor.type != TensorType.BFLOAT16:
            return self.stored(tensor.array())
        assert tensor.data is not None
        return tensor.data[: tensor.nbytes].view(np.uint16)

    def stored(self, array: np.ndarray, type_: str = "") -> np.ndarray:
        """A constant's values: float32 in a type, or in float_type (bfloat16 as its bits)."""
        type_ = type_ or self.float_type
        if array.dtype != np.float32 or type_ == "fp32":
            return array
        if type_ == "fp16":
            with np.errstate(over="ignore"):
                return array.astype(np.float16)
        return bfloat16_bits(array)

    def weights(self, node: Node, name: str, make: Callable[[], np.ndarray], type_: str) -> Pointer:
        """What make gives, packed once for all shapes; the name must tell a node's apart."""
        key = (node.index, name)
        self.weights_of.setdefault(key, Weights(make, type_))
        return Pointer(Place("weights", key), type_)

    def table(self, make: Callable[[], np.ndarray], type_: str) -> Pointer:
        """A constant that depends on the shapes; made when the launches are going to run."""
        self.tables.append(Weights(make, type_))
        return Pointer(Place("table", len(self.tables) - 1), type_)

    def scratch(self, type_: str, count: int) -> Pointer:
        """Memory for launches of this operator."""
        self.scratch_bytes.append(count * ELEMENT_BYTES[type_])
        return Pointer(Place("scratch", len(self.scratch_bytes) - 1), type_)

    def owner(self, t: int) -> int:
        """The tensor whose memory a tensor is in."""
        return self.owners.get(t, t)

    def boundary_place(self, t: int) -> Place:
        """Where a tensor lies as others see it: inside the partition floats may have 16 bits."""
        tensor = self.graph.tensor(t)
        halved = self.is_half and tensor.type == TensorType.FLOAT32
        return Place("boundary", t) if halved else Place("tensor", self.owner(t))

    def place_bytes(self, place: Place) -> int:
        """Bytes that a place takes."""
        assert isinstance(place.key, int)
        if place.kind == "scratch":
            return self.scratch_bytes[place.key]
        return self.graph.tensor(place.key).nbytes if place.kind == "boundary" else self.nbytes_of(place.key)


def bfloat16_bits(array: np.ndarray) -> np.ndarray:
    """float32 as bfloat16, nearest even: its bits, uint16."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(array), quiet, rounded).astype(np.uint16)
