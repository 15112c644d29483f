"""Runs of a plugin's kernel: arrays of ours lent to it as TF_Tensors, and what it gave as arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ...lite.available_memory import available_bytes
from ...schema.graph_def import TensorProto
from ..fallback.kernel import KernelContext
from ..fallback.status import InternalError, InvalidArgumentError
from .buffer import content
from .callbacks import Answer, raise_faults
from .native_context import (
    CODE,
    CONTEXT_WORDS,
    COUNTS,
    FORWARDABLE,
    IN_ROOM,
    INPUT_TYPES,
    INPUTS,
    MESSAGE,
    NOT_SET,
    OF_INPUT,
    OUTPUTS,
    RECORD,
    RECORD_WORDS,
    ROOMS,
    STEP,
    TYPES,
)
from .shim import shim
from .status import op_error
from .tensor import (
    ALIGNMENT,
    array_at,
    as_aligned,
    is_constant,
    keep,
    kernel_dtype,
    storage_of,
    tensor_of_proto,
)

_P = ctypes.c_void_p
_MASK_BITS = 63
# In place of memory for an output of which nobody knows how large it will be.
_NO_ROOM = np.empty(0, np.uint8)


class KernelRun:
    """A TF_OpKernelContext and what belongs to it, for one run at a time of kernels of these types."""

    def __init__(self, input_types: Sequence[int], output_types: Sequence[int]) -> None:
        """UnsupportedError for types that are no numbers."""
        for type in input_types:
            kernel_dtype(type)
        self._dtypes = [kernel_dtype(type) for type in output_types]
        # What each output had bytes of in the run before, as it will have again; -1 where nobody knows.
        self._bytes = [-1] * len(output_types)
        # Arrays that the run before has copied for good, by their places, with the copies.
        self._copies: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        ins, outs = max(len(input_types), 1), max(len(output_types), 1)
        self._held: dict[int, ctypes.Array[Any]] = {
            INPUTS: (_P * ins)(),
            TYPES: (ctypes.c_int32 * outs)(*output_types),
            OUTPUTS: (_P * outs)(),
            ROOMS: (ctypes.c_int64 * (2 * outs))(),
            INPUT_TYPES: (ctypes.c_int32 * ins)(*input_types),
            RECORD: (ctypes.c_int64 * (RECORD_WORDS * outs))(),
        }
        self._block = (ctypes.c_int64 * CONTEXT_WORDS)()
        for place, held in self._held.items():
            self._block[place] = ctypes.addressof(held)
        self._block[COUNTS] = len(input_types) | len(output_types) << 32
        self._block[STEP] = 1
        self._words = memoryview(self._block).cast("B").cast("q")
        self._record = memoryview(self._held[RECORD]).cast("B").cast("q")
        self._address = ctypes.addressof(self._block)
        self._compute = shim().compute

    def __call__(self, compute: int, state: int | None, context: KernelContext) -> None:
        """Sets the context's outputs. OpError as the plugin reports it."""
        given = list(context.inputs)
        for place, (array, copy) in self._copies.items():
            if given[place] is array:
                given[place] = copy
        rooms = [_NO_ROOM if size < 0 else np.empty(size + ALIGNMENT, np.uint8) for size in self._bytes]
        words = self._words
        words[CODE] = 0
        mask = words[FORWARDABLE] = _mask(context) if context.forwardable else 0
        for _ in range(len(given) + 1):
            left = self._compute(self._address, given, rooms, compute, state)
            if left < 0:
                break
            mask |= self._align(given, left)
            words[FORWARDABLE] = mask
        else:
            raise InternalError(f"{context.construction.op}: an input's copy is not aligned")
        if left < -1:  # memory of which the plugin has kept a tensor stays as long as the process
            keep([*given, *rooms])
        found = [self._output(i, given, rooms) for i in range(len(self._bytes))]
        raise_faults()
        if words[CODE]:
            raise op_error(words[CODE], self._message())
        for i, value in enumerate(found):
            if value is not None:
                context.set_output(i, value)

    def _align(self, given: list[np.ndarray], place: int) -> int:
        """Put an aligned copy in the array's place; a mask of the place where the run may take its memory."""
        array = np.asarray(given[place])
        copy = given[place] = as_aligned(array)
        if is_constant(array):
            self._copies[place] = array, copy
            return 0
        return 1 << place if copy is not array and place < _MASK_BITS else 0

    def _output(self, index: int, given: list[np.ndarray], rooms: list[np.ndarray]) -> np.ndarray | None:
        at, record, dtype = index * RECORD_WORDS, self._record, self._dtypes[index]
        kind, number = record[at], record[at + 1]
        if kind == NOT_SET:
            return None
        if kind == IN_ROOM:
            return np.ndarray(record[at + 3 : at + 3 + record[at + 2]].tolist(), dtype, rooms[index], number)
        if kind == OF_INPUT:
            shape = record[at + 3 : at + 3 + record[at + 2]].tolist()
            memory = given[number].reshape(-1).view(np.uint8)
            return memory[: prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
        try:
            made = array_at(number)
        finally:
            shim().call("TF_DeleteTensor", None, _P(number))
        self._bytes[index] = made.nbytes
        return made

    def _message(self) -> str:
        address = self._words[MESSAGE]
        if not address:
            return "no status was given"
        text = ctypes.string_at(address).decode(errors="replace")
        shim().call("numlite_free", None, _P(address), None)
        self._words[MESSAGE] = 0
        return text


def _mask(context: KernelContext) -> int:
    """The places of inputs whose memory an output may take, as bits."""
    places = (place for place in context.forwardable if place < _MASK_BITS)
    return sum(1 << place for place in places if context.inputs[place].flags.writeable)


def compute_answers() -> Mapping[str, Answer]:
    """What the functions for kernels that compute do that are not machine code."""

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

    def allows(size: int) -> bool:
        """Half of what there is; the rest is for what the kernel needs beside it."""
        return size <= available_bytes() // 2

    return {"TF_TensorFromProto": from_proto, "numlite_allows": allows}
