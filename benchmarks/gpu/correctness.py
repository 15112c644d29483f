"""Section "correctness": fresh random inputs; integers bit for bit, floats by their norm, runs repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.benchmarks.gpu import correctness_cases
from numlite.benchmarks.gpu.correctness_cases import check_alive, relative_error, wrong_elements
from numlite.benchmarks.gpu.job import Job, is_loss
from numlite.benchmarks.gpu.lowered import (
    file_type,
    new_interpreter,
    open_device,
    precision_of,
    random_values,
)
from numlite.benchmarks.gpu.network_model import model_file
from numlite.benchmarks.gpu.single_layers import SingleLayer, single_layers
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.device import Device
from numlite.interpreter import OpResolverType
from numlite.tests.delegates.cuda.simulation import run

RESOLVERS = {"default": OpResolverType.AUTO, "reference": OpResolverType.BUILTIN_REF}
WATCHED_BATCH = 2
_LIMITS = {"tf32x3": 1e-6, "tf32": 1e-3, "float16": 1e-3, "bfloat16": 1e-2}
# Of values inside a network. Its filters sum to 0, which lets roundings grow: of ResNet50 PyTorch's float32
# on a CPU is up to 5e-5 from float64, its float16 up to 0.07, its bfloat16 up to 0.4.
_NETWORK_LIMITS = {"tf32x3": 2e-4, "tf32": 0.1, "float16": 0.1, "bfloat16": 0.6}
_SMALL_STEMS = ("conv_q8", "softmax")


def measure(job: Job) -> None:
    """Single layers, networks, then the families' cases: what is most wanted first."""
    device = open_device(job.device)
    device.activate()
    float_modes = [mode for mode in job.modes if mode in _LIMITS]
    for mode in float_modes:
        job.do(f"single {mode}", lambda mode=mode: _single_layers(job, device, mode))
    for mode in (*(mode for mode in job.modes if mode == "int8"), *float_modes, "uint8"):
        for name in job.models:
            for numerics in RESOLVERS if mode in ("int8", "uint8") else ("default",):
                job.do(
                    f"network {name} {mode} {numerics}",
                    lambda name=name, mode=mode, numerics=numerics: _network(
                        job, device, name, mode, numerics
                    ),
                    2.0,
                )
    for stem in _SMALL_STEMS if job.small else correctness_cases.STEMS:
        for numerics in RESOLVERS:
            job.do(f"cases {stem} {numerics}", lambda s=stem, n=numerics: _cases(job, device, s, n))
    device.close()


def _single_layers(job: Job, device: Device, mode: str) -> None:
    for layer in single_layers():
        x = _values(layer, job.seed)
        other = _values(layer, job.seed + 1)
        model = layer.content("float32")
        delegate = CudaDelegate(CudaOptions(precision_of(mode)), device=device)
        interpreter = new_interpreter(model, delegate)
        run(interpreter, [other])
        (got,), (again,) = run(interpreter, [x]), run(interpreter, [x])
        check_alive(device)
        error = relative_error(got, layer.exact(x))
        repeats = got.tobytes() == again.tobytes()
        job.records.add(
            "check",
            what=f"{layer.name} {mode}",
            against="float64",
            error=error,
            limit=_LIMITS[mode],
            repeats=repeats,
            ok=repeats and bool(np.isfinite(got).all()) and error <= _LIMITS[mode],
        )


def _values(layer: SingleLayer, seed: int) -> np.ndarray:
    shape = (WATCHED_BATCH, *layer.network.layers[0].shape)
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def _network(job: Job, device: Device, name: str, mode: str, numerics: str) -> None:
    """Values from inside a network, which its probabilities would hide: equal, or near the CPU's float32."""
    path = model_file(job.folder, name, file_type(mode), job.size, watched=True)
    delegate = CudaDelegate(CudaOptions(precision_of(mode)), device=device)
    interpreter = new_interpreter(path, delegate, RESOLVERS[numerics])
    cpu = new_interpreter(path, None, RESOLVERS[numerics])
    (detail,) = cpu.get_input_details()
    shape = (WATCHED_BATCH, *map(int, detail["shape"][1:]))
    x, other = (random_values(shape, detail["dtype"], np.random.default_rng(job.seed + n)) for n in range(2))
    run(interpreter, [other])
    got, again, expected = run(interpreter, [x]), run(interpreter, [x]), run(cpu, [x])
    check_alive(device)
    _record_network(job, f"{name} {mode} {numerics}", mode, (got, again, expected))


def _record_network(job: Job, what: str, mode: str, runs: tuple[Sequence[np.ndarray], ...]) -> None:
    got, again, expected = runs
    wrong = sum(wrong_elements(mine, theirs) for mine, theirs in zip(got, expected, strict=True))
    error = max(relative_error(mine, theirs) for mine, theirs in zip(got, expected, strict=True))
    repeats = all(mine.tobytes() == other.tobytes() for mine, other in zip(got, again, strict=True))
    limit = _NETWORK_LIMITS.get(mode, 0.0)
    job.records.add(
        "check",
        what=what,
        against="CPU",
        elements=sum(value.size for value in expected),
        wrong=wrong,
        error=error,
        limit=limit,
        repeats=repeats,
        ok=repeats and wrong == 0 and error <= limit,
    )


def _cases(job: Job, device: Device, stem: str, numerics: str) -> None:
    """All chosen cases of a family; one that fails does not keep the others from running."""
    random = np.random.default_rng(job.seed)
    taken, faults = 0, []
    cases = correctness_cases.chosen(stem)[: 2 if job.small else None]
    for case in cases:
        try:
            found = correctness_cases.compared(case, RESOLVERS[numerics], device, random)
        except Exception as error:
            if is_loss(error):
                raise RuntimeError(f"case {case.id}: {error}") from error
            faults.append(f"{case.id}: {type(error).__name__}: {error}"[:200])
            continue
        taken += found.taken
        if not found.is_right:
            faults.append(f"{case.id}: {found}")
    job.records.add(
        "check",
        what=f"cases {stem} {numerics}",
        against="CPU",
        cases=len(cases),
        taken=taken,
        faults=faults,
        ok=not faults,
    )
