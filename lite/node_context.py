"""NodeContext: a graph with what its nodes may ask of the runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .available_memory import allocate
from .errors import PrepareError
from .graph import Graph, GraphParts
from .memory import check_room_for
from .plan import BoundCalls, run_calls
from .runtime import Callees
from .shape_check import checked_shape
from .tensor import AllocationType, Tensor, TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .cancellation import Cancellation
    from .context import Numerics
    from .kernel_call import KernelCall, KernelLibrary
    from .node import Node
    from .operator_profiler import OperatorProfiler
    from .resources import Resources
    from .runtime import Runtime
    from .subgraph import Subgraph
    from .tensor import Shape

_ARENA = AllocationType.ARENA_RW
_PERSISTENT = AllocationType.ARENA_RW_PERSISTENT
_DYNAMIC = AllocationType.DYNAMIC
_UINT8 = int(TensorType.UINT8)


class NodeContext(Graph):
    """Implements Context, which says what each of its methods promises."""

    def __init__(self, parts: GraphParts, runtime: Runtime) -> None:
        super().__init__(parts)
        self.runtime = runtime
        self.callees = Callees(runtime)
        self.operator_profiler: OperatorProfiler | None = None  # while a node is profiled that wants it
        self._scratch: dict[int, list[int]] = {}
        self._running = False
        self._dynamic_resized = False

    @property
    def graph(self) -> Graph:
        return self

    @property
    def library(self) -> KernelLibrary:
        return self.runtime.library

    @property
    def numerics(self) -> Numerics:
        return self.runtime.settings.numerics

    @property
    def num_threads(self) -> int:
        return self.runtime.num_threads

    @property
    def resources(self) -> Resources:
        return self.runtime.resources

    @property
    def cancellation(self) -> Cancellation:
        return self.runtime.cancellation

    def subgraph(self, index: int) -> Subgraph:
        """Another subgraph of the model; PrepareError when there is none."""
        subgraphs = self.runtime.subgraphs
        if not 0 <= index < len(subgraphs):
            raise PrepareError(f"subgraph index must be under {len(subgraphs)}, got {index}")
        return subgraphs[index]

    def called_subgraph(self, node: Node, index: int) -> Subgraph:
        """The subgraph that a node runs, the same one each time; `owned` where no other node runs it."""
        self.subgraph(index)
        return self.callees.of(node, index)

    def run_calls(self, node: Node, calls: Sequence[KernelCall]) -> None:
        runtime = self.runtime
        run_calls(self, node, calls, runtime.library, runtime.pool(), runtime.cancellation)

    def bound_calls(self, node: Node, calls: Sequence[KernelCall]) -> BoundCalls:
        return BoundCalls(node, calls, self.runtime.library, self.runtime.cancellation)

    def resize_tensor(self, tensor: Tensor, shape: Shape) -> None:
        kind = tensor.allocation_type
        if kind is _DYNAMIC and shape == tensor.shape and self._has_room(tensor):
            return
        shape = checked_shape(tensor, shape)
        check_room_for(tensor, shape)
        if kind is _DYNAMIC:
            self._resize_dynamic(tensor, shape)
        elif shape != tensor.shape:
            if tensor.is_variable:  # nodes that read it are prepared for the shape it has
                raise PrepareError(f"tensor {tensor!r}: a variable cannot be resized to {shape}")
            if tensor.is_constant:
                raise PrepareError(f"tensor {tensor!r}: a constant cannot be resized to {shape}")
            if self._running:
                raise PrepareError(f"tensor {tensor!r}: only a dynamic tensor can be resized while running")
            tensor.resize(shape)

    def set_dynamic(self, tensor: Tensor) -> None:
        if tensor.is_constant:
            raise PrepareError(f"tensor {tensor!r}: a constant cannot be dynamic")
        if tensor.is_variable and tensor.has_fixed_size:
            raise PrepareError(f"tensor {tensor!r}: a variable cannot be dynamic")
        if tensor.allocation_type is not _DYNAMIC:
            tensor.allocation_type = _DYNAMIC
            tensor.bind(None)

    def add_temporary(self, node: Node, nbytes: int) -> Tensor:
        return self._add_scratch(node, nbytes, _ARENA)

    def add_persistent_temporary(self, node: Node, nbytes: int) -> Tensor:
        return self._add_scratch(node, nbytes, _PERSISTENT)

    def _add_scratch(self, node: Node, nbytes: int, kind: AllocationType) -> Tensor:
        owned = self._scratch.setdefault(node.index, [])
        count = len(node.temporaries)
        if count == len(owned):
            tensor = Tensor(len(self.tensors), "", _UINT8, ())
            self.tensors.append(tensor)
            owned.append(tensor.index)
        tensor = self.tensors[owned[count]]
        tensor.shape = checked_shape(tensor, (nbytes,))
        tensor.allocation_type = kind
        tensor.bind(None)
        node.temporaries.append(tensor.index)
        return tensor

    def _has_room(self, tensor: Tensor) -> bool:
        """Whether a dynamic tensor has memory for its shape."""
        data = tensor.data
        return data is not None and (not tensor.has_fixed_size or len(data) >= tensor.nbytes)

    def _resize_dynamic(self, tensor: Tensor, shape: Shape) -> None:
        if shape != tensor.shape:
            tensor.resize(shape)
            self._dynamic_resized = True
        if tensor.has_fixed_size and (tensor.data is None or len(tensor.data) < tensor.nbytes):
            tensor.bind(allocate(tensor.nbytes))
            self._dynamic_resized = True

    def forget_tensors(self, count: int) -> None:
        """Drop the tensors from this number on: scratch memory, and what delegates have added."""
        del self.tensors[count:]
        for owned in self._scratch.values():
            owned[:] = [t for t in owned if t < count]
