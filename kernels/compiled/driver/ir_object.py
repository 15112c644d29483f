"""Shared objects from LLVM's own language: code that is written down, not compiled from Python."""

from __future__ import annotations

import os
import struct
from collections.abc import Collection
from pathlib import Path

from . import elf, linker
from .cache import blake2b, open_image, write
from .image import uses_shared_objects

_DT_SONAME = 14


def ir_object(name: str, ir: str, exports: Collection[str], soname: str) -> tuple[bytes, int | None]:
    """The shared object for a module's text, and a descriptor of the cache's file that begins with it.

    It is kept among the kernels under the name and its digest; the descriptor, which the caller closes, is
    None where nothing can be kept. The code is for any x86-64. Raises LinkError for what cannot be linked.
    """
    assert uses_shared_objects()
    digest = _digest(ir, exports, soname)
    found = open_image(name, digest)
    if found is not None:
        return found
    image = _with_soname(_compiled(ir, exports, soname))
    try:
        write(name, digest, image)
    except OSError:
        return image, None
    return open_image(name, digest) or (image, None)


def _digest(ir: str, exports: Collection[str], soname: str) -> str:
    digest = blake2b(digest_size=16)
    for text in (ir, " ".join(exports), soname):
        digest.update(f"{len(text)}:{text}".encode())
    for module in (elf, linker):
        digest.update(Path(str(module.__file__)).read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()


def _compiled(ir: str, exports: Collection[str], soname: str) -> bytes:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(ir)
    module.verify()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu="x86-64", features="", opt=2, reloc="pic", codemodel="small"
    )
    return linker.shared_object(machine.emit_object(module), exports, [soname])


def _with_soname(image: bytes) -> bytes:
    """The object under the name that it is linked against, instead of needing a library of that name.

    Both are one entry of the dynamic table with the place of a text. The linker itself is left as it is,
    because its text is part of every kernel's digest.
    """
    changed = bytearray(image)
    header = elf.HEADER.unpack_from(image)
    segments = (elf.SEGMENT.unpack_from(image, header[5] + i * elf.SEGMENT.size) for i in range(header[10]))
    at = next(segment[2] for segment in segments if segment[0] == elf.PT_DYNAMIC)
    tag, _ = elf.DYNAMIC.unpack_from(image, at)
    assert tag == elf.DT_NEEDED
    struct.pack_into("<Q", changed, at, _DT_SONAME)
    return bytes(changed)


def object_path(image: bytes, handle: int | None) -> str:
    """Where the dynamic linker finds the object: the file of the cache, or memory. It stays open."""
    if handle is None:
        handle = os.memfd_create("numlite")
        with open(handle, "wb", closefd=False) as file:
            file.write(image)
    return f"/proc/self/fd/{handle}"
