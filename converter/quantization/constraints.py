"""CONSTRAINTS: what integer kernels ask of the scales of each operator's operands and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...lite.tensor import TensorType

INT8, INT16 = TensorType.INT8, TensorType.INT16

# The scale and zero point that results have whatever their values are.
Fixed = tuple[float, int]


class Weights(NamedTuple):
    """Where an operator has its filter and bias, and the filter's dimension of output channels.

    needs_bias tells that the integer kernel wants a bias, of zeros if need be. least_bits are the fewest of
    filters that its int8 kernels take.
    """

    place: int
    dimension: int
    bias: int
    needs_bias: bool = False
    least_bits: int = 8


class Constraint(NamedTuple):
    """How one operator is quantized.

    types are the activations that it has integer kernels for. operands and results are the places of
    those that are quantized (None: all), tied ones have one scale with each other. With several tied operands
    the result's range counts, else the operand's. fixed is the scale and zero point of results by type.
    beside tells that alone between float tensors it stays float in int8, as it does in TensorFlow.
    symmetric tells that a constant operand is quantized as weights are (EMBEDDING).
    """

    types: tuple[TensorType, ...] = (INT8, INT16)
    operands: tuple[int, ...] | None = (0,)
    results: tuple[int, ...] | None = (0,)
    tied: bool = False
    weights: Weights | None = None
    fixed8: Fixed | None = None
    fixed16: Fixed | None = None
    beside: bool = False
    symmetric: bool = False

    def fixed(self, type: TensorType) -> Fixed | None:
        """Scale and zero point of the results in activations of that type, None where they are free."""
        return self.fixed8 if type is INT8 else self.fixed16

    def operand_places(self, count: int) -> Sequence[int]:
        """Places of quantized operands (not of filter and bias) among so many."""
        return range(count) if self.operands is None else [p for p in self.operands if p < count]

    def result_places(self, count: int) -> Sequence[int]:
        """Places of quantized results among so many."""
        return range(count) if self.results is None else [p for p in self.results if p < count]


_ONLY8 = (INT8,)
_TWO = (0, 1)
_FREE, _FREE_8 = Constraint(), Constraint(_ONLY8)
_BINARY, _BINARY_8 = Constraint(operands=_TWO), Constraint(_ONLY8, operands=_TWO)
_COMPARED = Constraint(_ONLY8, operands=_TWO, results=())
_PLACED = Constraint(_ONLY8, results=())
_TIED, _TIED_8 = Constraint(tied=True), Constraint(_ONLY8, tied=True)
_EXTREME = Constraint(operands=_TWO, tied=True)
_JOINED = Constraint(operands=None, tied=True)
_SELECTED = Constraint(operands=(1, 2), tied=True)
_UNIT_16 = (1 / 32768, 0)

# Operators that are not here have no integer kernel, or none that LiteRT runs: they stay float.
# Source: LiteRT tflite/converter/quantization, measured with TensorFlow 2.21 on graphs of one operator.
CONSTRAINTS: dict[str, Constraint] = {
    "CONV_2D": Constraint(weights=Weights(1, 0, 2, needs_bias=True, least_bits=4)),
    "DEPTHWISE_CONV_2D": Constraint(weights=Weights(1, 3, 2, needs_bias=True)),
    "FULLY_CONNECTED": Constraint(weights=Weights(1, 0, 2, least_bits=4)),
    "TRANSPOSE_CONV": Constraint(operands=(2,), weights=Weights(1, 0, 3)),
    "BATCH_MATMUL": _BINARY,
    **dict.fromkeys(("ADD", "SUB", "MUL"), _BINARY),
    **dict.fromkeys(("DIV", "SQUARED_DIFFERENCE"), _BINARY_8),
    "PRELU": _BINARY_8,
    # Their other operands: recurrent_integers.
    **dict.fromkeys(("UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF"), _FREE_8),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_PROD"), _FREE),
    **dict.fromkeys(("ABS", "EXP", "LOG", "RSQRT", "GELU"), _FREE),
    **dict.fromkeys(("RELU", "RELU6", "LEAKY_RELU"), _FREE),
    **dict.fromkeys(("SQRT", "HARD_SWISH", "ELU", "RELU_N1_TO_1"), _FREE_8),
    **dict.fromkeys(("SOFTMAX", "LOGISTIC"), Constraint(fixed8=(1 / 256, -128), fixed16=_UNIT_16)),
    "TANH": Constraint(fixed8=(1 / 128, 0), fixed16=_UNIT_16),
    "L2_NORMALIZATION": Constraint(_ONLY8, fixed8=(1 / 128, 0)),
    "LOG_SOFTMAX": Constraint(_ONLY8, fixed8=(16 / 256, 127)),
    **dict.fromkeys(("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"), _COMPARED),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), _PLACED),
    **dict.fromkeys(("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "SLICE", "STRIDED_SLICE"), _TIED),
    **dict.fromkeys(("PAD", "MIRROR_PAD", "TILE", "BROADCAST_TO", "REVERSE_V2", "GATHER_ND"), _TIED),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), _TIED),
    **dict.fromkeys(("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"), _TIED),
    **dict.fromkeys(("MAX_POOL_2D", "AVERAGE_POOL_2D", "REDUCE_MAX", "REDUCE_MIN"), _TIED),
    **dict.fromkeys(("SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "TOPK_V2"), _TIED_8),
    "GATHER": Constraint(tied=True, symmetric=True),
    "SPLIT": Constraint(operands=(1,), results=None, tied=True, beside=True),
    "SPLIT_V": Constraint(results=None, tied=True, beside=True),
    "UNPACK": Constraint(results=None, tied=True, beside=True),
    **dict.fromkeys(("CONCATENATION", "PACK"), _JOINED),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), _EXTREME),
    **dict.fromkeys(("SELECT", "SELECT_V2"), _SELECTED),
    "PADV2": Constraint(operands=(0, 2), tied=True),
    "DYNAMIC_UPDATE_SLICE": Constraint(operands=_TWO, tied=True),
}
