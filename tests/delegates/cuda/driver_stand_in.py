"""A driver for tests: a libcuda.so.1 that follows the driver's documented rules on host memory.

cuda-bindings finds it because a library of that name is loaded already. Kernels come as the real machine
code, whose own list of parameters is obeyed, and are then run as SimulatedDevice runs them.
"""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from numlite.delegates.cuda.compile import CubinStore
from numlite.delegates.cuda.cubin import Cubin
from numlite.delegates.cuda.launch import Kernel
from numlite.delegates.cuda.simulated import run_kernel, why_not_simulated
from numlite.kernels.compiled.driver.cache import cache_directory

_SOURCES = Path(__file__).parent / "driver_stand_in_sources"
_FORMATS = {"i32": "i", "i64": "q", "fp32": "f"}
_ILLEGAL_ADDRESS, _MISALIGNED_ADDRESS, _LAUNCH_FAILED = 700, 716, 719
_EXECUTOR = ctypes.CFUNCTYPE(
    ctypes.c_int,
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint)),
    *(ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t),
)


def why_not() -> str | None:
    """Why the stand-in cannot be used here."""
    for module, name in (("triton", "Triton"), ("cuda", "cuda-bindings")):
        if find_spec(module) is None:
            return f"{name} is not installed"
    if shutil.which("g++") is None:
        return "the driver's stand-in is built by g++, which is not installed"
    return "there is a driver here" if _real_driver() else None


@cache
def _real_driver() -> bool:
    """Asked before the stand-in is loaded, and only then."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


class Counts(NamedTuple):
    """What is alive in the driver."""

    blocks: int
    streams: int
    events: int
    modules: int
    graphs: int
    contexts: int


class StandIn:
    """The loaded library; there is one of it in a process, and at first it has no GPU.

    launches counts the kernels that ran, failures holds the text of what went wrong in running them.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(_built()), mode=ctypes.RTLD_GLOBAL)
        self._library.stand_in_configure.argtypes = (
            *(ctypes.c_int, ctypes.c_int, ctypes.c_size_t, ctypes.c_int, _EXECUTOR),
        )
        self._library.stand_in_calls.restype = ctypes.c_long
        self._library.stand_in_complaint.restype = ctypes.c_char_p
        self._library.stand_in_has_memory.argtypes = (ctypes.c_size_t,)
        self._executor = _EXECUTOR(self._execute)
        self._known: dict[bytes, Kernel] = {}
        self.computes = why_not_simulated() is None
        self.launches: Counter[Kernel] = Counter()
        self.failures: list[str] = []
        self.configure(devices=0)

    def configure(
        self, devices: int = 1, arch: int = 90, memory_bytes: int = 8 << 30, version: int = 13000
    ) -> None:
        """Start again, as a new process on a machine with so many GPUs."""
        self._library.stand_in_configure(devices, arch, memory_bytes, version, self._executor)
        self.launches.clear()
        self.failures.clear()

    def fail(self, name: str, code: int, calls_before: int = 0) -> None:
        """The call of this name after so many more answers with code; "kernel" is one that runs."""
        self._library.stand_in_fail(name.encode(), code, calls_before)

    def calls(self, name: str) -> int:
        return int(self._library.stand_in_calls(name.encode()))

    def counts(self) -> Counts:
        found = (ctypes.c_long * len(Counts._fields))()
        self._library.stand_in_count(found)
        return Counts(*found)

    @property
    def complaint(self) -> str:
        """What was done to memory that nobody may do, "" for nothing."""
        return str(self._library.stand_in_complaint().decode())

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Meanwhile learn which kernel a piece of machine code is."""
        cubin_of = CubinStore.cubin

        def cubin(store: CubinStore, kernel: Kernel) -> Cubin:
            found = cubin_of(store, kernel)
            self._known[found.code] = kernel
            return found

        CubinStore.cubin = cubin  # type: ignore[method-assign]
        try:
            yield
        finally:
            CubinStore.cubin = cubin_of  # type: ignore[method-assign]

    def _execute(
        self,
        image: int,
        image_bytes: int,
        name: bytes,
        grid: Sequence[int],
        threads: int,
        parameters: int,
        nbytes: int,
    ) -> int:
        try:
            kernel = self._kernel(ctypes.string_at(image, image_bytes))
            assert threads == 32 * kernel.warps, f"{kernel}: {threads} threads"
            assert name.decode() == kernel.function
            values = self._values(kernel, ctypes.string_at(parameters, nbytes))
            return self._run(kernel, (grid[0], grid[1], grid[2]), values)
        except Exception:  # nothing may pass through the driver
            self.failures.append(traceback.format_exc())
            return _LAUNCH_FAILED

    def _kernel(self, image: bytes) -> Kernel:
        found = self._known.get(image)
        if found is None:  # the driver knows less of where an image ends
            found = next(kernel for code, kernel in self._known.items() if code.startswith(image))
            self._known[image] = found
        return found

    def _values(self, kernel: Kernel, parameters: bytes) -> list[int | float]:
        """The arguments, each at a multiple of its size, and behind them Triton's null pointers."""
        formats = ["Q" if type_.startswith("*") else _FORMATS[type_] for _, type_ in kernel.signature]
        scratch = 0 if kernel.source.endswith(".cu") else 2
        layout = struct.Struct("@" + "".join(formats) + "Q" * scratch)
        assert layout.size == len(parameters), f"{kernel}: {len(parameters)} bytes of parameters"
        values = list(layout.unpack(parameters))
        assert not any(values[len(formats) :]), f"{kernel}: scratch pointers must be null"
        return values[: len(formats)]

    def _run(self, kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> int:
        for (name, type_), value in zip(kernel.signature, values, strict=True):
            if type_.startswith("*"):
                if not self._library.stand_in_has_memory(value):
                    self.failures.append(f"{kernel}: {name} is {value:#x}")
                    return _ILLEGAL_ADDRESS
                if int(value) % 16:
                    return _MISALIGNED_ADDRESS
            assert name not in kernel.divisible or not int(value) % 16, f"{kernel}: {name} is {value}"
        self.launches[kernel] += 1
        if self.computes:
            run_kernel(_for_the_interpreter(kernel), grid, values)
        return 0


def _for_the_interpreter(kernel: Kernel) -> Kernel:
    """It has no machine instructions, and multiplies bfloat16 only when they are made wider first."""
    is_bfloat16 = any(type_ == "*bf16" for _, type_ in kernel.signature)
    instead = {"INTERPRETED": True, "WIDEN": is_bfloat16}
    constants = tuple((name, instead.get(name.split(".")[-1], value)) for name, value in kernel.constants)
    return replace(kernel, constants=constants)


def _built() -> Path:
    import triton

    sources = sorted(_SOURCES.iterdir())
    digest = blake2b(b"".join(source.read_bytes() for source in sources), digest_size=16)
    target = Path(cache_directory()) / "cuda" / f"driver-{digest.hexdigest()}.so"
    if not target.exists():
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        headers = Path(triton.__file__).parent / "backends" / "nvidia" / "include"
        flags = ["-O1", "-std=c++17", "-Wall", "-shared", "-fPIC", f"-I{headers}", "-Wl,-soname,libcuda.so.1"]
        with TemporaryDirectory(dir=target.parent) as folder:
            built = Path(folder, "driver.so")
            subprocess.run(
                ["g++", *flags, str(_SOURCES / "driver.cpp"), "-o", str(built)],
                check=True,
                capture_output=True,
            )
            built.replace(target)
    return target


@cache
def stand_in() -> StandIn:
    """The process's own, loaded when it is first asked for."""
    assert why_not() is None
    return StandIn()
