"""SimulatedDevice: runs the same kernels on the CPU, in host memory, to test everything but speed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import Any

import numpy as np

from .compile import CubinStore
from .device import DeviceError, DeviceLostError, DeviceUnavailableError, OutOfDeviceMemoryError
from .launch import Kernel, by_parameter
from .operands import bfloat16_bits

_ALIGNMENT = 256
_POISON = 0xAB
_LEAST_TRITON = (3, 7)  # the interpreter of older ones does not work with NumPy 2.4
_Work = Callable[[], None]
_LANGUAGE_LOCK = RLock()  # Triton's interpreter changes its modules while it runs


class SimulatedDevice:
    """Triton's interpreter, and g++ for CUDA C++; slow, and exact but for the rounding of TF32.

    memory_bytes is how much there is, None for no limit. After lose() every call fails. launches
    counts by kernel; new memory holds a pattern, so that reading what nobody wrote shows.
    """

    def __init__(self, arch: int = 90, memory_bytes: int | None = None) -> None:
        missing = why_not_simulated()
        if missing is not None:
            raise DeviceUnavailableError(f"{missing}: pip install numlite[cuda]")
        self.arch = arch
        self.maps_pinned = True
        self.cubins = CubinStore(arch)
        self.launches: Counter[Kernel] = Counter()
        self.graph_launches = 0
        self.captures = 0
        self.loaded: set[Kernel] = set()
        self.expected: set[Kernel] = set()
        self._left = memory_bytes
        self._blocks: dict[int, np.ndarray] = {}
        self._tape: list[_Work] | None = None
        self._is_lost = False

    @property
    def name(self) -> str:
        return f"simulated sm_{self.arch}"

    @property
    def stream(self) -> int:
        return -1

    @property
    def allocated_bytes(self) -> int:
        return sum(block.size - _ALIGNMENT for block in self._blocks.values())

    def lose(self) -> None:
        """Have every later call fail, as when the driver has gone."""
        self._is_lost = True

    def active(self) -> AbstractContextManager[None]:
        self.activate()
        return nullcontext()

    def activate(self) -> None:
        if self._is_lost:
            raise DeviceLostError("CUDA: the device is lost (simulated)")

    def allocate(self, nbytes: int) -> int:
        self.activate()
        if self._left is not None:
            if nbytes > self._left:
                raise OutOfDeviceMemoryError(f"CUDA: {nbytes:,} bytes must be free, got {self._left:,}")
            self._left -= nbytes
        block = np.full(nbytes + _ALIGNMENT, _POISON, np.uint8)
        address = block.ctypes.data + -block.ctypes.data % _ALIGNMENT
        self._blocks[address] = block
        return address

    def free(self, address: int) -> None:
        block = self._blocks.pop(address)
        if self._left is not None:
            self._left += block.size - _ALIGNMENT

    def pinned(self, nbytes: int) -> np.ndarray:
        return np.full(nbytes, _POISON, np.uint8)

    def free_pinned(self, memory: np.ndarray) -> None:
        """NumPy frees it."""

    def _view(self, address: int, nbytes: int) -> np.ndarray:
        for start, block in self._blocks.items():
            offset = address - start
            if offset >= 0 and offset + nbytes <= block.size - _ALIGNMENT:
                at = start - block.ctypes.data + offset
                return block[at : at + nbytes]
        raise DeviceError(
            f"CUDA: an address of allocated memory is needed, got {address:#x} and {nbytes} bytes"
        )

    def copy_in(self, address: int, source: np.ndarray) -> None:
        def work() -> None:
            self._view(address, source.nbytes)[:] = source.reshape(-1).view(np.uint8)

        self._do(work)

    def copy_out(self, target: np.ndarray, address: int) -> None:
        def work() -> None:
            target.reshape(-1).view(np.uint8)[:] = self._view(address, target.nbytes)

        self._do(work)

    def load(self, kernels: Sequence[Kernel]) -> None:
        self.activate()
        self.loaded.update(kernels)

    def expect(self, kernels: Sequence[Kernel]) -> None:
        self.expected.update(kernels)

    def launch(self, kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None:
        if kernel not in self.loaded:
            raise DeviceError(f"CUDA: {kernel} must be loaded before it is launched")

        def work() -> None:
            self.launches[kernel] += 1
            run_kernel(kernel, grid, values)

        self._do(work)

    def _do(self, work: _Work) -> None:
        self.activate()
        if self._tape is None:
            work()
        else:
            self._tape.append(work)

    def capture(self, work: _Work) -> SimulatedGraph:
        self.activate()
        tape: list[_Work] = []
        self._tape = tape
        try:
            work()
        finally:
            self._tape = None
        self.captures += 1
        return SimulatedGraph(self, tape)

    def time_us(self, work: _Work) -> float:
        start = perf_counter()
        work()
        return (perf_counter() - start) * 1e6

    def synchronize(self) -> None:
        self.activate()

    def wait_for(self, stream: int | None) -> None:
        self.activate()

    def close(self) -> None:
        self._blocks.clear()


def why_not_simulated() -> str | None:
    """What is missing for running kernels by Triton's interpreter."""
    if importlib.util.find_spec("triton") is None:
        return "the simulated device runs kernels by Triton"
    version = metadata.version("triton")
    if tuple(map(int, version.split(".")[:2])) < _LEAST_TRITON:
        return f"the simulated device needs Triton 3.7 or later, got {version}"
    return None


class SimulatedGraph:
    """Work to be done again, in order."""

    def __init__(self, device: SimulatedDevice, tape: list[_Work]) -> None:
        self._device = device
        self._tape = tape

    def launch(self) -> None:
        self._device.graph_launches += 1
        for work in self._tape:
            work()

    def free(self) -> None:
        self._tape.clear()


def run_kernel(kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None:
    """Run every program of the grid on host memory, now."""
    if kernel.source.endswith(".cu"):
        from .host_kernels import run_on_host

        run_on_host(kernel, grid, values)
    else:
        _interpret(kernel, grid, values)


class _Address:
    """A typed address: all that an argument of Triton's interpreter has to be, in NumPy's memory."""

    def __init__(self, address: int, dtype: str) -> None:
        self.address = address
        self.dtype = dtype

    def data_ptr(self) -> int:
        return self.address

    def untyped_storage(self) -> _Address:
        return self

    def cpu(self) -> _Address:
        return self

    def copy_(self, other: object) -> None: ...

    def new_empty(self, *args: object, **options: object) -> _Address:
        return self

    def set_(self, *args: object) -> None: ...

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return ()

    def stride(self) -> tuple[int, ...]:
        return ()


def _interpret(kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None:
    function = getattr(_interpreted(kernel.source), kernel.function)
    args = by_parameter(
        (name, _Address(int(value), type_[1:]) if type_.startswith("*") else value)
        for (name, type_), value in zip(kernel.signature, values, strict=True)
    )
    with np.errstate(all="ignore"), _interpreted_language():
        function[grid](**args, **by_parameter(kernel.constants))


@cache
def _interpreted(source: str) -> Any:
    """A module of device code whose functions Triton interprets.

    It is another instance, of a package of its own: in the usual one the functions are for the compiler.
    """
    package = f"{__package__}._interpreted"
    if package not in sys.modules:
        module = types.ModuleType(package)
        module.__path__ = [str(Path(__file__).parent / "device_code")]
        sys.modules[package] = module
    with _interpreting():
        return importlib.import_module(f"{package}.{source}")


@contextmanager
def _interpreted_language() -> Iterator[None]:
    """Has Triton's own functions that are written in Triton interpreted, too.

    Afterwards the language is as it was: the interpreter leaves its changes behind where one function
    calls another, and the compiler would meet them.
    """
    with _LANGUAGE_LOCK:
        changes = _language_functions()
        before = [(owner, dict(vars(owner))) for owner in _language_parts()]
        for module, name, interpreted in changes:
            setattr(module, name, interpreted)
        try:
            yield
        finally:
            for owner, attributes in before:
                _restore(owner, attributes)


def _restore(owner: object, attributes: dict[str, object]) -> None:
    """Give a module or class the attributes that it had.

    What was added to a module stays: the functions that the interpreter has rewritten are kept, and look
    there for its own names.
    """
    present = dict(vars(owner))
    for name, value in present.items():
        if name not in attributes:
            if isinstance(owner, type):
                delattr(owner, name)
        elif value is not attributes[name]:
            setattr(owner, name, attributes[name])
    for name in attributes.keys() - present.keys():
        setattr(owner, name, attributes[name])


@cache
def _language_parts() -> list[object]:
    """What the interpreter changes: modules and classes of Triton's language."""
    import triton.language as tl

    modules = [tl, tl.core, tl.math, tl.standard]
    classes = [tl.core.tensor, tl.core.tensor_descriptor_base, tl.core.dtype, tl.core.condition]
    return [*modules, *classes]


@cache
def _language_functions() -> list[tuple[types.ModuleType, str, object]]:
    """Module, name and interpreted form of each function of the language that is written in Triton."""
    import triton.language as tl
    from triton.runtime import interpreter
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    with suppress(ImportError):
        importlib.import_module("triton.experimental.gluon")  # it wants to see the compiler's functions
    interpreted: dict[object, object] = {}
    found = []
    for module in (tl, tl.standard):
        for name, value in vars(module).items():
            if isinstance(value, JITFunction):
                found.append((module, name, interpreted.setdefault(value.fn, InterpretedFunction(value.fn))))
    found.append((interpreter, "_convert_float", _rounded_conversion(interpreter._convert_float)))
    return found


def _rounded_conversion(convert: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The interpreter's conversion of floats, which cuts to bfloat16 where the compiler's code rounds."""
    import triton.language as tl

    def converted(values: np.ndarray, source: object, target: object, rounding: object) -> np.ndarray:
        if source == tl.float32 and target == tl.bfloat16 and rounding is None:
            return bfloat16_bits(values.view(np.float32))
        return convert(values, source, target, rounding)

    return converted


@contextmanager
def _interpreting() -> Iterator[None]:
    from triton import knobs

    with knobs.runtime.scope():
        knobs.runtime.interpret = True
        yield
