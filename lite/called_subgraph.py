"""CalledSubgraph: what a kernel may ask of the subgraph that its node runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .node import Node
    from .tensor import Tensor


class CallablePlan(Protocol):
    """A plan that another plan's row may run: runner is a kernel that takes the address as its args."""

    @property
    def address(self) -> int: ...

    @property
    def runner(self) -> int: ...


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

    @property
    def native_failure(self) -> str:
        """What failed when another plan last ran native_plan."""
