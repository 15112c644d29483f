"""Checkpoints of the first format: tables of tensor slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError

from ...lite.errors import ModelError, UnsupportedError
from ...lite.string_tensor import string_array
from ...schema import graph_def
from ...schema.graph_def import TensorProto
from ...schema.saved_model import SavedSliceMeta, SavedTensorSlices
from ..element_types import type_name
from .stored_tensor import StoredTensor, numpy_type, shape_of, stored
from .table import read_table
from .tensor_slice import Ranges, TensorInfo, check_cover, extents_of, resolved, slice_key

# Types whose elements are in another field than their own kind's.
_FIELDS = {
    graph_def.DT_FLOAT: "float_val",
    graph_def.DT_DOUBLE: "double_val",
    graph_def.DT_COMPLEX64: "scomplex_val",
    graph_def.DT_COMPLEX128: "dcomplex_val",
    graph_def.DT_INT64: "int64_val",
    graph_def.DT_BOOL: "bool_val",
    graph_def.DT_HALF: "half_val",
    graph_def.DT_UINT32: "uint32_val",
    graph_def.DT_UINT64: "uint64_val",
}
_IN_INT_VAL = frozenset(
    getattr(graph_def, f"DT_{name}")
    for name in (
        "INT32",
        "INT16",
        "INT8",
        "UINT8",
        "UINT16",
        "QINT8",
        "QUINT8",
        "QINT32",
        "QINT16",
        "QUINT16",
    )
)


class SliceFiles:
    """One table, or several that each have some of the slices.

    Source: TensorFlow core/util/saved_tensor_slice.proto.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files
        self._slices: dict[bytes, bytes] = {}
        self._metas: dict[str, tuple[TensorInfo, list[Ranges]]] = {}
        for path in files:
            entries = dict(read_table(path.read_bytes(), str(path)))
            meta = _message(entries.pop(b"", b""), str(path)).meta
            self._slices.update(entries)
            for tensor in meta.tensor:
                self._add(tensor)

    def _add(self, tensor: SavedSliceMeta) -> None:
        what = f"tensor {tensor.name!r}"
        shape = shape_of(tensor.shape, what)
        slices = [extents_of(proto) for proto in tensor.slice]
        if tensor.name in self._metas:
            known, before = self._metas[tensor.name]
            if (known.dtype, known.shape) != (tensor.type, shape):
                raise ModelError(f"{what}: two files give it different types or shapes")
            slices = before + slices
        self._metas[tensor.name] = (TensorInfo(tensor.type, shape, len(slices)), slices)

    @property
    def tensors(self) -> dict[str, TensorInfo]:
        """The tensors by name."""
        return {name: info for name, (info, _) in self._metas.items()}

    def read(self, name: str) -> StoredTensor:
        """The whole tensor; ModelError when there is none, or its slices are not whole."""
        if name not in self._metas:
            raise ModelError(f"{self.files[0]}: the checkpoint has no tensor {name!r}")
        info, slices = self._metas[name]
        what = f"tensor {name!r}"
        ranges = [resolved(extents, info.shape, what) for extents in slices]
        check_cover(ranges, info.shape, what)
        parts = [(part, self._part(name, s, info)) for part, s in zip(ranges, slices, strict=True)]
        whole = np.empty(info.shape, object if info.dtype == graph_def.DT_STRING else numpy_type(info.dtype))
        for part, values in parts:
            index = tuple(slice(start, start + length) for start, length in part)
            whole[index] = values.reshape([length for _, length in part])
        return stored(info.dtype, whole)

    def _part(self, name: str, extents: Ranges, info: TensorInfo) -> np.ndarray:
        what = f"tensor {name!r}, slice {list(extents)}"
        key = slice_key(name, extents)
        if key not in self._slices:
            raise ModelError(f"{what}: the checkpoint does not have it")
        values = _values(_message(self._slices[key], what).data.data, info.dtype, what)
        count = math.prod(length for _, length in resolved(extents, info.shape, what))
        if len(values) != count:
            raise ModelError(f"{what}: it has {count} elements, got {len(values)}")
        return values


def _message(content: bytes, what: str) -> SavedTensorSlices:
    try:
        message = SavedTensorSlices.FromString(content)
    except DecodeError as error:
        raise ModelError(f"{what}: its entry is damaged ({error})") from error
    assert isinstance(message, SavedTensorSlices)
    return message


def _values(proto: TensorProto, dtype: int, what: str) -> np.ndarray:
    """All elements, flat."""
    if dtype == graph_def.DT_STRING:
        return string_array(proto.string_val, [len(proto.string_val)])
    field = "int_val" if dtype in _IN_INT_VAL else _FIELDS.get(dtype)
    if field is None:
        raise UnsupportedError(f"{what}: values of type {type_name(dtype)} cannot be read")
    form, listed = numpy_type(dtype), getattr(proto, field)
    if dtype == graph_def.DT_HALF:
        return np.array(listed, np.int64).astype(np.uint16).view(form)
    if form.kind == "c":
        return np.array(listed[: len(listed) // 2 * 2], f"<f{form.itemsize // 2}").view(form)
    return np.array(listed, np.int64 if field == "int_val" else form).astype(form)
