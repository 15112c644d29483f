"""HDF5 files by h5py, which is imported when one is read; what such a file may not hold is refused."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...lite.available_memory import check_room
from ...lite.errors import ModelError, UnsupportedError
from ...schema.shown import shown

if TYPE_CHECKING:
    import h5py

# No more than so many bytes come of one that is stored: deflate reaches 1032.
_MOST_GROWTH = 1100
_MOST_WEIGHTS = 1_000_000
_NUMBERS = "fiub"
# Of a heap of texts: magic, version and reserved bytes, then its size; and of what it holds: number, users,
# reserved bytes and size. Numbers have 8 bytes wherever they are sizes or addresses.
_HEAP, _HELD = b"GCOL\1\0\0\0", struct.Struct("<HH4xQ")
_HEAP_START = len(_HEAP) + 8
_FAULTS = (OSError, RuntimeError, KeyError, ValueError, TypeError, IndexError, OverflowError)


def open_hdf5(content: bytes, name: str) -> Group:
    """The root of an HDF5 file; ModelError when it is none, UnsupportedError where h5py is missing."""
    try:
        import h5py
    except ImportError as error:
        raise UnsupportedError(f"{name}: reading it needs h5py (pip install numlite[keras])") from error
    try:
        file = h5py.File(io.BytesIO(content), "r")
    except _FAULTS as error:
        raise ModelError(f"{name}: not a readable HDF5 file ({shown(error)})") from error
    if file.id.get_create_plist().get_sizes() != (8, 8):
        raise UnsupportedError(f"{name}: sizes and addresses in the file must have 8 bytes")
    _check_heaps(content, name)
    return Group(file, name)


def _check_heaps(content: bytes, name: str) -> None:
    """ModelError for a heap of texts in which the HDF5 library goes round for ever.

    Source: the HDF5 file format specification, level 1E, global heap.
    """
    at = content.find(_HEAP)
    while at >= 0:
        end = at + int.from_bytes(content[at + len(_HEAP) : at + _HEAP_START], "little")
        place = at + _HEAP_START
        while place + _HELD.size <= min(end, len(content)):
            number, _, size = _HELD.unpack_from(content, place)
            # What is free, number 0, counts its header.
            step = _HELD.size + -(-size // 8) * 8 if number else size
            if step == 0 or place + step > end:
                raise ModelError(f"{name}: not a readable HDF5 file (the heap at byte {at} is damaged)")
            place += step
        at = content.find(_HEAP, at + 1)


class Group:
    """A group of an HDF5 file: groups and arrays by name, and attributes. Links to elsewhere are refused."""

    def __init__(self, group: h5py.Group, name: str) -> None:
        self._group = group
        self.name = name

    def names(self) -> list[str]:
        """What it holds."""
        try:
            return list(self._group.keys())
        except _FAULTS as error:
            raise self._fault(error) from error

    def group(self, path: str) -> Group | None:
        """The group at a path, None when there is none."""
        found = self._at(path)
        import h5py

        return Group(found, f"{self.name}/{path}") if isinstance(found, h5py.Group) else None

    def array(self, path: str) -> np.ndarray:
        """The numbers at a path; ModelError when there are none, or they are no numbers."""
        import h5py

        found = self._at(path)
        if not isinstance(found, h5py.Dataset):
            raise ModelError(f"{shown(self.name)}: it must have the weight {shown(path)}, it has none")
        try:
            return _checked(found, f"{self.name}/{path}")
        except _FAULTS as error:
            if isinstance(error, ModelError):
                raise
            raise self._fault(error) from error

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """All arrays under it, by their paths."""
        import h5py

        for name in self.names():
            found = self._at(name)
            if isinstance(found, h5py.Dataset):
                yield name, self.array(name)
            elif isinstance(found, h5py.Group):
                for path, array in Group(found, f"{self.name}/{name}").arrays():
                    yield f"{name}/{path}", array

    def has(self, attribute: str) -> bool:
        try:
            return attribute in self._group.attrs
        except _FAULTS as error:
            raise self._fault(error) from error

    def attribute(self, name: str) -> object:
        """An attribute, None when there is none."""
        try:
            return self._group.attrs.get(name)
        except _FAULTS as error:
            raise self._fault(error) from error

    def names_in(self, attribute: str) -> list[str]:
        """A list of names, which Keras cuts into several attributes where it is long."""
        parts = [attribute] if self.has(attribute) else []
        while self.has(f"{attribute}{len(parts)}") and attribute not in parts:
            parts.append(f"{attribute}{len(parts)}")
        if not parts:
            raise ModelError(f"{shown(self.name)}: it must have the attribute {attribute}")
        found = [each for part in parts for each in np.ravel(np.asarray(self.attribute(part))).tolist()]
        if len(found) > _MOST_WEIGHTS:
            raise ModelError(f"{shown(self.name)}: at most {_MOST_WEIGHTS} weights, got {len(found)}")
        return [each.decode(errors="replace") if isinstance(each, bytes) else str(each) for each in found]

    def _at(self, path: str) -> object:
        """What lies at a path of hard links."""
        import h5py

        at: object = self._group
        try:
            for step in path.split("/"):
                if not step:
                    continue
                if not isinstance(at, h5py.Group) or at.get(step, getlink=True) is None:
                    return None
                if not isinstance(at.get(step, getlink=True), h5py.HardLink):
                    raise ModelError(f"{shown(self.name)}: {shown(path)} must lie in the file, it is a link")
                at = at.get(step)
        except _FAULTS as error:
            if isinstance(error, ModelError):
                raise
            raise self._fault(error) from error
        return at

    def _fault(self, error: BaseException) -> ModelError:
        return ModelError(f"{shown(self.name)}: damaged HDF5 file ({shown(error)})")


def _checked(data: h5py.Dataset, name: str) -> np.ndarray:
    if data.external or data.is_virtual:
        raise ModelError(f"weight {shown(name)} must lie in the file, it is elsewhere")
    if data.shape is None or (data.dtype.kind not in _NUMBERS and data.dtype.name != "bfloat16"):
        raise ModelError(f"weight {shown(name)} must hold numbers, got {shown(data.dtype)}")
    if data.nbytes > _MOST_GROWTH * data.id.get_storage_size() + 4096:
        raise ModelError(
            f"weight {shown(name)} must be stored whole, it has {data.id.get_storage_size()} bytes "
            f"of {data.nbytes}"
        )
    check_room(data.nbytes)
    array = np.asarray(data[()])
    return array.astype(array.dtype.newbyteorder("=")) if array.dtype.byteorder == ">" else array
