"""Runtime: what all subgraphs of one interpreter share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import Numerics

if TYPE_CHECKING:
    from .kernel_call import KernelLibrary
    from .subgraph import Subgraph
    from .thread_pool import ThreadPool


class Runtime:
    """The settings and the subgraphs of an interpreter.

    preserve_all_tensors keeps every intermediate tensor's bytes until the next invoke; it
    changes where tensors lie, never which kernels run.
    """

    def __init__(
        self,
        library: KernelLibrary,
        numerics: Numerics = Numerics.DEFAULT,
        num_threads: int = 1,
        preserve_all_tensors: bool = False,
    ) -> None:
        self.library = library
        self.numerics = numerics
        self.num_threads = num_threads
        self.preserve_all_tensors = preserve_all_tensors
        self.subgraphs: list[Subgraph] = []

    def pool(self) -> ThreadPool | None:
        """The threads that kernels may use besides the caller's."""
        if self.num_threads == 1:
            return None
        from .thread_pool import shared_pool

        return shared_pool(self.num_threads, self.library)
