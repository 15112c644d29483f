"""Section "peers": the same networks and weights in PyTorch and JAX, each in processes of its own.

What compiles for minutes comes last, a network and batch in a process that has its own limit of time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.processes import run_process

MODES = ("bfloat16", "tf32", "float16")  # that peers have, too
_QUICK_SHARE, _QUICK_SECONDS = 0.3, 70.0  # of what is left, and at most, for eager and captured models
_COMPILE_SECONDS = 200.0  # at most for one network and batch
_LEAST_COMPILE_SECONDS = 25.0
_MODULES = {"torch": "torch_times", "jax": "jax_times", "compile": "torch_compiled"}


def measure(job: Job) -> None:
    """What is quick first."""
    if job.device != "cuda":
        job.records.add("absent", what="peers", why="they are compared on a GPU only")
        return
    _tell_onnxruntime(job)
    for kind in ("torch", "jax"):
        if find_spec(kind) is None:
            job.records.add("absent", what=kind, why="it is not installed")
            continue
        seconds = min(_QUICK_SECONDS, _QUICK_SHARE * job.left())
        _run(replace(job, deadline=job.deadline - job.left() + seconds), kind, seconds)
    if find_spec("torch") is None:
        return
    for batch, model in product(sorted(job.batches, key=lambda b: (b != 32, b != 1, b)), job.models):
        if job.left() < _LEAST_COMPILE_SECONDS:
            job.records.add(
                "skipped", unit=f"torch.compile {model} {batch}", why="the section's time is over"
            )
            continue
        seconds = min(_COMPILE_SECONDS, job.left())
        _run(replace(job, models=(model,), batches=(batch,)), "compile", seconds)


def _run(job: Job, kind: str, seconds: float) -> None:
    command = [sys.executable, "-m", "numlite.benchmarks.gpu.peers", job.text(), kind]
    with Path(job.out, "run.log").open("a", encoding="utf-8") as log:
        ended = run_process(command, log, job.records.path, seconds, seconds, own_group=False)
    if ended.status:
        job.records.add(
            "ended",
            status=ended.status,
            why=f"{kind} {' '.join(job.models)} {job.batches}: {ended.why}",
            log=[],
        )


def _tell_onnxruntime(job: Job) -> None:
    """Its providers, for the record: only one for CUDA would be a peer."""
    if find_spec("onnxruntime") is None:
        job.records.add("absent", what="onnxruntime", why="it is not installed")
        return
    providers = import_module("onnxruntime").get_available_providers()
    if "CUDAExecutionProvider" not in providers:
        job.records.add("absent", what="onnxruntime for CUDA", why=f"it has {', '.join(providers)}")


def for_each_model(job: Job, by: str, work: Callable[[str, str, int], None], seconds: float) -> None:
    """Have work(name, mode, batch) measured for each model of the job; each takes about so long."""
    for mode in (mode for mode in MODES if mode in job.modes):
        for name in job.models:
            for batch in job.batches:
                job.do(f"{by} {name} {mode} {batch}", partial(work, name, mode, batch), seconds)


if __name__ == "__main__":
    import_module(f"numlite.benchmarks.gpu.{_MODULES[sys.argv[2]]}").measure(Job.from_text(sys.argv[1]))
