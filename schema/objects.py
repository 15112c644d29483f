"""Models as plain objects: tables that can be made, changed, and written by writer.py."""

from __future__ import annotations

from typing import Any

from .flatbuffer import Field, Table, is_present


class TableT:
    """A table as an object: keyword arguments in the schema's names, the schema's defaults.

    Vectors are lists or arrays, or None when absent; vectors of ubyte may also be bytes.
    A union's type follows from the object it is given.
    """

    __slots__: tuple[str, ...] = ()

    fields: tuple[Field, ...] = ()
    defaults: dict[str, Any] = {}  # noqa: RUF012, set by object_class

    def __init__(self, **values: Any) -> None:
        for name, default in type(self).defaults.items():
            setattr(self, name, values.pop(name, default))
        if values:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(map(repr, values))}")

    def __repr__(self) -> str:
        changed = []
        for name, default in type(self).defaults.items():
            value = getattr(self, name)
            if value is not default:
                long = isinstance(value, list | bytes | bytearray) and len(value) > 8
                changed.append(f"{name}=<{len(value)}>" if long else f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(changed)})"


def object_class(name: str, fields: tuple[Field, ...]) -> type[TableT]:
    """The object class of a table whose fields these are."""
    slots = tuple(field.name for field in fields)
    defaults = {field.name: field.default for field in fields}
    return type(name, (TableT,), {"__slots__": slots, "fields": fields, "defaults": defaults})


def unpack(table: Table, object_type: Any) -> TableT:
    """A table and all that it holds as an object; object_type gives the object class of a name.

    Vectors of scalars stay views of the buffer.
    """
    values: dict[str, Any] = {}
    for field in type(table).fields:
        if not is_present(table, field.name):
            continue
        value = getattr(table, field.name)
        if field.kind == "tables":
            value = [unpack(item, object_type) for item in value]
        elif isinstance(value, Table):
            value = unpack(value, object_type)
        values[field.name] = value
    result: TableT = object_type(type(table).__name__)(**values)
    return result


def copied(table: TableT) -> TableT:
    """The object and all tables and lists that it holds, anew; arrays are shared."""
    result = object.__new__(type(table))
    for name in table.__slots__:
        value = getattr(table, name)
        if isinstance(value, list):
            value = [copied(item) if isinstance(item, TableT) else item for item in value]
        elif isinstance(value, TableT):
            value = copied(value)
        setattr(result, name, value)
    return result
