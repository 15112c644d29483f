"""KernelCall: one native call of a node, as its prepare hook describes it; what the hook may return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..schema.named_tuple import NamedTuple
from ..schema.operator_code import CUSTOM, DELEGATE
from ..schema.shown import shown
from .errors import PrepareError

if TYPE_CHECKING:
    from .context import Context
    from .node import Node
    from .resources import Variable
    from .tensor import Tensor

    Resize = Callable[[Context, np.ndarray], None]

# A thread's share of a row is cut once more for each _PIECE_NS, so that threads that are late leave little to
# wait for; to hand out a share takes about half a microsecond.
_LEAST_SHARE_NS = 2_000
_PIECE_NS = 20_000
_MOST_PIECES = 4
# A run can be stopped between pieces: also on one thread none should take longer than this. What prepare
# hooks expect of a kernel may be a few times less than what it takes.
LONGEST_NS = 20_000_000

_FOREIGN = (CUSTOM, DELEGATE)  # their hooks are other people's
_NO_MESSAGES: dict[int, str] = {}


def argument_block(integers: str, floats: str = "") -> np.dtype:
    """The record of a kernel's argument block: int64 fields (addresses, sizes), then float32 ones.

    Both are names with spaces between them, in their order.
    """
    fields: list[tuple[str, type]] = [(name, np.int64) for name in integers.split()]
    return np.dtype([*fields, *((name, np.float32) for name in floats.split())], align=True)


class SizeFields(NamedTuple):
    """The fields of a block for the address of a dynamic result, its first size, and the one wanted."""

    y: str
    size: str
    found: str


class Sized(NamedTuple):
    """The one dynamic result of a call that needs no more than memory for the size that it has found."""

    tensor: Tensor
    fields: SizeFields


class KernelCall:
    """A compiled kernel and its argument block.

    family and kernel name the function: `kernels/compiled/families.py` says which module has a family.
    args is a record array of shape (1,) whose dtype the kernel reads by field name.
    tensors maps a field of args to the tensor whose address belongs there; the runtime fills
    it in whenever memory is planned. Addresses of packed weights are written by prepare
    itself, and the arrays are listed in keep so that they live as long as the node. A kernel that may
    take long in one chunk has a field `cancellation` (native_blocks.py), which the runtime fills in.
    chunks is into how many pieces the work may be cut; the kernel is called once per piece
    with (args, chunk, chunks) and pieces may run in parallel. messages says in words what
    a non-zero status means. With an address the function is the one that lies there, and family
    and kernel only name it; keep holds what must live as long as it.

    With resize the kernel writes dynamic tensors, whose shapes it finds out itself: where args do
    not have them it returns the status RESIZE (native_blocks.py), resize(context, args) gives the
    tensors shape and memory and writes both into args, and the kernel runs once more. Such tensors
    are not in `tensors`, and the call is the last one of its node. sized says that the fields which it
    names are all that resize looks at and writes, so that native code may do it for a size it has seen.

    cost is about how many KiB the call touches; 0 has the runtime count them. is_copy says that it copies
    bytes from one of its two tensors to the other and does nothing where both lie in the same ones; so
    does a call with a variable, whose value it copies to or from its one tensor.
    """

    __slots__ = (
        "address",
        "args",
        "chunks",
        "cost",
        "family",
        "is_copy",
        "keep",
        "kernel",
        "messages",
        "resize",
        "sized",
        "tensors",
        "variable",
    )

    def __init__(
        self,
        family: str,
        kernel: str,
        args: np.ndarray,
        tensors: Mapping[str, Tensor],
        chunks: int = 1,
        keep: Sequence[np.ndarray] = (),
        messages: Mapping[int, str] = _NO_MESSAGES,
        address: int = 0,
        resize: Resize | None = None,
    ) -> None:
        self.family = family
        self.kernel = kernel
        self.args = args
        self.tensors = tensors
        self.chunks = chunks
        self.keep = keep
        self.messages = messages
        self.address = address
        self.resize = resize
        self.sized: Sized | None = None
        self.cost = 0
        self.is_copy = False
        self.variable: Variable | None = None


class KernelLibrary(Protocol):
    """Where compiled kernels come from; the roof hands one to the runtime."""

    def load(self, wanted: Mapping[str, set[str]]) -> None:
        """Make the kernels of each family callable, compiling what no cache holds."""

    def address(self, family: str, kernel: str) -> int:
        """Address of `int64 kernel(int64 args, int64 chunk, int64 chunks)`, loading it if need be."""


def checked_calls(context: Context, node: Node, calls: object) -> Sequence[KernelCall] | None:
    """The calls that prepare has returned; PrepareError for what is none, and for a node that nothing runs.

    An empty list says that there is nothing to do. Of a custom operator or a delegate's kernel whose outputs
    have elements that is a mistake: nothing would write them, since invoke runs only after None.
    """
    registration = node.registration
    name = shown(registration.name)
    if calls is None:
        if registration.invoke is None:
            raise PrepareError(f"{name}: prepare returned no calls and there is no invoke")
        return None
    if not isinstance(calls, list | tuple) or not all(isinstance(call, KernelCall) for call in calls):
        raise PrepareError(
            f"{name}: prepare must return a list of KernelCalls, or None to have invoke run, "
            f"got {_brief(calls)}"
        )
    if not calls and registration.builtin_code in _FOREIGN:
        written = (context.tensor(t) for t in node.outputs if t >= 0)
        if any(tensor.size for tensor in written):
            raise PrepareError(
                f"{name}: prepare must return None to have invoke run, or calls that write the "
                f"outputs, got {calls!r}"
            )
    return calls


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def chunk_count(context: Context, work_ns: float, most: int = 1 << 20) -> int:
    """How many chunks to cut work of about work_ns (one thread) into; at most `most`.

    1 for small work; more than that on one thread only so that work of many ms can be stopped. More
    chunks than threads, so that a thread that is late does not hold up the others.
    """
    pieces = int(work_ns / LONGEST_NS)
    if context.num_threads > 1:
        threads = context.num_threads
        share_ns = work_ns / threads
        if share_ns >= _LEAST_SHARE_NS:
            pieces = max(pieces, threads * min(_MOST_PIECES, 1 + int(share_ns / _PIECE_NS)))
    return max(1, min(most, pieces))
