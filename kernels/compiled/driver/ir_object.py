"""Shared objects from LLVM's own language: code that is written down, not compiled from Python."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from .cache import blake2b, open_image, write
from .image import uses_shared_objects
from .linker import elf, object_file, shared_object, x86_64

_LINKER = (elf, object_file, shared_object, x86_64)


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
    image = _compiled(ir, exports, soname)
    try:
        write(name, digest, image)
    except OSError:
        return image, None
    return open_image(name, digest) or (image, None)


def _digest(ir: str, exports: Collection[str], soname: str) -> str:
    digest = blake2b(digest_size=16)
    for text in (ir, " ".join(exports), soname):
        digest.update(f"{len(text)}:{text}".encode())
    for module in _LINKER:
        digest.update(Path(str(module.__file__)).read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()


def _compiled(ir: str, exports: Collection[str], soname: str) -> bytes:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(ir)
    module.verify()
    compiler = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu="x86-64", features="", opt=2, reloc="pic", codemodel="small"
    )
    return shared_object.shared_object([compiler.emit_object(module)], exports, soname=soname)


def object_path(image: bytes, handle: int | None) -> str:
    """Where the dynamic linker finds the object: the file of the cache, or memory. It stays open."""
    if handle is None:
        handle = os.memfd_create("numlite")
        with open(handle, "wb", closefd=False) as file:
            file.write(image)
    return f"/proc/self/fd/{handle}"
