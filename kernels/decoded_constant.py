"""Constants stored sparse or with several elements in a byte, as the dense ones that kernels read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import UnsupportedError
from ..lite.node import Node
from ..lite.quantization import Quantization
from ..lite.tensor import OVERREAD_BYTES, AllocationType, Tensor, TensorType

# Packed types: bits of an element, and the type that holds its values.
PACKED_TYPES = {
    TensorType.INT4: (4, TensorType.INT8),
    TensorType.INT2: (2, TensorType.INT8),
    TensorType.UINT4: (4, TensorType.UINT8),
}


def unpacked(data: np.ndarray, bits: int, count: int, signed: bool) -> np.ndarray:
    """The first `count` elements of packed bytes, lowest bits first: int8 (signed) or uint8 [count]."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    values = (data[:, None] >> shifts).reshape(-1)[:count] & np.uint8((1 << bits) - 1)
    if not signed:
        return values
    left = np.uint8(8 - bits)
    shifted: np.ndarray = (values << left).view(np.int8) >> np.int8(8 - bits)
    return shifted


def packed(values: np.ndarray, bits: int) -> np.ndarray:
    """Bytes that hold the lowest bits of integers, the first lowest: the inverse of unpacked."""
    count = 8 // bits
    whole = np.zeros(-(-values.size // count) * count, np.uint8)
    whole[: values.size] = values.reshape(-1).astype(np.int64) & ((1 << bits) - 1)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    joined: np.ndarray = np.bitwise_or.reduce(whole.reshape(-1, count) << shifts, axis=1)
    return joined


def decoded(tensor: Tensor) -> Tensor:
    """The tensor itself, or where it is a constant that kernels cannot read, one that they can.

    Raises UnsupportedError for a packed or sparse tensor that is not constant.
    """
    packed = PACKED_TYPES.get(TensorType(tensor.type))
    if packed is None and tensor.sparsity is None:
        return tensor
    if not tensor.is_constant or tensor.data is None:
        raise UnsupportedError(f"tensor {tensor!r}: packed and sparse tensors are built as constants only")
    if packed is not None and tensor.sparsity is not None:
        raise UnsupportedError(f"tensor {tensor!r}: sparse tensors of packed types are not built")
    if packed is not None:
        bits, type_ = packed
        values = unpacked(tensor.data, bits, tensor.size, type_ == TensorType.INT8)
    else:
        from .densify import densified

        type_ = TensorType(tensor.type)
        values = densified(tensor)
    dense = Tensor(tensor.index, tensor.name, type_, tensor.shape, tensor.quantization)
    memory = np.zeros(values.nbytes + OVERREAD_BYTES, np.uint8)[: values.nbytes]
    memory[:] = np.frombuffer(values.tobytes(), np.uint8)
    dense.bind(memory)
    dense.allocation_type = AllocationType.PERSISTENT_RO
    return dense


class _WithInput:
    """A context in which one input of a node is another tensor, and perhaps the numerics."""

    def __init__(self, context: Context, node: Node, i: int, tensor: Tensor, numerics: Numerics) -> None:
        self._context = context
        self.numerics = numerics
        self._place = (node.index, i)
        self._tensor = tensor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def input(self, node: Node, i: int) -> Tensor:
        return self._tensor if (node.index, i) == self._place else self._context.input(node, i)

    def optional_input(self, node: Node, i: int) -> Tensor | None:
        return self._tensor if (node.index, i) == self._place else self._context.optional_input(node, i)


def with_decoded_input(
    context: Context, node: Node, i: int, by_xnnpack: bool = False, by_reference: bool = False
) -> Context:
    """The context, or one in which the node's i-th input is decoded.

    XNNPACK's delegate takes few nodes with such inputs: unless by_xnnpack, the decoded tensor is
    not called constant by default, so that kernels do not choose XNNPACK's arithmetic. With
    by_reference they take the reference's.
    """
    tensor = context.input(node, i)
    dense = decoded(tensor)
    if dense is tensor:
        return context
    numerics = Numerics.REFERENCE if by_reference else context.numerics
    if numerics is Numerics.DEFAULT and not by_xnnpack:
        dense.allocation_type = AllocationType.CUSTOM
    changed: Any = _WithInput(context, node, i, dense, numerics)
    return changed


def with_signed_weights(context: Context, node: Node) -> Context:
    """The context, or for float32 inputs and uint8 weights one in which the weights are int8.

    Old converters called int8 weights of such nodes uint8; their zero point means nothing.
    Source: LiteRT tflite/kernels/fully_connected.cc, EvalHybrid.
    """
    x, w = context.input(node, 0), context.input(node, 1)
    is_old = x.type == TensorType.FLOAT32 and w.type == TensorType.UINT8 and w.is_constant
    if not is_old or w.quantization is None:
        return context
    old = w.quantization
    quantization = Quantization(old.scales, np.zeros(1, np.int64), old.quantized_dimension)
    signed = Tensor(w.index, w.name, TensorType.INT8, w.shape, quantization)
    signed.bind(w.data)
    # Not called constant: XNNPACK does not take them, nor then must its arithmetic be chosen.
    signed.allocation_type = AllocationType.CUSTOM
    changed: Any = _WithInput(context, node, 1, signed, context.numerics)
    return changed
