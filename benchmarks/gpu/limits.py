"""Ceilings of a device, and what they leave of a network and its operators: no version runs faster."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from math import prod
from typing import NamedTuple

from numlite.benchmarks.gpu.job import Record
from numlite.delegates.cuda.launch import Place, Pointer
from numlite.delegates.cuda.lowering import Lowering

# Used where a ceiling was not measured; every table says so. TF32x3 multiplies three times.
_ASSUMED_COPY = 4.3e12
_ASSUMED_MACS = {"int8": 788e12, "bfloat16": 394e12, "float16": 394e12, "tf32": 197e12, "tf32x3": 66e12}
_MATRIX_OPERATORS = ("CONV_2D", "FULLY_CONNECTED")


class Ceilings(NamedTuple):
    """Bytes a second that a copy reads and writes, multiply-adds a second by mode, and what was assumed."""

    copy: float
    macs: dict[str, float]
    assumed: tuple[str, ...]

    def floor_us(self, mode: str, operator: Operator) -> float:
        """The longer of moving the bytes and doing the multiply-adds, once."""
        return 1e6 * max(operator.nbytes / self.copy, operator.macs / self.macs[mode])


def ceilings_from(records: Iterable[Record]) -> Ceilings:
    """The largest that were measured, by whatever program."""
    copies, macs = [0.0], dict[str, float]()
    for record in records:
        if record["kind"] == "copy":
            copies.append(record["rate"])
        elif record["kind"] == "matmul":
            macs[record["mode"]] = max(record["rate"], macs.get(record["mode"], 0.0))
    if "tf32" in macs:
        macs["tf32x3"] = max(macs["tf32"] / 3, macs.get("tf32x3", 0.0))
    assumed = [mode for mode in _ASSUMED_MACS if mode not in macs] + ([] if max(copies) else ["copy"])
    return Ceilings(max(copies) or _ASSUMED_COPY, _ASSUMED_MACS | macs, tuple(assumed))


class Operator(NamedTuple):
    """One operator's launches, as positions among all; names are those of all operators that launch the same.

    nbytes and macs are the least that it has to read, write and multiply on tensor cores, which depthwise
    convolutions do not use. What is fused (a PAD, a sum) is part of the operator that does it.
    """

    names: tuple[str, ...]
    label: str
    launches: range
    nbytes: float
    macs: int


def operators(lowering: Lowering) -> list[Operator]:
    """The network's operators, those with equal launches as one."""
    nodes = {node.index: node for node in lowering.graph.nodes}
    found, start = dict[object, Operator](), 0
    for number, group in groupby(lowering.launches, lambda launch: launch.node):
        launches = tuple(group)
        positions = range(start, start + len(launches))
        start = positions.stop
        places = {place for launch in launches for place in launch.places if place.kind != "scratch"}
        nbytes, label = sum(_nbytes(lowering, place) for place in places), launches[0].label
        name, macs = label.lower(), 0
        if number in nodes:
            y = lowering.graph.tensor(nodes[number].outputs[0])
            name = y.name
            if label in _MATRIX_OPERATORS:
                w = lowering.graph.tensor(nodes[number].inputs[1])
                macs = prod(y.shape[:-1]) * prod(w.shape)
        numbers = [[arg for arg in launch.args if not isinstance(arg, Pointer)] for launch in launches]
        key = (nbytes, *((x.kernel, x.grid, *args) for x, args in zip(launches, numbers, strict=True)))
        same = found.get(key, Operator((), label, positions, nbytes, macs))
        found[key] = same._replace(names=(*same.names, name))
    return list(found.values())


def _nbytes(lowering: Lowering, place: Place) -> int:
    """Of a constant, as the device reads it, or of what launches write."""
    if place.kind in ("weights", "table"):
        constants = lowering.weights_of if place.kind == "weights" else lowering.tables
        return int(constants[place.key].make().nbytes)  # type: ignore[index]  # the lowering's own keys
    return lowering.place_bytes(place)
