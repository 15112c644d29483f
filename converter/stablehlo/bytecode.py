"""Programs from MLIR's bytecode, as StableHLO's portable artifacts are stored."""

from __future__ import annotations

from ...lite.errors import ModelError, UnsupportedError
from ...schema.shown import shown
from .attribute_reader import AttributeReader, Entry
from .byte_reader import ByteReader
from .operation_names import PROPERTIES
from .program import (
    Attribute,
    Block,
    Operation,
    Program,
    Value,
    program_of_functions,
)

MAGIC = b"ML\xefR"
# Versions of the bytecode. Until 1 no dialect had a version of its own.
_NEWEST, _LAZY, _USE_LISTS, _FLAGGED_ARGUMENTS, _PROPERTIES = 6, 2, 3, 4, 5
_STRINGS, _DIALECTS, _ATTRIBUTES, _OFFSETS, _IR = 0, 1, 2, 3, 4
_PROPERTY_SECTION = 8
_HAS_ATTRIBUTES, _HAS_RESULTS, _HAS_OPERANDS, _HAS_SUCCESSORS = 1, 2, 4, 8
_HAS_REGIONS, _HAS_USE_LISTS, _HAS_PROPERTIES = 16, 32, 64
_DEEPEST = 200
# Of regions around each other, None where a value is not given yet.
Values = list[Value | None]


def is_bytecode(content: bytes) -> bool:
    """Whether the first bytes of a file are those of MLIR's bytecode."""
    return content[:4] == MAGIC


def read_bytecode(content: bytes) -> Program:
    """The program of a portable artifact.

    Raises ModelError for what is damaged, UnsupportedError for bytecode of other dialects than VHLO.
    """
    reader = ByteReader(memoryview(content))
    if bytes(reader.take(4)) != MAGIC:
        raise ModelError("bytecode: it must start with ML\\xefR")
    version = reader.number()
    if version > _NEWEST:
        raise UnsupportedError(f"bytecode: versions up to {_NEWEST} are read, got {version}")
    producer = reader.text()
    return _Bytecode(reader, version).program(producer)


class _Bytecode:
    """The sections of a file, and the operations that are read from them."""

    def __init__(self, reader: ByteReader, version: int) -> None:
        self.version = version
        sections: dict[int, ByteReader] = {}
        while not reader.is_done:
            number, section = reader.section()
            if number in sections:
                raise ModelError(f"bytecode: section {number} must be there once")
            sections[number] = section
        missing = [n for n in (_STRINGS, _DIALECTS, _ATTRIBUTES, _OFFSETS, _IR) if n not in sections]
        if missing:
            raise ModelError(f"bytecode: sections {missing} are missing")
        self.ir = sections[_IR]
        strings = _strings(sections[_STRINGS])
        self.dialects: list[str] = []
        self.operations: list[str] = []
        self._names(sections[_DIALECTS], strings)
        self.attributes = self._entries(sections[_OFFSETS], sections[_ATTRIBUTES], strings)
        self.properties = _properties(sections.get(_PROPERTY_SECTION))

    def _names(self, reader: ByteReader, strings: list[str]) -> None:
        """Dialects, and the operations' names with them."""

        def dialect() -> str:
            if self.version == 0:
                return _at(strings, reader.number(), "string")
            place, has_version = reader.flagged()
            if has_version:
                reader.section()
            return _at(strings, place, "string")

        self.dialects = reader.items(dialect)
        if self.version >= 4:
            # How many names there are in all.
            reader.number()
        while not reader.is_done:
            owner = _at(self.dialects, reader.number(), "dialect")
            for _ in range(reader.count()):
                place = reader.flagged()[0] if self.version >= _PROPERTIES else reader.number()
                self.operations.append(f"{owner}.{_at(strings, place, 'string')}")

    def _entries(self, offsets: ByteReader, data: ByteReader, strings: list[str]) -> AttributeReader:
        """What is known of attributes and types before they are read."""
        counts = offsets.number(), offsets.number()
        if sum(counts) > len(offsets.data):
            raise ModelError(f"bytecode: {sum(counts)} attributes and types must be there")
        kinds: list[list[Entry]] = []
        for count in counts:
            entries: list[Entry] = []
            while len(entries) < count:
                dialect = _at(self.dialects, offsets.number(), "dialect")
                for _ in range(offsets.count()):
                    size, is_binary = offsets.flagged()
                    entries.append(Entry(dialect, data.take(size), is_binary))
            if len(entries) != count:
                raise ModelError("bytecode: groups of attributes must have the count that is told")
            kinds.append(entries)
        return AttributeReader(strings, kinds[0], kinds[1])

    def program(self, producer: str) -> Program:
        """The functions of the one module."""
        top = self._block(self.ir, [], 0, 0)
        modules = [each for each in top.operations if each.name == "module"]
        if len(modules) != 1 or len(modules[0].regions) != 1:
            raise ModelError(f"bytecode: one module must be there, got {len(modules)}")
        return program_of_functions(modules[0].regions[0].operations, producer)

    def _region(self, reader: ByteReader, values: Values, depth: int = 0) -> Block:
        """The one block of a region, whose values have numbers behind all of the region around it."""
        if depth > _DEEPEST:
            raise ModelError(f"bytecode: regions must be less than {_DEEPEST} deep")
        blocks = reader.number()
        if blocks > 1:
            raise UnsupportedError("regions of several blocks are not StableHLO's")
        if not blocks:
            return Block([])
        count = reader.number()
        if count > len(reader.data):
            raise ModelError(f"bytecode: {count} values must be there")
        first = len(values)
        values.extend([None] * count)
        block = self._block(reader, values, first, depth)
        del values[first:]
        return block

    def _block(self, reader: ByteReader, values: Values, first: int, depth: int) -> Block:
        """Arguments and operations; their values get numbers from the first on."""
        operations, has_arguments = reader.flagged()
        if operations > len(reader.data):
            raise ModelError(f"bytecode: {operations} operations must be there")
        block = Block(self._arguments(reader) if has_arguments else [])
        at = _define(values, first, block.arguments)
        for _ in range(operations):
            operation, has_regions = self._operation(reader, values)
            at = _define(values, at, operation.results)
            block.operations.append(operation)
            if has_regions:
                self._regions(reader, operation, values, depth)
        return block

    def _arguments(self, reader: ByteReader) -> list[Value]:
        def argument() -> Value:
            if self.version < _FLAGGED_ARGUMENTS:
                type, location = reader.number(), reader.number()
                return Value(self.attributes.type(type), self.attributes.location_name(location))
            type, has_location = reader.flagged()
            name = self.attributes.location_name(reader.number()) if has_location else ""
            return Value(self.attributes.type(type), name)

        arguments = reader.items(argument)
        if self.version >= _USE_LISTS and reader.byte():
            _skip_use_lists(reader, len(arguments))
        return arguments

    def _operation(self, reader: ByteReader, values: Values) -> tuple[Operation, bool]:
        """An operation and whether regions follow."""
        full_name = _at(self.operations, reader.number(), "operation's name")
        mask = reader.byte()
        reader.number()  # the location
        attributes: dict[str, Attribute] = {}
        if mask & _HAS_ATTRIBUTES:
            held = self.attributes.attribute(reader.number())
            attributes.update(held if isinstance(held, dict) else {})
        if mask & _HAS_PROPERTIES:
            attributes.update(self._own_attributes(full_name, reader.number()))
        results: list[Value] = []
        if mask & _HAS_RESULTS:
            results = reader.items(lambda: Value(self.attributes.type(reader.number())))
        operands: list[Value] = []
        if mask & _HAS_OPERANDS:
            operands = reader.items(lambda: _defined(values, reader.number()))
        if mask & _HAS_SUCCESSORS:
            raise UnsupportedError(f"{shown(full_name)}: jumps between blocks are not StableHLO's")
        if mask & _HAS_USE_LISTS:
            _skip_use_lists(reader, len(results))
        operation = Operation(_plain_name(full_name), operands, results, attributes)
        return operation, bool(mask & _HAS_REGIONS)

    def _regions(self, reader: ByteReader, operation: Operation, values: Values, depth: int) -> None:
        count, is_isolated = reader.flagged()
        if count > len(reader.data):
            raise ModelError(f"bytecode: {count} regions must be there")
        seen: Values = [] if is_isolated else values
        if is_isolated and self.version >= _LAZY:
            number, reader = reader.section()
            if number != _IR:
                raise ModelError(f"bytecode: a region must be a section {_IR}, got {number}")
        for _ in range(count):
            operation.regions.append(self._region(reader, seen, depth + 1))

    def _own_attributes(self, full_name: str, place: int) -> dict[str, Attribute]:
        """The attributes that belong to the operation, by the names that it has for them."""
        data = _at(self.properties, place, "property")
        if full_name == "builtin.module":
            return {}
        names = PROPERTIES.get(full_name.partition(".")[2])
        if names is None:
            raise UnsupportedError(f"{shown(full_name)} is not known: a newer StableHLO than is read here")
        reader = ByteReader(data)
        return {name: self.attributes.attribute(reader.number()) for name in names}


def _strings(reader: ByteReader) -> list[str]:
    """The table of strings: lengths from the last to the first, then all of them, each with a zero."""
    lengths = reader.items(reader.number)[::-1]
    return [bytes(reader.take(length)).removesuffix(b"\0").decode(errors="replace") for length in lengths]


def _properties(reader: ByteReader | None) -> list[memoryview]:
    return [] if reader is None else reader.items(lambda: reader.take(reader.number()))


def _at(items: list, place: int, what: str):  # type: ignore[no-untyped-def]
    """The item; ModelError when there is none such."""
    if place >= len(items):
        raise ModelError(f"bytecode: {what} {place} must be one of {len(items)}")
    return items[place]


def _define(values: Values, at: int, defined: list[Value]) -> int:
    """Give the values the next numbers; where those go on. ModelError where the region has no more."""
    if at + len(defined) > len(values):
        raise ModelError(f"bytecode: a region must have its {len(values)} values, got more")
    values[at : at + len(defined)] = defined
    return at + len(defined)


def _defined(values: Values, place: int) -> Value:
    value: Value | None = _at(values, place, "value")
    if value is None:
        raise ModelError(f"bytecode: value {place} must be given before it is used")
    return value


def _skip_use_lists(reader: ByteReader, count: int) -> None:
    """The order in which values are used, which nothing here asks for."""
    for _ in range(reader.count() if count > 1 else 1):
        if count > 1:
            reader.number()
        for _ in range(reader.flagged()[0]):
            reader.number()


def _plain_name(full_name: str) -> str:
    """StableHLO's name of an operation: `add` of `vhlo.add_v1`."""
    dialect, _, name = full_name.partition(".")
    if dialect in ("vhlo", "func"):
        stem, mark, version = name.rpartition("_v")
        return stem if mark and version.isdigit() else name
    if dialect == "builtin":
        return name
    if dialect in ("stablehlo", "mhlo", "chlo"):
        raise UnsupportedError(
            f"operation {shown(full_name)}: bytecode must be a portable artifact, "
            "which stablehlo.serialize_portable_artifact and jax.export write"
        )
    return full_name
