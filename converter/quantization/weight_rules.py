"""Which operands are weights, and how each operator takes them quantized: one table."""

from __future__ import annotations

from typing import NamedTuple


class WeightRule(NamedTuple):
    """The weights of an operator.

    places are their operands; channels the dimension of output channels, None where there is one scale for
    all. hybrid are the bits of weights with which the operator quantizes its float32 inputs itself, blocks
    those that may have a scale for each block of the last dimension. asymmetric: its options tell whether
    inputs get a zero point. together: all weights are quantized, or none. needs_channels: its hybrid kernel
    reads a scale for each channel, also where all are the same.
    """

    places: tuple[int, ...] = (1,)
    channels: int | None = 0
    hybrid: tuple[int, ...] = (8,)
    blocks: tuple[int, ...] = ()
    asymmetric: bool = False
    together: bool = False
    needs_channels: bool = False


def _recurrent(*places: int) -> WeightRule:
    return WeightRule(places, channels=None, asymmetric=True, together=True)


# Of the LSTMs: input, recurrent and cell weights of the four gates, and the projection.
_GATES = (*range(1, 9), *range(9, 12), 16)

WEIGHT_RULES: dict[str, WeightRule] = {
    "BATCH_MATMUL": WeightRule(channels=None, asymmetric=True),
    "CONV_2D": WeightRule(hybrid=(8, 4)),
    "CONV_3D": WeightRule(channels=4, hybrid=()),
    "DEPTHWISE_CONV_2D": WeightRule(channels=3, needs_channels=True),
    "EMBEDDING_LOOKUP": WeightRule(hybrid=(8, 4, 2), blocks=(4,)),
    "FULLY_CONNECTED": WeightRule(hybrid=(8, 4, 2), blocks=(4,), asymmetric=True),
    "SVDF": _recurrent(1, 2),
    "TRANSPOSE_CONV": WeightRule(hybrid=()),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _recurrent(*_GATES),
    "UNIDIRECTIONAL_SEQUENCE_RNN": _recurrent(1, 2),
}
