"""What kernels do to memory on the simulated device: nothing outside their operands, and no races."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numlite.delegates.cuda import simulated
from numlite.delegates.cuda.launch import Kernel, Launch, Place, Pointer
from numlite.delegates.cuda.plan import Plan, WeightSlab

_RESULTS = ("y_ptr", "y", "value_ptr", "place_ptr")
Bound = list[tuple[Launch, tuple[int | float, ...]]]


class Extent(NamedTuple):
    """The bytes of one operand."""

    name: str
    start: int
    end: int


class _Access(NamedTuple):
    """Bytes that one program accesses at once."""

    program: int
    addresses: np.ndarray
    name: str


class MemoryChecks:
    """Watches launches of plans; found holds a line for each fault."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.launches = 0
        self._extents: dict[int, tuple[tuple[int | float, ...], list[Extent]]] = {}
        self._kernel: Kernel | None = None
        self._present: list[Extent] = []
        self._stores: list[_Access] = []
        self._loads: list[_Access] = []
        self._program = 0

    def learn(self, plan: Plan, bound: Bound) -> None:
        """Keep where the operands of a plan's launches lie."""
        for launch, values in bound:
            extents = []
            for (name, _), arg, value in zip(launch.kernel.signature, launch.args, values, strict=True):
                if isinstance(arg, Pointer):
                    extents.append(Extent(name, int(value), int(value) + _nbytes(plan, arg.place)))
            self._extents[id(values)] = values, extents

    def enter(self, kernel: Kernel, values: Sequence[int | float]) -> None:
        """A launch begins: its hints must be true."""
        self.launches += 1
        self._kernel, (_, self._present) = kernel, self._extents.get(id(values), (None, []))
        self._stores, self._loads = [], []
        for (name, type_), value in zip(kernel.signature, values, strict=True):
            if (type_.startswith("*") or name in kernel.divisible) and int(value) % 16:
                self.found.append(f"{kernel}: {name} is {value}, which 16 must divide")

    def load(self, program: int, addresses: np.ndarray, nbytes: int) -> None:
        self._inside(addresses, nbytes, "reads")
        for extent in self._present:
            if extent.name in _RESULTS:
                within = addresses[(addresses >= extent.start) & (addresses < extent.end)]
                if within.size:
                    self._loads.append(_Access(program, _bytes(within, nbytes), extent.name))

    def store(self, program: int, addresses: np.ndarray, nbytes: int) -> None:
        self._inside(addresses, nbytes, "writes")
        self._stores.append(_Access(program, _bytes(addresses, nbytes), "stores"))

    def _inside(self, addresses: np.ndarray, nbytes: int, verb: str) -> None:
        if not self._present:
            return
        ok = np.zeros(addresses.shape, bool)
        for _, start, end in self._present:
            ok |= (addresses >= start) & (addresses + nbytes <= end)
        if not ok.all():
            self.found.append(
                f"{self._kernel}: {verb} outside its operands, {np.count_nonzero(~ok)} elements"
            )

    def leave(self) -> None:
        """The launch ends: no two programs may have written a byte, nor one read what another wrote."""
        if not self._stores:
            return
        at = np.concatenate([access.addresses for access in self._stores])
        who = np.concatenate([np.full(access.addresses.size, access.program) for access in self._stores])
        order = np.lexsort((who, at))
        at, who = at[order], who[order]
        if np.any((at[1:] == at[:-1]) & (who[1:] != who[:-1])):
            self.found.append(f"{self._kernel}: two programs write the same place")
        for access in self._loads:
            place = np.minimum(np.searchsorted(at, access.addresses), at.size - 1)
            if np.any((at[place] == access.addresses) & (who[place] != access.program)):
                self.found.append(f"{self._kernel}: a program reads what another one writes")


def _nbytes(plan: Plan, place: Place) -> int:
    lowering = plan.lowering
    if place.kind == "weights":
        return int(lowering.weights_of[place.key].make().nbytes)  # type: ignore[index]  # its own keys
    if place.kind == "table":
        return int(lowering.tables[place.key].make().nbytes)  # type: ignore[call-overload]  # a number
    return lowering.place_bytes(place)


def _bytes(addresses: np.ndarray, nbytes: int) -> np.ndarray:
    return np.unique((addresses.reshape(-1, 1) + np.arange(nbytes)).reshape(-1))


@contextmanager
def checked_memory() -> Iterator[MemoryChecks]:
    """Meanwhile watch all launches of simulated devices; Triton must be there."""
    from triton.runtime import interpreter

    checks = MemoryChecks()
    builder = interpreter.InterpreterBuilder
    bound_of, run = Plan.bound, simulated.run_kernel
    methods = {name: getattr(builder, name) for name in ("create_masked_load", "create_masked_store")}

    def bound(
        plan: Plan, arena: int, slab: WeightSlab, outside: Mapping[Place, int]
    ) -> list[tuple[Launch, tuple[int | float, ...]]]:
        found = bound_of(plan, arena, slab, outside)
        checks.learn(plan, found)
        return found

    def run_kernel(kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int | float]) -> None:
        checks.enter(kernel, values)
        run(kernel, grid, values)
        checks.leave()

    def watched(method: Callable[..., Any], tell: Callable[..., None], mask_at: int) -> Callable[..., Any]:
        def access(self: Any, ptrs: Any, *args: Any) -> Any:
            mask = args[mask_at].data
            addresses = np.broadcast_to(ptrs.data, np.broadcast_shapes(ptrs.data.shape, mask.shape))[mask]
            x, y, z = self.grid_idx
            program = (x * self.grid_dim[1] + y) * self.grid_dim[2] + z
            tell(program, addresses.astype(np.int64), ptrs.get_element_ty().primitive_bitwidth // 8)
            return method(self, ptrs, *args)

        return access

    Plan.bound, simulated.run_kernel = bound, run_kernel  # type: ignore[method-assign]
    builder.create_masked_load = watched(methods["create_masked_load"], checks.load, 0)
    builder.create_masked_store = watched(methods["create_masked_store"], checks.store, 1)
    try:
        yield checks
    finally:
        Plan.bound, simulated.run_kernel = bound_of, run  # type: ignore[method-assign]
        for name, method in methods.items():
            setattr(builder, name, method)
