"""CONV_2D, and every other operator that is a matrix product with packed weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.contraction.conv import checked
from ...kernels.contraction.geometry import ConvGeometry
from ...kernels.contraction.node import FilterNode
from ...kernels.contraction.sums import HybridSums, QuantizedSums, hybrid_sums, quantized_sums
from ...kernels.pad import paddings_of
from ...kernels.requantize import HYBRID
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
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
from .launch import Argument, Constant, Pointer
from .packed_filter import is_pointwise
from .packed_product import POINTERS, PackedProduct

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering


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


class _FloatConv(PackedProduct):
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
        args: dict[str, Argument] = dict.fromkeys(POINTERS, pointer)
        args |= {"zero": 0, "low": self.range[0], "high": self.range[1]}
        constants: dict[str, Constant] = dict.fromkeys(("FLIP", "BORDER", "WIDE", "SATURATE"), False)
        constants["ROUNDING"] = 0
        return args, constants | {"PRECISION": self.b.dot_precision(self.element)}


class _HybridConv(PackedProduct):
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
        args: dict[str, Argument] = dict.fromkeys(POINTERS, pointer)
        args |= {"scale_ptr": channel_constants(b, node, self.f), "shift_ptr": self.rows.rows}
        if has_border:
            args["class_ptr"] = b.table(lambda: border.pixels, "i32")
        args |= {"zero": 0, "low": self.range[0], "high": self.range[1]}
        constants: dict[str, Constant] = dict.fromkeys(("FLIP", "WIDE", "SATURATE"), False)
        return args, constants | {"BORDER": has_border, "ROUNDING": HYBRID, "PRECISION": "ieee"}


class _ByteConv(PackedProduct):
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
            args: dict[str, Argument] = dict.fromkeys(POINTERS, pointer)
            return args | {"border": 0}
        border = Border(g)

        def border_bias() -> np.ndarray:
            sums = self._values().sum(axis=2).reshape(g.out_depth, g.filter_height, g.filter_width)
            return border.bias(sums, self._bias(), offset)

        args = dict.fromkeys(POINTERS, b.table(border_bias, "i32"))
        args["class_ptr"] = b.table(lambda: border.pixels, "i32")
        return args | {"border": 1}
