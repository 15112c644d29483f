"""Model: a .tflite file, opened and verified, whose constants are views of its bytes."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..schema import tflite
from ..schema.verifier import verify
from .errors import ModelError
from .tensor import OVERREAD_BYTES

_LOOKED_AT = 1 << 12  # bytes that tell what kind of file it is


class Signature(NamedTuple):
    """A named entry of the model: tensors by the names of arguments and results."""

    key: str
    subgraph_index: int
    inputs: dict[str, int]
    outputs: dict[str, int]


class Model:
    """A verified model. root is the schema's reader of the file.

    content holds the file's bytes: a mapped file or any bytes-like object, which is kept. One that
    can be written to is copied.
    Raises ModelError when the content is no model or is damaged.
    """

    def __init__(self, content: bytes | bytearray | memoryview | mmap.mmap) -> None:
        view = memoryview(content).cast("B")
        if not view.readonly:
            # What has been verified must not change afterwards.
            view = memoryview(bytes(view))
        if not len(view):
            raise ModelError("The model is not a valid Flatbuffer buffer: it is empty")
        self._data = np.frombuffer(view, np.uint8)
        self._data.flags.writeable = False
        self.address: int = self._data.__array_interface__["data"][0]
        try:
            verify(view, tolerant=True)
        except ModelError as error:
            raise _named_kind(view, error) from error
        self.root = tflite.read(view)
        self._buffers = self.root.buffers
        self._copies: dict[int, np.ndarray] = {}
        self.file: os.stat_result | None = None  # what the system says of the file, where it is mapped
        self._mapped: mmap.mmap | None = None

    @classmethod
    def from_path(cls, path: str | bytes | os.PathLike[str]) -> Model:
        """Map a file; ModelError when it cannot be opened."""
        try:
            with open(os.fspath(path), "rb") as file:
                info = os.fstat(file.fileno())
                if info.st_size == 0:
                    raise ModelError(f"Could not open {os.fspath(path)!r}: the file is empty")
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise ModelError(f"Could not open {os.fspath(path)!r}: {error.strerror or error}") from error
        model = cls(content)
        model.file, model._mapped = info, content
        return model

    @property
    def nbytes(self) -> int:
        return len(self._data)

    @property
    def content(self) -> memoryview:
        """The file's bytes."""
        return self._data.data

    @property
    def description(self) -> str:
        return self.root.description or ""

    def buffer(self, index: int, alignment: int = 1) -> np.ndarray | None:
        """The bytes of a buffer as a flat uint8 view, None when it holds none.

        OVERREAD_BYTES after its end may be read: a buffer that ends too near to the end of
        the file is copied, and one that does not lie at a multiple of the alignment.
        """
        if index == 0:
            return None
        buffer = self._buffers[index]
        offset = buffer.offset
        data = self._bytes(f"buffer {index}", offset, buffer.size) if offset > 1 else buffer.data
        if not data.size:
            return None
        address = data.__array_interface__["data"][0]
        ends_early = address + data.size - self.address + OVERREAD_BYTES <= self.nbytes
        return data if ends_early and address % alignment == 0 else self._copy(index, data)

    def put_away(self, data: np.ndarray) -> None:
        """Take bytes of a mapped file out of memory: who reads them all the same has them read again."""
        advise = getattr(mmap, "MADV_DONTNEED", None)
        if self._mapped is None or advise is None:
            return
        start = data.__array_interface__["data"][0] - self.address
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        last = (start + data.size) // mmap.PAGESIZE * mmap.PAGESIZE
        if 0 <= first < last <= self.nbytes:
            self._mapped.madvise(advise, first, last - first)

    def metadata(self) -> dict[str, bytes]:
        """The model's metadata by name."""
        found = {}
        for entry in self.root.metadata:
            data = self.buffer(entry.buffer)
            found[entry.name or ""] = b"" if data is None else data.tobytes()
        return found

    def signatures(self) -> dict[str, Signature]:
        """The signatures by key, in the file's order; their arguments by name, in alphabetical order.

        Tools that take tensors out of a model leave signatures behind, so that any number may be stale.
        """
        found = {}
        for definition in self.root.signature_defs:
            key = definition.signature_key or ""
            inputs, outputs = _by_name(definition.inputs), _by_name(definition.outputs)
            found[key] = Signature(key, definition.subgraph_index, inputs, outputs)
        return found

    def custom_options(self, operator: tflite.Operator) -> bytes:
        """The options of a custom operator, wherever in the file they are."""
        offset = operator.large_custom_options_offset
        if offset > 1:
            return self._bytes("custom options", offset, operator.large_custom_options_size).tobytes()
        return operator.custom_options.tobytes()

    def _bytes(self, what: str, offset: int, size: int) -> np.ndarray:
        if offset + size > self.nbytes:
            raise ModelError(f"{what}: bytes {offset} to {offset + size} lie past the file's end")
        return self._data[offset : offset + size]

    def _copy(self, index: int, data: np.ndarray) -> np.ndarray:
        copy = self._copies.get(index)
        if copy is None:
            memory = np.zeros(data.size + OVERREAD_BYTES, np.uint8)
            memory[: data.size] = data
            memory.flags.writeable = False
            copy = self._copies[index] = memory[: data.size]
            self.put_away(data)
        return copy


def _named_kind(content: memoryview, error: ModelError) -> ModelError:
    """The error of a damaged model; of a file of another kind it says which."""
    from .foreign_file import what_it_is

    known = None if content[4:8] == tflite.IDENTIFIER else what_it_is(bytes(content[:_LOOKED_AT]))
    return ModelError(f"{error}; it is {known}") if known else error


def _by_name(entries: Iterable[tflite.TensorMap]) -> dict[str, int]:
    # The file's numbers are unsigned, those of tensors are not: 2**32 - 1 is -1, as in LiteRT.
    return dict(sorted((entry.name or "", (entry.tensor_index ^ 1 << 31) - (1 << 31)) for entry in entries))
