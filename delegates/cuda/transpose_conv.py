"""TRANSPOSE_CONV: a launch for each phase of kernels/contraction/transpose_conv_phases.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.contraction.geometry import ConvGeometry
from ...kernels.contraction.node import FilterNode
from ...kernels.contraction.plain import upward
from ...kernels.contraction.sums import quantized_sums
from ...kernels.contraction.transpose_conv import checked
from ...kernels.contraction.transpose_conv_phases import Phase, phase_weights, phases
from ...kernels.requantize import FLOAT_ROUNDING, UPWARD_ROUNDING
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from .byte_sums import set_count, split, wrapped
from .halves import checked_in_float32
from .launch import Argument, Constant, Pointer
from .tiles import Product

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_TYPES = (TensorType.FLOAT32, TensorType.INT8, TensorType.UINT8)
_MOST_PHASES = 256  # each is a launch


def lower(b: Lowering, step: Step) -> None:
    """A launch for each phase, stride_h * stride_w mostly: float32, int8, uint8 with constant weights."""
    node, graph = step.node, b.graph
    if not graph.input(node, 0).is_constant:
        raise UnsupportedError("TRANSPOSE_CONV: the output shape must be constant")
    n = checked_in_float32(graph, node, checked)
    x, w, g = n.x, n.w, n.geometry
    graph.resize_tensor(graph.output(node, 0), g.output_shape)
    if x.type not in _TYPES or (x.type == TensorType.FLOAT32) != (w.type == TensorType.FLOAT32):
        raise UnsupportedError(f"TRANSPOSE_CONV of {x.type_name} by {w.type_name} is not built")
    if not n.is_constant:
        raise UnsupportedError("TRANSPOSE_CONV: weights and bias must be constant")
    if n.y.size == 0:
        return
    count = min(g.stride_h, g.out_height) * min(g.stride_w, g.out_width)
    if count > _MOST_PHASES:
        raise UnsupportedError(f"TRANSPOSE_CONV: up to {_MOST_PHASES} phases are built, got {count}")
    is_float = x.type == TensorType.FLOAT32
    arithmetic = _Floats(b, step, n) if is_float else _Bytes(b, step, n)
    for number, phase in enumerate(phases(g)):
        _launch(b, g, arithmetic, phase, number)


def _launch(b: Lowering, g: ConvGeometry, arithmetic: _Floats | _Bytes, phase: Phase, number: int) -> None:
    rows = g.batch * phase.pixels
    tile = b.choose(Product(rows, g.out_depth, g.in_depth, phase.taps, 1, arithmetic.element)).tile
    bias, ends, constants = arithmetic.epilogue(phase, number)
    x, y = b.pointer(arithmetic.n.x), b.pointer(arithmetic.n.y)
    row = g.out_width * g.out_depth
    args: dict[str, Argument] = {
        "x_ptr": x,
        "w_ptr": arithmetic.weights(phase, number),
        "y_ptr": y,
        "bias_ptr": bias,
        "scale_ptr": ends.pop("scale_ptr", bias),
        "shift_ptr": ends.pop("shift_ptr", bias),
        "table_ptr": b.table(lambda: phase.table, "i32"),
        "rows": rows,
        "pixels": phase.pixels,
        "taps": phase.taps,
        "columns": g.out_depth,
        "depth": g.in_depth,
        "image_size": g.in_height * g.in_width * g.in_depth,
        "w_stride": arithmetic.sets * phase.taps * g.in_depth,
        "width": phase.width,
        "y_start": phase.first_row * row + phase.first_column * g.out_depth,
        "y_image": g.out_height * row,
        "y_row": g.stride_h * row,
        "y_column": g.stride_w * g.out_depth,
        **ends,
    }
    constants |= {"SETS": arithmetic.sets, "WIDEN": b.simulated and arithmetic.element == "bf16"}
    constants |= {"BM": tile.rows, "BN": tile.columns, "BK": tile.depth}
    programs = -(-rows // tile.rows) * -(-g.out_depth // tile.columns)
    multiples = ("depth", "image_size", "w_stride", "columns", "y_start", "y_image", "y_row", "y_column")
    b.launch(
        "transpose_conv",
        "transpose_conv",
        (programs,),
        args,
        constants,
        divisible=multiples,
        warps=tile.warps,
        stages=tile.stages,
    )


class _Floats:
    """float32 tensors, in float32 or in 16 bits."""

    sets = 1

    def __init__(self, b: Lowering, step: Step, n: FilterNode) -> None:
        self.b, self.step, self.n = b, step, n
        self.element = b.product_type(n.x, n.w)

    def weights(self, phase: Phase, number: int) -> Pointer:
        w = self.n.w

        def make() -> np.ndarray:
            return self.b.stored(np.ascontiguousarray(phase_weights(w.array(), phase)), self.element)

        return self.b.weights(self.step.node, f"filter {number} {_taps_of(phase)}", make, self.element)

    def epilogue(self, phase: Phase, number: int) -> tuple[Pointer, dict[str, Argument], dict[str, Constant]]:
        bias = self.n.bias
        columns = self.n.w.shape[0]
        pointer = self.b.weights(
            self.step.node,
            "bias",
            lambda: np.zeros(columns, np.float32) if bias is None else bias.array().reshape(-1),
            "fp32",
        )
        low, high = self.n.float_range
        ends: dict[str, Argument] = {"outside": 0, "zero": 0, "low": float(low), "high": float(high)}
        precision = self.b.dot_precision(self.element)
        return pointer, ends, {"QUANTIZED": False, "FLIP": False, "ROUNDING": 0, "PRECISION": precision}


def _taps_of(phase: Phase) -> str:
    """Names the part of the filter that a phase reads, which may change with the output's height."""
    return f"{phase.tap_rows} {phase.tap_columns} {phase.taps}"


class _Bytes:
    """8-bit tensors: products in int32, and the rounding of the CPU's kernels."""

    element = "i8"

    def __init__(self, b: Lowering, step: Step, n: FilterNode) -> None:
        self.b, self.step, self.n, self.f = b, step, n, quantized_sums(n)
        everything = (n.y.size, n.geometry.out_depth)
        if self.f.rounding == UPWARD_ROUNDING and upward(n, self.f) != everything:
            raise UnsupportedError("TRANSPOSE_CONV in the CPU's two roundings of one output is not built")
        self.sets = set_count(self.f)
        self.flip = n.x.type == TensorType.UINT8

    def _values(self, phase: Phase) -> np.ndarray:
        """Weights less their zero point, int64 [O, taps, C]."""
        return phase_weights(self.n.w.array().astype(np.int64) - self.f.w_zero_point, phase)

    def weights(self, phase: Phase, number: int) -> Pointer:
        def make() -> np.ndarray:
            parts = split(self._values(phase), self.sets)
            return np.ascontiguousarray(parts.transpose(1, 0, 2, 3))

        return self.b.weights(self.step.node, f"filter {number} {_taps_of(phase)}", make, self.element)

    def epilogue(self, phase: Phase, number: int) -> tuple[Pointer, dict[str, Argument], dict[str, Constant]]:
        """Taps outside read the zero point, whose share the bias has lost for every tap."""
        f, b, node = self.f, self.b, self.step.node
        offset = f.x_zero_point - (128 if self.flip else 0)

        def bias() -> np.ndarray:
            values = 0 if f.bias is None else f.bias.array().reshape(-1).astype(np.int64)
            return wrapped(values - offset * self._values(phase).sum(axis=(1, 2)))

        pointer = b.weights(node, f"bias {number} {_taps_of(phase)}", bias, "i32")
        channels = f.requantization
        ends: dict[str, Argument] = {}
        if f.rounding == FLOAT_ROUNDING:
            ends["scale_ptr"] = b.weights(
                node, "scales", lambda: channels.float_scales.astype(np.float32), "fp32"
            )
        else:
            ends["scale_ptr"] = b.weights(node, "multipliers", lambda: channels.multipliers, "i32")
        ends["shift_ptr"] = b.weights(node, "shifts", lambda: channels.shifts, "i32")
        ends |= {"outside": f.x_zero_point, "zero": f.y_zero_point, "low": f.lowest, "high": f.highest}
        constants: dict[str, Constant] = {"QUANTIZED": True, "FLIP": self.flip}
        return pointer, ends, constants | {"ROUNDING": f.rounding, "PRECISION": "ieee"}
