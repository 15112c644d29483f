"""A matrix product of what lies in images by packed weights: its launches, whatever the types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ...kernels.contraction.geometry import ConvGeometry
from ...kernels.requantize import FLOAT_ROUNDING
from .binary import addition
from .byte_sums import sees_border
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

T = TypeVar("T")

POINTERS = ("bias_ptr", "scale_ptr", "shift_ptr", "class_ptr")
_OUTSIDE = {"u8": 128}  # what a product takes for nothing, by the image's type
_MOST_PARTS = 1 << 22  # elements of an output whose sums are split
_SUM_ROWS, _SUM_COLUMNS = 8, 128
_WINDOW = (
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


class Ends(NamedTuple):
    """What follows the sums: pointers and numbers, and what they make of the code; both by name."""

    args: dict[str, Argument]
    constants: dict[str, Constant]


def _fields(parameter: str, values: Mapping[str, T]) -> dict[str, T]:
    """Values as the fields of one parameter of a kernel."""
    return {f"{parameter}.{name}": value for name, value in values.items()}


class PackedProduct:
    """The product of an operator; classes for its types give the weights and what follows the sums."""

    quantized: bool
    element: str  # of weights
    sums: str  # type of sums of products
    sets = 1

    def __init__(self, b: Lowering, step: Step, geometry: ConvGeometry) -> None:
        self.b, self.step, self.geometry = b, step, geometry
        # What the product walks, where that is not the image as it is.
        self.walk = widened(geometry) if may_widen(geometry) else geometry

    def epilogue(self) -> tuple[dict[str, Argument], dict[str, Constant]]:
        """POINTERS, zero, low and high; FLIP and PRECISION of the product, and the constants of its ends."""
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
        product_constants, ends = self._ends(y)
        is_plain = ends.constants["RESIDUAL"] == "" and ends.constants["ROUNDING"] == FLOAT_ROUNDING
        is_light = is_plain and (is_pointwise(g) or not self.quantized)
        product = Product(
            *(g.out_pixels, g.out_depth // g.groups, walked, repeats, g.groups, self.element),
            is_light=is_light,
            may_split=g.out_pixels * g.out_depth <= _MOST_PARTS,
        )
        choice = self.b.choose(product)
        if choice.splits == 1:
            self._multiply(x, y, choice, product, ends, product_constants)
            return
        parts = self.b.scratch(self.sums, choice.splits * g.out_pixels * g.out_depth)
        self._multiply(x, parts, choice, product, ends, product_constants)
        self._add_up(parts, y, choice.splits, ends)

    def _ends(self, y: Pointer) -> tuple[dict[str, Constant], Ends]:
        """FLIP and PRECISION, and what follows the sums."""
        found, constants = self.epilogue()
        kind, residual, parameters = "", y, y
        if self.step.addition is not None:
            kind, residual, parameters = addition(self.b, self.step)
        g = self.geometry
        args: dict[str, Argument] = {name: found.pop(name) for name in POINTERS}
        args |= {"residual_ptr": residual, "addition_ptr": parameters}
        args |= {"image_pixels": g.out_height * g.out_width, **found}
        of_product = {name: constants.pop(name) for name in ("FLIP", "PRECISION")}
        constants |= {"QUANTIZED": self.quantized, "RESIDUAL": kind, "INTERPRETED": self.b.simulated}
        return of_product, Ends(args, constants)

    def _multiply(
        self,
        x: Pointer,
        y: Pointer,
        choice: Choice,
        product: Product,
        ends: Ends,
        constants: dict[str, Constant],
    ) -> None:
        g, b, tile = self.walk, self.b, choice.tile
        columns = g.out_depth // g.groups
        x_unit, y_unit = unit_of(g.filter_depth, g.in_depth), unit_of(columns, g.out_depth)
        nbytes = ELEMENT_BYTES[self.element]
        flat = flat_depth(g)
        w_unit = ALIGNED_BYTES // nbytes
        sizes: dict[str, Argument] = {
            "pixels": g.out_pixels,
            "columns": columns // y_unit,
            "depth": g.filter_depth // x_unit,
            "x_stride": g.in_depth // x_unit,
            "y_stride": g.out_depth // y_unit,
            "w_stride": row_stride(g, self.sets, nbytes) // w_unit,
            "tap_stride": tap_depth(g, nbytes) // w_unit,
            "steps": -(-product.steps(tile.depth) // choice.splits),
        }
        walk = constants | {
            "TAPS_H": g.filter_height,
            "TAPS_W": g.filter_width,
            "SETS": self.sets,
            "FLAT": flat > 0,
            "POINTWISE": is_pointwise(g),
            "INSIDE": not sees_border(g),
            "SPLIT": choice.splits > 1,
            "EVEN_K": not flat and g.filter_depth % tile.depth == 0,
            "X_UNIT": x_unit,
            "Y_UNIT": y_unit,
            "W_UNIT": w_unit,
            "INTERPRETED": b.simulated,
        }
        args: dict[str, Argument] = {
            "x_ptr": x,
            "w_ptr": self.weights(),
            "y_ptr": y,
            "flat_ptr": b.table(lambda: flat_table(g, self.sets, nbytes), "i32") if flat else y,
            **_fields("end", ends.args),
            **_fields("sizes", sizes),
            **_fields("window", {name: getattr(g, name) for name in _WINDOW}),
        }
        blocks = {"BM": tile.rows, "BN": tile.columns, "BK": tile.depth}
        compiled = _fields("WALK", walk) | _fields("TILE", blocks) | _fields("END", ends.constants)
        grid = product.tiles(tile), g.groups, choice.splits
        b.launch("conv", "conv", grid, args, compiled, warps=tile.warps, stages=tile.stages)

    def _add_up(self, parts: Pointer, y: Pointer, splits: int, ends: Ends) -> None:
        g = self.geometry
        unit = unit_of(g.out_depth)
        sizes: dict[str, Argument] = {
            "pixels": g.out_pixels,
            "columns": g.out_depth // unit,
            "y_stride": g.out_depth // unit,
            "splits": splits,
        }
        args = {"x_ptr": parts, "y_ptr": y, **_fields("end", ends.args), **_fields("sizes", sizes)}
        blocks = {"BM": _SUM_ROWS, "BN": _SUM_COLUMNS, "Y_UNIT": unit}
        compiled = _fields("TILE", blocks) | _fields("END", ends.constants)
        grid = -(-g.out_pixels // _SUM_ROWS), -(-g.out_depth // _SUM_COLUMNS)
        self.b.launch("conv", "conv_sum", grid, args, compiled)
