"""CudaDevice: a GPU through the driver's own interface, cuda-bindings."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any
from weakref import finalize

import numpy as np

from .compile import CubinStore
from .device import (
    NEEDS,
    DeviceError,
    DeviceLostError,
    DeviceUnavailableError,
    OutOfDeviceMemoryError,
)
from .driver_holdings import Holdings, LoadedKernel
from .launch import Kernel

_LEAST_ARCH = 80
_LEAST_VERSION = 13000  # of the driver, as cuDriverGetVersion tells it: 13.0
_NON_BLOCKING = 1
_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL
_TRIES = 3
_C_TYPES = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "fp32": ctypes.c_float}
# Results after which the context is dead.
_LOST = (
    "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    "CUDA_ERROR_DEINITIALIZED",
    "CUDA_ERROR_DEVICE_UNAVAILABLE",
    "CUDA_ERROR_ECC_UNCORRECTABLE",
    "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "CUDA_ERROR_INVALID_PC",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
    "CUDA_ERROR_NOT_INITIALIZED",
    "CUDA_ERROR_UNKNOWN",
)
# Waiting for a whole context is forbidden while one of its streams is captured.
_CAPTURING = RLock()


class _InvalidatedError(DeviceError):
    """Somebody else's call has spoilt a capture: another thread waited for the whole GPU, say."""


class CudaDevice:
    """A GPU, with a stream of its own; several of them may share one GPU.

    It uses the GPU's primary context, as CUDA's runtime and the libraries on it do: memory of theirs can
    be read, and they see what a kernel broke. All that is allocated goes with the device.
    Raises DeviceUnavailableError where there is no driver or too old a one, no such GPU, cuda-bindings
    is missing, or the GPU is lost for this process.
    """

    def __init__(self, ordinal: int = 0) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            raise DeviceUnavailableError(f"{NEEDS} ({error})") from error
        self._driver: Any = driver
        try:
            self._open(ordinal)
        except (DeviceError, RuntimeError) as error:  # cuda-bindings has RuntimeErrors of its own
            raise DeviceUnavailableError(f"{NEEDS} ({error})") from error

    def _open(self, ordinal: int) -> None:
        driver = self._driver
        version = self._call(driver.cuDriverGetVersion)
        self._call(driver.cuInit, 0)
        if version < _LEAST_VERSION:
            raise DeviceError(f"this driver is for CUDA {version // 1000}.{version % 1000 // 10}")
        self._device = self._call(driver.cuDeviceGet, ordinal)
        attribute = driver.CUdevice_attribute
        major, minor = (
            self._call(driver.cuDeviceGetAttribute, which, self._device)
            for which in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        self.arch = 10 * major + minor
        self.is_capturing = False
        self.maps_pinned = True  # as for all 64-bit processes: "Unified Addressing" in the driver's manual
        if self.arch < _LEAST_ARCH:
            raise DeviceError(f"GPU {ordinal} has {major}.{minor}")
        self.cubins = CubinStore(self.arch)
        context = self._call(driver.cuDevicePrimaryCtxRetain, self._device)
        self._held = Holdings(driver, context, self._device, os.getpid())
        self._finalizer = finalize(self, self._held.release)
        self._finalizer.atexit = False  # the driver may be gone before
        try:
            with self.active():
                self._held.stream = self._call(driver.cuStreamCreate, _NON_BLOCKING)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        name: bytes = self._call(self._driver.cuDeviceGetName, 128, self._device)
        return name.split(b"\0")[0].decode()

    @property
    def stream(self) -> int:
        """The stream's handle."""
        return int(self._held.stream)

    def active(self) -> _Active:
        return _Active(self)

    def activate(self) -> None:
        self._make_current(self._driver.cuCtxSetCurrent)

    def _make_current(self, how: Callable[[object], tuple[Any, ...]]) -> None:
        if os.getpid() != self._held.process:
            raise DeviceLostError("CUDA: a process that was forked off cannot use a GPU; start it by spawn")
        if not self._finalizer.alive:
            raise DeviceLostError("CUDA: the device was closed")
        self._call(how, self._held.context)

    def allocate(self, nbytes: int) -> int:
        address = int(self._call(self._driver.cuMemAlloc, max(nbytes, 1)))
        self._held.memory.add(address)
        return address

    def free(self, address: int) -> None:
        self._held.memory.remove(address)
        self._call(self._driver.cuMemFree, address)

    def pinned(self, nbytes: int) -> np.ndarray:
        room = max(nbytes, 1)
        address = int(self._call(self._driver.cuMemHostAlloc, room, 0))
        memory = (ctypes.c_uint8 * room).from_address(address)
        self._held.pinned.add(address)
        finalize(memory, self._held.free_pinned, address).atexit = False
        return np.ctypeslib.as_array(memory)[:nbytes]

    def free_pinned(self, memory: np.ndarray) -> None:
        """It goes when no array of it is left."""

    def copy_in(self, address: int, source: np.ndarray) -> None:
        if source.nbytes:
            copy, stream = self._driver.cuMemcpyHtoDAsync, self._held.stream
            self._call(copy, address, source.ctypes.data, source.nbytes, stream)

    def copy_out(self, target: np.ndarray, address: int) -> None:
        if target.nbytes:
            copy, stream = self._driver.cuMemcpyDtoHAsync, self._held.stream
            self._call(copy, target.ctypes.data, address, target.nbytes, stream)

    def load(self, kernels: Sequence[Kernel]) -> None:
        missing = [kernel for kernel in dict.fromkeys(kernels) if kernel not in self._held.kernels]
        self.cubins.have(missing)
        for kernel in missing:
            self._held.kernels[kernel] = self._loaded(kernel)

    def expect(self, kernels: Sequence[Kernel]) -> None:
        self.cubins.have(kernels, urgent=False)

    def _loaded(self, kernel: Kernel) -> LoadedKernel:
        driver, cubin = self._driver, self.cubins.cubin(kernel)
        module = self._call(driver.cuModuleLoadData, cubin.code)
        handle = self._call(driver.cuModuleGetFunction, module, cubin.name.encode())
        if cubin.shared:  # the default is 48 KB less what is static
            which = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call(driver.cuFuncSetAttribute, handle, which, cubin.shared)
        types = [ctypes.c_void_p if t.startswith("*") else _C_TYPES[t] for _, t in kernel.signature]
        types += [ctypes.c_void_p] * cubin.scratch
        return LoadedKernel(
            module, handle, tuple(types), 32 * cubin.warps, cubin.shared, (0,) * cubin.scratch
        )

    def launch(self, kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None:
        f = self._held.kernels[kernel]
        args = ((*values, *f.scratch), f.types)
        launch = self._driver.cuLaunchKernel
        self._call(launch, f.handle, *grid, f.threads, 1, 1, f.shared, self._held.stream, args, 0)

    def capture(self, work: Callable[[], None]) -> CudaGraph:
        for _ in range(_TRIES - 1):
            try:
                return self._capture(work)
            except _InvalidatedError:
                continue
        return self._capture(work)

    def _capture(self, work: Callable[[], None]) -> CudaGraph:
        driver = self._driver
        with _nothing_else():
            graph = self._captured(work)
        try:
            executable = self._call(driver.cuGraphInstantiate, graph, 0)
        finally:
            self._call(driver.cuGraphDestroy, graph)
        self._held.graphs[int(executable)] = executable
        return CudaGraph(self, executable, work)

    def _captured(self, work: Callable[[], None]) -> object:
        driver, stream = self._driver, self._held.stream
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self._call(driver.cuStreamBeginCapture, stream, mode)
        self.is_capturing = True
        try:
            work()
        except BaseException:
            with suppress(DeviceError):  # the capture may be spoilt
                self._call(driver.cuGraphDestroy, self._call(driver.cuStreamEndCapture, stream))
            raise
        finally:
            self.is_capturing = False
        return self._call(driver.cuStreamEndCapture, stream)

    def launch_graph(self, executable: Any) -> None:
        self._call(self._driver.cuGraphLaunch, executable, self._held.stream)

    def free_graph(self, executable: Any) -> None:
        del self._held.graphs[int(executable)]
        self._call(self._driver.cuGraphExecDestroy, executable)

    def time_us(self, work: Callable[[], None]) -> float:
        """Between two nodes of a graph, so that nothing of the host is in it; about 0.5 us fine."""
        driver, stream = self._driver, self._held.stream
        events = [self._call(driver.cuEventCreate, 0) for _ in range(2)]

        def timed() -> None:
            self._call(driver.cuEventRecordWithFlags, events[0], stream, _EXTERNAL)
            work()
            self._call(driver.cuEventRecordWithFlags, events[1], stream, _EXTERNAL)

        try:
            graph = self.capture(timed)
            graph.launch()
            self.synchronize()
            graph.free()
            return 1e3 * float(self._call(driver.cuEventElapsedTime, *events))
        finally:
            for event in events:
                self._call(driver.cuEventDestroy, event)

    def synchronize(self) -> None:
        self._call(self._driver.cuStreamSynchronize, self._held.stream)

    def wait_for(self, stream: int | None) -> None:
        driver = self._driver
        if stream is None:
            with _CAPTURING:
                self._call(driver.cuCtxSynchronize)
            return
        event = self._call(driver.cuEventCreate, driver.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        try:
            self._call(driver.cuEventRecord, event, stream)
            self._call(driver.cuStreamWaitEvent, self._held.stream, event, 0)
        finally:
            self._call(driver.cuEventDestroy, event)

    def close(self) -> None:
        """Give back all that it holds, and the context; done when the device is collected, too."""
        self._finalizer()

    def _call(self, function: Callable[..., tuple[Any, ...]], *args: object) -> Any:
        """What a call of the driver returns, or the error that it reports."""
        try:
            code, *values = function(*args)
        except RuntimeError as error:  # cuda-bindings' own, for what the driver's library lacks
            raise DeviceError(
                f"CUDA: {function.__name__} must be in the driver, got {error}; {NEEDS}"
            ) from error
        if code != self._driver.CUresult.CUDA_SUCCESS:
            text = self._driver.cuGetErrorString(code)[1]
            message = f"CUDA: {code.name} ({text.decode() if text else 'no text'})"
            if code.name == "CUDA_ERROR_OUT_OF_MEMORY":
                raise OutOfDeviceMemoryError(message)
            if code.name == "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED":
                raise _InvalidatedError(message)
            raise (DeviceLostError if code.name in _LOST else DeviceError)(message)
        return values[0] if len(values) == 1 else None


class _Active:
    """A device is the thread's meanwhile; an error that comes before one of leaving it is the one to tell."""

    __slots__ = ("_device",)

    def __init__(self, device: CudaDevice) -> None:
        self._device = device

    def __enter__(self) -> None:
        device = self._device
        device._make_current(device._driver.cuCtxPushCurrent)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._device._call(self._device._driver.cuCtxPopCurrent)
        except DeviceError:
            if kind is None:
                raise


@contextmanager
def _nothing_else() -> Iterator[None]:
    """No waiting for the whole GPU, and no collection, whose frees would be calls that spoil a capture."""
    with _CAPTURING:
        was_on = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_on:
                gc.enable()


class CudaGraph:
    """An executable graph of one device. Launched in a capture, it becomes part of that."""

    def __init__(self, device: CudaDevice, executable: object, work: Callable[[], None]) -> None:
        self._device = device
        self._executable = executable
        self._work = work

    def launch(self) -> None:
        if self._device.is_capturing:
            self._work()
        else:
            self._device.launch_graph(self._executable)

    def free(self) -> None:
        self._device.free_graph(self._executable)
