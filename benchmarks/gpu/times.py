"""Sections "models" and "layers": the networks by mode and batch, and each operator against its floor."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numlite.benchmarks.gpu.job import Configuration, Job
from numlite.benchmarks.gpu.limits import ceilings_from, operators
from numlite.benchmarks.gpu.lowered import (
    PlacedModel,
    delegate_for,
    launch_all,
    lowered,
    new_interpreter,
    random_values,
)
from numlite.benchmarks.gpu.timing import device_time, timing
from numlite.delegates.cuda.device import Device
from numlite.delegates.cuda.driver import CudaDevice

_SECONDS = 2.0  # a model's time, about
_LAYER_SECONDS = 0.5
_QUEUED = 20  # launches of a graph that wait for each other
_CACHE_BYTES = 60 << 20
_REPEATS = 50


def models(job: Job) -> None:
    """The device's time first, all of it; then through the interpreter, which the host's copies dominate."""
    device = CudaDevice()
    device.activate()
    job.each(partial(_device_times, job, device), job.modes, _SECONDS)
    job.each(partial(_invoke_time, job, device), ("int8", "bfloat16"), _SECONDS, "invoke ")


def _device_times(job: Job, device: Device, wanted: Configuration) -> None:
    """Of a graph of the launches by itself, and of one among many that wait for each other."""
    made = lowered(job.model(wanted.model, wanted.mode), wanted.mode, wanted.batch, device)
    placed = PlacedModel(made, device, job.seed)
    try:
        graph = placed.graph(placed.bound()[0])
        plain = device_time(job, device, graph.launch)
        queue = lambda: [graph.launch() for _ in range(_QUEUED)]  # noqa: E731
        queued = device_time(job, device, queue, 0.1, _QUEUED)
    finally:
        placed.free()
    ceilings = ceilings_from(job.records())
    floors = (len(o.names) * ceilings.floor_us(wanted.mode, o) for o in operators(made.lowering))
    limit_us = sum(floors)  # as each operator reads and writes device memory once
    rates = {"images_per_s": 1e6 * wanted.batch / plain.us, "fraction": limit_us / plain.us}
    others = {"queued_us": queued.us, "limit_us": limit_us, "assumed": list(ceilings.assumed)}
    job.add("model", **wanted._asdict(), **plain._asdict(), **rates, **others)


def _invoke_time(job: Job, device: Device, wanted: Configuration) -> None:
    """The host's time of set_tensor, invoke and get_tensor, and of invoke alone."""
    path = job.model(wanted.model, wanted.mode)
    interpreter = new_interpreter(path, delegate_for(wanted.mode, device), wanted.batch)
    (given,), (taken,) = interpreter.get_input_details(), interpreter.get_output_details()
    values = random_values(tuple(given["shape"]), given["dtype"], np.random.default_rng(job.seed))

    def host_us(copies: bool) -> float:
        start = time.perf_counter()
        if copies:
            interpreter.set_tensor(given["index"], values)
        interpreter.invoke()
        if copies:
            interpreter.get_tensor(taken["index"])
        return (time.perf_counter() - start) * 1e6

    found, alone = (timing(partial(host_us, copies), 0.3 * (not job.rehearses)) for copies in (True, False))
    job.add("invoke", **wanted._asdict(), **found._asdict(), alone_us=alone.us)


def layers(job: Job) -> None:
    """An operator's launches are repeated in one graph over several arenas that together are larger than the
    second-level cache, so that every run reads device memory; weights, and what is too small, stay in it.
    """
    device = CudaDevice()
    device.activate()
    job.each(partial(_layers_of, job, device), job.modes, 2 * _LAYER_SECONDS)


def _layers_of(job: Job, device: Device, wanted: Configuration) -> None:
    made = lowered(job.model(wanted.model, wanted.mode), wanted.mode, wanted.batch, device)
    found, ceilings = operators(made.lowering), ceilings_from(job.records())
    smallest = min(operator.nbytes for operator in found)
    arenas = min(2 + int(2 * _CACHE_BYTES / smallest), 2 if job.rehearses else _REPEATS)
    placed = PlacedModel(made, device, job.seed, arenas)
    try:
        bound = placed.bound()
        for launches in bound:  # so that what a layer reads are a network's values
            launch_all(device, launches)
        for number, operator in enumerate(found):
            if job.left() < _LAYER_SECONDS:
                raise TimeoutError(f"{len(found) - number} layers are left")
            chosen = [launches[operator.launches.start : operator.launches.stop] for launches in bound]
            repeats = 1 if job.rehearses else _REPEATS
            graph = placed.graph([launch for n in range(repeats) for launch in chosen[n % len(chosen)]])
            found_us = device_time(job, device, graph.launch, 0.06, repeats)
            floor_us = ceilings.floor_us(wanted.mode, operator)
            what = {"layer": operator.names[0], "operator": operator.label, "count": len(operator.names)}
            work = {"nbytes": operator.nbytes, "macs": operator.macs, "floor_us": floor_us}
            fraction = {"fraction": floor_us / found_us.us, "assumed": list(ceilings.assumed)}
            job.add("layer", **wanted._asdict(), **what, **found_us._asdict(), **work, **fraction)
    finally:
        placed.free()
