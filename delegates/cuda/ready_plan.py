"""ReadyPlan: a plan on a device, with its memory and its graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .device import Device, Graph
    from .launch import Place
    from .plan import Plan, WeightSlab


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
    """A plan with its constants on the device, its graphs and its staging memory."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.staging: dict[int, np.ndarray] = {}
        self._graphs: dict[tuple[tuple[Place, int], ...], Graph] = {}

    def copy_inputs(self, device: Device, arena: int, outside: Mapping[Place, int]) -> None:
        """Copy the staged inputs into the arena."""
        for t, memory in self.staging.items():
            place = self.plan.lowering.border_place(t)
            if place not in outside and memory.size:
                device.copy_in(arena + self.plan.layout.offsets[place], memory)

    def graph(
        self, device: Device, arena: int, slab: WeightSlab | None, outside: Mapping[Place, int]
    ) -> Graph:
        """The graph for inputs that lie on the device at these addresses; captured once."""
        key = tuple(sorted(outside.items()))
        found = self._graphs.get(key)
        if found is None:
            assert slab is not None
            bound = self.plan.bound(arena, slab, outside)

            def work() -> None:
                self.copy_inputs(device, arena, outside)
                for launch, values in bound:
                    device.launch(launch.kernel, launch.grid, values)

            found = self._graphs[key] = device.capture(work)
        return found

    def drop_graphs(self) -> None:
        for graph in self._graphs.values():
            graph.free()
        self._graphs.clear()

    def free(self, device: Device) -> None:
        self.drop_graphs()
        for memory in self.staging.values():
            device.free_pinned(memory)
        self.staging.clear()
        self.plan.free(device)
