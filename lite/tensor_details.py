"""The dictionaries that describe tensors and operators, field for field as LiteRT gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..schema.flatbuffer import is_present
from .tensor_access import numpy_type, read_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .node import Node
    from .subgraph import Subgraph
    from .tensor import Tensor

_NO_SCALES = np.empty(0, np.float32)
_NO_ZERO_POINTS = np.empty(0, np.int32)
_DENSE = 0


def tensor_details(tensor: Tensor, tensors: Sequence[Tensor]) -> dict[str, Any]:
    """Details of one of a subgraph's tensors.

    ValueError for a tensor that has no details: a type NumPy cannot name, or scratch memory.
    """
    dtype = numpy_type(tensor.type)
    if dtype is None:
        raise ValueError("Could not get tensor details")
    return {
        "name": tensor.name,
        "index": tensor.index,
        "shape": np.array(tensor.shape, np.int32),
        "shape_signature": np.array(tensor.shape_signature, np.int32),
        "dtype": dtype,
        "quantization": quantization(tensor),
        "quantization_parameters": quantization_parameters(tensor, tensors),
        "sparsity_parameters": sparsity_parameters(tensor),
    }


def all_tensor_details(subgraphs: Sequence[Subgraph], index: int) -> list[dict[str, Any]]:
    """Of all tensors of a subgraph, without the scratch memory of its operators."""
    if not 0 <= index < len(subgraphs):
        raise ValueError(
            f"subgraph_index is out of range: {index} for the model, which has {len(subgraphs)} subgraphs."
        )
    tensors = subgraphs[index].tensors
    found = []
    for tensor in tensors[: subgraphs[index].model_tensor_count]:
        try:
            found.append(tensor_details(tensor, tensors))
        except ValueError:
            continue
    return found


def quantization(tensor: Tensor) -> tuple[float, int]:
    """The single scale and zero point; (0.0, 0) for a tensor that has not exactly one."""
    q = tensor.quantization
    return (0.0, 0) if q is None or q.per_channel else (q.scale, q.zero_point)


def quantization_parameters(tensor: Tensor, tensors: Sequence[Tensor]) -> dict[str, Any]:
    """Scales and zero points; those of blocks are what other tensors of the subgraph hold, flattened."""
    q = tensor.quantization
    if q is None:
        return {
            "scales": _NO_SCALES.copy(),
            "zero_points": _NO_ZERO_POINTS.copy(),
            "quantized_dimension": 0,
            "block_size": 0,
        }
    if q.block_size:
        return {
            "scales": _values(tensors, q.scales_tensor, _NO_SCALES),
            "zero_points": _values(tensors, q.zero_points_tensor, _NO_ZERO_POINTS),
            "quantized_dimension": q.quantized_dimension,
            "block_size": q.block_size,
        }
    return {
        "scales": np.array(q.scales, np.float32),
        "zero_points": np.array(q.zero_points).astype(np.int32),
        "quantized_dimension": q.quantized_dimension,
        "block_size": q.block_size,
    }


def _values(tensors: Sequence[Tensor], index: int, none: np.ndarray) -> np.ndarray:
    if not 0 <= index < len(tensors) or tensors[index].data is None:
        return none.copy()
    return read_tensor(tensors[index]).ravel()


def sparsity_parameters(tensor: Tensor) -> dict[str, Any]:
    """How a sparse tensor is encoded; empty for a dense one."""
    sparsity: Any = tensor.sparsity
    if sparsity is None:
        return {}
    details: dict[str, Any] = {
        name: np.array(getattr(sparsity, name), np.int32)
        for name in ("traversal_order", "block_map")
        if is_present(sparsity, name)
    }
    details["dim_metadata"] = [_dimension(entry) for entry in sparsity.dim_metadata]
    return details


def _dimension(entry: Any) -> dict[str, Any]:
    if entry.format == _DENSE:
        return {"format": _DENSE, "dense_size": entry.dense_size}
    vectors = {"array_segments": entry.array_segments, "array_indices": entry.array_indices}
    found = {
        name: np.array(vector.values, np.int32) for name, vector in vectors.items() if vector is not None
    }
    return {"format": entry.format, **found}


def operator_details(subgraph: Subgraph, node: Node) -> dict[str, Any]:
    """A node with its tensors; left-out optional tensors have no type."""
    return {
        "index": node.index,
        "op_name": node.registration.name,
        "inputs": np.array(node.inputs, np.int32),
        "outputs": np.array(node.outputs, np.int32),
        "operand_types": _types(subgraph, node.inputs),
        "result_types": _types(subgraph, node.outputs),
    }


def _types(subgraph: Subgraph, indexes: tuple[int, ...]) -> list[Any]:
    return [tensor_details(subgraph.tensors[t], subgraph.tensors)["dtype"] for t in indexes if t != -1]
