"""PyTorch's own programs on the first GPU: ceilings, and section "peers", the networks by torch.compile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numlite.benchmarks.gpu.job import Configuration, Job
from numlite.benchmarks.gpu.networks import FULL
from numlite.benchmarks.gpu.timing import Timing, timing
from numlite.interpreter import Interpreter
from torch.nn import functional

_SIDE = 8192  # of a matrix
_LEAST_SECONDS = 25.0  # of a compilation that is worth beginning
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "tf32": torch.float32}
_ACTIVATIONS = {0: lambda x: x, 1: functional.relu, 3: functional.relu6}
# Of filters, to [O, I, KH, KW].
_ORDERS = {"CONV_2D": (0, 3, 1, 2), "DEPTHWISE_CONV_2D": (3, 0, 1, 2), "FULLY_CONNECTED": ()}


def time_torch(work: Callable[[], object], seconds: float = 0.3) -> Timing:
    """The device's time for work, warm."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def once_us() -> float:
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e3

    return timing(once_us, seconds)


def ceilings(job: Job, nbytes: int) -> None:
    """A copy, and square matrix products of each type."""

    def add(kind: str, mode: str, amount: float, work: Callable[[], object]) -> None:
        found = time_torch(work)
        job.add(kind, by="torch", mode=mode, rate=1e6 * amount / found.us, **found._asdict())

    x = torch.randint(0, 1 << 30, (nbytes // 4,), dtype=torch.int32, device="cuda")
    y = torch.empty_like(x)
    add("copy", "", 2.0 * nbytes, lambda: y.copy_(x))
    allow_fast_products()
    for mode, dtype in DTYPES.items():
        a, b = (torch.randn(_SIDE, _SIDE, device="cuda").to(dtype) for _ in range(2))
        add("matmul", mode, float(_SIDE**3), lambda a=a, b=b: torch.matmul(a, b))
    a, b = (torch.randint(-128, 128, (_SIDE, _SIDE), dtype=torch.int8, device="cuda") for _ in range(2))
    add("matmul", "int8", float(_SIDE**3), lambda: torch._int_mm(a, b.t()))


def allow_fast_products() -> None:
    """TF32 wherever floats are multiplied, and the fastest convolutions that cuDNN finds."""
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True


def peers(job: Job) -> None:
    """A network at a time. It has no rehearsal: the driver's stand-in knows numlite's kernels alone."""
    if not job.rehearses:
        allow_fast_products()
        job.each(partial(_compiled, job), DTYPES, _LEAST_SECONDS)


def _compiled(job: Job, wanted: Configuration) -> None:
    options = {"device": "cuda", "dtype": DTYPES[wanted.mode], "memory_format": torch.channels_last}
    model = TorchNetwork(job.model(wanted.model, wanted.mode)).eval().to(**options)
    x = torch.randn(wanted.batch, 3, FULL.side, FULL.side).to(**options)
    torch._dynamo.mark_static_address(x)
    compiled = torch.compile(model, mode="max-autotune", dynamic=False)
    start = time.perf_counter()
    with torch.no_grad():
        finite = bool(torch.isfinite(compiled(x)).all())
        seconds = time.perf_counter() - start
        found = time_torch(lambda: compiled(x))
    job.add("peer", **wanted._asdict(), **found._asdict(), compiled_s=seconds, finite=finite)


class Step(NamedTuple):
    """An operator: its name, its operands and result by their tensors' numbers, its window and activation."""

    name: str
    inputs: list[int]
    result: int
    sizes: tuple[int, int]
    strides: tuple[int, int]
    padding: list[Sequence[int]]
    activation: int


class TorchNetwork(torch.nn.Module):
    """What a float32 model computes, of images [N, C, H, W]; parameters have their tensors' numbers."""

    def __init__(self, model: Path) -> None:
        super().__init__()
        interpreter = Interpreter(model_path=str(model))
        interpreter.allocate_tensors()
        graph = interpreter.core.subgraphs[0]
        self._input, self._steps, self.constants = graph.inputs[0], list[Step](), torch.nn.ParameterDict()
        pads: dict[int, tuple[int, list[list[int]]]] = {}
        for node in (graph.nodes[n] for n in graph.execution_plan):
            name, inputs, options = node.registration.name, list(node.inputs), node.options
            if name == "PAD":  # which is left to the window behind it
                pads[node.outputs[0]] = inputs[0], interpreter.get_tensor(inputs[1])[1:3].tolist()
                continue
            for t in inputs[1:] if name in _ORDERS else ():
                array = interpreter.get_tensor(t)
                array = np.ascontiguousarray(array.transpose(_ORDERS[name]) if array.ndim == 4 else array)
                self.constants[str(t)] = torch.nn.Parameter(torch.from_numpy(array), requires_grad=False)
            shape = graph.tensors[inputs[0]].shape
            inputs[0], padding = pads.get(inputs[0], (inputs[0], [[0, 0], [0, 0]]))
            strides = getattr(options, "stride_h", 1), getattr(options, "stride_w", 1)
            sizes = getattr(options, "filter_height", 1), getattr(options, "filter_width", 1)
            if "CONV_2D" in name:
                sizes = tuple(graph.tensors[inputs[1]].shape[1:3])
            if getattr(options, "padding", 1) == 0:
                padding = [same_padding(*axis) for axis in zip(shape[1:3], sizes, strides, strict=True)]
            fused = getattr(options, "fused_activation_function", 0)
            self._steps.append(Step(name, inputs, node.outputs[0], sizes, strides, padding, fused))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        values = {self._input: images}
        for step in self._steps:
            values[step.result] = _ACTIVATIONS[step.activation](self._plain(step, values))
        return values[self._steps[-1].result]

    def _plain(self, step: Step, values: Mapping[int, torch.Tensor]) -> torch.Tensor:
        """Without the activation. What is pooled is not negative: a PAD's zeros make no difference."""
        x, (rows, columns) = values[step.inputs[0]], step.padding
        if step.name == "ADD":
            return x + values[step.inputs[1]]
        if step.name == "MEAN":
            return x.mean((2, 3))
        if step.name == "SOFTMAX":
            return functional.softmax(x, 1)
        if step.name == "MAX_POOL_2D":
            return functional.max_pool2d(x, step.sizes, step.strides, (rows[0], columns[0]))
        w, bias = (self.constants[str(t)] for t in step.inputs[1:])
        if step.name == "FULLY_CONNECTED":
            return functional.linear(x, w, bias)
        padding = rows[0], columns[0]
        if rows[0] != rows[1] or columns[0] != columns[1]:
            x, padding = functional.pad(x, (*columns, *rows)), (0, 0)
        return functional.conv2d(x, w, bias, step.strides, padding, groups=x.shape[1] // w.shape[1])


def same_padding(size: int, window: int, stride: int) -> tuple[int, int]:
    """What TensorFlow's SAME adds before and after an axis."""
    total = max(0, (-(-size // stride) - 1) * stride + window - size)
    return total // 2, total - total // 2
