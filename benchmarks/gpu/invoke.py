"""What an invoke costs on the host: on a device whose calls do nothing. Needs no GPU.

    python benchmarks/gpu/invoke.py

A model of 60 operators in one partition, and one cut into partitions by operators that stay on the CPU;
times are medians, in us, also of set_tensor and get_tensor of its few bytes. Pin it to one CPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median

import numpy as np
from numlite.delegates.cuda.compile import CubinStore
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.launch import Kernel
from numlite.interpreter import Interpreter
from numlite.schema import tflite

LENGTH = 60
_ATAN2, _ABS = 156, 101  # the CPU's, and the device's
_SIDE = 8


class NullGraph:
    def launch(self) -> None: ...

    def free(self) -> None: ...


class NullDevice:
    """Has every call of a Device, and does nothing."""

    arch = 90
    name = "null"
    maps_pinned = True
    stream = -1

    def __init__(self) -> None:
        self.cubins = CubinStore(90)
        self._end = 256
        self._active = nullcontext()

    def active(self) -> AbstractContextManager[None]:
        return self._active

    def activate(self) -> None: ...

    def allocate(self, nbytes: int) -> int:
        self._end += -(-nbytes // 256) * 256
        return self._end

    def free(self, address: int) -> None: ...

    def pinned(self, nbytes: int) -> np.ndarray:
        return np.zeros(nbytes, np.uint8)

    def free_pinned(self, memory: np.ndarray) -> None: ...

    def copy_in(self, address: int, source: np.ndarray) -> None: ...

    def copy_out(self, target: np.ndarray, address: int) -> None: ...

    def load(self, kernels: Sequence[Kernel]) -> None: ...

    def expect(self, kernels: Sequence[Kernel]) -> None: ...

    def launch(self, kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None: ...

    def capture(self, work: Callable[[], None]) -> NullGraph:
        work()
        return NullGraph()

    def time_us(self, work: Callable[[], None]) -> float:
        return 0

    def synchronize(self) -> None: ...

    def wait_for(self, stream: int | None) -> None: ...

    def close(self) -> None: ...


def chain(every: int) -> bytes:
    """ABS of a few floats, LENGTH times; one of so many is an ATAN2, which the CPU runs (0: none)."""
    codes = [_ATAN2 if every and n % every == every - 1 else _ABS for n in range(LENGTH)]
    tensors = [
        tflite.TensorT(shape=[_SIDE, _SIDE], type=0, buffer=0, name=f"t{n}") for n in range(LENGTH + 1)
    ]
    tensors.append(tflite.TensorT(shape=[], type=0, buffer=1, name="zero"))
    operators = [
        tflite.OperatorT(
            opcode_index=int(code == _ATAN2),
            inputs=[n, LENGTH + 1] if code == _ATAN2 else [n],
            outputs=[n + 1],
        )
        for n, code in enumerate(codes)
    ]
    model = tflite.ModelT(
        version=3,
        operator_codes=[
            tflite.OperatorCodeT(builtin_code=code, deprecated_builtin_code=min(code, 127), version=1)
            for code in (_ABS, _ATAN2)
        ],
        buffers=[tflite.BufferT(), tflite.BufferT(data=np.zeros(4, np.uint8))],
        subgraphs=[tflite.SubGraphT(tensors=tensors, operators=operators, inputs=[0], outputs=[LENGTH])],
    )
    return tflite.pack(model)


def time_us(work: Callable[[], object], runs: int = 20_000) -> float:
    """The median of a hundred batches."""
    batch = runs // 100
    times = []
    for _ in range(100):
        start = time.perf_counter()
        for _ in range(batch):
            work()
        times.append((time.perf_counter() - start) / batch * 1e6)
    return median(times)


def measure(every: int) -> str:
    delegate = CudaDelegate(CudaOptions(), device=NullDevice())
    interpreter = Interpreter(model_content=chain(every), experimental_delegates=[delegate])
    interpreter.allocate_tensors()
    value = np.ones((_SIDE, _SIDE), np.float32)
    subgraph = interpreter.core.subgraphs[0]
    partitions = sum(subgraph.nodes[n].delegate is delegate for n in subgraph.execution_plan)

    def invoke_and_read() -> None:
        interpreter.invoke()
        interpreter.get_tensor(LENGTH)

    def write() -> None:
        interpreter.set_tensor(0, value)

    invoke, both = time_us(interpreter.invoke), time_us(invoke_and_read)
    return (
        f"{partitions:2} partitions: invoke {invoke:5.1f} us, invoke and get_tensor {both:5.1f} us, "
        f"set_tensor {time_us(write):3.1f} us"
    )


def main() -> None:
    for every in (0, 20, 4):
        print(measure(every))


if __name__ == "__main__":
    main()
