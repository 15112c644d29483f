"""KernelCall: one native call of a node, as its prepare hook describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from .context import Context
    from .tensor import Tensor

    Resize = Callable[[Context, np.ndarray], None]

_NO_MESSAGES: dict[int, str] = {}


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
    are not in `tensors`, and the call is the last one of its node.
    """

    __slots__ = ("address", "args", "chunks", "family", "keep", "kernel", "messages", "resize", "tensors")

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


class KernelLibrary(Protocol):
    """Where compiled kernels come from; the roof hands one to the runtime."""

    def load(self, wanted: Mapping[str, set[str]]) -> None:
        """Make the kernels of each family callable, compiling what no cache holds."""

    def address(self, family: str, kernel: str) -> int:
        """Address of `int64 kernel(int64 args, int64 chunk, int64 chunks)`, loading it if need be."""
