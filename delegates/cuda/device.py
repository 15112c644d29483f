"""What the delegate asks of a device; CudaDevice and SimulatedDevice both have this face."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from ...lite.errors import UnsupportedError
from .compile import CubinStore
from .launch import Kernel

NEEDS = (
    "the CUDA delegate needs an NVIDIA GPU of compute capability 8.0 or more, its driver (580 or later) and "
    "pip install numlite[cuda]; without the delegate, or with its option fallback, the model runs on the CPU"
)


class DeviceUnavailableError(UnsupportedError):
    """There is no device, or nothing to talk to it with."""


class DeviceError(RuntimeError):
    """A call to the device failed; it says which and why."""


class OutOfDeviceMemoryError(DeviceError):
    """The device has no room; smaller batches may."""


class DeviceLostError(DeviceError):
    """The device or its driver is gone for this process: nothing on it can be reached any more."""


class Graph(Protocol):
    """Work that was captured, and can be launched as one."""

    def launch(self) -> None:
        """Do the work once more; returns at once."""

    def free(self) -> None: ...


class Device(Protocol):
    """One device, and one stream of work on it, in order. Addresses are plain integers.

    Errors are DeviceErrors. Any thread may call it, one at a time.
    """

    arch: int  # compute capability, 90 for 9.0
    maps_pinned: bool  # whether kernels reach pinned memory by its own address

    @property
    def name(self) -> str: ...

    @property
    def cubins(self) -> CubinStore: ...

    @property
    def stream(self) -> int:
        """The stream as other libraries name it in DLPack; -1 where they need not wait."""

    def active(self) -> AbstractContextManager[None]:
        """Meanwhile the device is this thread's, as the other calls want it; then what was before is again.

        Other libraries of the thread may be at work on another GPU.
        """

    def activate(self) -> None:
        """Make the device this thread's from now on, in a program that has but this one."""

    def allocate(self, nbytes: int) -> int:
        """Address of memory of at least nbytes, a multiple of 256."""

    def free(self, address: int) -> None: ...

    def pinned(self, nbytes: int) -> np.ndarray:
        """Host memory, uint8 [nbytes], that the device copies from and to without another copy.

        It stays the host's, pinned no longer, after free_pinned and close: a tensor may lie in it.
        """

    def free_pinned(self, memory: np.ndarray) -> None: ...

    def copy_in(self, address: int, source: np.ndarray) -> None:
        """Copy host bytes to the device, in the stream; pinned memory must stay as it is until then."""

    def copy_out(self, target: np.ndarray, address: int) -> None:
        """Copy from the device to host bytes, in the stream."""

    def load(self, kernels: Sequence[Kernel]) -> None:
        """Have the kernels' code on the device: compile what nobody has."""

    def expect(self, kernels: Sequence[Kernel]) -> None:
        """Kernels that may be loaded later: what nobody has is compiled in the background."""

    def launch(self, kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None:
        """Launch a loaded kernel; pointers are addresses."""

    def capture(self, work: Callable[[], None]) -> Graph:
        """What work asks of the stream, as a graph; it is not done now."""

    def time_us(self, work: Callable[[], None]) -> float:
        """Do the work, and tell how long the device took for it."""

    def synchronize(self) -> None:
        """Wait for all work of the stream."""

    def wait_for(self, stream: int | None) -> None:
        """Have later work wait for what another library's stream has now, None for whatever stream."""

    def close(self) -> None:
        """Give all back; every later call fails."""
