"""CudaDevice: a GPU through the driver's own interface, cuda-bindings."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
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
from .launch import Kernel

_LEAST_ARCH = 80
_STATIC_SHARED_BYTES = 48 << 10  # more than this has to be asked for
_NON_BLOCKING = 1
_C_TYPES = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "fp32": ctypes.c_float}
# Results after which the context is dead.
_LOST = (
    "CUDA_ERROR_DEINITIALIZED",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED",
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


class CudaDevice:
    """A GPU, with a stream of its own; several of them may share one GPU.

    Raises DeviceUnavailableError where there is no driver, no such GPU, or cuda-bindings is missing.
    """

    def __init__(self, ordinal: int = 0) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            raise DeviceUnavailableError(f"{NEEDS} ({error})") from error
        self._driver: Any = driver
        try:
            self._call(driver.cuInit(0))
            self._device = self._call(driver.cuDeviceGet(ordinal))
        except (DeviceError, RuntimeError) as error:
            raise DeviceUnavailableError(f"{NEEDS} ({error})") from error
        attribute = driver.CUdevice_attribute
        major, minor = (
            self._call(driver.cuDeviceGetAttribute(which, self._device))
            for which in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        self.arch = 10 * major + minor
        if self.arch < _LEAST_ARCH:
            raise DeviceUnavailableError(f"{NEEDS} (GPU {ordinal} has {major}.{minor})")
        self._context = self._call(driver.cuDevicePrimaryCtxRetain(self._device))
        self.activate()
        self._stream = self._call(driver.cuStreamCreate(_NON_BLOCKING))
        self._functions: dict[Kernel, _Function] = {}
        # Not at exit: the driver may be gone before.
        self._finalizer = finalize(
            self, _release, driver, self._context, self._device, self._stream, self._functions
        )
        self._finalizer.atexit = False
        self._pinned: dict[int, int] = {}
        self.cubins = CubinStore(self.arch)

    @property
    def name(self) -> str:
        name: bytes = self._call(self._driver.cuDeviceGetName(128, self._device))
        return name.split(b"\0")[0].decode()

    def activate(self) -> None:
        self._call(self._driver.cuCtxSetCurrent(self._context))

    def allocate(self, nbytes: int) -> int:
        return int(self._call(self._driver.cuMemAlloc(max(nbytes, 1))))

    def free(self, address: int) -> None:
        self._call(self._driver.cuMemFree(address))

    def pinned(self, nbytes: int) -> np.ndarray:
        address = int(self._call(self._driver.cuMemHostAlloc(max(nbytes, 1), 0)))
        memory = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))
        self._pinned[memory.ctypes.data] = address
        return memory

    def free_pinned(self, memory: np.ndarray) -> None:
        self._call(self._driver.cuMemFreeHost(self._pinned.pop(memory.ctypes.data)))

    def copy_in(self, address: int, source: np.ndarray) -> None:
        self._call(self._driver.cuMemcpyHtoDAsync(address, source.ctypes.data, source.nbytes, self._stream))

    def copy_out(self, target: np.ndarray, address: int) -> None:
        self._call(self._driver.cuMemcpyDtoHAsync(target.ctypes.data, address, target.nbytes, self._stream))

    def load(self, kernels: Sequence[Kernel]) -> None:
        missing = [kernel for kernel in dict.fromkeys(kernels) if kernel not in self._functions]
        self.cubins.have(missing)
        for kernel in missing:
            self._functions[kernel] = self._loaded(kernel)

    def _loaded(self, kernel: Kernel) -> _Function:
        driver, cubin = self._driver, self.cubins.cubin(kernel)
        module = self._call(driver.cuModuleLoadData(cubin.code))
        handle = self._call(driver.cuModuleGetFunction(module, cubin.name.encode()))
        if cubin.shared > _STATIC_SHARED_BYTES:
            which = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call(driver.cuFuncSetAttribute(handle, which, cubin.shared))
        types = [ctypes.c_void_p if t.startswith("*") else _C_TYPES[t] for _, t in kernel.signature]
        types += [ctypes.c_void_p] * cubin.scratch
        return _Function(module, handle, tuple(types), 32 * cubin.warps, cubin.shared, (0,) * cubin.scratch)

    def launch(self, kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None:
        f = self._functions[kernel]
        args = ((*values, *f.scratch), f.types)
        self._call(
            self._driver.cuLaunchKernel(f.handle, *grid, f.threads, 1, 1, f.shared, self._stream, args, 0)
        )

    def capture(self, work: Callable[[], None]) -> CudaGraph:
        driver = self._driver
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self._call(driver.cuStreamBeginCapture(self._stream, mode))
        try:
            work()
        except BaseException:
            driver.cuStreamEndCapture(self._stream)
            raise
        graph = self._call(driver.cuStreamEndCapture(self._stream))
        executable = self._call(driver.cuGraphInstantiate(graph, 0))
        self._call(driver.cuGraphDestroy(graph))
        return CudaGraph(self, executable)

    def launch_graph(self, executable: object) -> None:
        self._call(self._driver.cuGraphLaunch(executable, self._stream))

    def free_graph(self, executable: object) -> None:
        self._call(self._driver.cuGraphExecDestroy(executable))

    def time_us(self, work: Callable[[], None]) -> float:
        driver = self._driver
        start, end = (self._call(driver.cuEventCreate(0)) for _ in range(2))
        self._call(driver.cuEventRecord(start, self._stream))
        work()
        self._call(driver.cuEventRecord(end, self._stream))
        self._call(driver.cuEventSynchronize(end))
        milliseconds = float(self._call(driver.cuEventElapsedTime(start, end)))
        for event in (start, end):
            self._call(driver.cuEventDestroy(event))
        return milliseconds * 1e3

    def synchronize(self) -> None:
        self._call(self._driver.cuStreamSynchronize(self._stream))

    def wait_for_all(self) -> None:
        self._call(self._driver.cuCtxSynchronize())

    def close(self) -> None:
        """Give back the code, the stream and the context; done when the device is collected, too."""
        self._finalizer()

    def _call(self, result: tuple[Any, ...]) -> Any:
        """What a call returned, or the error that it reports."""
        code, *values = result
        if code != self._driver.CUresult.CUDA_SUCCESS:
            text = self._driver.cuGetErrorString(code)[1]
            message = f"CUDA: {code.name} ({text.decode() if text else 'no text'})"
            if code.name == "CUDA_ERROR_OUT_OF_MEMORY":
                raise OutOfDeviceMemoryError(message)
            raise (DeviceLostError if code.name in _LOST else DeviceError)(message)
        return values[0] if len(values) == 1 else None


def _release(
    driver: Any, context: object, device: object, stream: object, functions: dict[Kernel, _Function]
) -> None:
    """Errors do not matter any more: where the driver has gone, so have these."""
    driver.cuCtxSetCurrent(context)
    for function in functions.values():
        driver.cuModuleUnload(function.module)
    functions.clear()
    driver.cuStreamDestroy(stream)
    driver.cuDevicePrimaryCtxRelease(device)


class _Function:
    """A loaded kernel, and how it is launched."""

    __slots__ = ("handle", "module", "scratch", "shared", "threads", "types")

    def __init__(
        self,
        module: object,
        handle: object,
        types: tuple[Any, ...],
        threads: int,
        shared: int,
        scratch: tuple[int, ...],
    ) -> None:
        self.module = module
        self.handle = handle
        self.types = types
        self.threads = threads
        self.shared = shared
        self.scratch = scratch


class CudaGraph:
    """An executable graph of one device."""

    def __init__(self, device: CudaDevice, executable: object) -> None:
        self._device = device
        self._executable = executable

    def launch(self) -> None:
        self._device.launch_graph(self._executable)

    def free(self) -> None:
        self._device.free_graph(self._executable)
