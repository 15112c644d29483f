"""Peers by PyTorch's compiler, which tries many kernels for each layer: one network and batch."""

from __future__ import annotations

import time
from functools import partial

import torch
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.peers import for_each_model
from numlite.benchmarks.gpu.torch_ceilings import time_torch
from numlite.benchmarks.gpu.torch_times import allow_fast_products, peer, record


def measure(job: Job) -> None:
    allow_fast_products()
    for_each_model(job, "torch.compile", partial(_compiled, job), 20.0)


def _compiled(job: Job, name: str, mode: str, batch: int) -> None:
    model, x = peer(job, name, mode, batch)
    torch._dynamo.mark_static_address(x)
    compiled = torch.compile(model, mode="max-autotune", dynamic=False)
    start = time.perf_counter()
    with torch.no_grad():
        y = compiled(x).clone()
        torch.cuda.synchronize()
        job.records.add(
            "peer compiled", model=name, mode=mode, batch=batch, seconds=time.perf_counter() - start
        )
        found = time_torch(lambda: compiled(x))
    record(job, (name, mode, batch), "torch.compile", found, y)
