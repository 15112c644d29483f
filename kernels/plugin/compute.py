"""One run of a plugin's kernel: its inputs and outputs as TF_OpKernelContext has them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np
from google.protobuf.message import DecodeError

from ...schema.graph_def import TensorProto
from ..fallback.dtypes import data_type_of
from ..fallback.kernel import KernelContext
from ..fallback.status import InvalidArgumentError, OpError
from .buffer import content
from .callbacks import Answer
from .shim import shim
from .status import op_error, read_status
from .tensor import (
    HeldTensor,
    aligned,
    allocate,
    array_at,
    as_aligned,
    kernel_dtype,
    shape_at,
    storage_of,
    tensor_of_proto,
)

_P = ctypes.c_void_p


class _Context(ctypes.Structure):
    """native_tensor.py's %context."""

    _fields_ = (
        ("inputs_count", ctypes.c_int32),
        ("outputs_count", ctypes.c_int32),
        ("inputs", _P),
        ("types", _P),
        ("step", ctypes.c_int64),
    )


class CContext:
    """A TF_OpKernelContext, alive from its entry as a context manager to its exit."""

    def __init__(self, context: KernelContext, input_types: list[int]) -> None:
        self.context = context
        self.error: OpError | None = None
        types = context.output_types
        for type in types:
            kernel_dtype(type)
        self._given = [as_aligned(_of_numbers(array)) for array in context.inputs]
        self._held = [HeldTensor(array, type) for array, type in zip(self._given, input_types, strict=True)]
        self._inputs = (_P * max(len(self._held), 1))(*(tensor.address for tensor in self._held))
        self._types = (ctypes.c_int32 * max(len(types), 1))(*types)
        places = ctypes.addressof(self._inputs), ctypes.addressof(self._types)
        self._struct = _Context(len(self._held), len(types), *places, 1)
        self.address = ctypes.addressof(self._struct)

    def __enter__(self) -> CContext:
        _alive[self.address] = self
        return self

    def __exit__(self, *error: object) -> None:
        del _alive[self.address]
        for tensor in self._held:
            tensor.release()

    def hold(self, array: np.ndarray, type: int) -> int:
        """A TF_Tensor of the array, for the plugin to delete."""
        tensor = HeldTensor(array, type)
        self._held.append(tensor)
        return tensor.share()

    def known(self, tensor: int) -> np.ndarray | None:
        """The array that a TF_Tensor's memory is, None for memory of the plugin's."""
        storage = storage_of(tensor)
        return next((held.array for held in self._held if held.storage == storage), None)

    def output_type(self, index: int) -> int:
        if not 0 <= index < len(self.context.output_types):
            count = len(self.context.output_types)
            raise InvalidArgumentError(f"output: index must be less than {count}, got {index}")
        return self.context.output_types[index]

    def allocate_output(self, index: int, shape: tuple[int, ...]) -> int:
        """A new output."""
        type = self.output_type(index)
        made = aligned(shape, kernel_dtype(type))
        self.context.set_output(index, made)
        return self.hold(made, type)

    def forward(self, candidates: list[int], index: int, shape: tuple[int, ...]) -> tuple[int, int]:
        """The memory of the first input that can be had for an output, and which it is; else new memory,
        and -1.
        """
        type = self.output_type(index)
        for place in candidates:
            if not 0 <= place < len(self._given):
                continue
            array, given = self._given[place], self.context.inputs[place]
            is_ours = array is not given and given.flags.writeable  # a copy that was made for this run
            may_be_taken = is_ours or (self.context.may_forward(place) and array.flags.writeable)
            if may_be_taken and array.shape == shape and array.dtype == kernel_dtype(type):
                self.context.set_output(index, array)
                return self._held[place].share(), place
        return self.allocate_output(index, shape), -1


def _of_numbers(array: np.ndarray) -> np.ndarray:
    """The array; UnsupportedError for one of objects."""
    if array.dtype.hasobject:
        kernel_dtype(data_type_of(array.dtype))
    return array


_alive: dict[int, CContext] = {}


def context_at(address: int) -> CContext:
    """The context of an address; InvalidArgumentError for one that is no more."""
    found = _alive.get(address)
    if found is None:
        raise InvalidArgumentError("context: must be of a kernel that computes now")
    return found


def compute_answers() -> Mapping[str, Answer]:
    """What the functions of TF_OpKernelContext do that are not machine code."""

    def set_output(context: int, index: int, tensor: int) -> None:
        held = context_at(context)
        type = held.output_type(index)
        value = array_at(tensor, held.known(tensor))
        if value.dtype != kernel_dtype(type):
            raise InvalidArgumentError(f"output {index}: must be {kernel_dtype(type)}, got {value.dtype}")
        held.context.set_output(index, value)

    def allocate_output(context: int, index: int, type: int, dims: int, rank: int, length: int) -> int:
        held = context_at(context)
        if type != held.output_type(index):
            raise InvalidArgumentError(
                f"output {index}: must be of type {held.output_type(index)}, got {type}"
            )
        return held.allocate_output(index, shape_at(dims, rank))

    def allocate_temp(context: int, type: int, dims: int, rank: int, attributes: int) -> int:
        return allocate(shape_at(dims, rank), type)

    def forward(
        context: int, candidates: int, count: int, index: int, dims: int, rank: int, forwarded: int
    ) -> int:
        if not 0 <= count <= 1 << 16 or (count and not candidates):
            raise InvalidArgumentError(f"candidates: must be a list of inputs, got {count}")
        places = list((ctypes.c_int * count).from_address(candidates)) if count else []
        tensor, place = context_at(context).forward(places, index, shape_at(dims, rank))
        if forwarded:
            ctypes.c_int.from_address(forwarded).value = place
        return tensor

    def failure(context: int, status: int) -> None:
        context_at(context).error = op_error(*read_status(status))

    def from_proto(buffer: int, tensor: int) -> None:
        storage_of(tensor)
        try:
            proto = TensorProto.FromString(content(buffer))
        except DecodeError as error:
            raise InvalidArgumentError(f"tensor: must be a TensorProto, got {error}") from error
        made = tensor_of_proto(proto)
        shape = [dim.size for dim in proto.tensor_shape.dim]
        dims = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        shim().call("TF_TensorBitcastFrom", None, _P(made), proto.dtype, _P(tensor), dims, len(shape), None)
        shim().call("TF_DeleteTensor", None, _P(made))

    return {
        "TF_SetOutput": set_output,
        "TF_AllocateOutput": allocate_output,
        "TF_AllocateTemp": allocate_temp,
        "TF_ForwardInputOrAllocateOutput": forward,
        "TF_IsRefInput": lambda context, index: False,
        "TF_OpKernelContext_Failure": failure,
        "TF_TensorFromProto": from_proto,
    }
