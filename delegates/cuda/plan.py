"""Plan: a partition's launches for one set of shapes, with every operand's address, as a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...lite.arena_planner import plan_offsets
from ...lite.errors import UnsupportedError
from ...lite.lifetimes import Lifetime
from .launch import MOST_ELEMENTS, Kernel, Launch, Place, Pointer

if TYPE_CHECKING:
    from ...lite.tensor import Shape
    from .device import Device
    from .lowering import Lowering
    from .operands import Weights

ALIGNMENT = 256


def aligned(nbytes: int) -> int:
    """nbytes rounded up to the device's alignment."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


class WeightSlab:
    """Constants on the device, packed once; those that a later shape needs come in another block."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._addresses: dict[tuple[int, str], int] = {}
        self._blocks: list[int] = []

    def add(self, weights: Mapping[tuple[int, str], Weights]) -> None:
        """Put on the device what is not there yet. UnsupportedError for what offsets do not reach."""
        missing = {key: value.make() for key, value in weights.items() if key not in self._addresses}
        for key, array in missing.items():
            if array.size >= MOST_ELEMENTS:
                raise UnsupportedError(
                    f"weights {key}: packed, they must have less than 2**31 elements, got {array.size:,}"
                )
        if not missing:
            return
        starts, content = joined(list(missing.values()))
        block = self._device.allocate(content.size)
        self._blocks.append(block)
        self._device.copy_in(block, content)
        self._device.synchronize()
        self._addresses.update((key, block + start) for key, start in zip(missing, starts, strict=True))

    def address(self, key: tuple[int, str]) -> int:
        return self._addresses[key]

    def free(self) -> None:
        for block in self._blocks:
            self._device.free(block)
        self._blocks.clear()
        self._addresses.clear()


def joined(arrays: Sequence[np.ndarray]) -> tuple[list[int], np.ndarray]:
    """Where each array starts in one block of bytes, and the block."""
    starts, end = [], 0
    for array in arrays:
        starts.append(end)
        end += aligned(array.nbytes)
    content = np.zeros(end, np.uint8)
    for start, array in zip(starts, arrays, strict=True):
        content[start : start + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return starts, content


@dataclass(frozen=True)
class Layout:
    """Offsets in the arena, in bytes, and its size."""

    offsets: dict[Place, int]
    nbytes: int


def arena_layout(lowering: Lowering, elsewhere: Collection[Place] = ()) -> Layout:
    """Places tensors and scratch in one arena: inputs live from the start, outputs to the end."""
    first: dict[Place, int] = {}
    last: dict[Place, int] = {}
    for position, launch in enumerate(lowering.launches):
        for place in launch.places:
            if place.kind in ("tensor", "boundary", "scratch"):
                first.setdefault(place, position)
                last[place] = position
    for t in lowering.inputs:
        place = lowering.boundary_place(t)
        first[place] = 0
        last.setdefault(place, 0)
    for t in lowering.outputs:
        place = lowering.boundary_place(t)
        first.setdefault(place, 0)
        last[place] = len(lowering.launches)
    places = [place for place in first if place not in elsewhere]
    lifetimes = [Lifetime(i, lowering.place_bytes(p), first[p], last[p]) for i, p in enumerate(places)]
    offsets, nbytes = plan_offsets(lifetimes, ALIGNMENT)
    return Layout(dict(zip(places, offsets, strict=True)), nbytes)


class Plan:
    """Launches, and the shapes that they give the partition's outputs.

    streamed_inputs and streamed_outputs are places that one launch reads or writes, each element once and
    in order: that launch may do so in host memory, in the place of a copy. Inputs of the kind have no place
    in the arena where the device maps pinned memory.
    """

    def __init__(self, lowering: Lowering, maps_pinned: bool = False) -> None:
        graph = lowering.graph
        self.lowering = lowering
        self.streamed_inputs = _streamed(lowering, lowering.inputs, "x_ptr")
        self.streamed_outputs = _streamed(lowering, lowering.outputs, "y_ptr")
        self.layout = arena_layout(lowering, self.streamed_inputs if maps_pinned else ())
        self.output_shapes: dict[int, Shape] = {t: graph.tensor(t).shape for t in lowering.outputs}
        self._tables = 0
        self._table_starts: list[int] = []

    @property
    def kernels(self) -> list[Kernel]:
        """Each kernel once."""
        return list(dict.fromkeys(launch.kernel for launch in self.lowering.launches))

    def upload(self, device: Device, slab: WeightSlab) -> None:
        """Put the constants on the device, and have its code there."""
        device.load(self.kernels)
        slab.add(self.lowering.weights_of)
        if self.lowering.tables and not self._tables:
            self._table_starts, content = joined([table.make() for table in self.lowering.tables])
            self._tables = device.allocate(content.size)
            device.copy_in(self._tables, content)
            device.synchronize()

    @property
    def has_status(self) -> bool:
        """Whether launches may report faults."""
        return self.lowering.reports.status is not None

    @property
    def status_address(self) -> int:
        """Where they do, as int32."""
        status = self.lowering.reports.status
        assert status is not None and isinstance(status.place.key, int)
        return self._tables + self._table_starts[status.place.key]

    def free(self, device: Device) -> None:
        if self._tables:
            device.free(self._tables)
            self._tables = 0

    def address(self, place: Place, arena: int, slab: WeightSlab, outside: Mapping[Place, int]) -> int:
        """Where a place is once the arena has its address."""
        if place in outside:
            return outside[place]
        if place.kind == "weights":
            return slab.address(place.key)  # type: ignore[arg-type]  # the lowering's own keys
        if place.kind == "table":
            assert isinstance(place.key, int)
            return self._tables + self._table_starts[place.key]
        return arena + self.layout.offsets[place]

    def bound(
        self, arena: int, slab: WeightSlab, outside: Mapping[Place, int]
    ) -> list[tuple[Launch, tuple[int | float, ...]]]:
        """Each launch with its arguments' values."""
        return [
            (
                launch,
                tuple(
                    self.address(arg.place, arena, slab, outside) if isinstance(arg, Pointer) else arg
                    for arg in launch.args
                ),
            )
            for launch in self.lowering.launches
        ]


# Launches that read x_ptr and write y_ptr element by element.
_STREAMING = (("quantize", "quantize"), ("quantize", "dequantize"), ("elementwise", "convert"))


def _streamed(lowering: Lowering, tensors: Sequence[int], argument: str) -> frozenset[Place]:
    """The places of these tensors that are used once, as this argument of a streaming launch."""
    uses = Counter(place for launch in lowering.launches for place in launch.places)
    found = {
        arg.place
        for launch in lowering.launches
        if (launch.kernel.source, launch.kernel.function) in _STREAMING
        for (name, _), arg in zip(launch.kernel.signature, launch.args, strict=True)
        if name == argument and isinstance(arg, Pointer) and uses[arg.place] == 1
    }
    return frozenset(found.intersection(map(lowering.boundary_place, tensors)))
