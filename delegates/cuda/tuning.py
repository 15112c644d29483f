"""Tuning: which configuration of a matrix product is fastest on the device, timed once and kept on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ...kernels.compiled.driver.cache import cache_directory
from ...lite.private_file import read_private
from ...lite.whole_file import publish
from .families import lower
from .launch import Launch, Pointer
from .lowering import ChosenProduct, Lowering
from .plan import Plan, WeightSlab
from .tiles import Choice, Tile, ranked

if TYPE_CHECKING:
    from .device import Device

_CANDIDATES = 8  # that are timed, of those with the least estimated time
_REPEATS, _SAMPLES = 20, 5  # a sample is a graph of so many runs
Choices = Mapping[tuple[int, int], Choice]


def tuned(device: Device, lowering: Lowering, again: Callable[[Choices], Lowering]) -> Lowering:
    """The lowering with what is fastest on the device for each product.

    `again` lowers the same operators with given choices. They are kept by device, launch and sources;
    integer results do not depend on them.
    """
    choices = {chosen.key: _choice(device, lowering, chosen) for chosen in lowering.products}
    return again(choices) if choices else lowering


def _choice(device: Device, lowering: Lowering, chosen: ChosenProduct) -> Choice:
    candidates = ranked(chosen.product)[:_CANDIDATES]
    path = _path(device, _lowered(lowering, chosen, candidates[0]).launches)
    kept = _read(path)
    if kept in ranked(chosen.product):
        return kept
    best = min(candidates, key=lambda choice: _time_us(device, _lowered(lowering, chosen, choice)))
    with suppress(OSError):  # what cannot be kept is timed again
        publish(path, json.dumps([*best.tile, best.splits]).encode())
    return best


def _lowered(lowering: Lowering, chosen: ChosenProduct, choice: Choice) -> Lowering:
    """The step of the product alone, with a choice for it."""
    alone = Lowering(
        lowering.graph,
        (),
        (),
        lowering.precision,
        arch=lowering.arch,
        simulated=lowering.simulated,
        choices={chosen.key: choice},
    )
    lower(alone, chosen.step)
    return alone


def _path(device: Device, launches: list[Launch]) -> Path:
    """Where the choice is kept: by the device, the sources and all that is not an address."""
    digest = blake2b(device.name.encode(), digest_size=16)
    for launch in launches:
        numbers = [arg for arg in launch.args if not isinstance(arg, Pointer)]
        digest.update(repr((device.cubins.key(launch.kernel), launch.grid, numbers)).encode())
    return Path(cache_directory()) / "cuda" / f"tile-{digest.hexdigest()}.json"


def _read(path: Path) -> Choice | None:
    """What is kept, None where nothing that can be read is."""
    try:
        *tile, splits = map(int, json.loads(read_private(path) or b""))
        return Choice(Tile(*tile), splits)
    except (ValueError, TypeError):
        return None


def _time_us(device: Device, lowering: Lowering) -> float:
    """How long the launches take, with what they read still in the caches: the median of some samples."""
    plan, slab, arena = Plan(lowering), WeightSlab(device), 0
    repeats, samples = (1, 1) if lowering.simulated else (_REPEATS, _SAMPLES)
    try:
        plan.upload(device, slab)
        arena = device.allocate(plan.layout.nbytes)
        bound = plan.bound(arena, slab, {})

        def work() -> None:
            for launch, values in bound * repeats:
                device.launch(launch.kernel, launch.grid, values)

        graph = device.capture(work)
        try:
            graph.launch()
            return median(device.time_us(graph.launch) for _ in range(samples))
        finally:
            device.synchronize()
            graph.free()
    finally:
        if arena:
            device.free(arena)
        plan.free(device)
        slab.free()
