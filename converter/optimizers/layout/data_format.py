"""DataFormat: two orders of the axes of a tensor, and what changes from the one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...ir.attributes import Attribute
from ...ir.node import Node
from .forms import SENSITIVE, Form

T = TypeVar("T")
_WITH_DEPTH = {"NHWC": "NDHWC", "NCHW": "NCDHW"}
RANKS = (4, 5)


@dataclass(frozen=True)
class Conversion:
    """From one data format to another, each a word with a letter for each axis ("NHWC")."""

    source: str
    target: str

    def of_rank(self, rank: int) -> Conversion:
        """The same for tensors of 4 or 5 axes."""
        if rank == len(self.source):
            return self
        return Conversion(_WITH_DEPTH[self.source], _WITH_DEPTH[self.target])

    def back(self) -> Conversion:
        """From the other one to this one."""
        return Conversion(self.target, self.source)

    @property
    def permutation(self) -> list[int]:
        """What a Transpose of a tensor takes: which axis comes to each place."""
        return [self.source.index(axis) for axis in self.target]

    def permuted(self, entries: Sequence[T]) -> tuple[T, ...]:
        """Entries for each axis, in the other order."""
        return tuple(entries[place] for place in self.permutation)

    def axis(self, axis: int) -> int:
        """Where an axis comes to; negative ones are counted from the end."""
        return self.target.index(self.source[axis])

    def keeps_order(self, gone: Sequence[int]) -> bool:
        """Whether the axes that are left without these stand in the same order in both formats."""
        letters = {self.source[axis] for axis in gone}
        left = [[axis for axis in text if axis not in letters] for text in (self.source, self.target)]
        return left[0] == left[1]

    def change_attributes(self, node: Node, form: Form) -> None:
        """Bring the node's attributes into the other order."""
        held = node.attributes
        if node.op in SENSITIVE:
            held["data_format"] = data_format_name(node, self.target)
        held.pop("_output_shapes", None)
        for name in form.lists:
            value = held.get(name)
            if isinstance(value, tuple) and len(value) == len(self.source):
                held[name] = self.permuted(value)
        pads = held.get("explicit_paddings")
        if isinstance(pads, tuple) and len(pads) == 2 * len(self.source):
            pairs = [pads[2 * i : 2 * i + 2] for i in range(len(self.source))]
            held["explicit_paddings"] = tuple(each for pair in self.permuted(pairs) for each in pair)
        for name in form.masks:
            held[name] = self._mask(held.get(name, 0))
        dims = held.get("squeeze_dims")
        if isinstance(dims, tuple):
            held["squeeze_dims"] = tuple(sorted(self.axis(axis) for axis in dims if isinstance(axis, int)))

    def _mask(self, mask: Attribute) -> int:
        assert isinstance(mask, int)
        return sum(1 << self.axis(axis) for axis in range(len(self.source)) if mask >> axis & 1)


def data_format_name(node: Node, text: str) -> bytes:
    """What the node's attribute calls a format: BiasAdd has no letter for depth."""
    return (text.replace("D", "") if node.op.startswith("BiasAdd") else text).encode()
