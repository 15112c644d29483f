"""Context: what a kernel or a delegate may ask of the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .called_subgraph import BoundCalls, CalledSubgraph
    from .cancellation import Cancellation
    from .graph import Graph
    from .kernel_call import KernelCall, KernelLibrary
    from .node import Node
    from .operator_profiler import OperatorProfiler
    from .resources import Resources
    from .subgraph import Subgraph
    from .tensor import Shape, Tensor


class Numerics(Enum):
    """Which arithmetic quantized kernels use.

    DEFAULT gives LiteRT's default results bit for bit (XNNPACK's, where XNNPACK takes the op).
    REFERENCE gives those of TFLite's reference kernels.
    """

    DEFAULT = "default"
    REFERENCE = "reference"


class Context(Protocol):
    """One subgraph as its nodes see it. `Subgraph` is the implementation."""

    @property
    def numerics(self) -> Numerics: ...

    @property
    def num_threads(self) -> int: ...

    @property
    def operator_profiler(self) -> OperatorProfiler | None:
        """Takes times of the operators that a delegate's node runs inside; None when nobody profiles."""

    @property
    def inputs(self) -> Sequence[int]:
        """Indices of the subgraph's input tensors."""

    @property
    def graph(self) -> Graph:
        """The subgraph, for delegates: its nodes, their order, and what it takes and gives."""

    @property
    def library(self) -> KernelLibrary:
        """Where compiled kernels are, for delegates that have the CPU run what they have taken."""

    def tensor(self, index: int) -> Tensor:
        """The tensor at an index of this subgraph."""

    def input(self, node: Node, i: int) -> Tensor:
        """The node's i-th input; PrepareError when it is missing or left out."""

    def optional_input(self, node: Node, i: int) -> Tensor | None:
        """The node's i-th input, or None when it is missing or left out."""

    def output(self, node: Node, i: int) -> Tensor:
        """The node's i-th output; PrepareError when it is missing."""

    def subgraph(self, index: int) -> Subgraph:
        """Another subgraph of the model; PrepareError when there is none."""

    def called_subgraph(self, node: Node, index: int) -> CalledSubgraph:
        """The subgraph that a node runs, the same one each time; `owned` where no other node runs it."""

    @property
    def resources(self) -> Resources:
        """Variables and tables that all subgraphs of the interpreter share."""

    def resize_tensor(self, tensor: Tensor, shape: Shape) -> None:
        """Give an output (or scratch tensor) its shape.

        A dynamic tensor gets its memory at once. Raises PrepareError when the size overflows.
        """

    @property
    def cancellation(self) -> Cancellation:
        """Whether the run is to stop: for nodes that run long in Python, or in one native call."""

    def run_calls(self, node: Node, calls: Sequence[KernelCall]) -> None:
        """Run compiled calls now: for invoke, when only the run tells the shapes."""

    def bound_calls(self, node: Node, calls: Sequence[KernelCall]) -> BoundCalls:
        """Compiled calls to run again and again, on memory that the caller keeps where it is."""

    def set_dynamic(self, tensor: Tensor) -> None:
        """Say in prepare that the tensor's shape is known only when the node has run."""

    def add_temporary(self, node: Node, nbytes: int) -> Tensor:
        """A scratch tensor of nbytes (uint8), 64-byte aligned, valid while the node runs.

        Call it in prepare only; calling again after a resize replaces the node's temporaries.
        """

    def add_persistent_temporary(self, node: Node, nbytes: int) -> Tensor:
        """Like add_temporary, but its bytes live across invokes and start as zeros."""
