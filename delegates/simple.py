"""SimpleDelegate: a delegate made of a question (can you run this node?) and a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..lite.delegate import Delegate, SerializedPartition, delegate_registration
from ..lite.errors import PrepareError, UnsupportedError
from ..schema.shown import shown
from .graph_partition import GraphPartitionHelper, replace_groups

if TYPE_CHECKING:
    from ..lite.context import Context
    from ..lite.delegate import DelegateContext, DelegateParams
    from ..lite.kernel_call import KernelCall
    from ..lite.node import Node
    from ..lite.partition import PartitionMode
    from ..lite.registration import Registration


@dataclass(frozen=True)
class SimpleDelegateOptions:
    """Which partitions a simple delegate takes.

    max_delegated_partitions keeps only the largest ones, min_nodes_per_partition those that are
    worth the copies; 0 and less mean no limit. allow_nodes, when given, lists the only nodes that
    may be taken, deny_nodes those that may not: by number, by operator or by the name of an output.
    """

    max_delegated_partitions: int = 0
    min_nodes_per_partition: int = 0
    allow_nodes: tuple[int | str, ...] | None = None
    deny_nodes: tuple[int | str, ...] = ()
    partition_mode: PartitionMode | None = None


class SimpleDelegateKernel:
    """Runs one partition. Override invoke, and the others as needed."""

    def init(self, context: DelegateContext, params: DelegateParams) -> None:
        """Look at the nodes that are replaced (context is only good for now)."""

    def prepare(self, context: Context, node: Node) -> Sequence[KernelCall] | None:
        """Give the outputs their shapes, if they are not right as they are; compiled calls, or None."""
        return None

    def invoke(self, context: Context, node: Node) -> None:
        """Compute the node's outputs from its inputs."""
        raise NotImplementedError(f"{type(self).__name__}: a kernel must have invoke(context, node)")

    def free(self) -> None:
        """Let go of what the kernel holds."""

    def reset_variables(self, context: Context, node: Node) -> None:
        """Set what the kernel keeps between runs to its beginning, for Interpreter.reset_all_variables."""

    def serialize(self, context: DelegateContext, params: DelegateParams) -> bytes | SerializedPartition:
        """The partition as a program that names tensors by their place in the node's inputs and outputs.

        Its inputs are params.input_tensors, constants too. One that holds constants itself returns a
        SerializedPartition with the inputs that are left; the file then drops the data that nobody reads.
        """
        raise UnsupportedError(
            f"{type(self).__name__}: it cannot compile ahead of time; a kernel with serialize and load can"
        )

    def load(self, context: Context, node: Node, program: bytes) -> None:
        """Take up a program of serialize, instead of init."""
        raise UnsupportedError(f"{type(self).__name__}: it runs no compiled models; one with load does")


class SimpleDelegate(Delegate):
    """Takes the nodes that is_node_supported says yes to, and runs each partition by a kernel of its own.

    Subclass it with is_node_supported and create_kernel. Nodes are one partition as far as no node outside
    stands between them; options say how many partitions there may be, and how small.
    """

    def __init__(self, options: SimpleDelegateOptions | None = None) -> None:
        self.options = options or SimpleDelegateOptions()
        self._reasons: dict[tuple[int, int], str] = {}

    def is_node_supported(
        self, context: DelegateContext, node: Node, registration: Registration
    ) -> bool | str:
        """Whether the delegate takes the node: True, or False, or why not, as reports then say it."""
        raise NotImplementedError(f"{self.name}: a simple delegate must have is_node_supported")

    def why_not_supported(self, context: DelegateContext, node: Node, registration: Registration) -> str:
        """The reason to show where is_node_supported only says False."""
        return f"{shown(registration.name)} is not supported"

    def initialize(self, context: DelegateContext) -> None:
        """Called before any node is looked at."""

    def create_kernel(self) -> SimpleDelegateKernel:
        """A new kernel, for one partition."""
        raise NotImplementedError(f"{self.name}: a simple delegate must have create_kernel")

    def _new_kernel(self) -> SimpleDelegateKernel:
        kernel = self.create_kernel()
        if not isinstance(kernel, SimpleDelegateKernel):
            raise PrepareError(f"create_kernel must return a SimpleDelegateKernel, got {kernel!r}")
        return kernel

    def serialize_partition(
        self, context: DelegateContext, params: DelegateParams, user_data: object
    ) -> SerializedPartition:
        assert isinstance(user_data, SimpleDelegateKernel)
        made = user_data.serialize(context, params)
        if isinstance(made, SerializedPartition):
            return made
        return SerializedPartition(made, params.input_tensors)

    def load_partition(self, context: Context, node: Node, program: bytes) -> SimpleDelegateKernel:
        kernel = self._new_kernel()
        kernel.load(context, node, program)
        return kernel

    def why_left_out(self, subgraph: int, node: int) -> str | None:
        return self._reasons.get((subgraph, node))

    def prepare(self, context: DelegateContext) -> None:
        self.initialize(context)
        options = self.options
        helper = self.partition_helper(context)
        helper.partition()
        groups = helper.groups_of_first_n_largest_partitions(
            options.max_delegated_partitions, options.min_nodes_per_partition
        )
        for n in set(helper.supported_nodes).difference(*groups):
            self._reasons[context.index, n] = (
                f"its partition is not among the {options.max_delegated_partitions or 'largest'} chosen, "
                f"or has fewer than {options.min_nodes_per_partition} nodes"
            )
        replace_groups(context, self._registration(), groups, options.partition_mode)

    def partition_helper(self, context: DelegateContext) -> GraphPartitionHelper:
        """Chooses the partitions: override it with FP16GraphPartitionHelper, say.

        It must ask self.takes_node.
        """
        return GraphPartitionHelper(context, self.takes_node, self.options.partition_mode)

    def takes_node(self, context: DelegateContext, node: Node, registration: Registration) -> bool:
        """Whether the node is supported and the options let it be taken."""
        reason = self._listed_out(context, node, registration)
        if reason is None:
            answer = self.is_node_supported(context, node, registration)
            if isinstance(answer, str):
                reason = answer
            elif not answer:
                reason = self.why_not_supported(context, node, registration)
        if reason is None:
            self._reasons.pop((context.index, node.index), None)
        else:
            self._reasons[context.index, node.index] = reason
        return reason is None

    def _listed_out(self, context: DelegateContext, node: Node, registration: Registration) -> str | None:
        names = {node.index, registration.name, *(context.tensor(t).name for t in node.outputs if t >= 0)}
        if self.options.allow_nodes is not None and names.isdisjoint(self.options.allow_nodes):
            return "it is not in allow_nodes"
        return None if names.isdisjoint(self.options.deny_nodes) else "it is in deny_nodes"

    def _registration(self) -> Registration:
        def init(context: DelegateContext, params: DelegateParams) -> SimpleDelegateKernel:
            kernel = self._new_kernel()
            kernel.init(context, params)
            return kernel

        return delegate_registration(
            self.name,
            init,
            lambda context, node: _kernel(node).prepare(context, node),
            lambda context, node: _kernel(node).invoke(context, node),
            _free,
            lambda context, node: _kernel(node).reset_variables(context, node),
        )


def _kernel(node: Node) -> SimpleDelegateKernel:
    kernel = node.user_data
    assert isinstance(kernel, SimpleDelegateKernel)
    return kernel


def _free(context: Context, node: Node) -> None:
    # A node whose init has failed has no kernel.
    if isinstance(node.user_data, SimpleDelegateKernel):
        node.user_data.free()
