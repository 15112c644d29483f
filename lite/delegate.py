"""Delegate: what takes nodes of a graph and runs them in its own way, and what it may ask meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntFlag
from typing import TYPE_CHECKING, Protocol

from ..schema.named_tuple import NamedTuple
from ..schema.operator_code import DELEGATE
from .errors import StateError, UnsupportedError
from .registration import Registration

if TYPE_CHECKING:
    from .context import Context
    from .kernel_call import KernelCall
    from .node import Node
    from .partition import PartitionMode
    from .tensor import Shape, Tensor

NULL_BUFFER_HANDLE = -1


class DelegateFlags(IntFlag):
    """What a delegate can and wants; names and values are TFLite's.

    Without ALLOW_DYNAMIC_TENSORS it sees all shapes when it is prepared, is prepared anew after
    each resize, and is refused on a graph whose shapes are known only by running.
    REQUIRE_PROPAGATED_SHAPES has the shapes computed for a delegate that allows dynamic tensors.
    With PER_OPERATOR_PROFILING its nodes have no rows of their own in a profile, but one for each
    operator that their invoke times with profile_operator, or for each compiled kernel.
    With HINT_FULLY_DELEGATED_TO_SINGLE_DELEGATE it is an error to leave a node to others.
    """

    NONE = 0
    ALLOW_DYNAMIC_TENSORS = 1
    REQUIRE_PROPAGATED_SHAPES = 2
    PER_OPERATOR_PROFILING = 4
    HINT_FULLY_DELEGATED_TO_SINGLE_DELEGATE = 8


class DelegateParams(NamedTuple):
    """What the init hook of a delegate's node is given; it stays in node.options.

    nodes_to_replace are the numbers of the nodes in the order in which they ran, the tensors
    are those of the subset, sorted; input_tensors has constants too.
    """

    delegate: Delegate
    nodes_to_replace: tuple[int, ...]
    input_tensors: tuple[int, ...]
    output_tensors: tuple[int, ...]


class SerializedPartition(NamedTuple):
    """A partition as one custom operator of a compiled model.

    input_tensors are what the program reads when it runs, in the order of the operator's inputs;
    constants of the partition that the program holds itself are left out.
    """

    program: bytes
    input_tensors: tuple[int, ...]


class PartitionKernel(Protocol):
    """Runs one custom operator of a compiled model; the hooks are those of a delegate's node."""

    def prepare(self, context: Context, node: Node) -> Sequence[KernelCall] | None: ...

    def invoke(self, context: Context, node: Node) -> None: ...

    def free(self) -> None: ...


class DelegateContext(Protocol):
    """One subgraph as a delegate sees it while it is prepared; StateError at any other time."""

    @property
    def index(self) -> int:
        """The number of the subgraph."""

    @property
    def kernel_context(self) -> Context:
        """What the subgraph's nodes may ask."""

    @property
    def execution_plan(self) -> tuple[int, ...]:
        """The numbers of the nodes that run, in their order."""

    @property
    def inputs(self) -> tuple[int, ...]: ...

    @property
    def outputs(self) -> tuple[int, ...]: ...

    @property
    def num_threads(self) -> int: ...

    @property
    def metadata(self) -> dict[str, bytes]:
        """The model's metadata by name."""

    def node_and_registration(self, index: int) -> tuple[Node, Registration]: ...

    def tensor(self, index: int) -> Tensor: ...

    @property
    def tensor_count(self) -> int: ...

    def add_tensors(self, count: int) -> int:
        """Add tensors, whose type and shape the delegate then sets; returns the first one's index."""

    def resize_tensor(self, tensor: Tensor, shape: Shape) -> None: ...

    def preview_delegate_partitioning(
        self, nodes: Iterable[int], mode: PartitionMode | None = None
    ) -> list[DelegateParams]:
        """The subsets that replacing these nodes would make."""

    def replace_node_subsets_with_delegate_kernels(
        self, registration: Registration, nodes: Iterable[int], mode: PartitionMode | None = None
    ) -> None:
        """Put a node with this registration in the place of each subset of these nodes.

        mode defaults to GREEDY; an interpreter without delegate clustering has ORIGINAL_ORDER always.
        """

    def acquire_subgraph_context(self, index: int) -> DelegateContext:
        """The same for another subgraph of the model, until this prepare ends.

        Nodes there may be replaced while the delegate is prepared for subgraph 0, which no other one
        runs. They are replaced again after a resize, and come back with this subgraph's. A
        subgraph that waits for its shapes has it done by its next allocation.
        """

    def mark_subgraph_as_delegation_skippable(self, index: int) -> None:
        """Have this subgraph, which a node of the delegate runs, offered to no delegate."""


class Delegate:
    """Takes nodes in prepare; the nodes that it puts in their place run by its registration.

    Subclass it and override prepare. Where tensors stay in the delegate's own memory, its
    kernels set tensor.buffer_handle and tensor.data_is_stale, and it overrides
    copy_from_buffer_handle, which the runtime calls only when someone else reads the tensor.
    """

    flags: DelegateFlags = DelegateFlags.NONE

    # Of the programs in compiled models: one runs by no other version than the one that wrote it.
    version: str = "1"

    # The name under which load_delegate found it, which compiled models ask for.
    loaded_as: str = ""

    @property
    def name(self) -> str:
        return type(self).__name__

    def prepare(self, context: DelegateContext) -> None:
        """Look at the execution plan and replace nodes; an exception leaves the plan as it was."""
        raise NotImplementedError(f"{self.name}: a delegate must have prepare(context)")

    def serialize_partition(
        self, context: DelegateContext, params: DelegateParams, user_data: object
    ) -> SerializedPartition:
        """The partition, whose init has returned user_data, as the program of a custom operator.

        The program must not name tensors by their index, but by their place among the operator's
        inputs and outputs.
        """
        raise UnsupportedError(
            f"{self.name}: it cannot compile ahead of time; a delegate with serialize_partition can"
        )

    def load_partition(self, context: Context, node: Node, program: bytes) -> PartitionKernel:
        """What runs a program of serialize_partition, on the inputs and outputs of a custom operator."""
        raise UnsupportedError(f"{self.name}: it runs no compiled models; one with load_partition does")

    def copy_from_buffer_handle(self, context: Context, handle: int, tensor: Tensor) -> None:
        """Copy what the handle stands for into the tensor's memory (tensor.array() or tensor.data)."""
        raise StateError(f"{self.name}: it has no copy_from_buffer_handle, got handle {handle} of {tensor!r}")

    def copy_to_buffer_handle(self, context: Context, handle: int, tensor: Tensor) -> None:
        """Copy the tensor's memory, which was written from outside, to what the handle stands for."""
        raise StateError(f"{self.name}: it has no copy_to_buffer_handle, got handle {handle} of {tensor!r}")

    def free_buffer_handle(self, context: Context, handle: int) -> None:
        """Let go of what the handle stands for: no tensor holds it any more."""

    def why_left_out(self, subgraph: int, node: int) -> str | None:
        """Why prepare has not taken this node of this subgraph, where the delegate can tell."""
        return None

    def check_handle(self, stale: Tensor) -> None:
        """StateError for a stale tensor whose value nothing could bring."""
        if not self.has_buffer_handles or stale.buffer_handle == NULL_BUFFER_HANDLE:
            raise StateError(
                f"{self.name}: a stale tensor must have a buffer handle, and its delegate "
                f"copy_from_buffer_handle, got handle {stale.buffer_handle} of {stale!r}"
            )

    @property
    def has_buffer_handles(self) -> bool:
        return type(self).copy_from_buffer_handle is not Delegate.copy_from_buffer_handle


def delegate_registration(
    name: str,
    init: Callable[[DelegateContext, DelegateParams], object],
    prepare: Callable[[Context, Node], Sequence[KernelCall] | None] | None = None,
    invoke: Callable[[Context, Node], None] | None = None,
    free: Callable[[Context, Node], None] | None = None,
    reset_variables: Callable[[Context, Node], None] | None = None,
) -> Registration:
    """The registration of a delegate's nodes.

    What init returns becomes node.user_data. Without prepare the outputs keep their shapes. The hooks are
    Registration's.
    """
    return Registration(
        name,
        prepare or _keep_shapes,
        invoke,
        builtin_code=DELEGATE,
        init=init,  # type: ignore[arg-type]  # the runtime gives nodes of delegates their own arguments
        free=free,
        reset_variables=reset_variables,
    )


def _keep_shapes(context: Context, node: Node) -> None:
    """Prepare of a kernel whose outputs have the shapes that the replaced nodes gave them."""
