"""Classes of a generated schema module, made when they are first named.

Making all of them takes longer than a small model's first inference.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from .flatbuffer import Field, Table, reader_class

if TYPE_CHECKING:
    from .objects import TableT

RawField = tuple[str, int, str, str, int | float | bool | None, int]


class Schema:
    """Makes the enums, readers and objects of the tables it was given, each once."""

    def __init__(
        self,
        module: str,
        enums: dict[str, dict[str, int]],
        unions: dict[str, tuple[str, ...]],
        tables: dict[str, tuple[RawField, ...]],
    ) -> None:
        self.module = module
        self.enums = enums
        self.unions = unions
        self.tables = tables
        self._made: dict[str, Any] = {}

    def names(self) -> list[str]:
        objects = [name + "T" for name in self.tables]
        return [*self.enums, *self.unions, *self.tables, *objects]

    def named(self, name: str) -> Any:
        """The enum, reader (Tensor) or object class (TensorT) of that name."""
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._make(name)
            made.__module__ = self.module
        return made

    def reader(self, name: str) -> type[Table]:
        reader: type[Table] = self.named(name)
        return reader

    def object(self, name: str) -> type[TableT]:
        """The object class of the table of that name."""
        made: type[TableT] = self.named(name + "T")
        return made

    def read(self, root: str, buffer: Any) -> Any:
        """The root table of a buffer that verifier.py has accepted."""
        data = memoryview(buffer).cast("B")
        return self.reader(root)(data, int.from_bytes(data[:4], "little"))

    def pack(self, table: TableT, identifier: bytes) -> bytes:
        """The file with that table as its root."""
        return bytes(self.packed(table, identifier))

    def packed(self, table: TableT, identifier: bytes) -> memoryview:
        """As pack, in the memory that it was written to, which nothing changes any more."""
        from .writer import Writer

        return memoryview(Writer(self.unions.__getitem__).root(table, identifier)).toreadonly()

    def unpack(self, table: Table) -> TableT:
        """The table and all that it holds as an object; vectors of scalars stay views."""
        from .objects import unpack

        return unpack(table, self.object)

    def _make(self, name: str) -> Any:
        if name in self.tables:
            return reader_class(name, self._fields(name), self._resolve)
        if name.endswith("T") and name[:-1] in self.tables:
            from .objects import object_class  # who only reads models needs none

            return object_class(name, self._fields(name[:-1]))
        if name in self.enums:
            return IntEnum(name, self.enums[name])
        if name in self.unions:
            members = enumerate(self.unions[name], 1)
            return IntEnum(name, {"NONE": 0} | {member: value for value, member in members})
        raise AttributeError(f"module {self.module!r} has no attribute {name!r}")

    def _fields(self, name: str) -> tuple[Field, ...]:
        return tuple(Field(*field) for field in self.tables[name])

    def _resolve(self, name: str) -> Any:
        return self.unions[name] if name in self.unions else self.named(name)
