"""Tensors and nodes of a subgraph, read from the file's tables in one pass."""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..schema import tflite
from ..schema.flatbuffer import Fields, array_at, int32s_at, string_at
from ..schema.named_tuple import NamedTuple
from ..schema.operator_code import options_of
from .available_memory import allocate
from .errors import ModelError, PrepareError, StateError, UnsupportedError
from .graph_check import outside
from .node import Node
from .quantization import Quantization, quantization_fault
from .shape_check import checked_shape
from .tensor import AllocationType, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from .model import Model
    from .registration import Registration

_I32 = struct.Struct("<i").unpack_from
_U32 = struct.Struct("<I").unpack_from
_SCALES, _ZERO_POINTS = np.dtype("<f4"), np.dtype("<i8")
_NONE = {dtype: np.empty(0, dtype) for dtype in (_SCALES, _ZERO_POINTS)}


class Resolved(NamedTuple):
    """What an operator code of the model stands for."""

    registration: Registration
    version: int
    name: str


def read_tensors(
    table: tflite.SubGraph, model: Model, written: Container[int], compress_zero_points: bool
) -> list[Tensor]:
    """The subgraph's tensors, constants bound to their bytes; written are those that nodes write.

    ModelError, or UnsupportedError, names the first one that makes no sense.
    """
    reader = _Tensors(table, model, compress_zero_points)
    return [reader.tensor(t, at, t in written) for t, at in enumerate(table.tensors.positions())]


class _Tensors:
    """Reads tensors of one subgraph."""

    def __init__(self, table: tflite.SubGraph, model: Model, compress_zero_points: bool) -> None:
        self._tables = table.tensors
        self._model = model
        self._compress = compress_zero_points
        self._data = data = model.content
        self._fields = Fields(
            data,
            tflite.TABLES["Tensor"],
            "shape",
            "type",
            "buffer",
            "name",
            "quantization",
            "is_variable",
            "sparsity",
            "shape_signature",
            "external_buffer",
        )
        self._of_quantization = Fields(
            data, tflite.TABLES["QuantizationParameters"], "scale", "zero_point", "quantized_dimension"
        )

    def tensor(self, index: int, at: int, is_written: bool) -> Tensor:
        data = self._data
        shape, type_at, buffer, name, quantization, variable, sparsity, signature, external = self._fields.of(
            at
        )
        declared = int32s_at(data, at + signature) if signature else ()
        tensor = Tensor(
            index,
            string_at(data, at + name) if name else "",
            data[at + type_at] if type_at else 0,
            int32s_at(data, at + shape) if shape else (),
            self._given_quantization(index, at + quantization) if quantization else None,
            bool(variable and data[at + variable]),
            declared or None,
        )
        if not self._model.is_verified:
            _check(tensor)
        if external and _U32(data, at + external)[0]:
            raise UnsupportedError(
                f"tensor {index} {tensor!r}: its values are in another file; "
                "a model that holds them would run"
            )
        number = _U32(data, at + buffer)[0] if buffer else 0
        values = self._model.buffer(number, tensor.alignment) if number else None
        if values is None and number and sparsity and not is_written:
            values = allocate(0)  # a sparse constant of which no element is stored
        if values is not None:
            if sparsity:
                tensor.sparsity = self._tables[index].sparsity  # of others it says nothing
            _make_constant(tensor, values, is_written)
        elif tensor.is_variable and tensor.has_fixed_size:
            tensor.allocation_type = AllocationType.ARENA_RW_PERSISTENT
        else:
            make_value(tensor)
        return tensor

    def _given_quantization(
        self, index: int, place: int
    ) -> Quantization | Callable[[], Quantization | None] | None:
        """Of a model that is known, what reads it: a graph that was prepared before runs without."""
        if self._model.is_verified:
            return partial(self._quantization, index, place)
        return self._quantization(index, place)

    def _quantization(self, index: int, place: int) -> Quantization | None:
        data = self._data
        at = place + _U32(data, place)[0]
        scale, zero_point, dimension = self._of_quantization.of(at)
        scales, zero_points = self._array(at, scale, _SCALES), self._array(at, zero_point, _ZERO_POINTS)
        axis = _I32(data, at + dimension)[0] if dimension else 0
        if not len(scales):
            return self._by_blocks(index, scales, zero_points, axis)
        if self._compress and len(zero_points) > 1 and (zero_points == zero_points[0]).all():
            zero_points = zero_points[:1]  # which stands for all scales
        return Quantization(scales, zero_points, axis)

    def _array(self, at: int, offset: int, dtype: np.dtype) -> np.ndarray:
        values = array_at(self._data, at + offset, dtype) if offset else None
        return _NONE[dtype] if values is None else values

    def _by_blocks(
        self, index: int, scales: np.ndarray, zero_points: np.ndarray, axis: int
    ) -> Quantization | None:
        table = self._tables[index].quantization
        blocks = None if table is None else table.details
        if not isinstance(blocks, tflite.BlockwiseQuantization):
            return None
        count = len(self._tables)
        if not (0 <= blocks.scales < count and -1 <= blocks.zero_points < count):
            return None  # kernels that need its scales say so
        return Quantization(scales, zero_points, axis, blocks.block_size, blocks.scales, blocks.zero_points)


def _check(tensor: Tensor) -> None:
    """ModelError where shape or quantization make no sense."""
    try:
        checked_shape(tensor, tensor.shape)
    except PrepareError as error:
        raise ModelError(f"tensor {tensor.index} {error}") from error
    quantization = tensor.quantization
    fault = None if quantization is None else quantization_fault(tensor.type, quantization)
    if fault:
        raise ModelError(f"tensor {tensor.index} {tensor!r}: {fault}")


def make_value(tensor: Tensor) -> None:
    """Have it be no constant: it has memory of its own once that is planned."""
    tensor.allocation_type = AllocationType.ARENA_RW if tensor.has_fixed_size else AllocationType.DYNAMIC
    tensor.bind(None)


def _make_constant(tensor: Tensor, data: np.ndarray, is_written: bool) -> None:
    if tensor.is_variable:
        raise ModelError(f"tensor {tensor.index} {tensor!r}: a variable must not have a buffer")
    tensor.allocation_type = AllocationType.MMAP_RO
    if is_written and not tensor.has_fixed_size:
        return  # its bytes mean nothing: _settle_written_constants
    if tensor.sparsity is not None or not tensor.has_fixed_size:
        try:
            tensor.bind(data)
        except StateError as error:
            raise ModelError(str(error)) from error
        return
    nbytes = tensor.nbytes
    if data.size < nbytes:
        raise ModelError(
            f"tensor {tensor.index} {tensor!r}: its buffer must hold {nbytes} bytes, got {data.size}"
        )
    tensor.bind(data[:nbytes] if data.size > nbytes else data)


def read_nodes(
    table: tflite.SubGraph, model: Model, registrations: Sequence[Resolved], tensor_count: int
) -> list[Node]:
    """The subgraph's nodes; what they name is left out where the subgraph has no such tensor."""
    data = model.content
    fields = Fields(
        data,
        tflite.TABLES["Operator"],
        "opcode_index",
        "inputs",
        "outputs",
        "intermediates",
        "custom_options",
        "large_custom_options_offset",
    )
    nodes = []
    for index, (at, operator) in enumerate(zip(table.operators.positions(), table.operators, strict=True)):
        code, inputs, outputs, intermediates, *custom = fields.of(at)
        registration, version, name = registrations[_U32(data, at + code)[0] if code else 0]
        nodes.append(
            Node(
                index,
                registration,
                _known_or_none(int32s_at(data, at + inputs) if inputs else (), tensor_count),
                named(int32s_at(data, at + outputs) if outputs else (), tensor_count),
                options_of(operator, name),
                model.custom_options(operator) if any(custom) else b"",
                tuple(t if t < tensor_count else -1 for t in int32s_at(data, at + intermediates))
                if intermediates
                else (),
                version,
            )
        )
    return nodes


def named(indices: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Those that name one of that many tensors."""
    wrong = outside(indices, count)
    return tuple(t for t in indices if t not in wrong) if wrong else indices


def _known_or_none(indices: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The indices, -1 for those that name none of that many tensors."""
    return tuple(t if -1 <= t < count else -1 for t in indices) if outside(indices, count) else indices
