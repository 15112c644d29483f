"""Section "correctness": integers bit for bit, floats by their norm; then the checks of the GPU tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numlite.benchmarks.gpu.job import Job, is_loss
from numlite.benchmarks.gpu.lowered import delegate_for, new_interpreter, random_values
from numlite.delegates.cuda.device import Device
from numlite.delegates.cuda.driver import CudaDevice
from numlite.tests.delegates.cuda import gpu_checks
from numlite.tests.delegates.cuda.simulation import RESOLVERS, run

BATCH = 2
# Of values in a network. Its filters sum to 0, which lets roundings grow: of ResNet50 PyTorch's float32
# on a CPU is up to 5e-5 from float64, its float16 up to 0.07, its bfloat16 up to 0.4.
_LIMITS = {"tf32x3": 2e-4, "tf32": 0.1, "float16": 0.1, "bfloat16": 0.6}
_REHEARSED = ("profile_has_device_times", "bytes_are_equal depthwise-plain", "case_equals_the_cpu softmax")


def measure(job: Job) -> None:
    """Whole networks with fresh values, then the checks of tests/delegates/cuda/gpu_checks.py."""
    device = CudaDevice()
    device.activate()
    for mode in job.modes:
        for name in job.models:
            for numerics in RESOLVERS if mode == "int8" else ("default",):
                what = f"network {name} {mode} {numerics}"
                job.do(what, partial(_network, job, device, what, name, mode, numerics), 2.0)
    for group, checks in check_groups(job).items():
        job.do(group, partial(_checks, job, group, checks))
    device.close()


def check_groups(job: Job) -> dict[str, list[gpu_checks.Check]]:
    """The checks by what they look at: a model, or a family's cases. A rehearsal has a few of them."""
    groups: dict[str, list[gpu_checks.Check]] = {}
    for check in gpu_checks.all_checks():
        groups.setdefault(" ".join(check[:2]), []).append(check)
    return {name: groups[name][:2] for name in _REHEARSED} if job.rehearses else groups


def _network(job: Job, device: Device, what: str, name: str, mode: str, numerics: str) -> None:
    """Values from inside a network, which its probabilities would hide: equal, or near the CPU's float32."""
    path = job.model(name, mode, watched=True)
    gpu = new_interpreter(path, delegate_for(mode, device), BATCH, numerics)
    cpu = new_interpreter(path, None, BATCH, numerics)
    (detail,) = cpu.get_input_details()
    shape, random = tuple(map(int, detail["shape"])), np.random.default_rng(job.seed)
    x, other = (random_values(shape, detail["dtype"], random) for _ in range(2))
    run(gpu, [other])  # so that what is not written shows
    got, again, expected = run(gpu, [x]), run(gpu, [x]), run(cpu, [x])
    repeats = all(mine.tobytes() == other.tobytes() for mine, other in zip(got, again, strict=True))
    error, limit = _error(got, expected), _LIMITS.get(mode, 0.0)
    is_right = repeats and (error <= limit or not gpu_checks.compares)
    job.add("check", what=what, error=error, limit=limit, repeats=repeats, ok=is_right)


def _error(got: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """The largest norm of a difference over that of what was expected; a lost NaN or infinity is inf."""
    worst = 0.0
    for mine, theirs in zip(got, expected, strict=True):
        exact = theirs.astype(np.float64)
        if mine.shape != theirs.shape or not np.array_equal(np.isfinite(mine), np.isfinite(exact)):
            return np.inf
        difference = float(np.linalg.norm(mine.astype(np.float64) - exact))
        worst = max(worst, difference / max(float(np.linalg.norm(exact)), 1e-30))
    return worst


def _checks(job: Job, group: str, checks: Sequence[gpu_checks.Check]) -> None:
    """All of a group; one that fails does not keep the others from running."""
    taken, faults = 0, []
    for name, *args in checks:
        try:
            taken += not getattr(gpu_checks, name)(*args)
        except Exception as error:
            if is_loss(error):
                raise RuntimeError(f"{name} {args}: {error}") from error
            faults.append(f"{name} {args}: {type(error).__name__}: {error}"[:200])
    job.add("check", what=group, cases=len(checks), taken=taken, faults=faults, ok=not faults)
