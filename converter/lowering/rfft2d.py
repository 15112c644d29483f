"""RFFT and RFFT2D."""

from __future__ import annotations

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import (
    BuiltinOperator,
    ConcatenationOptionsT,
    ExpandDimsOptionsT,
    FullyConnectedOptionsT,
    SliceOptionsT,
    SqueezeOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import cast_to
from .lowering import Lowering, Rule, check_type
from .reshape import reshaped

# Of more samples the table of sines would be too large.
_MOST_LENGTH = 1024


def is_power_of_two(length: int) -> bool:
    return length > 0 and not length & (length - 1)


def rfft(lowering: Lowering, node: Node) -> LiteTensor:
    """RFFT2D over the last axis and one of size 1; a product with sines for lengths that it does not take."""
    x, length = lowering.inputs(node)
    if x.shape is None:
        raise UnsupportedError("the rank must be known")
    check_type(x, TensorType.FLOAT32)
    known = length.known()
    if known is not None and known[0] == 1 and x.shape and x.shape[-1] > 0:
        return _of_one_sample(lowering, node, x)
    if known is None or known[0] == -1:
        lengths, count = _lengths(lowering, node, length), -1
    elif not is_power_of_two(known[0]):
        return _by_sines(lowering, node, x, known[0])
    else:
        lengths = lowering.integers(lowering.name(node, "/lengths"), [1, known[0]])
        count = known[0] // 2 + 1
    rows = _with_one(lowering, node, x)
    spread = (*x.shape[:-1], 1, count)
    complex64 = TensorType.COMPLEX64
    y = lowering.operator(node, BuiltinOperator.RFFT2D, [rows, lengths], spread, type=complex64)
    return _without_one(lowering, node, y)


def _of_one_sample(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """The first sample itself; LiteRT's transform of it has it as the imaginary part, too."""
    assert x.shape is not None
    shape = (*x.shape[:-1], 1)
    if x.shape != shape:
        begin = lowering.integers(lowering.name(node, "/begin"), [0] * len(shape))
        size = lowering.integers(lowering.name(node, "/size"), [-1] * (len(shape) - 1) + [1])
        x = lowering.operator(node, BuiltinOperator.SLICE, [x, begin, size], shape, SliceOptionsT())
    return cast_to(lowering, node, x, TensorType.COMPLEX64)


def _lengths(lowering: Lowering, node: Node, length: LiteTensor) -> LiteTensor:
    """1 and a length that only a run tells; LiteRT runs no other than powers of two, flex operators do."""
    if lowering.program.settings.select:
        raise UnsupportedError("the length must be known")
    one = lowering.integers(lowering.name(node, "/one"), [1])
    options = ConcatenationOptionsT()
    return lowering.operator(node, BuiltinOperator.CONCATENATION, [one, length], (2,), options)


def _with_one(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """x with an axis of 1 before its last."""
    assert x.shape is not None
    shape = (*x.shape[:-1], 1, x.shape[-1])
    made = reshaped(lowering, node, x, shape)
    if made is not None:
        return made
    axis = lowering.constant(lowering.name(node, "/axis"), np.array(-2, np.int32))
    return lowering.operator(node, BuiltinOperator.EXPAND_DIMS, [x, axis], shape, ExpandDimsOptionsT())


def _without_one(lowering: Lowering, node: Node, y: LiteTensor) -> LiteTensor:
    """y without its last axis but one."""
    assert y.shape is not None
    shape = (*y.shape[:-2], y.shape[-1])
    made = reshaped(lowering, node, y, shape)
    if made is not None:
        return made
    options = SqueezeOptionsT(squeeze_dims=[-2])
    return lowering.operator(node, BuiltinOperator.SQUEEZE, [y], shape, options)


def _by_sines(lowering: Lowering, node: Node, x: LiteTensor, length: int) -> LiteTensor:
    """FULLY_CONNECTED to real and imaginary parts in turns, and BITCAST of these pairs."""
    assert x.shape is not None
    samples = x.shape[-1]
    if not 1 <= length <= _MOST_LENGTH or not 1 <= samples <= _MOST_LENGTH:
        raise UnsupportedError(
            f"a length of {length} for {samples} samples: RFFT2D takes powers of two, and products of sines "
            f"are built up to {_MOST_LENGTH}"
        )
    count = length // 2 + 1
    angles = 2 * np.pi / length * (np.outer(np.arange(count), np.arange(samples)) % length)
    weights = np.stack([np.cos(angles), -np.sin(angles)], 1).reshape(2 * count, samples)
    # Samples past the length are left out, missing ones are zeros.
    weights[:, length:] = 0
    sines = lowering.constant(lowering.name(node, "/sines"), weights.astype(np.float32))
    flat = (*x.shape[:-1], 2 * count)
    options = FullyConnectedOptionsT(keep_num_dims=True)
    parts = lowering.operator(node, BuiltinOperator.FULLY_CONNECTED, [x, sines, None], flat, options)
    pairs = _reshaped(lowering, node, parts, (*x.shape[:-1], count, 2))
    return lowering.operator(
        node, BuiltinOperator.BITCAST, [pairs], (*x.shape[:-1], count), type=TensorType.COMPLEX64
    )


def _reshaped(lowering: Lowering, node: Node, x: LiteTensor, shape: tuple[int, ...]) -> LiteTensor:
    made = reshaped(lowering, node, x, shape)
    if made is None:
        raise UnsupportedError("all sizes but one must be known")
    return made


def rfft2d(lowering: Lowering, node: Node) -> LiteTensor:
    """RFFT2D; of lengths that only a run tells where flex operators, which take any, are not wanted."""
    inputs = lowering.inputs(node)
    if inputs[1].data is None and lowering.program.settings.select:
        raise UnsupportedError("the lengths must be constant")
    known = inputs[1].known() or ()
    for length in known:
        if length != -1 and not is_power_of_two(length):
            raise UnsupportedError(f"RFFT2D takes lengths that are powers of two, got {length}")
    shape = lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.RFFT2D, inputs, shape, type=TensorType.COMPLEX64)


REGISTRATIONS: dict[str, Rule] = {"RFFT": rfft, "RFFT2D": rfft2d}
