"""Section "models": the networks by mode and batch, with and without copies to the host."""

from __future__ import annotations

import gc

import numpy as np
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.limits import ceilings_from, unfused_us
from numlite.benchmarks.gpu.lowered import (
    LoweredModel,
    PlacedModel,
    file_type,
    new_interpreter,
    open_device,
    precision_of,
    random_values,
    resize,
)
from numlite.benchmarks.gpu.network_model import model_file
from numlite.benchmarks.gpu.networks import NETWORKS
from numlite.benchmarks.gpu.records import read_records
from numlite.benchmarks.gpu.timing import time_calls, time_graph, time_queue
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.device import Device

_SECONDS = 2.0  # a unit's time, about


def measure(job: Job) -> None:
    """The device's time first, all of it; then through the interpreter, which the host's copies dominate."""
    device = open_device(job.device)
    device.activate()
    for name, mode, batch in job.configurations():
        job.do(
            f"{name} {mode} {batch}",
            lambda name=name, mode=mode, batch=batch: _device_time(job, device, name, mode, batch),
            _SECONDS,
        )
    for name, mode, batch in job.configurations():
        if mode in ("int8", "bfloat16"):
            job.do(
                f"invoke {name} {mode} {batch}",
                lambda name=name, mode=mode, batch=batch: _invoke_time(job, device, name, mode, batch),
                _SECONDS,
            )
            gc.collect()  # what an interpreter has on the device goes with it


def _device_time(job: Job, device: Device, name: str, mode: str, batch: int) -> None:
    """Graphs of the launches, with the input in device memory, and with pinned copies in and out."""
    path = model_file(job.folder, name, file_type(mode), job.size)
    placed = PlacedModel(LoweredModel(path, mode, batch, device), device, job.seed)
    seconds, rounds = (0.0, 1) if job.small else (0.3, 50)
    try:
        graph = placed.graph()
        plain = time_graph(device, graph, seconds, rounds)
        queued_us = time_queue(device, graph, plain.us, seconds / 3)
        copied = time_graph(device, placed.graph_with_copies(), seconds, rounds)
    finally:
        placed.free()
    ceilings = ceilings_from(read_records(job.records.path))
    limit_us = unfused_us(NETWORKS[name](job.size), mode, batch, ceilings)
    job.records.add(
        "model",
        model=name,
        mode=mode,
        batch=batch,
        launches=len(placed.lowering.launches),
        **plain.fields(),
        queued_us=queued_us,
        images_per_s=1e6 * batch / plain.us,
        **copied.fields("copied_"),
        limit_us=limit_us,
        fraction=limit_us / plain.us,
        assumed=list(ceilings.assumed),
    )


def _invoke_time(job: Job, device: Device, name: str, mode: str, batch: int) -> None:
    """The host's time of set_tensor, invoke and get_tensor, and of invoke alone."""
    delegate = CudaDelegate(CudaOptions(precision_of(mode)), device=device)
    interpreter = new_interpreter(model_file(job.folder, name, file_type(mode), job.size), delegate)
    resize(interpreter, batch)
    interpreter.allocate_tensors()
    (given,), (taken,) = interpreter.get_input_details(), interpreter.get_output_details()
    values = random_values(tuple(given["shape"]), given["dtype"], np.random.default_rng(job.seed))

    def call() -> None:
        interpreter.set_tensor(given["index"], values)
        interpreter.invoke()
        interpreter.get_tensor(taken["index"])

    effort = (0.0, 1) if job.small else (0.5, 30)
    found = time_calls(call, *effort)
    alone = time_calls(interpreter.invoke, *effort)
    job.records.add("invoke", model=name, mode=mode, batch=batch, **found.fields(), **alone.fields("alone_"))
