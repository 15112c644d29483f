"""Fake quantization: values on a grid, as training for integers makes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.graph_def import DT_FLOAT
from ...schema.tflite import BuiltinOperator, FakeQuantOptionsT, QuantizationParametersT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import is_known
from .binary import binary
from .cast import cast_to
from .elementwise import unary
from .lowering import Lowering, Rule, check_type
from .reduce import reduced

_FAKE_QUANT_BITS = range(2, 17)
_STORED = {TensorType.INT8: (-128, 127), TensorType.UINT8: (0, 255), TensorType.INT16: (-32768, 32767)}


class _Grid(NamedTuple):
    """Integers from low to high stand for (q - zero_point) * scale; one scale or one for each channel."""

    low: int
    high: int
    scale: np.ndarray
    zero_point: np.ndarray


def _grid(minimum: np.ndarray, maximum: np.ndarray, bits: int, narrow: bool) -> _Grid:
    """The grid whose zero is exact: a range that lies beside zero is moved to it.

    Source: TensorFlow core/kernels/fake_quant_ops_functor.h, Nudge.
    """
    if not 2 <= bits <= 16:
        raise ModelError(f"num_bits must be in [2, 16], got {bits}")
    if minimum.shape != maximum.shape or not np.all(np.isfinite([minimum, maximum])):
        raise ModelError(f"ranges must be finite and one for one, got {minimum.tolist()}, {maximum.tolist()}")
    if np.any(minimum >= maximum):
        raise UnsupportedError(f"a range without steps, from {minimum.tolist()} to {maximum.tolist()}")
    low, high = int(narrow), (1 << bits) - 1
    with np.errstate(over="ignore", under="ignore"):
        scale = ((maximum - minimum) / np.float32(high - low)).astype(np.float32)
    if not np.all((scale > 0) & np.isfinite(scale)):
        raise UnsupportedError(
            f"a range with steps beyond float32, from {minimum.tolist()} to {maximum.tolist()}"
        )
    from_minimum = np.float32(low) - minimum / scale
    # As std::round does: halves go away from zero.
    rounded = np.floor(from_minimum + np.float32(0.5))
    return _Grid(low, high, scale, np.clip(rounded, low, high).astype(np.int64))


def _on_grid(lowering: Lowering, node: Node, x: LiteTensor, grid: _Grid, axis: int = 0) -> LiteTensor:
    """QUANTIZE to uint8 and DEQUANTIZE; FAKE_QUANT where the grid is not that of all of uint8.

    A grid for each channel has no FAKE_QUANT: there what uint8 has beyond it is cut off before.
    """
    check_type(x, TensorType.FLOAT32)
    bytes_high = np.iinfo(np.uint8).max
    if grid.scale.ndim == 0 and (grid.low, grid.high) != (0, bytes_high):
        return _fake_quantized(lowering, node, x, grid)
    if grid.high > bytes_high:
        return _computed(lowering, node, x, grid)
    x = _clamped(lowering, node, x, grid, grid.low > 0, grid.high < bytes_high)
    parameters = QuantizationParametersT(
        scale=grid.scale.reshape(-1), zero_point=grid.zero_point.reshape(-1), quantized_dimension=axis
    )
    q = lowering.operator(node, BuiltinOperator.QUANTIZE, [x], x.shape, type=TensorType.UINT8)
    q.quantization = parameters
    return lowering.operator(node, BuiltinOperator.DEQUANTIZE, [q], x.shape, type=TensorType.FLOAT32)


def _fake_quantized(lowering: Lowering, node: Node, x: LiteTensor, grid: _Grid) -> LiteTensor:
    """FAKE_QUANT, which rounds halves up.

    LiteRT has no narrow range: there the grid has one number more below, which is cut off before.
    """
    x = _clamped(lowering, node, x, grid, grid.low > 0, False)
    low, high = _ends(grid._replace(low=0))
    options = FakeQuantOptionsT(min=float(low), max=float(high), num_bits=grid.high.bit_length())
    return lowering.operator(node, BuiltinOperator.FAKE_QUANT, [x], x.shape, options)


def _ends(grid: _Grid) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value on the grid."""
    low, high = ((end - grid.zero_point) * grid.scale for end in (grid.low, grid.high))
    return low.astype(np.float32), high.astype(np.float32)


def _clamped(
    lowering: Lowering, node: Node, x: LiteTensor, grid: _Grid, below: bool = True, above: bool = True
) -> LiteTensor:
    """x cut off below and above the grid, as wanted."""
    low, high = _ends(grid)
    if below:
        least = lowering.constant(lowering.name(node, "/low"), low)
        x = binary(lowering, node, BuiltinOperator.MAXIMUM, x, least)
    if above:
        most = lowering.constant(lowering.name(node, "/high"), high)
        x = binary(lowering, node, BuiltinOperator.MINIMUM, x, most)
    return x


def _computed(lowering: Lowering, node: Node, x: LiteTensor, grid: _Grid) -> LiteTensor:
    """floor((clamp(x) - low) / scale + 0.5) * scale + low, for grids finer than a byte."""
    low, _ = _ends(grid)
    names = {"start": low, "steps": np.float32(1) / grid.scale, "half": np.float32(0.5), "scale": grid.scale}
    start, steps, half, scale = (
        lowering.constant(lowering.name(node, f"/{name}"), np.asarray(value, np.float32))
        for name, value in names.items()
    )
    x = _clamped(lowering, node, x, grid)
    steps_up = binary(
        lowering, node, BuiltinOperator.MUL, binary(lowering, node, BuiltinOperator.SUB, x, start), steps
    )
    whole = unary(
        lowering, node, BuiltinOperator.FLOOR, binary(lowering, node, BuiltinOperator.ADD, steps_up, half)
    )
    return binary(
        lowering, node, BuiltinOperator.ADD, binary(lowering, node, BuiltinOperator.MUL, whole, scale), start
    )


def fake_quant_args(lowering: Lowering, node: Node) -> LiteTensor:
    """The range is of the node's attributes."""
    ends = [np.array(node.real(name), np.float32) for name in ("min", "max")]
    return _by_range(lowering, node, ends[0], ends[1])


def fake_quant_vars(lowering: Lowering, node: Node) -> LiteTensor:
    """The range is constant inputs."""
    low, high = (lowering.constant_input(node, i, "the range") for i in (1, 2))
    if low.ndim or high.ndim:
        raise ModelError(f"the range must be scalars, got {list(low.shape)} and {list(high.shape)}")
    return _by_range(lowering, node, low, high)


def _by_range(lowering: Lowering, node: Node, low: np.ndarray, high: np.ndarray) -> LiteTensor:
    grid = _grid(low, high, node.integer("num_bits"), node.flag("narrow_range"))
    x = lowering.input(node, 0)
    if lowering.program.settings.keeps_fake_quant:
        return _trained(lowering, node, x, float(low), float(high))
    return _on_grid(lowering, node, x, grid)


def _trained(lowering: Lowering, node: Node, x: LiteTensor, low: float, high: float) -> LiteTensor:
    """The operator that only says what range training has found."""
    check_type(x, TensorType.FLOAT32)
    narrow = node.flag("narrow_range")
    options = FakeQuantOptionsT(min=low, max=high, num_bits=node.integer("num_bits"), narrow_range=narrow)
    return lowering.operator(node, BuiltinOperator.FAKE_QUANT, [x], x.shape, options)


def fake_quant_per_channel(lowering: Lowering, node: Node) -> LiteTensor:
    """A range for each channel, which is the last axis."""
    x = lowering.input(node, 0)
    if x.shape is None:
        raise UnsupportedError("the rank must be known")
    low, high = (lowering.constant_input(node, i, "the ranges") for i in (1, 2))
    if x.shape and not is_known(x.shape[-1:]):
        raise UnsupportedError("the number of channels must be known")
    if low.ndim != 1 or not x.shape or low.size != x.shape[-1]:
        raise ModelError(f"ranges must be one for each channel, got {list(low.shape)} for {x!r}")
    grid = _grid(low, high, node.integer("num_bits"), node.flag("narrow_range"))
    return _on_grid(lowering, node, x, grid, len(x.shape) - 1)


def quantize_and_dequantize(lowering: Lowering, node: Node) -> LiteTensor:
    """round(clamp(x) * scale) / scale, with a scale that makes the range's larger end exact.

    FAKE_QUANT rounds halves up, so it is this where they shall go there; else each step is an operator.

    Source: TensorFlow core/kernels/quantize_and_dequantize_op.h.
    """
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    if node.integer("axis") != -1:
        raise UnsupportedError("a range for each slice")
    if not node.flag("range_given"):
        return _by_own_range(lowering, node, x)
    ends = [lowering.constant_input(node, i, "the range") for i in (1, 2)]
    if any(end.size != 1 or not np.isfinite(end).all() for end in ends):
        raise ModelError(f"the range must be two finite numbers, got {[end.tolist() for end in ends]}")
    low, high = (float(end.reshape(-1)[0]) for end in ends)
    if lowering.program.settings.keeps_fake_quant:
        return _trained(lowering, node, x, low, high)
    low, high, scale = _symmetric(low, high, node)
    if node.text("round_mode") == "HALF_UP" and node.integer("num_bits") in _FAKE_QUANT_BITS:
        return _fake_quantized(lowering, node, x, _integer_grid(node, scale))
    values = {"low": low, "high": high, "scale": scale, "step": 1 / scale}
    least, most, factor, step = (
        lowering.scalar(lowering.name(node, f"/{name}"), value, x) for name, value in values.items()
    )
    x = binary(lowering, node, BuiltinOperator.MAXIMUM, x, least)
    x = binary(lowering, node, BuiltinOperator.MINIMUM, x, most)
    x = binary(lowering, node, BuiltinOperator.MUL, x, factor)
    return binary(lowering, node, BuiltinOperator.MUL, _rounded(lowering, node, x), step)


def _integer_grid(node: Node, scale: float) -> _Grid:
    """The integers of the node, so many to 1, as those from 0 (or 1) on."""
    least, most = _integer_ends(node)
    zero = 1 << (node.integer("num_bits") - 1) if node.flag("signed_input") else 0
    return _Grid(least + zero, most + zero, np.array(1 / scale, np.float32), np.array(zero))


def _by_own_range(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """The range is that of the values: no clamping, not even of what an unsigned grid lacks."""
    if x.shape is None:
        raise UnsupportedError("the rank must be known")
    least, most = _integer_ends(node)
    axes = list(range(len(x.shape)))
    # More than 0, for a range of nothing but zeros.
    tiny = lowering.scalar(lowering.name(node, "/tiny"), float(np.finfo(np.float32).tiny), x)
    step = tiny
    for code, end in ((BuiltinOperator.REDUCE_MAX, most), (BuiltinOperator.REDUCE_MIN, least)):
        if end:
            share = lowering.scalar(lowering.name(node, f"/{code.name}"), 1 / end, x)
            reach = reduced(lowering, node, code, x, axes, False)
            of_end = binary(lowering, node, BuiltinOperator.MUL, reach, share)
            step = binary(lowering, node, BuiltinOperator.MAXIMUM, step, of_end)
    whole = _rounded(lowering, node, binary(lowering, node, BuiltinOperator.DIV, x, step))
    return binary(lowering, node, BuiltinOperator.MUL, whole, step)


def _rounded(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """ROUND takes halves to even numbers; HALF_UP is floor(x + 0.5)."""
    mode = node.text("round_mode")
    if mode == "HALF_TO_EVEN":
        return unary(lowering, node, BuiltinOperator.ROUND, x)
    if mode != "HALF_UP":
        raise UnsupportedError(f"round_mode {mode} is not built")
    half = lowering.scalar(lowering.name(node, "/half"), 0.5, x)
    return unary(lowering, node, BuiltinOperator.FLOOR, binary(lowering, node, BuiltinOperator.ADD, x, half))


def _integer_ends(node: Node) -> tuple[int, int]:
    bits, signed = node.integer("num_bits"), node.flag("signed_input")
    if not 1 <= bits - signed <= 24:
        raise ModelError(f"num_bits must be in [{1 + signed}, {24 + signed}], got {bits}")
    if not signed:
        return 0, (1 << bits) - 1  # also of a narrow range, as in TensorFlow
    return -(1 << (bits - 1)) + node.flag("narrow_range"), (1 << (bits - 1)) - 1


def _symmetric(low: float, high: float, node: Node) -> tuple[float, float, float]:
    """The range that the integers cover, and how many integers there are to 1."""
    least, most = _integer_ends(node)
    limit = float(np.finfo(np.float32).max)
    from_low = least / low if least * low > 0 else limit
    from_high = most / high if most * high > 0 else limit
    if from_low < from_high:
        return low, most / from_low, from_low
    return least / from_high, high, from_high


def dequantize(lowering: Lowering, node: Node) -> LiteTensor:
    """(x - the least integer) * step + min, of a range that may be known only when the model runs.

    Source: TensorFlow core/kernels/dequantize_op.cc, MIN_COMBINED.
    """
    mode, axis = node.text("mode"), node.integer("axis")
    if mode != "MIN_COMBINED" or axis != -1:
        raise UnsupportedError(f"only mode MIN_COMBINED with one range is built, got {mode} and axis {axis}")
    x, low, high = (lowering.input(node, i) for i in range(3))
    check_type(low, TensorType.FLOAT32)
    if x.type not in _STORED or node.type("dtype") != DT_FLOAT:
        raise UnsupportedError("only integers of 8 and 16 bits become floats")
    least, most = _STORED[x.type]

    def of(code: BuiltinOperator, a: LiteTensor, b: LiteTensor | float) -> LiteTensor:
        b = lowering.scalar(lowering.name(node, f"/{code.name}"), b, a) if isinstance(b, float) else b
        return binary(lowering, node, code, a, b)

    step = of(BuiltinOperator.MUL, of(BuiltinOperator.SUB, high, low), 1 / (most - least))
    above = of(BuiltinOperator.SUB, cast_to(lowering, node, x, TensorType.FLOAT32), float(least))
    return of(BuiltinOperator.ADD, of(BuiltinOperator.MUL, above, step), low)


REGISTRATIONS: dict[str, Rule] = {
    "Dequantize": dequantize,
    "FakeQuantWithMinMaxArgs": fake_quant_args,
    "FakeQuantWithMinMaxVars": fake_quant_vars,
    "FakeQuantWithMinMaxVarsPerChannel": fake_quant_per_channel,
    "QuantizeAndDequantizeV2": quantize_and_dequantize,
}
