"""ReadyPlan: a plan on a device, with its memory and its graphs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .boundary import Boundary, BoundaryInput
    from .device import Device, Graph
    from .launch import Launch, Place
    from .plan import Plan, WeightSlab

Outside = tuple[tuple["Place", int], ...]
_MOST_GRAPHS = 8  # kept for each plan: inputs of other libraries may lie somewhere else each time


class Arena:
    """One block of device memory for all shapes of a partition; it grows to the largest."""

    def __init__(self) -> None:
        self._start = self._nbytes = 0

    def address(self, device: Device, nbytes: int, plans: Iterable[ReadyPlan]) -> int:
        """Where nbytes lie; graphs that were captured for an older block are dropped."""
        if nbytes > self._nbytes or not self._start:
            self.free(device)
            for ready in plans:
                ready.drop_graphs()
            self._start, self._nbytes = device.allocate(max(nbytes, 1)), nbytes
        return self._start

    def free(self, device: Device) -> None:
        if self._start:
            device.free(self._start)
        self._start = self._nbytes = 0


class ReadyPlan:
    """A plan with its constants on the device, its pinned memory and its graphs.

    A graph copies the inputs in, runs the launches, and copies out what the host reads. Inputs and
    outputs that one launch streams through are in pinned memory for that launch itself: no copies.
    """

    def __init__(self, plan: Plan, device: Device) -> None:
        self.plan = plan
        self._device = device
        self._staged: dict[Place, np.ndarray] = {}
        self._results: dict[Place, np.ndarray] = {}
        self._direct: dict[Place, int] = {}
        self._status = device.pinned(4) if plan.has_status else None
        self._graphs: OrderedDict[Outside, Graph] = OrderedDict()
        self._boundary: Boundary | None = None

    def attach(self, boundary: Boundary) -> None:
        """Serve this boundary from now on; graphs that have other results are dropped."""
        self._boundary = boundary
        results = {o.place: o.is_copied and not o.on_device for o in boundary.outputs if o.is_copied}
        wanted = {place: self.plan.lowering.place_bytes(place) for place in results}
        direct = {
            place
            for place, alone in results.items()
            if alone and place in self.plan.streamed_outputs and self._device.maps_pinned
        }
        present = {place for place in self._results if place in self._direct}
        if wanted.keys() != self._results.keys() or direct != present:
            self.drop_graphs()
            for place in self._results:
                self._device.free_pinned(self._results[place])
                self._direct.pop(place, None)
            self._results = {}
            for place, nbytes in wanted.items():
                self._results[place] = self._device.pinned(nbytes)
                if place in direct:
                    self._direct[place] = self._results[place].ctypes.data
        for entry in boundary.inputs:
            entry.staged = None

    def stage(self, entry: BoundaryInput) -> None:
        """Put an input's value where the graph reads it."""
        memory = self._staged.get(entry.place)
        if memory is None:
            memory = self._staged[entry.place] = self._device.pinned(entry.tensor.nbytes)
            if entry.place in self.plan.streamed_inputs and self._device.maps_pinned:
                self._direct[entry.place] = memory.ctypes.data
        entry.stage(memory)

    def point(self, arena: int) -> None:
        """Have the outputs say where their values are."""
        assert self._boundary is not None
        for output in self._boundary.outputs:
            held = output.held
            held.shape = output.tensor.shape
            held.copy = self._results.get(output.place)
            held.address = self._direct.get(output.place) or arena + self.plan.layout.offsets[output.place]

    def graph(self, arena: int, slab: WeightSlab | None, outside: Outside) -> Graph:
        """The graph for inputs that lie on the device at these addresses; captured once, and kept a while.

        Of others, the least recently used one is dropped: none of them may be running.
        """
        found = self._graphs.get(outside)
        if found is None:
            assert slab is not None
            bound = self.bound(arena, slab, outside)

            def work() -> None:
                self.copy_in(arena, outside)
                for launch, values in bound:
                    self._device.launch(launch.kernel, launch.grid, values)
                self.copy_out(arena)

            found = self._graphs[outside] = self._device.capture(work)
            while len(self._graphs) > _MOST_GRAPHS:
                self._graphs.popitem(last=False)[1].free()
        self._graphs.move_to_end(outside)
        return found

    def bound(
        self, arena: int, slab: WeightSlab, outside: Outside
    ) -> list[tuple[Launch, tuple[int | float, ...]]]:
        """Each launch with its arguments' values."""
        return self.plan.bound(arena, slab, self._direct | dict(outside))

    def copy_in(self, arena: int, outside: Outside) -> None:
        """Copy the staged inputs into the arena."""
        elsewhere = self._direct.keys() | dict(outside).keys()
        for place, memory in self._staged.items():
            if place not in elsewhere:
                self._device.copy_in(arena + self.plan.layout.offsets[place], memory)

    def copy_out(self, arena: int) -> None:
        """Copy what the host reads, and what launches have reported."""
        for place, memory in self._results.items():
            if place not in self._direct and memory.size:
                self._device.copy_out(memory, arena + self.plan.layout.offsets[place])
        if self._status is not None:
            self._device.copy_out(self._status, self.plan.status_address)

    def fault(self) -> str | None:
        """What the last run reported, in words; it must be done."""
        if self._status is None or not (number := int(self._status.view(np.int32)[0])):
            return None
        self._device.copy_in(self.plan.status_address, np.zeros(1, np.int32))
        self._device.synchronize()
        return self.plan.lowering.reports.words(number)

    @property
    def has_status(self) -> bool:
        return self._status is not None

    def drop_graphs(self) -> None:
        for graph in self._graphs.values():
            graph.free()
        self._graphs.clear()

    def free(self) -> None:
        self.drop_graphs()
        pinned = [*self._staged.values(), *self._results.values()]
        for memory in pinned if self._status is None else [*pinned, self._status]:
            self._device.free_pinned(memory)
        self._staged.clear()
        self._results.clear()
        self._direct.clear()
        self._status = None
        self.plan.free(self._device)
