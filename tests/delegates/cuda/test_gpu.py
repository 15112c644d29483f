"""On a real device (-m gpu): the same results as the CPU, for every family's cases and whole models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import NamedTuple, cast

import pytest
from numlite.delegates.cuda.launch import Kernel

from .gpu_checks import Check, all_checks, compile_all
from .gpu_worker import Outcome, Worker
from .simulation import needs_triton

pytestmark = [pytest.mark.gpu, needs_triton]


class Gpu(NamedTuple):
    """The process that has it, and which kernels did not compile."""

    worker: Worker
    broken: dict[str, str]


@pytest.fixture(scope="session")
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    """With everything compiled that the chosen checks need, side by side."""
    worker = Worker()
    found = worker.call("gpu")
    if found.failure:
        pytest.fail(f"no GPU: {found.failure}")
    assert isinstance(found.value, tuple)
    name, arch = found.value
    callspecs = [getattr(item, "callspec", None) for item in request.session.items]
    checks = [spec.params["check"] for spec in callspecs if spec and "check" in spec.params]
    kernels = _prepared(arch, checks)
    broken = compile_all(arch, kernels)
    print(f"{name}, sm_{arch}: {len(checks)} checks, {len(broken)} of {len(kernels)} kernels do not compile")
    yield Gpu(worker, broken)
    worker.stop()


def _prepared(arch: int, checks: list[Check]) -> list[Kernel]:
    """The kernels of all checks; meanwhile the CPU's are compiled. A module's cases are a process's."""
    groups: dict[tuple[str, ...], list[Check]] = {}
    for check in checks:
        groups.setdefault(check[:2], []).append(check)

    def prepare(group: list[Check]) -> list[Kernel]:
        worker, found = Worker(), []
        for check in group:
            worker.call("run_on_the_cpu", *check)
            # One that fails here fails in its own test, too.
            kernels = worker.call("kernels_of_check", arch, *check).value or ()
            found += cast(Iterable[Kernel], kernels)
        worker.stop()
        return found

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(dict.fromkeys(chain(*pool.map(prepare, groups.values()))))


def test_every_kernel_compiles(gpu: Gpu) -> None:
    assert not gpu.broken, "\n\n".join(gpu.broken.values())


@pytest.mark.parametrize("check", all_checks(), ids="-".join)
def test_on_the_gpu(gpu: Gpu, check: Check) -> None:
    outcome = gpu.worker.call(*check)
    if outcome.failure:
        pytest.fail(outcome.failure + _more(gpu, check, outcome))
    assert not outcome.value, f"left out: {outcome.value}"


def _more(gpu: Gpu, check: Check, outcome: Outcome) -> str:
    """Which launch it was, where a check has broken its process."""
    if not outcome.is_lost:
        return ""
    again = gpu.worker.call("launches_of", *check)
    return f"\n\nWithout graphs, launch by launch: {again.failure or 'it passes'}"
