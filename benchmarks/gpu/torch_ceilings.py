"""Ceilings by PyTorch's own programs: a copy, and square matrix products of each type."""

from __future__ import annotations

from collections.abc import Callable

import torch
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.timing import Timing, timing

SIDE = 8192
_ROUNDS = 15


def measure(job: Job, nbytes: int) -> None:
    """On the first GPU."""
    job.do("copy by torch", lambda: _copy(job, nbytes))
    for mode, product in _PRODUCTS.items():
        job.do(f"matmul {mode} by torch", lambda mode=mode, product=product: _matmul(job, mode, product))


def time_torch(work: Callable[[], object], rounds: int = _ROUNDS) -> Timing:
    """The device's time for work that was done a few times before."""
    for _ in range(3):
        work()
    events = [
        (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(rounds)
    ]
    torch.cuda.synchronize()
    for start, end in events:
        start.record()
        work()
        end.record()
    torch.cuda.synchronize()
    return timing([start.elapsed_time(end) * 1e3 for start, end in events])


def _copy(job: Job, nbytes: int) -> None:
    x = torch.randint(0, 1 << 30, (nbytes // 4,), dtype=torch.int32, device="cuda")
    y = torch.empty_like(x)
    found = time_torch(lambda: y.copy_(x))
    job.records.add(
        "copy", by="torch", mbytes=nbytes >> 20, bytes_per_s=2e6 * nbytes / found.us, **found.fields()
    )


def _float_product(dtype: torch.dtype) -> Callable[[], object]:
    torch.backends.cuda.matmul.allow_tf32 = True
    a, b = (torch.randn(SIDE, SIDE, device="cuda").to(dtype) for _ in range(2))
    out = torch.empty_like(a)
    return lambda: torch.matmul(a, b, out=out)


def _int8_product() -> Callable[[], object]:
    a, b = (torch.randint(-128, 128, (SIDE, SIDE), dtype=torch.int8, device="cuda") for _ in range(2))
    return lambda: torch._int_mm(a, b.t())


_PRODUCTS: dict[str, Callable[[], Callable[[], object]]] = {
    "int8": _int8_product,
    "bfloat16": lambda: _float_product(torch.bfloat16),
    "float16": lambda: _float_product(torch.float16),
    "tf32": lambda: _float_product(torch.float32),
}


def _matmul(job: Job, mode: str, product: Callable[[], Callable[[], object]]) -> None:
    found = time_torch(product())
    job.records.add(
        "matmul",
        mode=mode,
        by="torch",
        size=f"{SIDE}x{SIDE}x{SIDE}",
        macs_per_s=1e6 * SIDE**3 / found.us,
        **found.fields(),
    )
