"""PartitionGraph: a partition's nodes and tensors by themselves, to be prepared for shapes of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...lite.cancellation import Cancellation
from ...lite.context import Numerics
from ...lite.errors import PrepareError, UnsupportedError
from ...lite.tensor import Shape, Tensor

if TYPE_CHECKING:
    from ...lite.called_subgraph import BoundCalls, CalledSubgraph
    from ...lite.graph import Graph
    from ...lite.kernel_call import KernelCall, KernelLibrary
    from ...lite.node import Node
    from ...lite.operator_profiler import OperatorProfiler
    from ...lite.resources import Resources
    from ...lite.subgraph import Subgraph


class PartitionGraph:
    """What kernels' prepare hooks may ask, of copies of tensors: the interpreter's own stay as they are.

    find gives the tensor of a number; constants keep their values, all others are without memory.
    """

    def __init__(
        self, find: Callable[[int], Tensor], nodes: Iterable[Node], numerics: Numerics, num_threads: int = 1
    ) -> None:
        self._find = find
        self._tensors: dict[int, Tensor] = {}
        self.nodes = list(nodes)
        self.numerics = numerics
        self.num_threads = num_threads
        self.inputs: Sequence[int] = ()
        self.operator_profiler: OperatorProfiler | None = None
        self.cancellation = Cancellation()  # of a run that there will never be

    def fresh(self, shapes: Mapping[int, Shape]) -> PartitionGraph:
        """The same graph with the tensors as they were first, but for these shapes."""
        graph = PartitionGraph(self._find, self.nodes, self.numerics, self.num_threads)
        for t, shape in shapes.items():
            graph.tensor(t).shape = shape
        return graph

    def tensor(self, index: int) -> Tensor:
        found = self._tensors.get(index)
        if found is None:
            found = self._tensors[index] = _copy(self._find(index))
        return found

    def input(self, node: Node, i: int) -> Tensor:
        tensor = self.optional_input(node, i)
        if tensor is None:
            raise PrepareError(f"{node.registration.name}: input {i} is missing")
        return tensor

    def optional_input(self, node: Node, i: int) -> Tensor | None:
        if i >= len(node.inputs) or node.inputs[i] < 0:
            return None
        tensor = self.tensor(node.inputs[i])
        return tensor if node.stand_ins is None else node.stand_ins.inputs.get(node.inputs[i], tensor)

    def output(self, node: Node, i: int) -> Tensor:
        if i >= len(node.outputs) or node.outputs[i] < 0:
            raise PrepareError(f"{node.registration.name}: output {i} is missing")
        tensor = self.tensor(node.outputs[i])
        return tensor if node.stand_ins is None else node.stand_ins.outputs.get(node.outputs[i], tensor)

    def resize_tensor(self, tensor: Tensor, shape: Shape) -> None:
        if any(size < 0 for size in shape):
            raise PrepareError(f"tensor {tensor!r}: sizes must not be negative, got {shape}")
        tensor.shape = tuple(shape)

    def set_dynamic(self, tensor: Tensor) -> None:
        raise UnsupportedError(f"the shape of {tensor!r} is known only by running")

    def add_temporary(self, node: Node, nbytes: int) -> Tensor:
        return Tensor(-1, "", 3, (nbytes,))

    def add_persistent_temporary(self, node: Node, nbytes: int) -> Tensor:
        raise UnsupportedError(f"{node.registration.name}: memory that lives across runs is not built")

    def subgraph(self, index: int) -> Subgraph:
        raise UnsupportedError("operators that run other subgraphs are not built")

    def called_subgraph(self, node: Node, index: int) -> CalledSubgraph:
        raise UnsupportedError("operators that run other subgraphs are not built")

    @property
    def resources(self) -> Resources:
        raise UnsupportedError("variables and tables are not built")

    @property
    def graph(self) -> Graph:
        raise UnsupportedError("operators that look at all of their graph are not built")

    @property
    def library(self) -> KernelLibrary:
        raise UnsupportedError("operators that run kernels of their own are not built")

    def run_calls(self, node: Node, calls: Sequence[KernelCall]) -> None:
        raise UnsupportedError(f"{node.registration.name}: it needs values to be prepared")

    def bound_calls(self, node: Node, calls: Sequence[KernelCall]) -> BoundCalls:
        raise UnsupportedError(f"{node.registration.name}: it runs calls of its own")


def _copy(tensor: Tensor) -> Tensor:
    copy = Tensor(
        tensor.index, tensor.name, tensor.type, tensor.shape, tensor.quantization, tensor.is_variable
    )
    copy.allocation_type = tensor.allocation_type
    copy.sparsity = tensor.sparsity
    copy.declared_shape = tensor.declared_shape
    copy.first_shape = tensor.first_shape
    if tensor.is_constant:
        copy.bind(tensor.data)
    return copy
