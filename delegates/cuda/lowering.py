"""Lowering: from operators to launches, for one set of shapes. What the op families are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ...lite.errors import UnsupportedError
from .fault_reports import FaultReports
from .halves import calls_of
from .launch import Argument, Constant, Launch, Pointer, make_launch
from .operands import Operands
from .tiles import Choice, Product, choose

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from ...lite.tensor import Tensor
    from .fusion import Step

# Along the axes of a grid. Source: the CUDA C++ guide, compute capabilities.
_MOST_PROGRAMS = ((1 << 31) - 1, 65535, 65535)
BLOCK = 1024  # elements of an elementwise program


class ChosenProduct(NamedTuple):
    """A product whose configuration was chosen: the key is the node's number, and which of its products."""

    key: tuple[int, int]
    product: Product
    step: Step


@dataclass
class Lowering(Operands):
    """Collects the launches of a partition.

    simulated is for kernels that the interpreter must run another way. Kernels are chosen for batch[1] where
    the batch is batch[0]; choices are configurations of products by their keys, in the place of an estimate.
    """

    arch: int = 90
    simulated: bool = False
    batch: tuple[int, int] = (0, 0)
    choices: Mapping[tuple[int, int], Choice] = field(default_factory=dict)
    products: list[ChosenProduct] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    reports: FaultReports = field(default_factory=FaultReports)
    step: Step | None = None  # None at the boundary, where types are converted
    takes_halves: bool = False

    @property
    def label(self) -> str:
        """The operator that is lowered."""
        return "CAST" if self.step is None else self.step.node.registration.name

    def begin(self, step: Step, takes_halves: bool) -> None:
        """What is added next is of this step, whose family may take stored float16 and bfloat16 tensors."""
        self.step = step
        self.takes_halves = takes_halves

    def calls(self, node: Node) -> Sequence[KernelCall]:
        """What the CPU's prepare makes of the node: kernels by name, with their argument blocks.

        Outputs get their shapes. UnsupportedError for what the CPU runs in Python.
        """
        return calls_of(self.graph, node, self.takes_halves)

    def launch(
        self,
        source: str,
        function: str,
        grid: tuple[int, ...],
        args: Mapping[str, Argument],
        constants: Mapping[str, Constant],
        *,
        divisible: tuple[str, ...] = (),
        warps: int = 4,
        stages: int = 3,
    ) -> None:
        """Add a launch (see make_launch); nothing for an empty grid, UnsupportedError for too large a one."""
        if 0 in grid:
            return
        if any(size > most for size, most in zip(grid, _MOST_PROGRAMS, strict=False)):
            raise UnsupportedError(
                f"{self.label}: a launch must have up to {_MOST_PROGRAMS} programs, got {grid}; "
                "a smaller batch may run"
            )
        self.launches.append(
            make_launch(
                source,
                function,
                grid,
                args,
                constants,
                divisible=divisible,
                warps=warps,
                stages=stages,
                label=self.label,
                node=-1 if self.step is None else self.step.node.index,
            )
        )

    def choose(self, product: Product) -> Choice:
        """The configuration for a product of the operator that is lowered."""
        assert self.step is not None
        node = self.step.node.index
        number = sum(chosen.key[0] == node for chosen in self.products)
        chosen = ChosenProduct((node, number), product, self.step)
        self.products.append(chosen)
        found = self.choices.get(chosen.key)
        return found or choose(product._replace(rows=self.chosen_by(product.rows)))

    def chosen_by(self, rows: int) -> int:
        """What a kernel is chosen by in the place of rows: as many as in the batch that stands for this."""
        batch, other = self.batch
        return rows // batch * other if batch and rows % batch == 0 else rows

    def convert(self, x: Pointer, y: Pointer, size: int) -> None:
        """Copy elements, from one float type to another where they differ."""
        args: dict[str, Argument] = {"x_ptr": x, "y_ptr": y, "size": size}
        self.launch(
            "elementwise", "convert", (-(-size // BLOCK),), args, {"BLOCK": BLOCK}, divisible=("size",)
        )

    def alias(self, y: Tensor, x: Tensor) -> None:
        """Have y be x's bytes, where the boundary of the partition allows it, or else a copy of them."""
        if y.size == 0:
            return
        kept = {*self.inputs, *self.outputs}
        if x.is_constant or y.index in kept:
            self.convert(self.pointer(x), self.pointer(y), x.size)
        else:
            self.owners[y.index] = self.owner(x.index)

    def enter(self) -> None:
        """Convert the inputs that are held in another type inside."""
        self._convert_boundary(self.inputs, inwards=True)

    def leave(self) -> None:
        """Convert the outputs back."""
        self._convert_boundary(self.outputs, inwards=False)

    def _convert_boundary(self, tensors: Sequence[int], inwards: bool) -> None:
        self.step = None
        for t in tensors:
            place, tensor = self.boundary_place(t), self.graph.tensor(t)
            if place.kind == "boundary" and tensor.size:
                outer, inner = Pointer(place, "fp32"), self.pointer(tensor)
                self.convert(*((outer, inner) if inwards else (inner, outer)), tensor.size)
