"""CUDA C++ to machine code through NVRTC, which needs neither a GPU nor a driver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...lite.errors import UnsupportedError
from .cubin import Cubin
from .launch import Kernel

_SOURCES = Path(__file__).parent / "device_code"


def definitions(kernel: Kernel) -> list[str]:
    """The kernel's constants as macros, NAME=value."""
    return [f"{name}={int(value)}" for name, value in kernel.constants]


def compile_source(kernel: Kernel, arch: int) -> Cubin:
    """A kernel of a .cu file for sm_<arch>; its functions must be extern "C"."""
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise UnsupportedError(f"{kernel}: compiling it takes NVRTC: pip install numlite[cuda]") from error
    path = _SOURCES / kernel.source
    options = [f"--gpu-architecture=sm_{arch}", "--std=c++17"]
    options += [f"--define-macro={text}" for text in definitions(kernel)]
    program = _call(nvrtc.nvrtcCreateProgram(path.read_bytes(), path.name.encode(), 0, [], []))
    encoded = [option.encode() for option in options]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
    if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = b" " * _call(nvrtc.nvrtcGetProgramLogSize(program))
        nvrtc.nvrtcGetProgramLog(program, log)
        raise UnsupportedError(f"{kernel}: NVRTC must compile it, got {log.decode(errors='replace').strip()}")
    code = bytearray(_call(nvrtc.nvrtcGetCUBINSize(program)))
    _call(nvrtc.nvrtcGetCUBIN(program, code))
    nvrtc.nvrtcDestroyProgram(program)
    return Cubin(bytes(code), kernel.function, 0, kernel.warps, 0)


def _call(result: tuple[Any, ...]) -> Any:
    code, *values = result
    if int(code):
        raise UnsupportedError(f"NVRTC: the call must succeed, got {code.name}")
    return values[0] if values else None
