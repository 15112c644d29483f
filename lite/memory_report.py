"""MemoryReport: how many bytes a model needs, and where and when each tensor has its own."""

from __future__ import annotations

from dataclasses import dataclass

from ..schema.shown import shown


@dataclass(frozen=True)
class TensorMemory:
    """Where one tensor lives.

    kind is the allocation type's name in lower case (arena_rw, mmap_ro ...). offset is in
    bytes from the start of its arena, None for a tensor that lives in none. first and last
    are the positions in the execution plan between which its bytes are in use, both included
    (None outside the arena). shares_with is the tensor whose bytes it takes over, or None.
    """

    index: int
    name: str
    type: str
    shape: tuple[int, ...]
    nbytes: int
    kind: str
    offset: int | None = None
    first: int | None = None
    last: int | None = None
    shares_with: int | None = None


@dataclass(frozen=True)
class MemoryReport:
    """Memory of one subgraph after allocate_tensors, in bytes.

    arena_bytes is the block that tensors share over time and lower_bound_bytes what any
    planner needs for it at least. persistent_bytes holds variables and what kernels keep
    across invokes, dynamic_bytes the tensors that got their size while running, constant_bytes
    the weights in the model file, packed_bytes the copies that kernels made of them. kept_bytes is what
    is held besides for shapes that inputs had before. called_bytes is all of this but the constants
    of the subgraphs that its nodes run, each subgraph once.
    """

    arena_bytes: int
    lower_bound_bytes: int
    persistent_bytes: int
    constant_bytes: int
    dynamic_bytes: int = 0
    packed_bytes: int = 0
    kept_bytes: int = 0
    called_bytes: int = 0
    tensors: tuple[TensorMemory, ...] = ()

    def summary(self) -> str:
        """One line a kind of memory."""
        rows = [
            ("arena", self.arena_bytes, self._arena_note()),
            ("persistent", self.persistent_bytes, ""),
            ("dynamic", self.dynamic_bytes, ""),
            ("constants", self.constant_bytes, ""),
            ("packed weights", self.packed_bytes, ""),
        ]
        if self.kept_bytes:
            rows.append(("other shapes", self.kept_bytes, ""))
        if self.called_bytes:
            rows.append(("called graphs", self.called_bytes, ""))
        return "\n".join(f"{name:<15}{count:>13,} bytes{note}" for name, count, note in rows)

    def table(self) -> str:
        """The tensors of the arenas, in the order in which they come to life."""
        placed = [tensor for tensor in self.tensors if tensor.offset is not None]
        placed.sort(key=lambda tensor: (tensor.first or 0, tensor.index))
        rows: list[tuple[str, ...]] = [("tensor", "offset", "bytes", "live", "type", "shape", "name")]
        rows += [_row(tensor) for tensor in placed]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        numbers = 4
        return "\n".join(
            "  ".join(
                cell.rjust(width) if column < numbers else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        )

    def _arena_note(self) -> str:
        if self.arena_bytes == self.lower_bound_bytes:
            return " (the least possible)"
        return f" (lower bound {self.lower_bound_bytes:,})"

    def __str__(self) -> str:
        return f"{self.summary()}\n\n{self.table()}"


def _row(tensor: TensorMemory) -> tuple[str, ...]:
    offset = f"{tensor.offset:,}"
    if tensor.shares_with is not None:
        offset = f"= {tensor.shares_with}"
    live = "always" if tensor.first is None else f"{tensor.first}-{tensor.last}"
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    return (str(tensor.index), offset, f"{tensor.nbytes:,}", live, tensor.type, shape, shown(tensor.name))
