"""DEPTHWISE_CONV_2D: floats by Triton, 8 bits by CUDA C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.contraction.depthwise_conv import checked
from ...kernels.contraction.geometry import ConvGeometry
from ...kernels.contraction.node import FilterNode
from ...kernels.contraction.sums import QuantizedSums, hybrid_sums, quantized_sums
from ...kernels.requantize import UPWARD_ROUNDING
from ...lite.errors import UnsupportedError
from ...lite.tensor import Tensor, TensorType
from .byte_sums import Border, is_wide, scale_pointers, zero_offset
from .clamps import composed
from .conv import without_pad
from .halves import checked_in_float32
from .hybrid import channel_constants, quantize_rows, with_pad_apart
from .launch import Argument, Constant, Pointer
from .tiles import PROCESSORS, power_of_two

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_SOURCE = "depthwise.cu"
_THREADS = 128
_TILE = 512  # outputs of a program of the float kernel, in a row
_FLOAT_SIZES = (
    *("in_height", "in_width", "in_depth", "out_height", "out_width", "out_depth"),
    *("stride_w", "dilation_h", "dilation_w", "pad_top", "pad_left"),
)
_BUSY = 4  # blocks on a multiprocessor, with fewer it waits for memory


class _Rows(NamedTuple):
    """How many rows of outputs a tile may have, as far as registers reach.

    fixed + per_row * rows instructions are in its machine code for sm_90.
    """

    rows: tuple[int, ...]
    fixed: int
    per_row: int

    def best(self, blocks_of_row: int, out_height: int) -> int:
        """The rows with the least instructions on a multiprocessor, for so many blocks to a row of tiles."""

        def cost(rows: int) -> float:
            blocks = blocks_of_row * -(-out_height // rows)
            return max(_BUSY, -(-blocks // PROCESSORS)) * (self.fixed + self.per_row * rows)

        return min(self.rows, key=cost)


def _quad_blocks(g: ConvGeometry, columns: int) -> int:
    """Blocks for a row of tiles."""
    return -(-(-(-g.out_width // columns) * (g.out_depth // 4)) // _THREADS)


# By filter size and stride: columns of a thread's outputs, and its rows.
_QUADS = {
    (3, 1): (2, _Rows((7, 4, 2, 1), 170, 140)),
    (3, 2): (1, _Rows((7, 4, 2, 1), 190, 95)),
    (5, 1): (2, _Rows((4, 2, 1), 410, 198)),
    (5, 2): (2, _Rows((4, 2, 1), 400, 238)),
}
# By the filter's height and stride: rows of the float kernel, whose filter is kept in registers.
_FLOAT_ROWS = {
    (3, 1): _Rows((7, 4, 2, 1), 255, 97),
    (3, 2): _Rows((7, 4, 2, 1), 195, 145),
    (5, 1): _Rows((4, 2, 1), 573, 190),
    (5, 2): _Rows((4, 2, 1), 553, 243),
}
_MOST_KEPT = 25  # elements of a filter in registers
_MOST_HYBRID_TAPS = (1 << 24) // (255 * 128)  # whose sums float32 holds exactly


def lower(b: Lowering, step: Step) -> None:
    """One launch: floats, or 8 bits with constant weights; and one that quantizes floats for int8 weights."""
    node = step.node
    if step.pad is not None:
        b.calls(step.pad)
    n = checked_in_float32(b.graph, node, checked)
    x, w = n.x, n.w
    if x.type not in (TensorType.FLOAT32, TensorType.INT8, TensorType.UINT8) or not (
        n.is_hybrid or w.type == x.type
    ):
        raise UnsupportedError(
            "DEPTHWISE_CONV_2D: float32, int8 and uint8 are built, "
            f"got input {x.type_name} and filter {w.type_name}"
        )
    if not all(b.graph.tensor(t).is_constant for t in node.inputs[1:] if t >= 0):
        raise UnsupportedError("DEPTHWISE_CONV_2D: weights and bias must be constant")
    source = x
    if n.is_hybrid:
        step = with_pad_apart(b, step)
    if step.pad is not None:
        source = b.graph.input(step.pad, 0)
        n = n._replace(geometry=without_pad(b, step, n.geometry))
    places = b.pointer(source), b.pointer(b.graph.tensor(step.output))
    if n.is_hybrid:
        if b.graph.output(node, 0).size:
            _launch_hybrid(b, step, n, places)
    elif x.type == TensorType.FLOAT32:
        _launch_float(b, step, n, _float_operands(b, step, n.geometry, w, n.bias), *places)
    else:
        sums = quantized_sums(n)
        if sums.rounding == UPWARD_ROUNDING and sums.upward_channels < n.geometry.out_depth:
            raise UnsupportedError("DEPTHWISE_CONV_2D: channels of two roundings are not built")
        _Bytes(b, step, sums, n.geometry).launch(*places)


class _Operands(NamedTuple):
    """Weights and biases of the float kernel, and for a hybrid operator how images were quantized."""

    filter: Pointer
    bias: Pointer
    rows: Pointer | None = None


def _float_operands(b: Lowering, step: Step, g: ConvGeometry, w: Tensor, bias: Tensor | None) -> _Operands:
    def biases() -> np.ndarray:
        return np.zeros(g.out_depth, np.float32) if bias is None else bias.array().reshape(-1)

    element = b.type_of(b.graph.input(step.node, 1))
    filters = b.weights(step.node, "filter", lambda: b.stored(w.array(), element), element)
    return _Operands(filters, b.weights(step.node, "bias", biases, "fp32"))


def _launch_hybrid(b: Lowering, step: Step, n: FilterNode, places: tuple[Pointer, Pointer]) -> None:
    """Images as integers that floats hold exactly, and sums of products that do so too."""
    node, g = step.node, n.geometry
    if g.filter_height * g.filter_width > _MOST_HYBRID_TAPS:
        raise UnsupportedError(
            f"DEPTHWISE_CONV_2D of float32 by int8: filters of up to {_MOST_HYBRID_TAPS} elements are built, "
            f"got {g.filter_height}x{g.filter_width}"
        )
    f = hybrid_sums(n)
    x, y = places
    quantized = quantize_rows(b, node, x, f.x.size, "fp16")
    filters = b.weights(node, "filter", lambda: f.w.array(), "i8")
    operands = _Operands(filters, channel_constants(b, node, f), quantized.rows)
    _launch_float(b, step, n, operands, quantized.values, y)


def _launch_float(
    b: Lowering, step: Step, n: FilterNode, operands: _Operands, x: Pointer, y: Pointer
) -> None:
    g = n.geometry
    low, high = composed(n.float_range, step.clamps, b.graph)
    args: dict[str, Argument] = {
        "x_ptr": x,
        "w_ptr": operands.filter,
        "y_ptr": y,
        "bias_ptr": operands.bias,
        "rows_ptr": operands.rows or operands.bias,
        **{name: getattr(g, name) for name in _FLOAT_SIZES},
        "low": low,
        "high": high,
    }
    channels = min(64, power_of_two(g.out_depth))
    columns = min(_TILE // channels, power_of_two(g.out_width))
    blocks = -(-g.out_depth // channels) * -(-g.out_width // columns)
    is_kept = g.filter_height * g.filter_width <= _MOST_KEPT
    rows = 1 if g.dilation_h > 1 or g.stride_h > 2 else 4 // g.stride_h
    if rows > 1 and is_kept and (g.filter_height, g.stride_h) in _FLOAT_ROWS:
        rows = _FLOAT_ROWS[g.filter_height, g.stride_h].best(blocks * b.chosen_by(g.batch), g.out_height)
    constants: dict[str, Constant] = {
        "KH": g.filter_height,
        "KW": g.filter_width,
        "STRIDE_H": g.stride_h,
        "MULTIPLIER": g.multiplier,
        "ROWS": rows,
        "BW": columns,
        "BC": channels,
        "KEEP": is_kept,
        "HYBRID": operands.rows is not None,
    }
    grid = (blocks, -(-g.out_height // rows), g.batch)
    b.launch("depthwise_conv", "depthwise", grid, args, constants, divisible=("in_depth", "out_depth"))


class _Bytes:
    """The arguments of the 8-bit kernels."""

    def __init__(self, b: Lowering, step: Step, f: QuantizedSums, g: ConvGeometry) -> None:
        self.b, self.node, self.f, self.g = b, step.node, f, g
        low, high = composed((f.lowest, f.highest), step.clamps, b.graph)
        self.low, self.high = int(low), int(high)

    def launch(self, x: Pointer, y: Pointer) -> None:
        g = self.g
        key = (g.filter_height, g.stride_h)
        is_square = (g.filter_width, g.stride_w) == key and (g.dilation_h, g.dilation_w) == (1, 1)
        if is_square and key in _QUADS and g.multiplier == 1 and g.in_depth % 4 == 0 and self._fits_bytes():
            columns, rows = _QUADS[key]
            blocks = _quad_blocks(g, columns) * self.b.chosen_by(g.batch)
            self._launch_quads(x, y, rows.best(blocks, g.out_height), columns)
        else:
            self._launch_plain(x, y)

    def _values(self) -> np.ndarray:
        """Weights less their zero point, int64 [KH, KW, O]."""
        g = self.g
        stored = self.f.w.array().reshape(g.filter_height, g.filter_width, g.out_depth)
        return stored.astype(np.int64) - self.f.w_zero_point

    def _fits_bytes(self) -> bool:
        values = self._values()
        return values.size == 0 or (int(values.min()) >= -128 and int(values.max()) <= 127)

    def _bias(self) -> np.ndarray:
        if self.f.bias is None:
            return np.zeros(self.g.out_depth, np.int64)
        return self.f.bias.array().reshape(-1).astype(np.int64)

    def _ends(self) -> tuple[dict[str, Argument], dict[str, Constant]]:
        """Bias, classes and scales, and what they make of the code."""
        b, f, g = self.b, self.f, self.g
        border = Border(g)
        offset = zero_offset(f)

        def bias() -> np.ndarray:
            return border.bias(self._values().transpose(2, 0, 1), self._bias(), offset)

        scales, shifts = scale_pointers(b, self.node, f)
        args: dict[str, Argument] = {
            "bias": b.table(bias, "i32"),
            "scales": scales,
            "shifts": shifts,
            "row_classes": b.table(lambda: border.rows, "i32"),
            "column_classes": b.table(lambda: border.columns, "i32"),
            "class_count": border.column_classes,
        }
        constants: dict[str, Constant] = {
            "ROUNDING": f.rounding,
            "WIDE": is_wide(f, self._values().reshape(-1, g.out_depth).T, self._bias()),
            "FLIP": f.x.type == TensorType.UINT8,
        }
        return args, constants

    def _range(self) -> dict[str, Argument]:
        return {"zero": self.f.y_zero_point, "low": self.low, "high": self.high}

    def _launch_plain(self, x: Pointer, y: Pointer) -> None:
        g = self.g
        args, constants = self._ends()
        weights = self.b.weights(self.node, "filter", lambda: self._values().astype(np.int16), "i16")
        names = (
            "in_height in_width out_height out_width out_depth multiplier filter_height filter_width "
            "stride_h stride_w dilation_h dilation_w pad_top pad_left"
        )
        sizes = {name: getattr(g, name) for name in names.split()}
        outputs = g.out_height * g.out_width * g.out_depth
        self.b.launch(
            _SOURCE,
            "depthwise_plain",
            (-(-outputs // _THREADS), 1, g.batch),
            {"x": x, "w": weights, "y": y, **args, **sizes, **self._range()},
            constants,
        )

    def _launch_quads(self, x: Pointer, y: Pointer, rows: int, columns: int) -> None:
        g = self.g
        args, constants = self._ends()
        constants |= {
            "KH": g.filter_height,
            "KW": g.filter_width,
            "STRIDE": g.stride_h,
            "ROWS": rows,
            "COLUMNS": columns,
        }
        weights = self.b.weights(
            self.node, "quads", lambda: tap_quads(self._values(), g.stride_w, columns), "i32"
        )
        names = "in_height in_width out_height out_width"
        sizes: dict[str, Argument] = {name: getattr(g, name) for name in names.split()}
        quads = g.out_depth // 4
        sizes |= {"quads": quads, "pad_top": g.pad_top, "pad_left": g.pad_left}
        self.b.launch(
            _SOURCE,
            "depthwise_quads",
            (_quad_blocks(g, columns), -(-g.out_height // rows), g.batch),
            {"x": x, "w": weights, "y": y, **args, **sizes, **self._range()},
            constants,
        )


def tap_quads(values: np.ndarray, stride: int, columns: int) -> np.ndarray:
    """Weights [KH, KW, C] as words int32 [KH, columns, quads, C], a byte for each of four positions.

    Column s of a tile meets positions s * stride onwards; the others have weight 0.
    """
    height, width, channels = values.shape
    quads = -(-((columns - 1) * stride + width) // 4)
    laid = np.zeros((height, columns, quads * 4, channels), np.int8)
    for s in range(columns):
        laid[:, s, s * stride : s * stride + width] = values
    words = laid.reshape(height, columns, quads, 4, channels).transpose(0, 1, 2, 4, 3)
    return np.ascontiguousarray(words).view(np.int32)[..., 0]
