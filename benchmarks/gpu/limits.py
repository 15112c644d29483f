"""Ceilings of a device, and what they leave of a network or a layer: no version runs faster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from numlite.benchmarks.gpu.networks import Layer, Network
from numlite.benchmarks.gpu.records import Record

_ELEMENT_BYTES = {"int8": 1, "uint8": 1, "bfloat16": 2, "float16": 2, "tf32": 4, "tf32x3": 4, "ieee": 4}
# Used where a ceiling was not measured; every table says so. TF32x3 multiplies three times.
_ASSUMED_COPY = 4.3e12
_ASSUMED_MACS = {"int8": 788e12, "bfloat16": 394e12, "float16": 394e12, "tf32": 197e12, "tf32x3": 66e12}


@dataclass(frozen=True)
class Ceilings:
    """Bytes a second that a copy reads and writes, multiply-adds a second by mode, and what was assumed."""

    copy: float
    macs: dict[str, float]
    assumed: tuple[str, ...]

    def floor_us(self, mode: str, nbytes: float, macs: float) -> float:
        """The longer of moving the bytes and doing the multiply-adds."""
        return 1e6 * max(nbytes / self.copy, macs / self.macs[mode])


def ceilings_from(records: Iterable[Record]) -> Ceilings:
    """The largest that were measured, by whatever program."""
    copies: list[float] = []
    macs: dict[str, float] = {}
    for record in records:
        if record["kind"] == "copy":
            copies.append(float(record["bytes_per_s"]))  # type: ignore[arg-type]  # it is a number
        elif record["kind"] == "matmul":
            mode, rate = str(record["mode"]), float(record["macs_per_s"])  # type: ignore[arg-type]
            macs[mode] = max(rate, macs.get(mode, 0.0))
    if "tf32" in macs:
        macs["tf32x3"] = max(macs["tf32"] / 3, macs.get("tf32x3", 0.0))
    assumed = [mode for mode in _ASSUMED_MACS if mode not in macs] + ([] if copies else ["copy"])
    return Ceilings(max(copies, default=_ASSUMED_COPY), _ASSUMED_MACS | macs, tuple(assumed))


def element_bytes(mode: str) -> int:
    """Bytes of an activation in device memory."""
    return _ELEMENT_BYTES[mode]


def elements(network: Network) -> list[tuple[Layer, int, int]]:
    """Each layer with the elements that it moves for an image, and its weights.

    PADs are part of the window that reads them, and a sum is part of the convolution before it, which
    reads the other summand, too. Strides beyond the filter skip pixels.
    """
    sums = {layer.inputs[1] for layer in network.layers if layer.kind == "add"}
    found = []
    for n, layer in enumerate(network.layers):
        if layer.kind in ("image", "pad", "add"):
            continue
        x = network.layers[layer.inputs[0]]
        if x.kind == "pad":
            x = network.layers[x.inputs[0]]
        seen = min(1.0, layer.size / layer.stride) ** 2
        outputs = prod(layer.shape) * (2 if n in sums else 1)
        found.append(
            (layer, round(prod(x.shape) * seen) + outputs, prod(network.weight_shape(layer) or (0,)))
        )
    return found


def unfused_us(network: Network, mode: str, batch: int, ceilings: Ceilings) -> float:
    """The least microseconds when each layer reads and writes device memory once.

    Depthwise convolutions do not multiply on tensor cores: of them only the bytes count.
    """
    total = 0.0
    for layer, moved, weights in elements(network):
        macs = 0 if layer.kind == "depthwise" else batch * network.macs(layer)
        total += ceilings.floor_us(mode, element_bytes(mode) * (batch * moved + weights), macs)
    return total
