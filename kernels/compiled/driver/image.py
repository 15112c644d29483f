"""Images: a family's machine code as bytes, and how a process loads it."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Protocol

from ..language.host import machine

# An exported kernel's symbol is its name behind this, so that none hides a C function's.
SYMBOL_PREFIX = "numlite_"


class Kernels(Protocol):
    """Loaded kernels; they stay where they are for as long as the process lives."""

    def address(self, kernel: str) -> int:
        """Address of the kernel; KeyError when there is none of that name."""


def uses_shared_objects() -> bool:
    """Whether images are shared objects here; else they are object files, which LLVM loads."""
    return sys.platform == "linux" and machine() in ("x86_64", "aarch64")


class SharedObject:
    """Kernels of a shared object file."""

    def __init__(self, path: str) -> None:
        # Windows has no such words: all names are found and private there.
        mode = 0 if sys.platform == "win32" else os.RTLD_NOW | os.RTLD_LOCAL
        self._library = ctypes.CDLL(path, mode)

    def address(self, kernel: str) -> int:
        try:
            function = self._library[SYMBOL_PREFIX + kernel]
        except AttributeError:
            raise KeyError(kernel) from None
        return ctypes.cast(function, ctypes.c_void_p).value or 0


class ObjectFile:
    """Kernels of an object file; importing llvmlite costs 60 ms."""

    def __init__(self, image: bytes) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
        self._engine: Any = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(image))
        self._engine.finalize_object()

    def address(self, kernel: str) -> int:
        found = int(self._engine.get_function_address(SYMBOL_PREFIX + kernel))
        if not found:
            raise KeyError(kernel)
        return found


def load_image(image: bytes, path: str = "") -> Kernels:
    """Load an image; path is the file that begins with it, where there is one.

    Raises OSError when the system refuses to map it.
    """
    if not uses_shared_objects():
        return ObjectFile(image)
    if path:
        try:
            return SharedObject(path)
        except OSError:
            pass  # the folder is mounted noexec, perhaps: load it from memory
    return _load_from_memory(image)


def _load_from_memory(image: bytes) -> Kernels:
    # The descriptor stays open: a path that named another library would find that one again.
    handle = os.memfd_create("numlite")
    with open(handle, "wb", closefd=False) as file:
        file.write(image)
    return SharedObject(f"/proc/self/fd/{handle}")
