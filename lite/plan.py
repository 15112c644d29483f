"""Plan: the prepared nodes of a subgraph as native segments around nodes that Python runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .errors import InvokeError, PrepareError, UnsupportedError
from .native_blocks import RESIZE, ROW, STOPPED
from .native_plan import INTERNAL_ERROR, NativePlan

if TYPE_CHECKING:
    from .cancellation import Cancellation
    from .context import Context
    from .kernel_call import KernelCall, KernelLibrary
    from .node import Node
    from .tensor import Tensor
    from .thread_pool import ThreadPool

_WORD = 8
_ADDRESS = np.dtype(np.int64)
_MOST_CHUNKS = (1 << 20) - 1


class ArgumentBlocks:
    """The argument blocks of many calls in one array, so that all addresses are set in one pass.

    Each call's args becomes a view of its place in the array. Kernels that look at the cancellation find
    its address in their block.
    """

    def __init__(self, calls: Sequence[KernelCall], cancellation: Cancellation) -> None:
        starts, nbytes = [], 0
        for call in calls:
            starts.append(nbytes)
            nbytes += -(-call.args.nbytes // _WORD) * _WORD
        self._words = np.zeros(nbytes // _WORD, np.int64)
        self._tensors: list[Tensor] = []
        memory = self._words.view(np.uint8)
        words: list[int] = []
        for call, start in zip(calls, starts, strict=True):
            block = call.args
            memory[start : start + block.nbytes] = block.view(np.uint8)
            place = call.args = memory[start : start + block.nbytes].view(block.dtype)
            if "cancellation" in (block.dtype.names or ()):
                place["cancellation"] = cancellation.address
            for name, tensor in call.tensors.items():
                if tensor.sparsity is not None or not tensor.has_fixed_size:
                    raise UnsupportedError(f"tensor {tensor!r}: {call.kernel} does not take its encoding")
                words.append((start + _address_field(call, name)) // _WORD)
                self._tensors.append(tensor)
        self._at = np.array(words, np.int64)
        address: int = self._words.__array_interface__["data"][0]
        self.addresses = [address + start for start in starts]

    def bind(self) -> None:
        """Write the tensors' present addresses; PrepareError when one has no memory."""
        addresses = [tensor.address for tensor in self._tensors]
        if 0 in addresses:
            for tensor in self._tensors:
                if not tensor.address and tensor.nbytes:
                    raise PrepareError(f"tensor {tensor!r}: it is read, but nothing gives it a value")
        self._words[self._at] = addresses


def _address_field(call: KernelCall, name: str) -> int:
    """Where the field lies in the call's block, in bytes; it must be able to hold an address."""
    fields = call.args.dtype.fields
    field = None if fields is None else fields.get(name)
    if field is None or field[0] != _ADDRESS or field[1] % _WORD:
        raise PrepareError(f"{call.family}.{call.kernel}: field {name!r} must be an int64 address")
    return field[1]


class NativeSegment:
    """Consecutive calls that run as one native call; says which node a failing row belongs to."""

    def __init__(
        self,
        calls: Sequence[KernelCall],
        nodes: Sequence[Node],
        rows: np.ndarray,
        library: KernelLibrary,
        pool: ThreadPool | None,
        cancellation: Cancellation,
    ) -> None:
        self.calls = calls
        self.nodes = nodes
        self.cancellation = cancellation
        self.plan = NativePlan(rows, library, pool, cancellation)

    @cached_property
    def resizes(self) -> bool:
        """Whether a call may ask for other sizes of its outputs, which takes Python."""
        return any(call.resize is not None for call in self.calls)

    def resume(self, context: Context, status: int) -> int:
        """After a run that gave a status: resize outputs and go on where that is what it asks for.

        Returns the status of that; resize may raise errors of its own.
        """
        row = self.plan.failed_row
        call = self.calls[row]
        if status != RESIZE or call.resize is None:
            return status
        assert row == len(self.calls) - 1
        call.resize(context, call.args)
        return self.plan.run_row(row) if row else self.plan.invoke()

    def failure(self, status: int) -> tuple[Node, InvokeError]:
        """The node that failed in the last run, and what its status means."""
        row = self.plan.failed_row
        node, call = self.nodes[row], self.calls[row]
        if status == STOPPED:
            text = self.cancellation.reason
        elif status == INTERNAL_ERROR:
            text = f"kernel {call.kernel} raised an exception"
        else:
            text = call.messages.get(status, f"kernel {call.kernel} failed with status {status}")
        name = node.registration.name
        return node, InvokeError(text if text.startswith(name) else f"{name}: {text}")


class Plan:
    """Prepared nodes, in order, as steps: a NativeSegment, or a Node that Python runs."""

    def __init__(
        self,
        nodes: Sequence[Node],
        library: KernelLibrary,
        pool: ThreadPool | None,
        cancellation: Cancellation,
        looks: Callable[[Node], Sequence[KernelCall]] = lambda node: (),
    ) -> None:
        """looks gives calls that follow those of a node, and are run with them."""
        self.nodes = nodes
        self._library = library
        self._pool = pool
        self._cancellation = cancellation
        by_node = [(node, (*(node.calls or ()), *looks(node))) for node in nodes]
        self._counts = [len(calls) for _, calls in by_node]
        owners = [(call, node) for node, calls in by_node for call in calls]
        self._calls = [call for call, _ in owners]
        self._owners = [node for _, node in owners]
        _load(self._calls, library)
        self.blocks = ArgumentBlocks(self._calls, cancellation)
        self._rows = _rows(self._calls, self.blocks, library)
        self.steps: list[NativeSegment | Node] = []
        begin = end = 0
        for node, count in zip(nodes, self._counts, strict=True):
            if node.calls is None:
                self._close(begin, end)
                begin = end
                self.steps.append(node)
            else:
                end += count
        self._close(begin, end)

    @property
    def segments(self) -> list[NativeSegment]:
        return [step for step in self.steps if isinstance(step, NativeSegment)]

    @cached_property
    def by_node(self) -> list[tuple[Node, NativeSegment | None]]:
        """single_steps(), kept for those who run the plan so again and again."""
        return self.single_steps()

    def single_steps(
        self, by_call: Callable[[Node], bool] = lambda node: False
    ) -> list[tuple[Node, NativeSegment | None]]:
        """Each node with a segment of its own, so that it can be timed; None where Python runs it.

        A node for which by_call holds is listed with each of its calls.
        """
        steps: list[tuple[Node, NativeSegment | None]] = []
        end = 0
        for node, count in zip(self.nodes, self._counts, strict=True):
            begin, end = end, end + count
            if node.calls is None:
                steps.append((node, None))
            elif node.calls and by_call(node):
                steps += [(node, self._segment(row, row + 1)) for row in range(begin, end)]
            else:
                steps.append((node, self._segment(begin, end)))
        return steps

    def _segment(self, begin: int, end: int) -> NativeSegment:
        calls, nodes = self._calls[begin:end], self._owners[begin:end]
        return NativeSegment(
            calls, nodes, self._rows[begin:end], self._library, self._pool, self._cancellation
        )

    def _close(self, begin: int, end: int) -> None:
        if end > begin:
            self.steps.append(self._segment(begin, end))


class BoundCalls:
    """Calls of a node with the addresses that their tensors have now; run() gives 0 or a status."""

    __slots__ = ("_kept", "run")

    def __init__(
        self, node: Node, calls: Sequence[KernelCall], library: KernelLibrary, cancellation: Cancellation
    ) -> None:
        self._kept = _bound(node, calls, library, None, cancellation)
        self.run: Callable[[], int] = self._kept[0].plan.invoke

    @property
    def failed_row(self) -> int:
        """The number of the call that gave the last status."""
        return self._kept[0].plan.failed_row


def _bound(
    node: Node,
    calls: Sequence[KernelCall],
    library: KernelLibrary,
    pool: ThreadPool | None,
    cancellation: Cancellation,
) -> tuple[NativeSegment, ArgumentBlocks]:
    """Calls that are ready to run, and what has to live as long as they do."""
    _load(calls, library)
    blocks = ArgumentBlocks(calls, cancellation)
    blocks.bind()
    rows = _rows(calls, blocks, library)
    return NativeSegment(calls, [node] * len(calls), rows, library, pool, cancellation), blocks


def run_calls(
    context: Context,
    node: Node,
    calls: Sequence[KernelCall],
    library: KernelLibrary,
    pool: ThreadPool | None,
    cancellation: Cancellation,
) -> None:
    """Run calls of a node once, now; InvokeError when one fails, and what stops the run."""
    if not calls:
        return
    segment, _blocks = _bound(node, calls, library, pool, cancellation)
    status = segment.plan.invoke()
    if status:
        status = segment.resume(context, status)
    if status and cancellation.is_stopping:
        raise cancellation.error(cancellation.reason)
    if status:
        raise segment.failure(status)[1]


def _rows(calls: Sequence[KernelCall], blocks: ArgumentBlocks, library: KernelLibrary) -> np.ndarray:
    kernels = {(call.family, call.kernel) for call in calls if not call.address}
    places = {kernel: library.address(*kernel) for kernel in kernels}  # the same few, again and again
    rows = [
        (
            call.address or places[call.family, call.kernel],
            address,
            min(max(call.chunks, 1), _MOST_CHUNKS),
            call.cost or cost_of(call),
        )
        for call, address in zip(calls, blocks.addresses, strict=True)
    ]
    return np.array(rows, np.int64).reshape(len(rows), len(ROW.names or ()))


def cost_of(call: KernelCall) -> int:
    """About how many KiB a call touches."""
    nbytes = sum(tensor.nbytes for tensor in call.tensors.values()) + sum(kept.nbytes for kept in call.keep)
    return 1 + nbytes // 1024


def _load(calls: Sequence[KernelCall], library: KernelLibrary) -> None:
    wanted: dict[str, set[str]] = {"executor": {"run_plan", "invoke"}}
    for call in calls:
        if not call.address:
            wanted.setdefault(call.family, set()).add(call.kernel)
    library.load(wanted)
