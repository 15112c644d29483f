"""OpKernel, and the contexts that it is constructed and computes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import ClassVar, NoReturn, TypeVar

import numpy as np

from ...lite.available_memory import available_bytes
from ...schema.graph_def import AttrValue
from .attributes import read_attribute
from .dtypes import numpy_dtype
from .environment import Environment
from .op_metadata import ArgumentTypes, OpMetadata
from .status import InternalError, InvalidArgumentError, OpError, ResourceExhaustedError

T = TypeVar("T")
# Outputs up to here are made without asking how much memory there is.
_SMALL_BYTES = 1 << 26


class KernelConstruction:
    """What a kernel sees of its node when it is made: name, op and attributes."""

    def __init__(self, metadata: OpMetadata, attributes: Mapping[str, AttrValue], name: str = "") -> None:
        self.metadata = metadata
        self.op = metadata.name
        self.name = name
        self.attributes = metadata.with_defaults(attributes)

    def has_attr(self, name: str) -> bool:
        return name in self.attributes

    def get_attr(self, name: str, kind: type[T]) -> T:
        """The attribute as the kind (see read_attribute); ModelError when it is missing or of another."""
        return read_attribute(self.attributes, name, kind)

    def failure(self, status: OpError) -> NoReturn:
        """The kernel cannot be made."""
        raise status

    @cached_property
    def inputs(self) -> tuple[ArgumentTypes, ...]:
        return self.metadata.inputs(self.attributes)

    @cached_property
    def outputs(self) -> tuple[ArgumentTypes, ...]:
        return self.metadata.outputs(self.attributes)

    @cached_property
    def output_types(self) -> list[int]:
        """The types of all output tensors, lists of tensors one after another."""
        return [type for output in self.outputs for type in output.types]


class OpKernel:
    """A TensorFlow op's computation for one node.

    A stateless kernel keeps nothing between computes: it is shared by all runs of its node and safe
    from several threads. A stateful one is made once for each environment.
    """

    stateful: ClassVar[bool] = False

    def __init__(self, construction: KernelConstruction) -> None:
        self.construction = construction

    def compute(self, context: KernelContext) -> None:
        """Set every output of the context, or fail."""
        raise NotImplementedError

    def delete(self) -> None:
        """Give back what the kernel holds; it does not compute again."""


KernelFactory = Callable[[KernelConstruction], OpKernel]


class KernelContext:
    """One run of a kernel: its inputs, its outputs and the environment.

    inputs are flat, lists of tensors one after another. forwardable are the places of inputs that
    nobody reads after this run, whose memory an output may take.
    """

    def __init__(
        self,
        construction: KernelConstruction,
        inputs: Sequence[np.ndarray],
        environment: Environment,
        forwardable: frozenset[int] = frozenset(),
    ) -> None:
        self.construction = construction
        self.inputs = inputs
        self.environment = environment
        self.forwardable = forwardable
        self.output_types = construction.output_types
        self.outputs: list[np.ndarray | None] = [None] * len(self.output_types)

    def input(self, index: int) -> np.ndarray:
        return self.inputs[index]

    def may_forward(self, index: int) -> bool:
        """Whether nobody reads the input after this run, so that its memory may be taken."""
        return index in self.forwardable

    def set_output(self, index: int, value: np.ndarray) -> None:
        self.outputs[index] = value

    def failure(self, status: OpError) -> NoReturn:
        """The run cannot go on."""
        raise status

    def allocate_output(self, index: int, shape: Sequence[int]) -> np.ndarray:
        """A new array for the output, its content undefined."""
        dtype = numpy_dtype(self.output_types[index])
        made = np.empty(checked_shape(shape, dtype), dtype)
        self.outputs[index] = made
        return made

    def forward_input_or_allocate_output(
        self, candidates: Sequence[int], index: int, shape: Sequence[int]
    ) -> np.ndarray:
        """The memory of the first of the inputs that can be had and fits, else a new array."""
        dtype = numpy_dtype(self.output_types[index])
        for candidate in candidates:
            held = self.inputs[candidate]
            fits = held.dtype == dtype and held.shape == tuple(shape)
            if candidate in self.forwardable and fits and held.flags.writeable:
                self.forwardable -= {candidate}
                self.outputs[index] = held
                return held
        return self.allocate_output(index, shape)

    def results(self) -> list[np.ndarray]:
        """All outputs; InternalError when one is missing or of another type than the op's."""
        found: list[np.ndarray] = []
        for index, value in enumerate(self.outputs):
            if value is None:
                raise InternalError(f"{self.construction.op}: output {index} was not set")
            check_output(self.construction.op, index, value, numpy_dtype(self.output_types[index]))
            found.append(value)
        return found


def check_output(op: str, index: int, value: np.ndarray, dtype: np.dtype) -> None:
    """InternalError for an output of another type than the op's."""
    if value.dtype != dtype:
        raise InternalError(f"{op}: output {index} must be {dtype}, got {value.dtype}")


def checked_shape(shape: Sequence[int], dtype: np.dtype) -> tuple[int, ...]:
    """The shape of an array that is to be made; an OpError when it is negative or too large."""
    sizes = tuple(map(int, shape))
    if min(sizes, default=0) < 0:
        raise InvalidArgumentError(f"sizes must not be negative, got {list(sizes)}")
    wanted = prod(sizes) * max(dtype.itemsize, 1)
    # Linux promises more than there is; half is for what the kernel needs beside the output.
    if wanted > _SMALL_BYTES and wanted > available_bytes() // 2:
        raise ResourceExhaustedError(f"a tensor of {dtype} {list(sizes)} does not fit in memory")
    return sizes


def check_same_shape(op: str, name: str, x: np.ndarray, other_name: str, other: np.ndarray) -> None:
    """InvalidArgumentError, with both names, unless x has the other's shape."""
    if x.shape != other.shape:
        message = f"{name} must be of {other_name}'s shape, got {list(x.shape)} and {list(other.shape)}"
        raise InvalidArgumentError(f"{op}: {message}")


def zeros(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Zeros, False or empty strings; an OpError as in checked_shape."""
    sizes = checked_shape(shape, dtype)
    if dtype.kind != "O":
        return np.zeros(sizes, dtype)
    # Objects take memory each.
    checked_shape((prod(sizes), 8), np.dtype(np.int8))
    return np.full(sizes, b"", object)
