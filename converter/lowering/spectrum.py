"""Real, Imag: parts of complex numbers; of a scaled RFFT, as of cosine transforms, one product."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, FullyConnectedOptionsT
from ..ir.node import Node, Value
from ..lite_graph import LiteTensor
from .direct import part_type
from .lowering import Lowering, Rule
from .rfft2d import is_power_of_two

# A table of sines has no more numbers.
_MOST_NUMBERS = 1 << 18
# What is done to the transforms [.., numbers] of unit vectors.
Step = Callable[[np.ndarray], np.ndarray]


def real(lowering: Lowering, node: Node) -> LiteTensor:
    """REAL, or a product where the numbers are a scaled transform's."""
    return _as_product(lowering, node, np.real) or _part(lowering, node, BuiltinOperator.REAL)


def imag(lowering: Lowering, node: Node) -> LiteTensor:
    """IMAG, or a product where the numbers are a scaled transform's."""
    return _as_product(lowering, node, np.imag) or _part(lowering, node, BuiltinOperator.IMAG)


def _part(lowering: Lowering, node: Node, code: BuiltinOperator) -> LiteTensor:
    x = lowering.input(node, 0)
    return lowering.operator(node, code, [x], x.shape, type=part_type(x))


def _as_product(lowering: Lowering, node: Node, part: Step) -> LiteTensor | None:
    """FULLY_CONNECTED; None where there is none, or where all has operators of its own.

    RFFT2D takes powers of two, and a slice of complex numbers has none.

    Given:  y = REAL(MUL(STRIDED_SLICE(RFFT(PAD(x))), scales))
    Result: y = FULLY_CONNECTED(x, sines)
    """
    value, steps, is_cut = node.operands[0], [part], False
    while isinstance(value.owner, Node) and value.owner.op != "RFFT":
        is_cut |= value.owner.op == "StridedSlice"
        step = _step(lowering, value.owner)
        if step is None:
            return None
        steps.append(step[1])
        value = step[0]
    transform = value.owner
    if not isinstance(transform, Node):
        return None
    x, length = _samples(lowering.input(transform, 0)), lowering.input(transform, 1).known()
    if x is None or length is None or length[0] < 1:
        return None
    samples, has_operators = (x.shape or ())[-1], is_power_of_two(length[0]) and not is_cut
    if has_operators or samples * (length[0] // 2 + 1) > _MOST_NUMBERS:
        return None
    sines = np.fft.rfft(np.eye(samples), length[0])
    for each in reversed(steps):
        sines = each(sines)
    table = lowering.constant(lowering.name(node, "/sines"), np.ascontiguousarray(sines.T).astype(np.float32))
    shape = (*(x.shape or ())[:-1], sines.shape[-1])
    options = FullyConnectedOptionsT(keep_num_dims=True)
    return lowering.operator(node, BuiltinOperator.FULLY_CONNECTED, [x, table, None], shape, options)


def _samples(x: LiteTensor) -> LiteTensor | None:
    """What is transformed, without zeros behind; None where the number of samples is not known."""
    pad = x.producer
    if pad is not None and pad.code == BuiltinOperator.PAD:
        pads, source = pad.constant(1), pad.operand(0)
        if pads is not None and not pads.reshape(-1)[:-1].any() and (source.shape or (-1,))[-1] > 0:
            return source
    is_plain = x.type == TensorType.FLOAT32 and x.data is None and x.shape and x.shape[-1] > 0
    return x if is_plain else None


def _step(lowering: Lowering, node: Node) -> tuple[Value, Step] | None:
    """(what a node changes, how) along the last axis; None for another node."""
    if node.op == "Identity":
        return node.operands[0], lambda numbers: numbers
    if node.op == "Mul":
        return _scale(lowering, node)
    return _slice(lowering, node) if node.op == "StridedSlice" else None


def _scale(lowering: Lowering, node: Node) -> tuple[Value, Step] | None:
    for value, other in (node.operands, node.operands[::-1]):
        scales, numbers = lowering.values[other].data, lowering.values[value]
        if scales is None or numbers.data is not None or not numbers.shape:
            continue
        # One number for each of the last axis, or one for all.
        counts = {1, numbers.shape[-1]}.intersection((1, *scales.shape[-1:]))
        if scales.size in counts and scales.ndim <= len(numbers.shape):
            return value, partial(np.multiply, scales.reshape(-1))
    return None


def _slice(lowering: Lowering, node: Node) -> tuple[Value, Step] | None:
    """[..., begin:end:step]."""
    begin, end, step = (lowering.input(node, i).data for i in (1, 2, 3))
    masks = [node.integer(mask) for mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")]
    if masks != [1, 0, 0] or begin is None or end is None or step is None or begin.size != 2:
        return None
    first = None if node.integer("begin_mask") & 2 else int(begin[1])
    last = None if node.integer("end_mask") & 2 else int(end[1])
    bounds = slice(first, last, int(step[1]))
    return node.operands[0], lambda numbers: numbers[..., bounds]


REGISTRATIONS: dict[str, Rule] = {"Imag": imag, "Real": real}
