"""What must hold of the shape of a tensor, and which inputs have others than a model declares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..schema.shown import shown_name
from .errors import PrepareError, StateError

if TYPE_CHECKING:
    from .model import Signature
    from .subgraph import Subgraph
    from .tensor import Shape, Tensor

_MOST_BYTES = (1 << 63) - 1


def checked_shape(tensor: Tensor, shape: Iterable[int]) -> Shape:
    """The shape as a tuple of ints; PrepareError when it is negative or needs 2**63 bytes or more."""
    shape = tuple([int(n) for n in shape])
    if min(shape, default=0) < 0:
        raise PrepareError(f"tensor {tensor!r}: dimensions must not be negative, got {shape}")
    count = math.prod(shape) if 0 not in shape else math.prod(max(n, 1) for n in shape)
    if count * 16 > _MOST_BYTES:
        raise PrepareError(f"tensor {tensor!r}: number of elements overflowed, got shape {shape}")
    return shape


def check_strict(tensor: Tensor, shape: Sequence[int]) -> None:
    """StateError unless the shape only fills in what the tensor's signature leaves open (-1)."""
    known = tensor.shape_signature
    fits = len(known) == len(shape) and all(k in (-1, n) for k, n in zip(known, shape, strict=True))
    if not fits:
        raise StateError(
            "ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1. "
            f"Tensor {tensor!r}: got {tuple(shape)}, shape signature {known}"
        )


def with_input_shapes(message: str, subgraph: Subgraph, signatures: Iterable[Signature]) -> str:
    """A message about a graph that cannot be prepared, with inputs of shapes that it does not declare.

    They are named by their tensors, and as arguments of the signatures that call them otherwise. They come
    first where the model says which sizes are open, and these are others: then the graph is not at fault.
    """
    inputs = [subgraph.tensors[t] for t in subgraph.inputs]
    names = {
        t: f"{name!r} of signature {signature.key!r}"
        for signature in signatures
        if signature.subgraph_index == subgraph.index
        for name, t in signature.inputs.items()
        if 0 <= t < len(subgraph.tensors) and name != subgraph.tensors[t].name
    }
    wrong = [tensor for tensor in inputs if not _fits(tensor)]
    if not wrong:
        return message
    faults = "; ".join(_fault(tensor, names) for tensor in wrong)
    says_what_is_open = any(tensor.signature is not None for tensor in wrong)
    return f"{faults}; {message}" if says_what_is_open else f"{message}; {faults}"


def _fits(tensor: Tensor) -> bool:
    declared = tensor.declared_shape
    return len(declared) == len(tensor.shape) and all(
        extent in (-1, n) for extent, n in zip(declared, tensor.shape, strict=True)
    )


def _fault(tensor: Tensor, names: dict[int, str]) -> str:
    argument = f" ({names[tensor.index]})" if tensor.index in names else ""
    return (
        f"input {shown_name(tensor.name)}{argument}: its shape must be {_shown(tensor.declared_shape)} as "
        f"the model declares it, got {_shown(tensor.shape)}"
    )


def _shown(shape: Shape) -> str:
    return "x".join("?" if n < 0 else str(n) for n in shape) or "scalar"
