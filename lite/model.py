"""Model: a .tflite file, opened and verified, whose constants are views of its bytes."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..schema import tflite
from ..schema.flatbuffer import Fields
from ..schema.named_tuple import NamedTuple
from .available_memory import OVERREAD_BYTES
from .errors import ModelError

if TYPE_CHECKING:
    from .private_file import CodePlace

_U32 = struct.Struct("<I").unpack_from
_U64 = struct.Struct("<Q").unpack_from

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
    can be written to is copied. is_verified says that these very bytes were a model's before, and that no
    graph of it had a fault.
    Raises ModelError when the content is no model or is damaged.
    """

    def __init__(
        self, content: bytes | bytearray | memoryview | mmap.mmap, is_verified: bool = False
    ) -> None:
        view = memoryview(content).cast("B")
        if not view.readonly:
            # What has been verified must not change afterwards.
            view = memoryview(bytes(view))
        if not len(view):
            raise ModelError("The model is not a valid Flatbuffer buffer: it is empty")
        self.content = view  # the file's bytes
        self._data = np.frombuffer(view, np.uint8)
        self._data.flags.writeable = False
        self.address: int = self._data.__array_interface__["data"][0]
        self.is_verified = is_verified
        if not is_verified:
            _verify(view)
        self.root = tflite.read(view)
        self._buffers = self.root.buffers
        self._of_buffer = Fields(view, tflite.TABLES["Buffer"], "data", "offset", "size")
        self._copies: dict[int, np.ndarray] = {}
        self.file: os.stat_result | None = None  # what the system says of the file, where it is mapped
        self._mapped: mmap.mmap | None = None

    @classmethod
    def from_path(cls, path: str | bytes | os.PathLike[str], place: CodePlace | None = None) -> Model:
        """Map a file; ModelError when it cannot be opened. What a cache knows is not verified again."""
        try:
            with open(os.fspath(path), "rb") as file:
                info = os.fstat(file.fileno())
                if info.st_size == 0:
                    raise ModelError(f"Could not open {os.fspath(path)!r}: the file is empty")
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise ModelError(f"Could not open {os.fspath(path)!r}: {error.strerror or error}") from error
        model = cls(content, place is not None and _is_known(info, place))
        model.file, model._mapped = info, content
        return model

    @property
    def nbytes(self) -> int:
        return len(self._data)

    @property
    def description(self) -> str:
        return self.root.description or ""

    def buffer(self, index: int, alignment: int = 1) -> np.ndarray | None:
        """The bytes of a buffer as a flat uint8 view, None when it holds none.

        OVERREAD_BYTES after its end may be read: a buffer that ends too near to the end of
        the file is copied, and one that does not lie at a multiple of the alignment.
        """
        start, nbytes = self._place(index) if index else (0, 0)
        if not nbytes:
            return None
        data = self._data[start : start + nbytes]
        ends_early = start + nbytes + OVERREAD_BYTES <= self.nbytes
        return data if ends_early and (self.address + start) % alignment == 0 else self._copy(index, data)

    def origin(self, data: np.ndarray) -> tuple[int, bool] | None:
        """Where in the file a constant begins, and whether it is read from a copy; None for others."""
        at: int = data.__array_interface__["data"][0]
        for index, copy in self._copies.items():
            if copy.__array_interface__["data"][0] == at:
                return self._place(index)[0], True
        return (at - self.address, False) if 0 <= at - self.address <= self.nbytes - len(data) else None

    @classmethod
    def of_known(cls, content: mmap.mmap, info: os.stat_result) -> Model:
        """The model of a mapped file that was verified before."""
        model = cls(content, is_verified=True)
        model.file, model._mapped = info, content
        return model

    def _place(self, index: int) -> tuple[int, int]:
        """Where a buffer's bytes begin, and how many there are."""
        content, at = self.content, self._buffers.position(index)
        inside, offset_at, size_at = self._of_buffer.of(at)
        offset = _U64(content, at + offset_at)[0] if offset_at else 0
        if offset > 1:
            size = _U64(content, at + size_at)[0] if size_at else 0
            self._check(f"buffer {index}", offset, size)
            return offset, size
        if not inside:
            return 0, 0
        at += inside
        at += _U32(content, at)[0]
        return at + 4, _U32(content, at)[0]

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
        self._check(what, offset, size)
        return self._data[offset : offset + size]

    def _check(self, what: str, offset: int, size: int) -> None:
        if offset + size > self.nbytes:
            raise ModelError(f"{what}: bytes {offset} to {offset + size} lie past the file's end")

    def _copy(self, index: int, data: np.ndarray) -> np.ndarray:
        copy = self._copies.get(index)
        if copy is None:
            memory = np.zeros(data.size + OVERREAD_BYTES, np.uint8)
            memory[: data.size] = data
            memory.flags.writeable = False
            copy = self._copies[index] = memory[: data.size]
            self.put_away(data)
        return copy


def _is_known(info: os.stat_result, place: CodePlace) -> bool:
    from .prepared_models import ModelMark
    from .private_file import others_may_write

    if others_may_write(info):
        return False
    mark = ModelMark.of_file(info, place)
    return mark is not None and mark.is_verified


def _verify(content: memoryview) -> None:
    from ..schema.verifier import verify  # not needed for what a cache knows

    try:
        verify(content, tolerant=True)
    except ModelError as error:
        raise _named_kind(content, error) from error


def _named_kind(content: memoryview, error: ModelError) -> ModelError:
    """The error of a damaged model; of a file of another kind it says which."""
    from .foreign_file import what_it_is

    known = None if content[4:8] == tflite.IDENTIFIER else what_it_is(bytes(content[:_LOOKED_AT]))
    return ModelError(f"{error}; it is {known}") if known else error


def _by_name(entries: Iterable[tflite.TensorMap]) -> dict[str, int]:
    # The file's numbers are unsigned, those of tensors are not: 2**32 - 1 is -1, as in LiteRT.
    return dict(sorted((entry.name or "", (entry.tensor_index ^ 1 << 31) - (1 << 31)) for entry in entries))
