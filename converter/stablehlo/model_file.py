"""StableHLO programs from files and bytes: portable artifacts, JAX's exports that hold one, and texts."""

from __future__ import annotations

import struct
from os import PathLike
from pathlib import Path

from ...lite.errors import ModelError
from ...lite.foreign_file import what_it_is
from ..ir.graph_def_file import without_mark
from .bytecode import is_bytecode, read_bytecode
from .program import Program
from .text.module import is_program_text, read_text

# Where the offset of the program stands in the table of a JAX export (Exported of jax/_src/export).
_EXPORT_FIELD = 30
# What is looked at to recognise a text.
_TEXT_START = 1 << 16


def program_of(source: bytes | str | PathLike[str]) -> Program:
    """The program of a file or of its content, which may be a text. ModelError for what is none."""
    if isinstance(source, str) and "\n" in source:
        # No file has such a name: it is what JAX's as_text gives.
        source = source.encode(errors="surrogateescape")
    name, content = "program", source
    if isinstance(source, str | PathLike):
        name, content = Path(source).name, Path(source).read_bytes()
    assert isinstance(content, bytes | bytearray)
    content = bytes(content)
    if _is_text(content):
        return read_text(_decoded(content))
    if not is_bytecode(content):
        held = exported_program(content)
        if held is None:
            known = what_it_is(content)
            raise ModelError(f"{name}: not a StableHLO program" + (f" (it is {known})" if known else ""))
        content = held
    return read_bytecode(content)


def is_stablehlo(content: bytes) -> bool:
    """Whether the first bytes of a file are those of a program, its text or an export that holds one."""
    return is_bytecode(content) or _export_start(content) is not None or _is_text(content)


def _is_text(content: bytes) -> bool:
    return is_program_text(without_mark(content[:_TEXT_START]).decode(errors="replace"))


def _decoded(content: bytes) -> str:
    try:
        return without_mark(content).decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"program: not a text ({error})") from error


def exported_program(content: bytes) -> bytes | None:
    """The program in a JAX export, a table of FlatBuffers; None where there is none.

    Source: jax/_src/export/serialization.fbs, Exported.
    """
    start = _export_start(content)
    if start is None:
        return None
    [count] = struct.unpack_from("<I", content, start)
    return content[start + 4 : start + 4 + count]


def _export_start(content: bytes) -> int | None:
    """Where the program of an export begins with its length."""
    try:
        [root] = struct.unpack_from("<I", content)
        table = root - struct.unpack_from("<i", content, root)[0]
        if table < 0:
            return None
        [size] = struct.unpack_from("<H", content, table)
        if size <= _EXPORT_FIELD:
            return None
        [field] = struct.unpack_from("<H", content, table + _EXPORT_FIELD)
        start = root + field + struct.unpack_from("<I", content, root + field)[0]
        [count] = struct.unpack_from("<I", content, start)
    except struct.error:
        return None
    if not field or content[start + 4 : start + 8] != b"ML\xefR" or not count:
        return None
    return start
