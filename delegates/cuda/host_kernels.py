"""CUDA C++ on the CPU, through g++: for the simulated device. Kernels must have no barriers."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...kernels.compiled.driver.cache import cache_directory
from ...lite.private_file import make_private_folder, open_private
from .device import DeviceUnavailableError
from .launch import Kernel
from .nvrtc import definitions

_SOURCES = Path(__file__).parent / "device_code"
_TYPES: dict[str, Any] = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "fp32": ctypes.c_float}


def run_on_host(kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None:
    """Run every thread of every block, one after the other."""
    cells: list[Any] = [
        ctypes.c_void_p(int(value)) if type_.startswith("*") else _TYPES[type_](value)
        for (_, type_), value in zip(kernel.signature, values, strict=True)
    ]
    pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(cell) for cell in cells))
    _library(kernel).run(*grid, 32 * kernel.warps, pointers)


@cache
def _library(kernel: Kernel) -> ctypes.CDLL:
    compiler = shutil.which("g++")
    if compiler is None:
        raise DeviceUnavailableError(
            "the simulated device runs CUDA C++ through g++, which must be installed"
        )
    text = (
        f'#include "host.h"\n#include "{kernel.source}"\n'
        'extern "C" void run(int x, int y, int z, int threads, void **args) '
        f"{{ launch({kernel.function}, x, y, z, threads, args); }}\n"
    )
    sources = (_SOURCES / "host.h", _SOURCES / kernel.source)
    digest = blake2b(repr((text, definitions(kernel))).encode(), digest_size=16)
    for source in sources:
        digest.update(source.read_bytes())
    target = Path(cache_directory()) / "cuda" / f"host-{digest.hexdigest()}.so"
    handle = open_private(target)
    if handle is None:
        _build(compiler, text, definitions(kernel), target)
        handle = open_private(target)
    if handle is None:
        raise DeviceUnavailableError(
            f"the simulated device keeps programs in {target.parent}, which must be its user's alone"
        )
    # The descriptor stays open: a file that got the same number later would be taken for this one.
    library = ctypes.CDLL(f"/proc/self/fd/{handle}")
    library.run.restype = None
    return library


def _build(compiler: str, text: str, macros: Sequence[str], target: Path) -> None:
    make_private_folder(str(target.parent))
    with TemporaryDirectory(dir=target.parent) as folder:
        source, built = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
        source.write_text(text)
        flags = ["-O2", "-std=c++17", "-w", "-shared", "-fPIC", "-fwrapv", f"-I{_SOURCES}"]
        flags += [f"-D{macro}" for macro in macros]
        subprocess.run([compiler, *flags, str(source), "-o", str(built)], check=True, capture_output=True)
        os.chmod(built, 0o600)
        os.replace(built, target)
