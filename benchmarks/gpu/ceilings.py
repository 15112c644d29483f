"""Section "ceilings": copies, matrix products by type, empty kernels, and the way to the device and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.lowered import LoweredModel, PlacedModel, file_type, open_device
from numlite.benchmarks.gpu.timing import Timing, time_graph
from numlite.delegates.cuda.device import Device, DeviceUnavailableError, Graph
from numlite.delegates.cuda.launch import Argument, Launch, Place, Pointer, make_launch
from numlite.schema import tflite
from numlite.tests.model_builder import ModelBuilder

EMPTY_KERNELS = 60
_BLOCK = 1024
_X_SCALE, _W_SCALE = 0.03, 0.001
_IMAGE_BYTES = 224 * 224 * 3 * 4


class MatmulSize(NamedTuple):
    """[rows, depth] by [columns, depth]."""

    rows: int
    columns: int
    depth: int

    @property
    def macs(self) -> int:
        return self.rows * self.columns * self.depth


MATMUL = MatmulSize(16384, 4096, 8192)
SMALL_MATMUL = MatmulSize(128, 32, 64)


def measure(job: Job) -> None:
    """numlite's own kernels first, PyTorch's after them; each where the other cannot be had."""
    megabytes = 1 if job.small else 1024
    try:
        device = open_device(job.device)
    except DeviceUnavailableError as error:
        job.records.add("absent", what="device", why=str(error))
    else:
        _measure_own(job, device, megabytes)
    if job.device == "cuda":
        _measure_torch(job, megabytes << 20)


def _measure_own(job: Job, device: Device, megabytes: int) -> None:
    device.activate()
    job.do("empty kernels", lambda: _empty_kernels(job, device))
    job.do("copy", lambda: _copy(job, device, megabytes << 20))
    for nbytes in (_IMAGE_BYTES, (megabytes << 20) // 4):
        job.do(f"host copies {nbytes}", lambda nbytes=nbytes: _host_copies(job, device, nbytes))
    for mode in job.modes:
        job.do(f"matmul {mode}", lambda mode=mode: _matmul(job, device, mode))
    device.close()


def copy_launch(x: int, y: int, nbytes: int) -> tuple[Launch, tuple[int | float, ...]]:
    """A copy of device memory as floats, and the values of its arguments; of 0 bytes it does nothing."""
    args: dict[str, Argument] = {
        "x_ptr": Pointer(Place("copy", "x"), "fp32"),
        "y_ptr": Pointer(Place("copy", "y"), "fp32"),
        "size": nbytes // 4,
    }
    grid = (max(1, -(-nbytes // 4 // _BLOCK)),)
    launch = make_launch("activations", "convert", grid, args, {"BLOCK": _BLOCK}, divisible=("size",))
    return launch, (x, y, nbytes // 4)


def matmul_model(mode: str, size: MatmulSize) -> bytes:
    """A FULLY_CONNECTED of any rows, whose sums do not saturate."""
    model, random = ModelBuilder(), np.random.default_rng(0)
    shapes = (1, size.depth), (1, size.columns)
    if file_type(mode) == "float32":
        w = random.standard_normal((size.columns, size.depth), np.float32) / np.float32(size.depth**0.5)
        x, y = (model.tensor(shape, shape_signature=(-1, shape[1])) for shape in shapes)
        operands = [x, model.constant(w)]
    else:
        w = random.integers(-127, 128, (size.columns, size.depth), np.int8)
        deviation = 74 * 73 * size.depth**0.5  # of sums of products of such integers
        scales = (_X_SCALE, _X_SCALE * _W_SCALE * deviation / 32)
        x, y = (
            model.tensor(shape, "int8", scale=scale, zero_point=0, shape_signature=(-1, shape[1]))
            for shape, scale in zip(shapes, scales, strict=True)
        )
        operands = [x, model.constant(w, scale=_W_SCALE, zero_point=0)]
    model.op(tflite.BuiltinOperator.FULLY_CONNECTED, [*operands, -1], [y], tflite.FullyConnectedOptionsT())
    return model.build([x], [y])


def _timed(job: Job, device: Device, graph: Graph) -> Timing:
    return time_graph(device, graph, 0.0, 1) if job.small else time_graph(device, graph)


def _empty_kernels(job: Job, device: Device) -> None:
    x = device.allocate(1024)
    launch, values = copy_launch(x, x, 0)
    device.load([launch.kernel])

    def work() -> None:
        for _ in range(EMPTY_KERNELS):
            device.launch(launch.kernel, launch.grid, values)

    graph = device.capture(work)
    found = _timed(job, device, graph)
    graph.free()
    device.free(x)
    job.records.add("empty", nodes=EMPTY_KERNELS, us_per_node=found.us / EMPTY_KERNELS, **found.fields())


def _copy(job: Job, device: Device, nbytes: int) -> None:
    x, y = device.allocate(nbytes), device.allocate(nbytes)
    block = np.random.default_rng(0).integers(0, 256, nbytes // 16, np.uint8)
    for part in range(16):
        device.copy_in(x + part * block.nbytes, block)
    launch, values = copy_launch(x, y, nbytes)
    device.load([launch.kernel])
    graph = device.capture(lambda: device.launch(launch.kernel, launch.grid, values))
    found = _timed(job, device, graph)
    graph.free()
    for address in (x, y):
        device.free(address)
    job.records.add(
        "copy", by="numlite", mbytes=nbytes >> 20, bytes_per_s=2e6 * nbytes / found.us, **found.fields()
    )


def _host_copies(job: Job, device: Device, nbytes: int) -> None:
    memory, address = device.pinned(nbytes), device.allocate(nbytes)
    memory[:] = 7
    ways: dict[str, Callable[[], None]] = {
        "to the device": lambda: device.copy_in(address, memory),
        "from the device": lambda: device.copy_out(memory, address),
    }
    for way, work in ways.items():
        graph = device.capture(work)
        found = _timed(job, device, graph)
        graph.free()
        job.records.add(
            "host copy", way=way, nbytes=nbytes, bytes_per_s=1e6 * nbytes / found.us, **found.fields()
        )
    device.free(address)
    device.free_pinned(memory)


def _matmul(job: Job, device: Device, mode: str) -> None:
    size = SMALL_MATMUL if job.small else MATMUL
    placed = PlacedModel(LoweredModel(matmul_model(mode, size), mode, size.rows, device), device, job.seed)
    found = _timed(job, device, placed.graph())
    placed.free()
    job.records.add(
        "matmul",
        mode=mode,
        by="numlite",
        size="x".join(map(str, size)),
        macs_per_s=1e6 * size.macs / found.us,
        **found.fields(),
    )


def _measure_torch(job: Job, nbytes: int) -> None:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        job.records.add("absent", what="torch", why=str(error))
        return
    from numlite.benchmarks.gpu import torch_ceilings

    torch_ceilings.measure(job, nbytes)
