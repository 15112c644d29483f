"""Operators whose results have a type of their own, whatever the file declares for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lite.tensor import AllocationType, TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..lite.context import Context
    from ..lite.kernel_call import KernelCall
    from ..lite.node import Node
    from ..lite.registration import Registration
    from ..lite.tensor import Tensor


def with_result_types(entry: Registration, results: str) -> Registration:
    """The operator with its results' types settled before it is prepared.

    results has a word for each result, the last for all that follow: `#1` for the type of input 1,
    or a type's name.
    """
    words = results.split()

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        for i, t in enumerate(node.outputs):
            wanted = _type_of(words[min(i, len(words) - 1)], context, node)
            if wanted is not None and t >= 0:
                _settle(context.tensor(t), wanted)
        return entry.prepare(context, node)

    return entry.with_hooks(prepare, entry.invoke)


def _type_of(word: str, context: Context, node: Node) -> int | None:
    """None where there is no such input, which prepare reports."""
    if not word.startswith("#"):
        return TensorType[word.upper()]
    tensor = context.optional_input(node, int(word[1:]))
    return None if tensor is None else tensor.type


def _settle(tensor: Tensor, wanted: int) -> None:
    if tensor.type == wanted:
        return
    tensor.type = wanted
    tensor.bind(None)
    if tensor.has_fixed_size:
        if tensor.allocation_type is AllocationType.DYNAMIC:
            tensor.allocation_type = AllocationType.ARENA_RW
    else:
        tensor.allocation_type = AllocationType.DYNAMIC
