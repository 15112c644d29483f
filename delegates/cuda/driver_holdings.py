"""Holdings: what a CudaDevice has of a GPU, and giving it all back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
    pinned: set[int] = field(default_factory=set)
    is_closed: bool = False

    def release(self) -> None:
        """Give back everything, but the context only when no pinned memory is left: arrays may lie in it.

        Errors do not matter any more: where the driver has gone, so has all else.
        """
        with self._made_current() as is_usable:
            if is_usable:
                self._free_all()
        self.is_closed = True
        self._release_context()

    def free_pinned(self, address: int) -> None:
        """Free memory that nothing refers to any more."""
        with self._made_current() as is_usable:
            if is_usable:
                self.driver.cuMemFreeHost(address)
        self.pinned.discard(address)
        self._release_context()

    def _release_context(self) -> None:
        if self.is_closed and not self.pinned and os.getpid() == self.process:
            self.driver.cuDevicePrimaryCtxRelease(self.device)

    @contextmanager
    def _made_current(self) -> Iterator[bool]:
        """For calls wherever something is collected: the thread keeps its context, and its capture."""
        if os.getpid() != self.process:
            yield False  # a forked process has none of it
            return
        driver = self.driver
        relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        _, mode = driver.cuThreadExchangeStreamCaptureMode(relaxed)
        (code,) = driver.cuCtxPushCurrent(self.context)
        try:
            yield code == driver.CUresult.CUDA_SUCCESS
        finally:
            if code == driver.CUresult.CUDA_SUCCESS:
                driver.cuCtxPopCurrent()
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
        for kernel in self.kernels.values():
            driver.cuModuleUnload(kernel.module)
        if self.stream is not None:
            driver.cuStreamDestroy(self.stream)
