"""Section "ceilings": copies, matrix products by type, empty kernels, and the way to the device and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

import numpy as np
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.lowered import Bound, PlacedModel, launch_all, lowered
from numlite.benchmarks.gpu.networks import FULL, NetworkWriter, file_type
from numlite.benchmarks.gpu.timing import device_time
from numlite.delegates.cuda.device import Device
from numlite.delegates.cuda.driver import CudaDevice
from numlite.delegates.cuda.launch import Argument, Place, Pointer, make_launch

EMPTY_KERNELS = 60
_BLOCK = 1024
_IMAGE_BYTES = 224 * 224 * 3 * 4


def matmul_size(job: Job) -> tuple[int, int, int]:
    """Rows, columns and depth: [rows, depth] by [columns, depth]."""
    return (128, 32, 64) if job.rehearses else (16384, 4096, 8192)


def measure(job: Job) -> None:
    """numlite's own kernels first, PyTorch's after them."""
    device = CudaDevice()
    device.activate()
    nbytes = 1 << (20 if job.rehearses else 30)
    job.do("empty kernels", lambda: _empty_kernels(job, device))
    job.do("copy", lambda: _copy(job, device, nbytes))
    for count in (_IMAGE_BYTES, nbytes // 4):
        job.do(f"host copies {count}", lambda count=count: _host_copies(job, device, count))
    for mode in job.modes:
        job.do(f"matmul {mode}", lambda mode=mode: _matmul(job, device, mode))
    device.close()
    if not job.rehearses:
        job.do("torch", lambda: import_module("numlite.benchmarks.gpu.torch_programs").ceilings(job, nbytes))


def _record(
    job: Job, device: Device, work: Callable[[], None], amount: float, kind: str, **what: str
) -> None:
    """Of a graph of work: its time, and its rate a second of an amount."""
    graph = device.capture(work)
    found = device_time(job, device, graph.launch)
    graph.free()
    job.add(kind, by="numlite", **what, rate=1e6 * amount / found.us, **found._asdict())


def copy_launch(device: Device, x: int, y: int, nbytes: int) -> Bound:
    """A copy of device memory as floats; of 0 bytes it does nothing."""
    pointers = {f"{name}_ptr": Pointer(Place("copy", name), "fp32") for name in "xy"}
    args: dict[str, Argument] = {**pointers, "size": nbytes // 4}
    grid = (max(1, -(-nbytes // 4 // _BLOCK)),)
    launch = make_launch("elementwise", "convert", grid, args, {"BLOCK": _BLOCK}, divisible=("size",))
    device.load([launch.kernel])
    return [(launch, (x, y, nbytes // 4))]


def matmul_model(job: Job, mode: str) -> bytes:
    """A FULLY_CONNECTED of any rows."""
    _, columns, depth = matmul_size(job)
    writer = NetworkWriter(file_type(mode), FULL)
    x = writer.value("x", (depth,), 0.0, 1.0)
    y = writer.dense("y", x, columns)
    return writer.model.build([x.tensor], [y.tensor])


def _empty_kernels(job: Job, device: Device) -> None:
    x = device.allocate(1024)
    launches = copy_launch(device, x, x, 0) * EMPTY_KERNELS
    _record(job, device, lambda: launch_all(device, launches), EMPTY_KERNELS, "empty")
    device.free(x)


def _copy(job: Job, device: Device, nbytes: int) -> None:
    x, y = device.allocate(nbytes), device.allocate(nbytes)
    block = np.random.default_rng(0).integers(0, 256, nbytes // 16, np.uint8)
    for part in range(16):
        device.copy_in(x + part * block.nbytes, block)
    launches = copy_launch(device, x, y, nbytes)
    _record(job, device, lambda: launch_all(device, launches), 2 * nbytes, "copy")
    for address in (x, y):
        device.free(address)


def _host_copies(job: Job, device: Device, nbytes: int) -> None:
    memory, address = device.pinned(nbytes), device.allocate(nbytes)
    memory[:] = 7
    for way, copy, operands in (
        ("in", device.copy_in, (address, memory)),
        ("out", device.copy_out, (memory, address)),
    ):
        _record(job, device, partial(copy, *operands), nbytes, "host copy", what=f"{nbytes} bytes {way}")
    device.free(address)
    device.free_pinned(memory)


def _matmul(job: Job, device: Device, mode: str) -> None:
    size = matmul_size(job)
    placed = PlacedModel(lowered(matmul_model(job, mode), mode, size[0], device), device, job.seed)
    (launches,) = placed.bound()
    work = lambda: launch_all(device, launches)  # noqa: E731
    _record(job, device, work, float(np.prod(size)), "matmul", mode=mode, what="x".join(map(str, size)))
    placed.free()
