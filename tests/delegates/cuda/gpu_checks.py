"""What is checked on a GPU, as functions that another process calls by name: each fails by raising."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from numlite.delegates.cuda.compile import CubinStore
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.device import DeviceError, DeviceUnavailableError
from numlite.delegates.cuda.driver import CudaDevice, CudaGraph
from numlite.delegates.cuda.launch import Kernel
from numlite.delegates.cuda.partition_kernel import CudaKernel
from numlite.interpreter import Interpreter
from numlite.lite.errors import UnsupportedError

from ...cases.case import Case
from .graphs import Op, conv_model, depthwise_model, network, random_input, residual_model
from .replays import STEMS, cases_of, is_left_out, replays
from .simulation import RESOLVERS, interpreter_of, run, taken

Check = tuple[str, ...]  # a function of this file, and its arguments
BYTES = ("int8", "uint8")
# Norm of the difference over that of the result; TF32 has 10 bits, bfloat16 7.
TOLERANCES = {"tf32x3": 1e-6, "ieee": 1e-6, "tf32": 2e-3, "float16": 2e-3, "bfloat16": 2e-2}
MODELS: dict[str, tuple[Callable[[str], bytes], tuple[int, int, int]]] = {
    "network": (network, (9, 9, 3)),
    "residual": (residual_model, (6, 6, 16)),
    "residual-relu6": (lambda type: residual_model(type, after=Op.RELU6), (6, 6, 16)),
    "conv": (lambda type: conv_model(type, (1, 28, 28, 64), 128), (28, 28, 64)),
    "conv-1x1": (lambda type: conv_model(type, (1, 28, 28, 96), 24, 1), (28, 28, 96)),
    "conv-image": (lambda type: conv_model(type, (1, 64, 64, 3), 32, stride=2), (64, 64, 3)),
    "conv-odd": (lambda type: conv_model(type, (1, 13, 11, 17), 33, dilation=2), (13, 11, 17)),
    "depthwise": (lambda type: depthwise_model(type, (1, 28, 28, 96)), (28, 28, 96)),
    "depthwise-5x5": (lambda type: depthwise_model(type, (1, 28, 28, 48), 5, stride=2), (28, 28, 48)),
    "depthwise-plain": (lambda type: depthwise_model(type, (1, 9, 9, 7), multiplier=2), (9, 9, 7)),
}
BATCHES = (1, 32, 3)
_MOST_BROKEN = 20  # kernels that are not waited for
# False where the driver's stand-in looks at launches, and computes nothing.
compares = True


def all_checks() -> list[Check]:
    """The driver's own, then whole models, then the cases of every family."""
    alone = (
        "threads_share_the_gpu",
        "profile_has_device_times",
        "inputs_on_the_gpu_are_read",
        "out_of_memory_leaves_smaller_batches",
    )
    return [
        *((name,) for name in alone),
        *(("bytes_are_equal", name, type, n) for name in MODELS for type in BYTES for n in RESOLVERS),
        *(("floats_are_near", name, precision) for name in MODELS for precision in TOLERANCES),
        *(
            ("case_equals_the_cpu", stem, case.id, numerics)
            for stem in STEMS
            for case, numerics in replays(stem)
            if not is_left_out(case, numerics)
        ),
    ]


def on_gpu(precision: str = "tf32x3", arch: int = 0) -> CudaDelegate:
    return CudaDelegate(CudaOptions(precision=precision, arch=arch, min_nodes=1))


def gpu_works() -> bool:
    """Whether this process can still use it."""
    try:
        device = CudaDevice()
        device.activate()
        device.synchronize()
    except (DeviceError, DeviceUnavailableError):
        return False
    device.close()
    return True


def gpu() -> tuple[str, int]:
    """Its name and architecture."""
    device = CudaDevice()
    return device.name + ("" if compares else ", launches alone: no results are compared"), device.arch


def _check_equal(got: np.ndarray, expected: np.ndarray) -> None:
    assert got.shape == expected.shape and got.dtype == expected.dtype
    if compares:
        np.testing.assert_array_equal(got, expected)


def case_equals_the_cpu(stem: str, id: str, numerics: str) -> str:
    """Why the case was left to the CPU, "" where the GPU ran it."""
    case = case_of(stem, id)
    delegate = on_gpu()
    interpreter = interpreter_of(case.make(), delegate, numerics)
    got = run(interpreter, case.inputs)
    if not taken(delegate, interpreter):
        return ", ".join(delegate._reasons.values())
    for mine, theirs in zip(got, run(interpreter_of(case.make(), None, numerics), case.inputs), strict=True):
        if theirs.dtype.kind == "f" and compares:
            assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
            largest = float(np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs)))
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5 * largest)
        else:
            _check_equal(mine, theirs)
    return ""


def bytes_are_equal(name: str, type: str, numerics: str) -> None:
    make, shape = MODELS[name]
    model = make(type)
    interpreter, cpu = interpreter_of(model, on_gpu(), numerics), interpreter_of(model, None, numerics)
    for batch in BATCHES:
        x = random_input(type, (batch, *shape), batch)
        _check_equal(run(interpreter, [x])[0], run(cpu, [x])[0])


def floats_are_near(name: str, precision: str) -> None:
    make, shape = MODELS[name]
    model = make("float32")
    x = random_input("float32", (4, *shape))
    interpreter = interpreter_of(model, on_gpu(precision))
    (got,), (expected,) = run(interpreter, [x]), run(interpreter_of(model), [x])
    _check_equal(run(interpreter, [x])[0], got)
    if compares:
        assert np.linalg.norm(got - expected) <= TOLERANCES[precision] * np.linalg.norm(expected)


def threads_share_the_gpu() -> None:
    model = network("int8")
    inputs = [random_input("int8", (2, 9, 9, 3), seed) for seed in range(4)]
    expected = [run(interpreter_of(model), [x])[0] for x in inputs]

    def work(n: int) -> None:
        interpreter = interpreter_of(model, on_gpu())
        for _ in range(20):
            _check_equal(run(interpreter, [inputs[n]])[0], expected[n])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def out_of_memory_leaves_smaller_batches() -> None:
    model = conv_model("int8", (1, 32, 32, 64), 16)
    interpreter, cpu = interpreter_of(model, on_gpu()), interpreter_of(model)
    device = CudaDevice()
    try:
        assert _fill(device) > 0
        interpreter.resize_tensor_input(0, (4096, 32, 32, 64))
        message = _failure(interpreter)
        assert "OUT_OF_MEMORY" in message, message
    finally:
        device.close()
    x = random_input("int8", (1, 32, 32, 64))
    _check_equal(run(interpreter, [x])[0], run(cpu, [x])[0])


def _fill(device: CudaDevice) -> int:
    """Take all memory in blocks of 256 MB; how many."""
    device.activate()
    for count in range(10_000):
        try:
            device.allocate(256 << 20)
        except DeviceError as error:
            assert "OUT_OF_MEMORY" in str(error), error
            return count
    raise AssertionError("there is no end of memory")


def _failure(interpreter: Interpreter) -> str:
    try:
        interpreter.allocate_tensors()
        interpreter.invoke()
    except RuntimeError as error:
        return str(error)
    return "no failure"


def profile_has_device_times() -> None:
    interpreter = interpreter_of(network("int8"), on_gpu())
    run(interpreter, [random_input("int8", (8, 9, 9, 3))])
    rows = [row for row in interpreter.profile(3) if row.op == "CONV_2D"]
    assert len(rows) == 4 and all(0 < row.time_ns < 1e10 for row in rows), rows


def inputs_on_the_gpu_are_read() -> None:
    """Written by another stream, which is waited for."""
    delegate, other = on_gpu(), CudaDevice()
    interpreter = interpreter_of(network("int8"), delegate)
    interpreter.allocate_tensors()
    index, result = (
        detail["index"] for detail in (*interpreter.get_input_details(), *interpreter.get_output_details())
    )
    other.activate()
    address, memory = other.allocate(243), other.pinned(243)
    for seed in range(3):
        x = random_input("int8", (1, 9, 9, 3), seed)
        other.synchronize()
        memory[:] = x.reshape(-1).view(np.uint8)
        other.copy_in(address, memory)
        delegate.set_input(interpreter, index, _Shown(address, x, other.stream))
        interpreter.invoke()
        (expected,) = run(interpreter_of(network("int8")), [x])
        _check_equal(interpreter.get_tensor(result), expected)


class _Shown:
    def __init__(self, address: int, value: np.ndarray, stream: int) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, True),
            "shape": value.shape,
            "typestr": value.dtype.str,
            "version": 3,
            "stream": stream,
        }


@contextmanager
def launch_by_launch() -> Iterator[None]:
    """Meanwhile no graphs: every launch is waited for, and one that breaks the GPU is named."""
    launch = CudaDevice.launch

    def watched(
        device: CudaDevice, kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]
    ) -> None:
        try:
            launch(device, kernel, grid, values)
            device.synchronize()
        except DeviceError as error:
            names = [name for name, _ in kernel.signature]
            args = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
            raise AssertionError(f"{kernel} over {grid} with {args}: {error}") from error

    def captured(device: CudaDevice, work: Callable[[], None]) -> CudaGraph:
        return _NoGraph(device, work)

    with patch.object(CudaDevice, "launch", watched), patch.object(CudaDevice, "capture", captured):
        yield


class _NoGraph(CudaGraph):
    def __init__(self, device: CudaDevice, work: Callable[[], None]) -> None:
        super().__init__(device, None, work)

    def launch(self) -> None:
        self._work()

    def free(self) -> None: ...


def launches_of(check: str, *args: object) -> None:
    """The check without graphs, which fails at the launch that breaks the GPU."""
    with launch_by_launch():
        globals()[check](*args)


def case_of(stem: str, id: str) -> Case:
    return next(case for case in cases_of(stem) if case.id == id)


def run_on_the_cpu(check: str, *args: str) -> None:
    """What the check compares with, so that the CPU's kernels are compiled."""
    for model, numerics, inputs, _ in _runs(check, args):
        run(interpreter_of(model, None, numerics), inputs)


def kernels_of_check(arch: int, check: str, *args: str) -> list[Kernel]:
    """What the check runs on a GPU of this architecture."""
    found: dict[Kernel, None] = {}
    for model, numerics, inputs, precision in _runs(check, args):
        interpreter = interpreter_of(model, on_gpu(precision, arch), numerics)
        for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.resize_tensor_input(detail["index"], value.shape)
        interpreter.allocate_tensors()
        subgraph = interpreter.core.subgraphs[0]
        for node in (subgraph.nodes[n] for n in subgraph.execution_plan):
            if isinstance(node.user_data, CudaKernel):
                variable = [t for t in node.inputs if not subgraph.tensors[t].is_constant]
                shapes = {t: subgraph.tensors[t].shape for t in variable}
                launches = node.user_data.lowered(subgraph, shapes).launches
                found.update((launch.kernel, None) for launch in launches)
    return list(found)


def _runs(check: str, args: Sequence[str]) -> Iterator[tuple[bytes, str, Sequence[np.ndarray], str]]:
    """Model, numerics, inputs and precision of what a check runs."""
    if check == "case_equals_the_cpu":
        stem, id, numerics = args
        case = case_of(stem, id)
        yield case.make(), numerics, case.inputs, "tf32x3"
    elif check == "bytes_are_equal":
        name, type, numerics = args
        make, shape = MODELS[name]
        for batch in BATCHES:
            yield make(type), numerics, [random_input(type, (batch, *shape), batch)], "tf32x3"
    elif check == "floats_are_near":
        name, precision = args
        make, shape = MODELS[name]
        yield make("float32"), "default", [random_input("float32", (4, *shape))], precision


def compile_all(arch: int, kernels: Iterable[Kernel]) -> dict[str, str]:
    """Have all kernels in the cache; errors by the names of those that cannot be."""
    waiting = list(kernels)
    broken: dict[str, str] = {}
    while waiting and len(broken) < _MOST_BROKEN:
        try:
            CubinStore(arch).have(waiting)
            break
        except UnsupportedError as error:
            failed = [kernel for kernel in waiting if str(error).startswith(f"{kernel}:")]
            broken.update((str(kernel), str(error)) for kernel in failed)
            waiting = [kernel for kernel in waiting if kernel not in failed] if failed else []
    return broken
