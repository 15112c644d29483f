"""Which nodes LiteRT's default leaves to XNNPACK, as far as several operators share it.

The delegate chooses once, at the first allocation, by the shapes of then: the file's, or those that inputs
were given before. Whatever it has left is LiteRT's own kernels' for good.
Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc.
"""

from __future__ import annotations

from ..lite.tensor import Tensor, TensorType
from .fused_activation import SIGN_BIT, TANH
from .packed import PACKED_BITS

MAX_RANK = 6
_IMAGE_RANK = 4


def takes_activation(fused: int) -> bool:
    """Whether the delegate takes a node with this activation. Source: ConvertActivationToOutputRange."""
    return fused not in (TANH, SIGN_BIT)


def takes_shapes(*tensors: Tensor) -> bool:
    """Whether it takes operands of single elements. Source: CheckTensorShape."""
    return all(len(t.first_shape) <= MAX_RANK and 0 not in t.first_shape for t in tensors)


def takes_images(*tensors: Tensor) -> bool:
    """Whether it takes these inputs and outputs of convolutions. Source: CheckTensorShape."""
    return all(len(t.first_shape) == _IMAGE_RANK and 0 not in t.first_shape for t in tensors)


def takes_packed_weights(w: Tensor) -> bool:
    """Whether it takes packed weights of FULLY_CONNECTED: rows of whole bytes, of int2 with a scale each.

    Source: CheckTensorFilterType.
    """
    bits = PACKED_BITS.get(TensorType(w.type))
    if bits is None or not w.shape or w.shape[-1] * bits % 8:
        return False
    q = w.quantization
    return w.type != TensorType.INT2 or (q is not None and len(q.scales) == w.shape[0])
