"""RaggedTensorToTensor as a custom operator, in Python: rows of any length as one dense tensor."""

from __future__ import annotations

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.string_tensor import pack_strings
from ..lite.tensor import TensorType
from .array_function import values_of
from .custom_options import FlexOptions
from .index_vector import check_index_type

_NAME = "RaggedTensorToTensor"
_SIZES = (TensorType.INT32, TensorType.INT64)


def prepare(context: Context, node: Node) -> None:
    """Inputs are the shape, values, what fills short rows, and a partition for each of row_partition_types.

    Source: tflite-support custom_ops/kernel/ragged/ragged_tensor_to_tensor_tflite.cc.
    """
    kinds = FlexOptions(node).texts("row_partition_types")
    if len(node.inputs) != 3 + len(kinds) or len(node.outputs) != 1:
        raise PrepareError(
            f"{_NAME}: must have 3 inputs, one more for each of {len(kinds)} row_partition_types, and 1 "
            f"output, got {len(node.inputs)} inputs and {len(node.outputs)} outputs"
        )
    values, y = context.input(node, 1), context.output(node, 0)
    for place in (0, *range(3, len(node.inputs))):
        check_index_type(_NAME, f"input {place}", context.input(node, place), _SIZES)
    for what, tensor in (("input 2", context.input(node, 2)), ("output", y)):
        check_index_type(_NAME, what, tensor, (values.type,))
    node.user_data = kinds
    context.set_dynamic(y)


def invoke(context: Context, node: Node) -> None:
    # What it shares with the op of that name is imported by models that have it.
    from .fallback.ragged import ragged_tensor_to_tensor

    shape, values, default, *partitions = (values_of(context.input(node, i)) for i in range(len(node.inputs)))
    kinds = node.user_data
    assert isinstance(kinds, list)
    dense = ragged_tensor_to_tensor(shape, values, default, partitions, row_partition_types=kinds)
    y = context.output(node, 0)
    context.resize_tensor(y, dense.shape)
    if y.type == TensorType.STRING:
        y.bind(pack_strings(list(dense.reshape(-1))))
    else:
        y.array()[...] = dense


REGISTRATIONS = (Registration(_NAME, prepare, invoke),)
