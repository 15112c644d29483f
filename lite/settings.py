"""Settings: what whoever makes an interpreter may choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.named_tuple import NamedTuple
from .context import Numerics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .delegate import Delegate
    from .private_file import CodePlace


def no_delegates(name: str, options: Mapping[str, str]) -> Delegate | None:
    """Finds no delegate by name."""
    return None


def no_place() -> CodePlace | None:
    """Nothing is kept."""
    return None


class Settings(NamedTuple):
    """The choices; what is left out is the usual.

    preserve_all_tensors keeps every intermediate tensor's bytes until the next invoke; it changes where
    tensors lie, never which kernels run. compress_zero_points makes one of a tensor's zero points where all
    are equal. Without delegate_clustering nodes keep their order for delegates, without delegate_node_fusion
    they get one node at a time; with force_delegate_node_profiling nodes of delegates have rows of their own.
    offered_delegates may run what a compiled model carries; with trust_compiled_code the model may have the
    delegate found that it names, by find_delegate. code_place tells where what is prepared may
    be kept; prepared_model is a file of it that the caller trusts.
    """

    numerics: Numerics = Numerics.DEFAULT
    num_threads: int = 1
    preserve_all_tensors: bool = False
    compress_zero_points: bool = False
    delegate_clustering: bool = True
    delegate_node_fusion: bool = True
    force_delegate_node_profiling: bool = False
    offered_delegates: tuple[Delegate, ...] = ()
    trust_compiled_code: bool = False
    prepared_model: str | None = None
    code_place: Callable[[], CodePlace | None] = no_place
    find_delegate: Callable[[str, Mapping[str, str]], Delegate | None] = no_delegates
