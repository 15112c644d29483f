"""Section "layers": each operator of the networks by itself, against its floor.

An operator's launches are repeated in one graph over copies of their memory that together are larger than
the second-level cache, so that every run reads device memory; what is too small for that stays in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numlite.benchmarks.gpu.ceilings import copy_launch
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.limits import ceilings_from
from numlite.benchmarks.gpu.lowered import LoweredModel, file_type, open_device
from numlite.benchmarks.gpu.network_model import model_file
from numlite.benchmarks.gpu.records import read_records
from numlite.benchmarks.gpu.timing import Timing, time_graph
from numlite.delegates.cuda.device import Device
from numlite.delegates.cuda.launch import Launch, Place, Pointer
from numlite.delegates.cuda.lowering import Lowering
from numlite.delegates.cuda.operands import bfloat16_bits

_CACHE_BYTES = 60 << 20
_REPEATS = 50
_PATTERN_BYTES = 16 << 20
_ALIGNMENT = 256
_MATRIX_OPERATORS = ("CONV_2D", "FULLY_CONNECTED")
_SECONDS = 0.5  # that a kind of layer may take, about


@dataclass(frozen=True)
class Operator:
    """One operator's launches; names are those of all operators of the network that launch the same.

    nbytes and macs are the least that it has to read, write and multiply on tensor cores.
    """

    names: tuple[str, ...]
    label: str
    launches: tuple[Launch, ...]
    nbytes: float
    macs: int


def measure(job: Job) -> None:
    device = open_device(job.device)
    device.activate()
    patterns = Patterns(device, job.seed, 1 << 16 if job.small else _PATTERN_BYTES)
    for name, mode, batch in job.configurations():
        job.do(
            f"{name} {mode} {batch}",
            lambda name=name, mode=mode, batch=batch: _network(job, device, patterns, name, mode, batch),
            2 * _SECONDS,
        )


def _network(job: Job, device: Device, patterns: Patterns, name: str, mode: str, batch: int) -> None:
    lowered = LoweredModel(model_file(job.folder, name, file_type(mode), job.size), mode, batch, device)
    device.load(lowered.kernels)
    ceilings = ceilings_from(read_records(job.records.path))
    found = operators(lowered.lowering)
    for number, operator in enumerate(found):
        if job.left() < _SECONDS:
            left = len(found) - number
            job.records.add("skipped", unit=f"{left} layers of {name} {mode} {batch}", why="no time")
            return
        time = time_operator(device, patterns, lowered.lowering, operator, job.small)
        floor_us = ceilings.floor_us(mode, operator.nbytes, operator.macs)
        job.records.add(
            "layer",
            model=name,
            mode=mode,
            batch=batch,
            layer=operator.names[0],
            count=len(operator.names),
            operator=operator.label,
            kernel=str(operator.launches[0].kernel),
            launches=len(operator.launches),
            nbytes=operator.nbytes,
            macs=operator.macs,
            **time.fields(),
            floor_us=floor_us,
            fraction=floor_us / time.us,
            assumed=list(ceilings.assumed),
        )


def operators(lowering: Lowering) -> list[Operator]:
    """The network's operators, those with equal launches as one."""
    content = _Contents(lowering)
    found: dict[object, Operator] = {}
    for node, group in groupby(lowering.launches, lambda launch: launch.node):
        launches = tuple(group)
        name, macs = _name_and_macs(lowering, node, launches[0])
        nbytes = _least_bytes(lowering, content, launches)
        places: dict[Place, int] = {}
        key = tuple(
            (launch.kernel, launch.grid, tuple(_shape_of(content, places, arg) for arg in launch.args))
            for launch in launches
        )
        same = found.get(key)
        names = (name,) if same is None else (*same.names, name)
        found[key] = Operator(names, launches[0].label, launches, nbytes, macs)
    return list(found.values())


def _shape_of(content: _Contents, places: dict[Place, int], arg: object) -> object:
    """An argument without its address: which of the launches' places it is, and how large that is."""
    if not isinstance(arg, Pointer):
        return arg
    return places.setdefault(arg.place, len(places)), arg.type, content.nbytes(arg.place)


def _name_and_macs(lowering: Lowering, node: int, launch: Launch) -> tuple[str, int]:
    """The layer's name, and its multiply-adds on tensor cores."""
    found = next((n for n in lowering.graph.nodes if n.index == node), None)
    if found is None:
        return launch.label.lower(), 0
    y = lowering.graph.tensor(found.outputs[0])
    if launch.label not in _MATRIX_OPERATORS:
        return y.name, 0
    w = lowering.graph.tensor(found.inputs[1])
    return y.name, int(np.prod(y.shape[:-1])) * int(np.prod(w.shape))


def _least_bytes(lowering: Lowering, content: _Contents, launches: tuple[Launch, ...]) -> float:
    """Each place once, what passes between the operator's own launches not at all.

    Of a convolution whose strides are beyond its filter only the pixels that it reads count.
    """
    places = {place for launch in launches for place in launch.places if place.kind != "scratch"}
    total = float(sum(map(content.nbytes, places)))
    node = next((n for n in lowering.graph.nodes if n.index == launches[0].node), None)
    if node is not None and launches[0].label == "CONV_2D":
        x, w = (lowering.graph.tensor(t) for t in node.inputs[:2])
        seen = min(1.0, w.shape[1] / node.options.stride_h) * min(1.0, w.shape[2] / node.options.stride_w)
        place = Place("tensor", lowering.owner(x.index))
        total -= content.nbytes(place) * (1 - seen) if place in places else 0
    return total


class _Contents:
    """Places' sizes, and what the constant ones hold."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._made: dict[Place, np.ndarray] = {}

    def constant(self, place: Place) -> np.ndarray | None:
        """What a constant place holds, as the device reads it; None for places that launches write."""
        if place.kind not in ("weights", "table"):
            return None
        if place not in self._made:
            weights = self._lowering.weights_of if place.kind == "weights" else self._lowering.tables
            self._made[place] = np.ascontiguousarray(weights[place.key].make())  # type: ignore[index]
        return self._made[place]

    def nbytes(self, place: Place) -> int:
        made = self.constant(place)
        return self._lowering.place_bytes(place) if made is None else made.nbytes


class Patterns:
    """Random values in device memory, to fill buffers with: never zeros, which are faster than data."""

    def __init__(self, device: Device, seed: int, nbytes: int) -> None:
        self._device, self._nbytes = device, nbytes
        random = np.random.default_rng(seed)
        normal = random.standard_normal(nbytes // 4, np.float32)
        half = np.resize(normal, nbytes // 2)
        contents = {
            "fp32": normal,
            "fp16": half.astype(np.float16),
            "bf16": bfloat16_bits(half),
            "": random.integers(0, 256, nbytes, np.uint8),
        }
        self._addresses = {type_: device.allocate(nbytes) for type_ in contents}
        for type_, values in contents.items():
            device.copy_in(self._addresses[type_], values)
        launch, _ = copy_launch(0, 0, _ALIGNMENT)
        device.load([launch.kernel])
        device.synchronize()

    def fill(self, address: int, nbytes: int, type_: str) -> None:
        """A multiple of 256 bytes from a 256-byte boundary on."""
        source = self._addresses.get(type_, self._addresses[""])
        for start in range(0, nbytes, self._nbytes):
            part = min(self._nbytes, nbytes - start)
            launch, values = copy_launch(source, address + start, part)
            self._device.launch(launch.kernel, launch.grid, values)


def time_operator(
    device: Device, patterns: Patterns, lowering: Lowering, operator: Operator, small: bool = False
) -> Timing:
    """Time of one run among many, each on other memory than those just before it."""
    content = _Contents(lowering)
    types: dict[Place, str] = {}
    for launch in operator.launches:
        for arg in launch.args:
            if isinstance(arg, Pointer):
                types.setdefault(arg.place, arg.type)
    sizes = {place: -(-content.nbytes(place) // _ALIGNMENT) * _ALIGNMENT for place in types}
    repeats = 1 if small else _REPEATS
    copies = int(min(max(2, -(-2 * _CACHE_BYTES // max(1, sum(sizes.values())))), repeats))
    memory = device.allocate(max(1, copies * sum(sizes.values())))
    try:
        bound = []
        for start in range(copies):
            at = memory + start * sum(sizes.values())
            addresses = {}
            for place, nbytes in sizes.items():
                addresses[place] = at
                _put(device, patterns, content.constant(place), at, nbytes, types[place])
                at += nbytes
            bound.append(list(_bound(operator, addresses)))
        device.synchronize()
        graph = device.capture(_repeated(device, bound, repeats))
        found = time_graph(device, graph, 0.0 if small else 0.06, 1 if small else 10, repeats)
        graph.free()
    finally:
        device.synchronize()
        device.free(memory)
    return found


def _put(
    device: Device, patterns: Patterns, constant: np.ndarray | None, at: int, nbytes: int, type_: str
) -> None:
    if constant is None:
        patterns.fill(at, nbytes, type_)
    elif constant.nbytes:
        device.copy_in(at, constant)


def _bound(
    operator: Operator, addresses: dict[Place, int]
) -> Iterator[tuple[Launch, tuple[int | float, ...]]]:
    for launch in operator.launches:
        yield launch, tuple(addresses[a.place] if isinstance(a, Pointer) else a for a in launch.args)


def _repeated(
    device: Device, bound: list[list[tuple[Launch, tuple[int | float, ...]]]], repeats: int
) -> Callable[[], None]:
    def work() -> None:
        for repeat in range(repeats):
            for launch, values in bound[repeat % len(bound)]:
                device.launch(launch.kernel, launch.grid, values)

    return work
