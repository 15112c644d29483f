"""Interpreter: the subgraphs of one model, and the calls that prepare, fill and run them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .errors import DelegateError, PrepareError, StateError, UnsupportedError
from .runtime import Runtime
from .settings import no_place
from .shape_check import with_input_shapes
from .stage import State, Watch
from .subgraph_builder import SubgraphBuilder, no_collection
from .tensor import NUMPY_DTYPES
from .tensor_access import read_tensor, view_tensor, write_tensor
from .tensor_details import tensor_details
from .turn import NO_COPY, Turn
from .variables import reset_operators

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from .bound_memory import BoundMemory
    from .delegate import Delegate
    from .kernel_call import KernelLibrary
    from .memory_report import MemoryReport
    from .model import Model, Signature
    from .op_resolver import OpResolver
    from .prepared_file import Mapped
    from .profiler import OpProfile
    from .settings import Settings
    from .stage import Observer, Probe
    from .subgraph import Subgraph
    from .tensor import Shape, Tensor

_INT32_END = 1 << 31


class Interpreter:
    """Runs one model. The kernel library and the resolver come from whoever builds it.

    Subgraph 0 is the primary one. One thread at a time: a call that would meet another
    thread's invoke raises StateError.
    """

    def __init__(
        self,
        model: Model,
        resolver: OpResolver,
        library: KernelLibrary,
        settings: Settings,
        turn: Turn | None = None,
    ) -> None:
        self.model = model
        self.turn = turn or Turn()
        kept = None
        if settings.code_place is not no_place:
            from .prepared_models import prepared_models

            kept = prepared_models(model, settings)
        with no_collection():
            builder = SubgraphBuilder(model, resolver)
            self.runtime = Runtime(
                builder, library, settings, model.metadata, self.turn.cancellation, prepared_models=kept
            )
        self.subgraphs = self.runtime.subgraphs
        if kept is not None:
            kept.is_sound = all(graph.fault is None for graph in self.subgraphs)
        self.signatures: dict[str, Signature] = model.signatures()
        self._views: dict[Tensor, tuple[np.ndarray, Shape, np.dtype, np.ndarray]] = {}

    def __del__(self) -> None:
        if not hasattr(self, "runtime"):
            return  # its construction has failed
        # Subgraphs know each other through the runtime; without that circle their memory goes now.
        self.runtime.subgraphs.clear()
        self.runtime.copies.clear()

    def whole(self) -> Self:
        """Itself: nothing of it has been left for later."""
        return self

    def take_over(self, mapped: Mapped, arena: np.ndarray) -> None:
        """Go on with the first graph in the memory of a PreparedStart, where it is allocated."""
        kept = self.runtime.prepared_models
        assert kept is not None
        kept.taken_over = mapped, arena
        with no_collection():
            self.subgraphs[0].allocate_tensors()

    def input_details(self) -> list[dict[str, Any]]:
        """Of the first graph's inputs."""
        return self._details(self.subgraph().inputs)

    def output_details(self) -> list[dict[str, Any]]:
        return self._details(self.subgraph().outputs)

    def _details(self, tensors: Sequence[int]) -> list[dict[str, Any]]:
        graph = self.subgraph()
        return [tensor_details(self.tensor(t), graph.tensors) for t in tensors]

    @property
    def has_flex_operators(self) -> bool:
        """Whether TensorFlow ops are left that no delegate has taken."""
        plans = ((subgraph.nodes, subgraph.execution_plan) for subgraph in self.subgraphs)
        left = (nodes[n].registration for nodes, plan in plans for n in plan)
        return any(found.is_unresolved_flex for found in left)

    def subgraph(self, index: int = 0) -> Subgraph:
        """ValueError when there is none of that index."""
        if 0 <= index < len(self.subgraphs):
            return self.subgraphs[index]
        raise ValueError(f"Invalid subgraph index {index} exceeds max subgraph index {len(self.subgraphs)}")

    def tensor(self, index: int, subgraph_index: int = 0) -> Tensor:
        """ValueError when there is none of that index, TypeError for what is no int32."""
        graph = self.subgraph(subgraph_index) if subgraph_index else self.subgraphs[0]
        try:
            if 0 <= index < graph.tensor_count:
                return graph.tensor(index)
        except TypeError:
            raise TypeError(f"tensor index must be an integer, got {index!r}") from None
        if not -_INT32_END <= index < _INT32_END:
            raise TypeError(f"tensor index must be an integer of 32 bits, got {index}")
        raise ValueError(f"Invalid tensor index {index} exceeds max tensor index {graph.tensor_count}")

    def resize_input(
        self, index: int, shape: Sequence[int] | np.ndarray, strict: bool = False, subgraph_index: int = 0
    ) -> None:
        """Give an input another shape; RuntimeError where that cannot be, also for a wrong index.

        ValueError for a shape that is no vector.
        """
        sizes = np.asarray(shape)
        if sizes.ndim != 1:
            raise ValueError(f"Shape should be 1D instead of {sizes.ndim}.")
        subgraph = self.subgraph(subgraph_index)
        try:
            tensor = self.tensor(index, subgraph_index)
        except ValueError as error:
            raise StateError(f"resize_tensor_input: {error}") from error
        with self.turn.exclusive():
            subgraph.resize_input(index, tuple(sizes.tolist()), strict)
            if not subgraph.was_allocated:
                tensor.first_shape = tensor.shape
            if subgraph.owned and subgraph.state is not State.INVOKABLE:
                for caller in self.subgraphs:
                    caller.invalidate_if_it_calls(subgraph)
            self._views.clear()

    def allocate_tensors(self, subgraph_index: int = 0) -> None:
        """Prepare a subgraph; where it fails, inputs of shapes that it does not declare are named."""
        with self.turn.exclusive(), no_collection():
            subgraph = self.subgraph(subgraph_index)
            first_time = not subgraph.was_allocated
            try:
                subgraph.allocate_tensors()
            except (DelegateError, PrepareError, UnsupportedError) as error:
                message = with_input_shapes(str(error), subgraph, self.signatures.values())
                if message == str(error):
                    raise
                raise type(error)(message) from error
            if first_time:
                for tensor in subgraph.unread_constants():
                    if tensor.data is not None:
                        self.model.put_away(tensor.data)

    def observe(self, observer: Observer | None, probe: Probe | None = None) -> None:
        """Have a function see every value of every subgraph as the model runs, or (None) no longer.

        What the calls of a probe look at, results of native nodes, it does not see. allocate_tensors must
        follow.
        """
        with self.turn.exclusive():
            self.runtime.watch = None if observer is None else Watch(observer, probe)
            for subgraph in (*self.subgraphs, *self.runtime.copies):
                subgraph.discard_stages()

    def set_tensor(self, index: int, value: object, subgraph_index: int = 0) -> None:
        """Copy value into a tensor; ValueError unless its type and shape are the tensor's, which keeps it."""
        tensor = self.tensor(index, subgraph_index)
        known = self._views.get(tensor)
        if known is not None and type(value) is np.ndarray:
            data, shape, dtype, view = known
            if (
                data is tensor.data
                and shape is tensor.shape
                and value.dtype is dtype
                and value.shape == shape
            ):
                view[...] = value
                return
        if tensor.data is None and tensor.has_fixed_size:
            from .missing_value import no_memory

            raise no_memory(self.subgraph(subgraph_index), tensor)
        self._check_kept(tensor, subgraph_index)
        write_tensor(tensor, value)
        if tensor.delegate is not None:
            from .buffer_handles import written_from_outside

            written_from_outside(self.subgraph(subgraph_index), tensor)
        self._remember_view(tensor)

    def get_tensor(self, index: int, subgraph_index: int = 0) -> np.ndarray:
        """A copy of a tensor's value; of rank 0 a NumPy scalar, but an array of strings.

        ValueError where it has none, or where it is not kept.
        """
        tensor = self.tensor(index, subgraph_index)
        if tensor.data_is_stale:
            return _without_rank_0(read_tensor(self.readable_tensor(index, subgraph_index)))
        known = self._views.get(tensor)
        if known is not None and known[0] is tensor.data and known[1] is tensor.shape:
            return _without_rank_0(known[3].copy())
        value = read_tensor(self.readable_tensor(index, subgraph_index))
        self._remember_view(tensor)
        return _without_rank_0(value)

    def readable_tensor(self, index: int, subgraph_index: int = 0) -> Tensor:
        """The tensor of that index with its value in memory, fetched from a delegate's memory if need be.

        ValueError, or ModelError where that is the model's fault, when it has no value, or none that is kept.
        """
        tensor = self.tensor(index, subgraph_index)
        if not tensor.data_is_stale:
            if tensor.data is None:
                from .missing_value import no_value

                raise no_value(self.subgraph(subgraph_index), tensor)
            self._check_kept(tensor, subgraph_index)
            return tensor
        from .buffer_handles import readable

        return readable(self.subgraph(subgraph_index), tensor)

    def _check_kept(self, tensor: Tensor, subgraph_index: int) -> None:
        """ValueError for an intermediate tensor whose bytes are given to others in the course of a run."""
        subgraph = self.subgraph(subgraph_index)
        if tensor.index not in subgraph.inputs and tensor.index not in subgraph.outputs:
            from .overwritten import check_kept

            check_kept(subgraph, tensor)

    def _remember_view(self, tensor: Tensor) -> None:
        """Making an array takes longer than copying a small one, so it is made once."""
        data = tensor.data
        if tensor.delegate is not None:
            return  # its values may be elsewhere
        if data is not None and data.flags.writeable and tensor.type in NUMPY_DTYPES:
            self._views[tensor] = data, tensor.shape, tensor.dtype, view_tensor(tensor)

    def invoke(self, subgraph_index: int = 0) -> None:
        """Run a subgraph. The GIL is released while native kernels run.

        In the main thread Python's signal handlers run meanwhile, so that Ctrl-C raises KeyboardInterrupt.
        """
        turn = self.turn
        if turn.busy:
            raise turn.error()
        turn.busy = True
        try:
            self.subgraphs[subgraph_index].invoke()
        finally:
            turn.busy = False
            if turn.cancel_asked:
                turn.forget_cancel()

    def limited(self, timeout_s: float | None) -> AbstractContextManager[None]:
        """All calls in the block are one run: cancel() ends it, and so does the time that it may take.

        None is no limit. Raises TimedOutError.
        """
        return self.turn.limited(timeout_s)

    def cancel(self) -> None:
        """Stop the call that runs the model in another thread: it raises CancelledError there.

        Without such a call it does nothing; the next one runs as ever. May be called from any thread and
        from signal handlers, and does not wait.
        """
        self.turn.cancel()

    @property
    def is_running(self) -> bool:
        """Whether a call is under way that cancel() would stop."""
        return self.turn.is_taken

    def modify_graph_with_delegate(self, delegate: Delegate) -> None:
        """Let the delegate take nodes of all subgraphs.

        Raises StateError where the delegate's flags exclude the graph, which stays as it was,
        and DelegateError when the delegate fails: the original plan is restored then.
        """
        from .delegate_application import apply_delegate

        with self.turn.exclusive():
            self._views.clear()
            apply_delegate(self.runtime, delegate)

    def set_buffer_handle(self, index: int, handle: int, delegate: Delegate, subgraph_index: int = 0) -> None:
        """Have a delegate hold a tensor's value under a handle of its own."""
        from .delegate_application import hold_tensor

        with self.turn.exclusive():
            subgraph, tensor = self.subgraph(subgraph_index), self.tensor(index, subgraph_index)
            self._views.pop(tensor, None)
            hold_tensor(subgraph, tensor, handle, delegate)

    def get_buffer_handle(self, index: int, subgraph_index: int = 0) -> tuple[int, Delegate | None]:
        """The handle of a tensor (-1 for none), and the delegate that holds it."""
        tensor = self.tensor(index, subgraph_index)
        return tensor.buffer_handle, tensor.delegate

    def bind_memory(self, bound: BoundMemory, wanted: Mapping[int, np.ndarray]) -> None:
        """Have tensors of an allocated subgraph lie in their caller's memory, as far as it serves."""
        with self.turn.exclusive():
            bound.bind(wanted)

    def reset_all_variables(self) -> None:
        """Set all variables to their beginning, and have custom operators and delegates do so with theirs.

        InvokeError when one of those fails.
        """
        with self.turn.exclusive():
            for subgraph in (*self.subgraphs, *self.runtime.copies):
                subgraph.reset_variables()
                reset_operators(subgraph)

    def release_nonpersistent_memory(self) -> None:
        """Give the arenas back until the next allocate_tensors."""
        with self.turn.exclusive():
            for subgraph in self.subgraphs:
                subgraph.release_nonpersistent_memory()
            self._views.clear()

    def memory_report(self, subgraph_index: int = 0) -> MemoryReport:
        """Bytes of the arenas, and where and when each tensor lives; call it after allocate_tensors."""
        from .memory_account import account

        return account(self.subgraph(subgraph_index))

    def profile(self, runs: int = 20, subgraph_index: int = 0) -> list[OpProfile]:
        """Times of each operator over real invokes with the inputs as they are set."""
        from .profiler import profile

        with self.turn.exclusive():
            return profile(self.subgraph(subgraph_index), runs)

    def __getstate__(self) -> object:
        raise TypeError(NO_COPY)


def _without_rank_0(value: np.ndarray) -> np.ndarray:
    """A NumPy scalar for an array of rank 0, as LiteRT gives it; objects stay in their array."""
    return value if value.ndim or value.dtype == object else value[()]
