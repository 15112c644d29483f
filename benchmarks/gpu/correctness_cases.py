"""The test suite's cases of each family with fresh values, on a device and on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numlite.benchmarks.gpu.lowered import ARCH, new_interpreter
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.device import Device
from numlite.delegates.cuda.launch import Kernel
from numlite.delegates.cuda.partition_kernel import CudaKernel
from numlite.interpreter import Interpreter, OpResolverType
from numlite.tests.cases.case import NUMERICS, Case
from numlite.tests.delegates.cuda.simulation import run
from numlite.tests.delegates.cuda.test_cases import STEMS, cases_of

__all__ = ["STEMS", "Comparison", "check_alive", "chosen", "compared", "fresh", "kernels_of_stem"]

_EVERY = 3  # so many cases of a family are left out for each that is taken, less one
_RELATIVE = 1e-5  # of floats: matrix products in tf32x3, and functions within a few units


@dataclass(frozen=True)
class Comparison:
    """What the device made of a case: elements that differ (or, of floats, the norm of the difference)."""

    taken: bool
    wrong: int = 0
    error: float = 0.0
    repeats: bool = True

    @property
    def is_right(self) -> bool:
        return self.wrong == 0 and self.error <= _RELATIVE and self.repeats


def chosen(stem: str) -> list[Case]:
    """Some cases of a family."""
    return [case for case in cases_of(stem)[::_EVERY] if all(map(case.runs, NUMERICS))]


def fresh(case: Case, random: np.random.Generator) -> list[np.ndarray]:
    """Inputs like the case's: any 8-bit integers, its own floats in another order, others as they are."""
    found = []
    for value in case.inputs:
        if value.dtype in (np.int8, np.uint8):
            limits = np.iinfo(value.dtype)
            value = random.integers(limits.min, limits.max, value.shape, value.dtype, endpoint=True)
        elif value.dtype.kind == "f":
            value = random.permutation(value.reshape(-1)).reshape(value.shape)
        found.append(value)
    return found


def compared(case: Case, resolver: OpResolverType, device: Device, random: np.random.Generator) -> Comparison:
    """Run other values first, so that what is not written shows, then the same ones twice."""
    model = case.make()
    interpreter = new_interpreter(model, CudaDelegate(CudaOptions(), device=device), resolver)
    before, inputs = fresh(case, random), fresh(case, random)
    run(interpreter, before)
    got, again = run(interpreter, inputs), run(interpreter, inputs)
    check_alive(device)
    if not any(isinstance(node.user_data, CudaKernel) for node in _nodes(interpreter)):
        return Comparison(False)
    expected = run(new_interpreter(model, None, resolver), inputs)
    return Comparison(
        True,
        sum(wrong_elements(mine, theirs) for mine, theirs in zip(got, expected, strict=True)),
        max((relative_error(mine, theirs) for mine, theirs in zip(got, expected, strict=True)), default=0.0),
        all(mine.tobytes() == other.tobytes() for mine, other in zip(got, again, strict=True)),
    )


def check_alive(device: Device) -> None:
    """DeviceLostError when the device is lost: the CPU has computed the results then."""
    device.activate()
    device.synchronize()


def _nodes(interpreter: Interpreter) -> Iterator[object]:
    subgraph = interpreter.core.subgraphs[0]
    return (subgraph.nodes[n] for n in subgraph.execution_plan)


def wrong_elements(got: np.ndarray, expected: np.ndarray) -> int:
    """Integers that differ; floats of which one is finite and the other is not."""
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        return max(1, expected.size)
    if expected.dtype.kind != "f":
        return int(np.count_nonzero(got != expected))
    return int(np.count_nonzero(np.isfinite(got) != np.isfinite(expected)))


def relative_error(got: np.ndarray, expected: np.ndarray) -> float:
    """Norm of the difference over that of what was expected, of finite floats; 0 for integers."""
    if expected.dtype.kind != "f" or got.shape != expected.shape:
        return 0.0
    finite = np.isfinite(got) & np.isfinite(expected)
    exact = expected[finite].astype(np.float64)
    difference = float(np.linalg.norm(got[finite] - exact))
    return difference / max(float(np.linalg.norm(exact)), 1e-30) if difference else 0.0


def kernels_of_stem(stem: str, resolvers: Mapping[str, OpResolverType]) -> Iterator[Kernel]:
    """What the chosen cases of a family need."""
    for case in chosen(stem):
        for resolver in resolvers.values():
            yield from _kernels(case.make(), case.inputs, resolver)


def _kernels(model: bytes, inputs: Sequence[np.ndarray], resolver: OpResolverType) -> Iterator[Kernel]:
    interpreter = new_interpreter(model, CudaDelegate(CudaOptions(arch=ARCH)), resolver)
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    subgraph = interpreter.core.subgraphs[0]
    for node in (subgraph.nodes[n] for n in subgraph.execution_plan):
        if isinstance(node.user_data, CudaKernel):
            tensors = {t: subgraph.tensors[t] for t in node.inputs}
            shapes = {t: tensor.shape for t, tensor in tensors.items() if not tensor.is_constant}
            yield from (launch.kernel for launch in node.user_data.lowered(subgraph, shapes).launches)
