"""What an op asks of its inputs' shapes: true wherever the op runs, though not known beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Demands:
    """shapes are inputs of unknown rank with the shape, or the other such input, that each must be as.

    sizes are pairs that must be equal.
    """

    shapes: list[tuple[int, int | tuple[int, ...]]] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.shapes or self.sizes)
