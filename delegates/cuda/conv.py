"""CONV_2D, and every other operator that is a matrix product with packed weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.contraction.conv import checked
from ...kernels.contraction.geometry import ConvGeometry
from ...kernels.contraction.node import FilterNode
from ...kernels.contraction.sums import HybridSums, QuantizedSums, hybrid_sums, quantized_sums
from ...kernels.pad import paddings_of
from ...kernels.requantize import FLOAT_ROUNDING, HYBRID
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from .binary import addition
from .byte_sums import (
    Border,
    is_small,
    is_wide,
    range_of,
    scale_pointers,
    sees_border,
    set_count,
    split,
    wrapped,
    zero_offset,
)
from .clamps import composed
from .halves import checked_in_float32
from .hybrid import QuantizedRows, channel_constants, quantize_rows, with_pad_apart
from .launch import ELEMENT_BYTES, Argument, Constant, Pointer
from .packed_filter import (
    ALIGNED_BYTES,
    flat_depth,
    flat_table,
    is_pointwise,
    packed,
    row_stride,
    tap_depth,
    unit_of,
)
from .tiles import Choice, Product
from .wide_image import launch_widening, may_widen, widened, widened_weights

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_OUTSIDE = {"u8": 128}  # what a product takes for nothing, by the image's type
_MOST_PARTS = 1 << 22  # elements of an output whose sums are split


def lower(b: Lowering, step: Step) -> None:
    """The product of floats, 8 bits, or floats by int8; weights are constant."""
    node = step.node
    if step.pad is not None:
        b.calls(step.pad)
    n = checked_in_float32(b.graph, node, checked)
    if n.is_hybrid:
        step = with_pad_apart(b, step)
    if step.pad is not None:
        n = n._replace(geometry=without_pad(b, step, n.geometry))
    launch_conv(b, step, n)


def without_pad(b: Lowering, step: Step, geometry: ConvGeometry) -> ConvGeometry:
    """The convolution on what the PAD before it reads, which pads as much itself."""
    assert step.pad is not None
    x = b.graph.input(step.pad, 0)
    paddings = paddings_of("PAD", x, b.graph.input(step.pad, 1))
    return geometry._replace(
        in_height=x.shape[1],
        in_width=x.shape[2],
        pad_top=geometry.pad_top + paddings[1][0],
        pad_left=geometry.pad_left + paddings[2][0],
    )


def launch_conv(
    b: Lowering,
    step: Step,
    n: FilterNode,
) -> None:
    """Launch the sum over taps and channels, with its activation and residual.

    UnsupportedError for types and weights that are not built.
    """
    node, x, w, geometry = step.node, n.x, n.w, n.geometry
    if x.type not in (TensorType.FLOAT32, TensorType.INT8, TensorType.UINT8):
        raise UnsupportedError(
            f"{n.operator}: float32, int8 and uint8 are built, "
            f"got input {x.type_name} and filter {w.type_name}"
        )
    if not all(b.graph.tensor(t).is_constant for t in node.inputs[1:] if t >= 0):
        raise UnsupportedError(f"{n.operator}: weights and bias must be constant")
    source = b.graph.input(step.pad, 0) if step.pad is not None else x
    target = b.graph.tensor(step.output)
    places = b.pointer(source), b.pointer(target)
    if n.is_hybrid:
        if target.size == 0:
            return
        hybrid = hybrid_sums(n)
        quantized = quantize_rows(b, node, places[0], x.size)
        if quantized.length == geometry.out_pixels:
            geometry = _single_pixels(geometry)
        _HybridConv(b, step, hybrid, geometry, quantized).launch(quantized.values, places[1])
        return
    if x.type == TensorType.FLOAT32:
        _FloatConv(b, step, n).launch(*places)
        return
    _ByteConv(b, step, quantized_sums(n), geometry).launch(*places)


def _single_pixels(g: ConvGeometry) -> ConvGeometry:
    """A convolution of which each pixel is an image: one that is_pointwise, or of images of one pixel."""
    if not is_pointwise(g):
        return g
    one = dict.fromkeys(("in_height", "in_width", "out_height", "out_width"), 1)
    return g._replace(batch=g.out_pixels, **one)


class _Conv:
    """The arguments that all types share."""

    quantized: bool
    element: str  # of weights
    sums: str  # type of sums of products
    sets = 1

    def __init__(self, b: Lowering, step: Step, geometry: ConvGeometry) -> None:
        self.b, self.step, self.geometry = b, step, geometry
        # What the product walks, where that is not the image as it is.
        self.walk = widened(geometry) if may_widen(geometry) else geometry

    def epilogue(self) -> tuple[dict[str, Argument], dict[str, Constant]]:
        raise NotImplementedError

    def weights(self) -> Pointer:
        raise NotImplementedError

    def packed(self, values: np.ndarray) -> np.ndarray:
        """Weights [sets, O, taps, depth] as the product reads them."""
        if self.walk is not self.geometry:
            values = widened_weights(values, self.geometry, self.walk)
        return packed(values, self.walk)

    def launch(self, x: Pointer, y: Pointer) -> None:
        """The product, and where its depth is split among programs the sum of their parts."""
        g = self.walk
        if g is not self.geometry:
            x = launch_widening(self.b, x, self.geometry, g, _OUTSIDE.get(x.type, 0))
        row = row_stride(g, self.sets, ELEMENT_BYTES[self.element])
        walked, repeats = (row, 1) if flat_depth(g) else (g.filter_depth, self.sets * g.taps)
        pointers, ends, constants = self._ends(y)
        is_plain = constants["RESIDUAL"] == "" and constants["ROUNDING"] == FLOAT_ROUNDING
        is_light = is_plain and (is_pointwise(g) or not self.quantized)
        product = Product(
            *(g.out_pixels, g.out_depth // g.groups, walked, repeats, g.groups, self.element),
            is_light=is_light,
            may_split=g.out_pixels * g.out_depth <= _MOST_PARTS,
        )
        choice = self.b.choose(product)
        if choice.splits == 1:
            self._multiply(x, y, choice, product, pointers | ends, constants)
            return
        parts = self.b.scratch(self.sums, choice.splits * g.out_pixels * g.out_depth)
        self._multiply(x, parts, choice, product, pointers | ends, constants)
        self._add_up(parts, y, choice.splits, pointers, ends, constants)

    def _ends(self, y: Pointer) -> tuple[dict[str, Argument], dict[str, Argument], dict[str, Constant]]:
        """Pointers and numbers of what follows the sums, and what they make of the code."""
        ends, constants = self.epilogue()
        kind, residual, parameters = "", y, y
        if self.step.addition is not None:
            kind, residual, parameters = addition(self.b, self.step)
        pointers = {name: ends.pop(name) for name in _POINTERS}
        pointers |= {"residual_ptr": residual, "addition_ptr": parameters}
        constants |= {"QUANTIZED": self.quantized, "RESIDUAL": kind, "INTERPRETED": self.b.simulated}
        constants["Y_UNIT"] = unit_of(
            self.geometry.out_depth // self.geometry.groups, self.geometry.out_depth
        )
        return pointers, ends, constants

    def _multiply(
        self,
        x: Pointer,
        y: Pointer,
        choice: Choice,
        product: Product,
        ends: dict[str, Argument],
        constants: dict[str, Constant],
    ) -> None:
        g, b, tile = self.walk, self.b, choice.tile
        columns = g.out_depth // g.groups
        x_unit, y_unit = unit_of(g.filter_depth, g.in_depth), unit_of(columns, g.out_depth)
        nbytes = ELEMENT_BYTES[self.element]
        flat = flat_depth(g)
        w_unit = ALIGNED_BYTES // nbytes
        args: dict[str, Argument] = {
            "x_ptr": x,
            "w_ptr": self.weights(),
            "y_ptr": y,
            **{name: value for name, value in ends.items() if isinstance(value, Pointer)},
            "flat_ptr": b.table(lambda: flat_table(g, self.sets, nbytes), "i32") if flat else y,
            "pixels": g.out_pixels,
            "columns": columns // y_unit,
            "depth": g.filter_depth // x_unit,
            "x_stride": g.in_depth // x_unit,
            "y_stride": g.out_depth // y_unit,
            "w_stride": row_stride(g, self.sets, nbytes) // w_unit,
            "tap_stride": tap_depth(g, nbytes) // w_unit,
            "steps": -(-product.steps(tile.depth) // choice.splits),
            **{name: getattr(g, name) for name in _SIZES},
            **{name: value for name, value in ends.items() if not isinstance(value, Pointer)},
        }
        constants = {
            "TAPS_H": g.filter_height,
            "TAPS_W": g.filter_width,
            "SETS": self.sets,
            "FLAT": flat > 0,
            "POINTWISE": is_pointwise(g),
            "INSIDE": not sees_border(g),
            "SPLIT": choice.splits > 1,
            "EVEN_K": not flat and g.filter_depth % tile.depth == 0,
            "X_UNIT": x_unit,
            "W_UNIT": w_unit,
            "BM": tile.rows,
            "BN": tile.columns,
            "BK": tile.depth,
            **constants,
        }
        grid = product.tiles(tile), g.groups, choice.splits
        b.launch("conv", "conv", grid, args, constants, warps=tile.warps, stages=tile.stages)

    def _add_up(
        self,
        parts: Pointer,
        y: Pointer,
        splits: int,
        pointers: dict[str, Argument],
        ends: dict[str, Argument],
        constants: dict[str, Constant],
    ) -> None:
        g = self.geometry
        unit = unit_of(g.out_depth)
        args: dict[str, Argument] = {
            "x_ptr": parts,
            "y_ptr": y,
            **pointers,
            "pixels": g.out_pixels,
            "columns": g.out_depth // unit,
            "y_stride": g.out_depth // unit,
            "splits": splits,
            "image_pixels": g.out_height * g.out_width,
            **ends,
        }
        names = ("QUANTIZED", "BORDER", "ROUNDING", "WIDE", "SATURATE", "RESIDUAL", "INTERPRETED")
        kept = {name: constants[name] for name in names}
        kept |= {"Y_UNIT": unit, "BM": _SUM_ROWS, "BN": _SUM_COLUMNS}
        grid = -(-g.out_pixels // _SUM_ROWS), -(-g.out_depth // _SUM_COLUMNS)
        self.b.launch("conv", "conv_sum", grid, args, kept)


_POINTERS = ("bias_ptr", "scale_ptr", "shift_ptr", "class_ptr")
_SUM_ROWS, _SUM_COLUMNS = 8, 128
_SIZES = (
    "in_height",
    "in_width",
    "out_height",
    "out_width",
    "stride_h",
    "stride_w",
    "dilation_h",
    "dilation_w",
    "pad_top",
    "pad_left",
)


class _FloatConv(_Conv):
    """float32 tensors, in float32 or in 16 bits."""

    quantized = False
    sums = "fp32"

    def __init__(self, b: Lowering, step: Step, n: FilterNode) -> None:
        super().__init__(b, step, n.geometry)
        self.element = b.product_type(b.graph.input(step.node, 0), n.w)
        self.w, self.bias = n.w, n.bias
        self.range = composed(n.float_range, step.clamps, b.graph)

    def weights(self) -> Pointer:
        def make() -> np.ndarray:
            g = self.geometry
            values = self.w.array().reshape(1, g.out_depth, g.taps, g.filter_depth)
            return self.packed(self.b.stored(values, self.element))

        return self.b.weights(self.step.node, "filter", make, self.element)

    def epilogue(self) -> tuple[dict[str, Argument], dict[str, Constant]]:
        columns = self.geometry.out_depth

        def bias() -> np.ndarray:
            return np.zeros(columns, np.float32) if self.bias is None else self.bias.array().reshape(-1)

        pointer = self.b.weights(self.step.node, "bias", bias, "fp32")
        args: dict[str, Argument] = dict.fromkeys(_POINTERS, pointer)
        args |= {"zero": 0, "low": self.range[0], "high": self.range[1]}
        constants: dict[str, Constant] = dict.fromkeys(("FLIP", "BORDER", "WIDE", "SATURATE"), False)
        constants["ROUNDING"] = 0
        return args, constants | {"PRECISION": self.b.dot_precision(self.element)}


class _HybridConv(_Conv):
    """float32 tensors by int8 weights: images are quantized, results are not."""

    quantized = True
    element = "i8"
    sums = "i32"

    def __init__(
        self, b: Lowering, step: Step, f: HybridSums, geometry: ConvGeometry, rows: QuantizedRows
    ) -> None:
        super().__init__(b, step, geometry)
        self.f, self.rows = f, rows
        self.range = composed((f.low, f.high), step.clamps, b.graph)

    def _values(self) -> np.ndarray:
        g = self.geometry
        return self.f.w.array().reshape(1, g.out_depth, g.taps, g.filter_depth)

    def weights(self) -> Pointer:
        return self.b.weights(self.step.node, "filter", lambda: self.packed(self._values()), "i8")

    def epilogue(self) -> tuple[dict[str, Argument], dict[str, Constant]]:
        g, b, node = self.geometry, self.b, self.step.node
        border = Border(g)
        has_border = sees_border(g)

        def sums() -> np.ndarray:
            taps = self._values()[0].sum(axis=2, dtype=np.int64)
            taps = taps.reshape(g.out_depth, g.filter_height, g.filter_width)
            return border.bias(taps, np.zeros(g.out_depth, np.int64), -1)

        pointer = b.table(sums, "i32") if has_border else b.weights(node, "sums", sums, "i32")
        args: dict[str, Argument] = dict.fromkeys(_POINTERS, pointer)
        args |= {"scale_ptr": channel_constants(b, node, self.f), "shift_ptr": self.rows.rows}
        if has_border:
            args["class_ptr"] = b.table(lambda: border.pixels, "i32")
        args |= {"zero": 0, "low": self.range[0], "high": self.range[1]}
        constants: dict[str, Constant] = dict.fromkeys(("FLIP", "WIDE", "SATURATE"), False)
        return args, constants | {"BORDER": has_border, "ROUNDING": HYBRID, "PRECISION": "ieee"}


class _ByteConv(_Conv):
    """8-bit tensors: products in int32, and the rounding that the CPU's kernels use."""

    quantized = True
    element = "i8"
    sums = "i32"

    def __init__(self, b: Lowering, step: Step, f: QuantizedSums, geometry: ConvGeometry) -> None:
        super().__init__(b, step, geometry)
        self.f = f
        low, high = composed((f.lowest, f.highest), step.clamps, b.graph)
        self.low, self.high = int(low), int(high)
        self.sets = 1 if f.w.type == TensorType.INT8 and f.w_zero_point == 0 else set_count(f)

    def _values(self) -> np.ndarray:
        """Weights less their zero point, int64 [O, taps, depth]."""
        g = self.geometry
        return (
            self.f.w.array().reshape(g.out_depth, g.taps, g.filter_depth).astype(np.int64)
            - self.f.w_zero_point
        )

    def _bias(self) -> np.ndarray:
        bias = self.f.bias
        return (
            np.zeros(self.geometry.out_depth, np.int64)
            if bias is None
            else bias.array().reshape(-1).astype(np.int64)
        )

    def weights(self) -> Pointer:
        def make() -> np.ndarray:
            return self.packed(split(self._values(), self.sets))

        return self.b.weights(self.step.node, "filter", make, self.element)

    def epilogue(self) -> tuple[dict[str, Argument], dict[str, Constant]]:
        f, b, node = self.f, self.b, self.step.node
        values = self._values().reshape(self.geometry.out_depth, -1)
        wide = is_wide(f, values, self._bias())
        args = self._bias_arguments()
        border = args.pop("border")
        rounding = f.rounding
        args["scale_ptr"], args["shift_ptr"] = scale_pointers(b, node, f)
        args |= {"zero": f.y_zero_point, "low": self.low, "high": self.high}
        constants: dict[str, Constant] = {
            "FLIP": f.x.type == TensorType.UINT8,
            "BORDER": bool(border),
            "ROUNDING": rounding,
            "WIDE": wide,
            "SATURATE": self._saturates() and not wide and is_small(f, values, self._bias()),
            "PRECISION": "ieee",
        }
        return args, constants

    def _saturates(self) -> bool:
        """Whether the output's type alone limits its values."""
        return (self.low, self.high) == range_of(self.f.y) and self.step.addition is None

    def _bias_arguments(self) -> dict[str, Argument]:
        """The bias less the zero point's share, and, where the border shows, its classes."""
        f, g, b = self.f, self.geometry, self.b
        offset = zero_offset(f)
        if offset == 0 or not sees_border(g):

            def bias() -> np.ndarray:
                return wrapped(self._bias() - offset * self._values().sum(axis=(1, 2)))

            pointer = b.weights(self.step.node, "bias", bias, "i32")
            args: dict[str, Argument] = dict.fromkeys(_POINTERS, pointer)
            return args | {"border": 0}
        border = Border(g)

        def border_bias() -> np.ndarray:
            sums = self._values().sum(axis=2).reshape(g.out_depth, g.filter_height, g.filter_width)
            return border.bias(sums, self._bias(), offset)

        args = dict.fromkeys(_POINTERS, b.table(border_bias, "i32"))
        args["class_ptr"] = b.table(lambda: border.pixels, "i32")
        return args | {"border": 1}
