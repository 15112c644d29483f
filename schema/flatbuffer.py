"""Reading of flatbuffers: tables whose fields are found and decoded when they are asked for.

Nothing here checks offsets: verifier.py does so once, before a file is read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np

from .named_tuple import NamedTuple

_U8 = struct.Struct("<B").unpack_from
_U16 = struct.Struct("<H").unpack_from
_I32 = struct.Struct("<i").unpack_from
_U32 = struct.Struct("<I").unpack_from


class Field(NamedTuple):
    """A field of a table, as the generated module lists it.

    slot is its byte offset in the vtable. kind is scalar, string, strings (a vector), vector (of scalars),
    tables (a vector of tables), table or union. type is a struct code for scalars, else the name of
    the table or union. alignment is what a vector's first element asks beyond its own size.
    """

    name: str
    slot: int
    kind: str
    type: str
    default: int | float | bool | None = None
    alignment: int = 0


class Table:
    """A table of the buffer. Attributes are the schema's fields; absent ones read as defaults."""

    __slots__ = ("_data", "_position", "_vtable", "_vtable_bytes")

    fields: tuple[Field, ...] = ()

    def __init__(self, data: memoryview, position: int) -> None:
        vtable = position - _I32(data, position)[0]
        self._data = data
        self._position = position
        self._vtable = vtable
        self._vtable_bytes = _U16(data, vtable)[0]

    def __repr__(self) -> str:
        values = []
        for field in type(self).fields:
            if is_present(self, field.name):
                value = getattr(self, field.name)
                brief = f"[{len(value)}]" if isinstance(value, TableVector) else repr(value)
                values.append(f"{field.name}={brief}")
        return f"{type(self).__name__}({', '.join(values)})"


TableType = TypeVar("TableType", bound=Table)


class TableVector(Sequence[TableType], Generic[TableType]):
    """A vector of tables, each made when it is asked for."""

    __slots__ = ("_data", "_length", "_start", "_type")

    def __init__(self, type: type[TableType], data: memoryview, start: int, length: int) -> None:
        self._type = type
        self._data = data
        self._start = start
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> TableType: ...
    @overload
    def __getitem__(self, index: slice) -> list[TableType]: ...
    def __getitem__(self, index: int | slice) -> TableType | list[TableType]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(f"index must be under {self._length}, got {index}")
        at = self._start + 4 * index
        return self._type(self._data, at + _U32(self._data, at)[0])

    def __iter__(self) -> Iterator[TableType]:
        data, make = self._data, self._type
        for at in range(self._start, self._start + 4 * self._length, 4):
            yield make(data, at + _U32(data, at)[0])

    def position(self, index: int) -> int:
        """Where a table lies in the buffer; index is one of the vector's."""
        at = self._start + 4 * index
        position: int = at + _U32(self._data, at)[0]
        return position

    def positions(self) -> list[int]:
        """Where each table lies in the buffer."""
        at = self._start
        offsets = struct.unpack_from(f"<{self._length}I", self._data, at)
        return [at + 4 * n + offset for n, offset in enumerate(offsets)]

    def __repr__(self) -> str:
        return f"<{self._length} x {self._type.__name__}>"


def is_present(table: Table, name: str) -> bool:
    """Whether the file holds the field (an absent one reads as its default or as empty)."""
    for field in type(table).fields:
        if field.name == name:
            return _find(table, field.slot) != 0
    raise AttributeError(f"{type(table).__name__} has no field {name!r}")


class Fields:
    """Where wanted fields of many tables of one type lie; tables that share a vtable share the answer."""

    def __init__(
        self, data: memoryview, fields: Iterable[tuple[str, int, *tuple[object, ...]]], *names: str
    ) -> None:
        """fields are the table's own, as the generated module lists them; names those that are wanted."""
        slots = {name: slot for name, slot, *_ in fields}
        self.data = data
        self.slots = [slots[name] for name in names]
        self.known: dict[int, tuple[int, ...]] = {}

    def of(self, at: int) -> tuple[int, ...]:
        """Offset of each wanted field from the table at that position, 0 where absent."""
        vtable = at - _I32(self.data, at)[0]
        offsets = self.known.get(vtable)
        if offsets is None:
            nbytes = _U16(self.data, vtable)[0]
            offsets = tuple(_U16(self.data, vtable + slot)[0] if slot < nbytes else 0 for slot in self.slots)
            self.known[vtable] = offsets
        return offsets


def reader_class(name: str, fields: tuple[Field, ...], resolve: Callable[[str], Any]) -> type[Table]:
    """The reader of a table; resolve gives the class of a table, or a union's table names."""
    namespace: dict[str, Any] = {"__slots__": (), "fields": fields}
    for field in fields:
        namespace[field.name] = property(_MAKERS[field.kind](field, resolve))
    return type(name, (Table,), namespace)


def _find(table: Table, slot: int) -> int:
    """Where the field lies in the buffer, or 0."""
    if slot >= table._vtable_bytes:
        return 0
    offset: int = _U16(table._data, table._vtable + slot)[0]
    return table._position + offset if offset else 0


def _scalar(field: Field, resolve: Callable[[str], Any]) -> Callable[[Table], Any]:
    slot, default = field.slot, field.default
    unpack = struct.Struct("<" + field.type).unpack_from

    def read(table: Table) -> Any:
        if slot >= table._vtable_bytes:
            return default
        offset = _U16(table._data, table._vtable + slot)[0]
        return unpack(table._data, table._position + offset)[0] if offset else default

    return read


def _string(field: Field, resolve: Callable[[str], Any]) -> Callable[[Table], str | None]:
    slot = field.slot

    def read(table: Table) -> str | None:
        at = _find(table, slot)
        return string_at(table._data, at) if at else None

    return read


def string_at(data: memoryview, place: int) -> str:
    """The string that the field at this place points to."""
    at = place + _U32(data, place)[0]
    # Names are UTF-8 by the format, but a stray byte in one must not stop a model.
    return str(data[at + 4 : at + 4 + _U32(data, at)[0]], "utf-8", "replace")


def _strings(field: Field, resolve: Callable[[str], Any]) -> Callable[[Table], tuple[str, ...]]:
    slot = field.slot

    def read(table: Table) -> tuple[str, ...]:
        at = _find(table, slot)
        if not at:
            return ()
        at += _U32(table._data, at)[0]
        return tuple(string_at(table._data, at + 4 + 4 * i) for i in range(_U32(table._data, at)[0]))

    return read


def _vector(field: Field, resolve: Callable[[str], Any]) -> Callable[[Table], np.ndarray]:
    slot = field.slot
    dtype = np.dtype("<" + field.type)
    empty = np.empty(0, dtype)
    empty.flags.writeable = False

    def read(table: Table) -> np.ndarray:
        at = _find(table, slot)
        if not at:
            return empty
        values = array_at(table._data, at, dtype)
        return empty if values is None else values

    return read


def int32s_at(data: memoryview, place: int) -> tuple[int, ...]:
    """The vector of int32 that the field at this place points to."""
    at = place + _U32(data, place)[0]
    return struct.unpack_from(f"<{_U32(data, at)[0]}i", data, at + 4)


def array_at(data: memoryview, place: int, dtype: np.dtype) -> np.ndarray | None:
    """The vector of scalars that the field at this place points to, None where it is empty."""
    at = place + _U32(data, place)[0]
    length = _U32(data, at)[0]
    if not length:
        return None
    values = np.frombuffer(data, dtype, length, at + 4)
    if not values.flags.aligned:  # not every writer aligns vectors of wide items, and kernels read them
        values = values.copy()
        values.flags.writeable = False
    return values


def _tables(field: Field, resolve: Callable[[str], Any]) -> Callable[[Table], TableVector[Any]]:
    slot, type_name = field.slot, field.type

    def read(table: Table) -> TableVector[Any]:
        at = _find(table, slot)
        if not at:
            return TableVector(resolve(type_name), table._data, 0, 0)
        at += _U32(table._data, at)[0]
        return TableVector(resolve(type_name), table._data, at + 4, _U32(table._data, at)[0])

    return read


def _table(field: Field, resolve: Callable[[str], Any]) -> Callable[[Table], Table | None]:
    slot, type_name = field.slot, field.type

    def read(table: Table) -> Table | None:
        at = _find(table, slot)
        return resolve(type_name)(table._data, at + _U32(table._data, at)[0]) if at else None

    return read


def _union(field: Field, resolve: Callable[[str], Any]) -> Callable[[Table], Table | None]:
    # The type's field comes directly before the value's.
    slot, type_slot, members = field.slot, field.slot - 2, resolve(field.type)

    def read(table: Table) -> Table | None:
        at, type_at = _find(table, slot), _find(table, type_slot)
        if not at or not type_at:
            return None
        member = _U8(table._data, type_at)[0]
        if not 0 < member <= len(members):
            return None
        return resolve(members[member - 1])(table._data, at + _U32(table._data, at)[0])

    return read


_MAKERS: dict[str, Callable[[Field, Callable[[str], Any]], Callable[[Table], Any]]] = {
    "scalar": _scalar,
    "string": _string,
    "strings": _strings,
    "vector": _vector,
    "tables": _tables,
    "table": _table,
    "union": _union,
}
