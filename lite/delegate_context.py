"""SubgraphDelegateContext: what a delegate may ask of a subgraph and do to it, while it is prepared."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import copy
from typing import TYPE_CHECKING

from ..schema.operator_code import DELEGATE
from .control_edges import METADATA_NAME, chain, parse_control_dependencies
from .delegate import Delegate, DelegateParams
from .errors import ModelError, PrepareError, StateError
from .node import Node
from .partition import ControlEdge, NodeSubset, PartitionMode, PlanNode, partition
from .tensor import AllocationType, Tensor, TensorType

if TYPE_CHECKING:
    from .context import Context
    from .prepared_graph import PreparedGraph
    from .registration import Registration
    from .tensor import Shape


class SubgraphDelegateContext:
    """Implements DelegateContext. Closed when prepare ends: every call is a StateError from then on."""

    def __init__(
        self,
        subgraph: PreparedGraph,
        delegate: Delegate,
        acquired_by: PreparedGraph | None = None,
        may_replace: bool = True,
    ) -> None:
        self._subgraph: PreparedGraph | None = subgraph
        self._delegate = delegate
        self._acquired_by = acquired_by
        self._may_replace = may_replace
        self._acquired: list[SubgraphDelegateContext] = []

    def close(self) -> None:
        self._subgraph = self._acquired_by = None
        for other in self._acquired:
            other.close()
        self._acquired.clear()

    def _open(self, call: str) -> PreparedGraph:
        if self._subgraph is None:
            raise StateError(
                f"{self._delegate.name}: {call} may only be used while the delegate is being prepared"
            )
        return self._subgraph

    @property
    def index(self) -> int:
        return self._open("index").index

    @property
    def kernel_context(self) -> Context:
        return self._open("kernel_context")

    @property
    def execution_plan(self) -> tuple[int, ...]:
        return tuple(self._open("execution_plan").execution_plan)

    @property
    def inputs(self) -> tuple[int, ...]:
        return self._open("inputs").inputs

    @property
    def outputs(self) -> tuple[int, ...]:
        return self._open("outputs").outputs

    @property
    def num_threads(self) -> int:
        return self._open("num_threads").num_threads

    @property
    def metadata(self) -> dict[str, bytes]:
        return self._open("metadata").runtime.metadata()

    @property
    def tensor_count(self) -> int:
        return len(self._open("tensor_count").tensors)

    def tensor(self, index: int) -> Tensor:
        tensors = self._open("tensor").tensors
        if not 0 <= index < len(tensors):
            raise PrepareError(f"tensor index must be under {len(tensors)}, got {index}")
        return tensors[index]

    def node_and_registration(self, index: int) -> tuple[Node, Registration]:
        nodes = self._open("node_and_registration").nodes
        if not 0 <= index < len(nodes):
            raise PrepareError(f"node index must be under {len(nodes)}, got {index}")
        return nodes[index], nodes[index].registration

    def add_tensors(self, count: int) -> int:
        tensors = self._open("add_tensors").tensors
        first = len(tensors)
        if count < 0:
            raise PrepareError(f"add_tensors: count must not be negative, got {count}")
        for index in range(first, first + count):
            tensor = Tensor(index, "", TensorType.FLOAT32, ())
            tensor.allocation_type = AllocationType.ARENA_RW
            tensors.append(tensor)
        return first

    def resize_tensor(self, tensor: Tensor, shape: Shape) -> None:
        self._open("resize_tensor").resize_tensor(tensor, shape)

    def acquire_subgraph_context(self, index: int) -> SubgraphDelegateContext:
        own = self._open("acquire_subgraph_context")
        other = own.subgraph(index)
        if other.index == own.index:
            return self
        acquired_by = self._acquired_by or own
        context = SubgraphDelegateContext(other, self._delegate, acquired_by, self._may_replace)
        self._acquired.append(context)
        return context

    def mark_subgraph_as_delegation_skippable(self, index: int) -> None:
        runtime = self._open("mark_subgraph_as_delegation_skippable").runtime
        if not 0 < index < len(runtime.subgraphs):
            raise PrepareError(
                f"a subgraph that is skipped must be one of 1 to {len(runtime.subgraphs) - 1}, got {index}"
            )
        runtime.skippable.setdefault(index, self._delegate)

    def preview_delegate_partitioning(
        self, nodes: Iterable[int], mode: PartitionMode | None = None
    ) -> list[DelegateParams]:
        subgraph = self._open("preview_delegate_partitioning")
        return [self._params(subset) for subset in self._partition(subgraph, nodes, mode) if subset.chosen]

    def replace_node_subsets_with_delegate_kernels(
        self, registration: Registration, nodes: Iterable[int], mode: PartitionMode | None = None
    ) -> None:
        subgraph = self._open("replace_node_subsets_with_delegate_kernels")
        if not self._may_replace:
            raise StateError(f"{self._delegate.name}: nodes may only be replaced in prepare")
        if self._acquired_by is not None and self._acquired_by.index:
            raise StateError(
                f"{self._delegate.name}: nodes of other subgraphs may be replaced while it is prepared for "
                f"subgraph 0, got subgraph {self._acquired_by.index}, which one of them may run"
            )
        if self._acquired_by is not None:
            replace_elsewhere(self._acquired_by, subgraph.index, self._delegate, registration, nodes, mode)
            return
        kernel = copy(registration)
        kernel.builtin_code = DELEGATE
        plan: list[int] = []
        for subset in self._partition(subgraph, nodes, mode):
            if subset.chosen:
                plan.append(self._add_node(subgraph, kernel, self._params(subset)))
            else:
                plan += subset.nodes
        subgraph.execution_plan = plan

    def _params(self, subset: NodeSubset) -> DelegateParams:
        return DelegateParams(self._delegate, subset.nodes, subset.input_tensors, subset.output_tensors)

    def _add_node(self, subgraph: PreparedGraph, kernel: Registration, params: DelegateParams) -> int:
        node = Node(len(subgraph.nodes), kernel, params.input_tensors, params.output_tensors, params)
        node.delegate = self._delegate
        for t in params.output_tensors:
            tensor = subgraph.tensors[t]
            if tensor.delegate is not None and tensor.delegate is not self._delegate:
                raise PrepareError(f"tensor {t} {tensor!r}: another delegate holds it already")
            tensor.delegate = self._delegate
        for n in params.nodes_to_replace:
            subgraph.nodes[n].calls = None
            subgraph.nodes[n].temporaries.clear()
        subgraph.nodes.append(node)
        if kernel.init is not None:
            node.user_data = kernel.init(self, params)  # type: ignore[arg-type]
        return node.index

    def _partition(
        self, subgraph: PreparedGraph, nodes: Iterable[int], mode: PartitionMode | None
    ) -> list[NodeSubset]:
        chosen = set(nodes)
        check_in_plan(subgraph, chosen)
        runtime = subgraph.runtime
        plan = [
            PlanNode(n, subgraph.nodes[n].inputs, subgraph.nodes[n].outputs) for n in subgraph.execution_plan
        ]
        settings = runtime.settings
        fuse = settings.delegate_node_fusion and not settings.preserve_all_tensors
        how = mode or PartitionMode.GREEDY if settings.delegate_clustering else PartitionMode.ORIGINAL_ORDER
        edges, variables = control_edges(subgraph), frozenset(subgraph.variables)
        return partition(plan, subgraph.outputs, chosen, edges, how, fuse, variables)


def check_in_plan(subgraph: PreparedGraph, nodes: Collection[int]) -> None:
    """PrepareError when a node is not in the subgraph's present plan."""
    strangers = set(nodes).difference(subgraph.execution_plan)
    if strangers:
        raise PrepareError(f"nodes to replace must be in the execution plan, got {min(strangers)}")


def replace_elsewhere(
    own: PreparedGraph,
    index: int,
    delegate: Delegate,
    registration: Registration,
    nodes: Iterable[int],
    mode: PartitionMode | None,
) -> None:
    """Replace nodes of another subgraph, and of its copies, for a delegate that is prepared for one's own."""
    assert own.delegation is not None
    chosen = tuple(nodes)
    check_in_plan(own.runtime.subgraphs[index], chosen)
    for other in own.runtime.instances(index):
        if other.delegation is None:
            other.delegation = type(own.delegation)()
        other.delegation.replace(other, delegate, own.delegation, registration, chosen, mode)


def control_edges(subgraph: PreparedGraph) -> list[ControlEdge]:
    """The order that must be kept besides that of the tensors.

    The model's metadata say it; without them nodes with side effects keep their order, as in
    TFLite. Nodes that share a variable keep theirs in any case.
    """
    nodes, plan = subgraph.nodes, subgraph.execution_plan
    found = [edge for edges in _variable_chains(subgraph) for edge in edges]
    data = subgraph.runtime.metadata().get(METADATA_NAME)
    if data is None:
        return found + chain(n for n in plan if has_side_effects(subgraph, nodes[n]))
    explicit = parse_control_dependencies(data)
    if subgraph.index >= len(explicit):
        raise ModelError(
            f"metadata {METADATA_NAME!r}: it must list every subgraph, got {len(explicit)} of them"
        )
    place = {n: n for n in plan}
    for n in plan:
        place.update(dict.fromkeys(_replaced(subgraph, nodes[n]), n))
    edges = [(place[a], place[b]) for a, b in explicit[subgraph.index] if a in place and b in place]
    return found + [(a, b) for a, b in edges if a != b]


def _variable_chains(subgraph: PreparedGraph) -> list[list[ControlEdge]]:
    if not subgraph.variables:
        return []
    users: dict[int, list[int]] = {t: [] for t in subgraph.variables}
    for n in subgraph.execution_plan:
        node = subgraph.nodes[n]
        for t in {*node.inputs, *node.outputs}:
            if t in users:
                users[t].append(n)
    return [chain(nodes) for nodes in users.values()]


def _replaced(subgraph: PreparedGraph, node: Node) -> list[int]:
    """The model's own nodes that a delegate's node stands for."""
    if not isinstance(node.options, DelegateParams):
        return []
    found = []
    for n in node.options.nodes_to_replace:
        found += [n, *_replaced(subgraph, subgraph.nodes[n])]
    return found


def has_side_effects(subgraph: PreparedGraph, node: Node) -> bool:
    """Whether the node, or one that it stands for, must keep its place among such nodes."""
    if node.registration.side_effects:
        return True
    tensors = subgraph.tensors
    if any(t >= 0 and tensors[t].type == TensorType.RESOURCE for t in (*node.inputs, *node.outputs)):
        return True
    return any(has_side_effects(subgraph, subgraph.nodes[n]) for n in _replaced(subgraph, node))
