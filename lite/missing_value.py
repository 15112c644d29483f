"""Why a tensor has no value, or no memory, that a caller asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.shown import shown
from .errors import ModelError

if TYPE_CHECKING:
    from .subgraph import Subgraph
    from .tensor import Tensor

NO_DATA = "Tensor data is null. Run allocate_tensors() first"
_NOT_ALLOCATED = "Cannot set tensor: Tensor is unallocated. Try calling allocate_tensors() first"


def no_value(subgraph: Subgraph, tensor: Tensor) -> ValueError:
    """The error of reading a tensor without memory; a ModelError where no call could give it a value."""
    if not subgraph.has_memory:
        return _not_allocated(subgraph, tensor)
    what = _named(subgraph, tensor)
    t = tensor.index
    if t in subgraph.inputs:
        return ValueError(f"{what}: it has no value yet, set_tensor() gives it one")
    is_written = any(t in subgraph.nodes[n].outputs for n in subgraph.execution_plan)
    if is_written and not any(t in node.outputs for node in subgraph.schedule):
        return ValueError(
            f"{what}: it has no value, since it lies between operators that run as one; "
            "experimental_preserve_all_tensors=True has each run by itself"
        )
    if is_written:
        return ValueError(f"{what}: it has no value yet, invoke() gives it one")
    writer = next((node for node in subgraph.nodes if t in node.outputs), None)
    if writer is not None:
        return ValueError(
            f"{what}: its value stays in the delegate that took node {writer.index} "
            f"({shown(writer.registration.name)}); without the delegate it can be read"
        )
    return ModelError(
        f"{what}: it has no value, since no operator writes it and the model has no data for it"
    )


def _not_allocated(subgraph: Subgraph, tensor: Tensor) -> ValueError:
    if subgraph.index and subgraph.runtime.subgraphs[0].has_memory:
        return ValueError(
            f"{_named(subgraph, tensor)}: it has no memory, since nothing has run its subgraph yet: invoke() "
            "does where an operator calls it, and get_signature_runner() where it is a signature's"
        )
    return ValueError(NO_DATA)


def no_memory(subgraph: Subgraph, tensor: Tensor) -> ValueError:
    """The error of writing to a tensor without memory."""
    if not subgraph.has_memory:
        return ValueError(_NOT_ALLOCATED)
    return ValueError(
        f"Cannot set tensor: {_named(subgraph, tensor)}: it has no memory, no operator that runs uses it"
    )


def _named(subgraph: Subgraph, tensor: Tensor) -> str:
    place = "output " if tensor.index in subgraph.outputs else ""
    place = "input " if tensor.index in subgraph.inputs else place
    text = f"{place}tensor {tensor.index} {tensor!r}"
    return text if subgraph.index == 0 else f"subgraph {subgraph.index}, {text}"
