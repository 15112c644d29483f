"""CalledSubgraph: what a kernel may ask of the subgraph that its node runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .node import Node
    from .tensor import Tensor


class CallablePlan(Protocol):
    """A plan that another plan's row may run: runner is a kernel that takes the address as its args."""

    @property
    def address(self) -> int: ...

    @property
    def runner(self) -> int: ...


class LastingPlan(Protocol):
    """How a subgraph was prepared for some shapes, ready to run while it is prepared for others."""

    @property
    def plan(self) -> CallablePlan: ...

    @property
    def nbytes(self) -> int:
        """Of the memory that it works in."""

    @property
    def is_current(self) -> bool:
        """Whether it may run now."""

    def shares_memory(self, other: LastingPlan) -> bool:
        """Whether one writes where the other one does: they were made for the same shapes."""


class BoundCalls(Protocol):
    """Compiled calls to run again and again; run() gives 0, or the status of the first that fails."""

    @property
    def run(self) -> Callable[[], int]: ...

    @property
    def failed_row(self) -> int:
        """The number of the call that gave the last status."""


class CalledSubgraph(Protocol):
    """One subgraph as its caller sees it. `Subgraph` is the implementation."""

    index: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    owned: bool  # by one node, the only one that runs it

    @property
    def nodes(self) -> Sequence[Node]: ...

    def tensor(self, index: int) -> Tensor: ...

    def match_input(self, i: int, x: Tensor) -> None:
        """Give the i-th input the type and shape of a caller's tensor; allocate_tensors must follow."""

    def allocate_tensors(self) -> None: ...

    def invoke(self) -> None: ...

    @property
    def outputs_known(self) -> bool:
        """Whether an allocated subgraph has output shapes that no run will change."""

    @property
    def has_nothing_to_run(self) -> bool:
        """Whether an allocated subgraph only passes tensors on."""

    @property
    def native_plan(self) -> CallablePlan | None:
        """The plan of an allocated subgraph that runs without Python."""

    def lasting_plan(self) -> LastingPlan | None:
        """The plan of an allocated subgraph for when it has other shapes; None where that cannot be."""

    @property
    def native_failure(self) -> str:
        """What failed when another plan last ran native_plan."""
