"""What tensors can be quantized to: types of integers and their ranges, and the schemes that people name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType


class Integers(NamedTuple):
    """The integers that a tensor may hold: low <= q <= high.

    Symmetric ones have the zero point 0, and high stands for the largest magnitude.
    """

    type: TensorType
    bits: int
    low: int
    high: int
    symmetric: bool


INT8 = Integers(TensorType.INT8, 8, -128, 127, symmetric=False)
UINT8 = Integers(TensorType.UINT8, 8, 0, 255, symmetric=False)
INT16 = Integers(TensorType.INT16, 16, -32768, 32767, symmetric=True)
# Of activations, by their bits.
ACTIVATIONS = {8: INT8, 16: INT16}
# Of weights, by their bits. Kernels of int8 rely on -127; below 8 bits all values are of use.
WEIGHTS = {
    8: Integers(TensorType.INT8, 8, -127, 127, symmetric=True),
    4: Integers(TensorType.INT4, 4, -8, 7, symmetric=True),
    2: Integers(TensorType.INT2, 2, -2, 1, symmetric=True),
}
# Of biases, by their bits.
BIASES = {
    32: Integers(TensorType.INT32, 32, -(2**31), 2**31 - 1, symmetric=True),
    64: Integers(TensorType.INT64, 64, -(2**63), 2**63 - 1, symmetric=True),
}
# The bits that biases can have, by those of the activations that they are added to; the usual ones last.
BIAS_BITS = {8: (32,), 16: (32, 64)}
BLOCK_SIZES = (32, 64, 128, 256)


@dataclass(frozen=True)
class Scheme:
    """How an operator is quantized.

    weight_bits are 8, 4 or 2, or 16 for float16. activation_bits are 0 for float32, 8 or 16. Of float
    activations, dequantize tells whether the weights become floats before the operator, or the operator
    quantizes its inputs itself. per_channel: a scale for each output channel, else one; block: inputs that
    share a scale, 0 for all; symmetric: weights have no zero points. bias_bits are those of biases beside
    integer activations, 0 for the usual ones.
    """

    weight_bits: int = 8
    activation_bits: int = 0
    dequantize: bool = False
    per_channel: bool = True
    block: int = 0
    symmetric: bool = True
    bias_bits: int = 0

    def __post_init__(self) -> None:
        if self.weight_bits not in (*WEIGHTS, 16):
            raise UnsupportedError(f"weights: bits must be 8, 4, 2 or 16 (float16), got {self.weight_bits}")
        if self.activation_bits not in (0, *ACTIVATIONS):
            raise UnsupportedError(
                f"activations: bits must be 0 (float32), 8 or 16, got {self.activation_bits}"
            )
        if self.block and self.block not in BLOCK_SIZES:
            raise UnsupportedError(f"block: must be of {BLOCK_SIZES}, or 0 for none, got {self.block}")
        if self.block and (self.weight_bits not in (4, 2) or self.activation_bits or self.dequantize):
            raise UnsupportedError(
                "block: blocks of weights must be of 4 or 2 bits with float32 activations that the operator "
                f"quantizes, got {self}"
            )
        if not self.symmetric and not self.dequantize:
            raise UnsupportedError(
                f"weights: only those that are dequantized can have zero points, got {self}"
            )
        if self.is_float16 and (self.activation_bits or not self.dequantize):
            raise UnsupportedError(
                f"float16 weights: must be dequantized, with float32 activations, got {self}"
            )

        if self.bias_bits not in (0, *BIAS_BITS.get(self.activation_bits, ())):
            raise UnsupportedError(
                f"biases: bits must be 32 with 8-bit activations, 32 or 64 with 16-bit ones, got {self}"
            )

    @property
    def biases(self) -> Integers:
        """What biases become beside integer activations."""
        return BIASES[self.bias_bits or BIAS_BITS[self.activation_bits][-1]]

    @property
    def is_float16(self) -> bool:
        return self.weight_bits == 16

    @property
    def calibrates(self) -> bool:
        """Whether ranges of activations are needed."""
        return bool(self.activation_bits)


# By the names of `numlite quantize --scheme`.
SCHEMES = {
    "dynamic": Scheme(),
    "float16": Scheme(weight_bits=16, dequantize=True),
    "weight-int8": Scheme(dequantize=True),
    "weight-int4": Scheme(weight_bits=4, dequantize=True),
    "int8": Scheme(activation_bits=8),
    "int16x8": Scheme(activation_bits=16),
}
