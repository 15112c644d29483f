"""Holdings: what a CudaDevice has of a GPU, and giving it all back."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .launch import Kernel


class LoadedKernel(NamedTuple):
    """A loaded kernel, and how it is launched: types are its parameters', scratch the values of the last."""

    module: object
    handle: object
    types: tuple[Any, ...]
    threads: int
    shared: int
    scratch: tuple[int, ...]


@dataclass(eq=False)
class Holdings:
    """Handles and addresses of one process; the device itself must not be among what they refer to."""

    driver: Any
    context: object
    device: object
    process: int
    stream: Any = None
    kernels: dict[Kernel, LoadedKernel] = field(default_factory=dict)
    graphs: dict[int, Any] = field(default_factory=dict)
    memory: set[int] = field(default_factory=set)
    pinned: dict[int, int] = field(default_factory=dict)

    def release(self) -> None:
        """Errors do not matter any more: where the driver has gone, so have these.

        It may run wherever something is collected: the thread's own context and its capture stay as
        they are.
        """
        if os.getpid() != self.process:
            return  # a forked process has none of it
        driver = self.driver
        relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        _, mode = driver.cuThreadExchangeStreamCaptureMode(relaxed)
        (pushed,) = driver.cuCtxPushCurrent(self.context)
        if pushed == driver.CUresult.CUDA_SUCCESS:
            self._free_all()
            driver.cuCtxPopCurrent()
        driver.cuDevicePrimaryCtxRelease(self.device)
        if mode is not None:
            driver.cuThreadExchangeStreamCaptureMode(mode)

    def _free_all(self) -> None:
        driver = self.driver
        if self.stream is not None:
            driver.cuStreamSynchronize(self.stream)
        for graph in self.graphs.values():
            driver.cuGraphExecDestroy(graph)
        for address in self.memory:
            driver.cuMemFree(address)
        for address in self.pinned.values():
            driver.cuMemFreeHost(address)
        for kernel in self.kernels.values():
            driver.cuModuleUnload(kernel.module)
        if self.stream is not None:
            driver.cuStreamDestroy(self.stream)
