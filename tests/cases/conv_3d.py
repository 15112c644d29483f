"""Cases of CONV_3D and CONV_3D_TRANSPOSE."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case, Close, Refuses

_NEAR = Close(rtol=1e-5, atol=1e-5)
_SAME, _VALID = 0, 1
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Form:
    """sizes are of the wider side: the input, or the output where transposed."""

    sizes: Triple
    taps: Triple
    strides: Triple = (1, 1, 1)
    dilations: Triple = (1, 1, 1)
    padding: int = _VALID
    bias: bool = True
    activation: int = 0
    channels: tuple[int, int] = (3, 5)

    def __str__(self) -> str:
        parts = [self.sizes, self.taps, self.strides, self.dilations]
        text = "-".join("x".join(map(str, part)) for part in parts)
        return (
            f"{text}-{'valid' if self.padding else 'same'}-{self.activation}{'' if self.bias else '-no-bias'}"
        )

    def small_sizes(self) -> Triple:
        def size(n: int, taps: int, stride: int, dilation: int) -> int:
            extent = (taps - 1) * dilation + 1
            return -(-n // stride) if self.padding == _SAME else (n - extent) // stride + 1

        return tuple(map(size, self.sizes, self.taps, self.strides, self.dilations))

    def meetings(self) -> list[tuple[Triple, Triple, Triple]]:
        """(point of the small side, tap, point of the wide side) wherever all lie inside."""
        small = self.small_sizes()
        found = []
        pads = [
            max(0, (m - 1) * s + (t - 1) * d + 1 - n) // 2 if self.padding == _SAME else 0
            for n, m, t, s, d in zip(self.sizes, small, self.taps, self.strides, self.dilations, strict=True)
        ]
        for point in product(*map(range, small)):
            for tap in product(*map(range, self.taps)):
                wide = tuple(
                    p * s + t * d - pad
                    for p, s, t, d, pad in zip(point, self.strides, tap, self.dilations, pads, strict=True)
                )
                if all(0 <= w < n for w, n in zip(wide, self.sizes, strict=True)):
                    found.append((point, tap, wide))
        return found

    def options(self, kind: type) -> object:
        return kind(
            padding=self.padding,
            stride_d=self.strides[0],
            stride_h=self.strides[1],
            stride_w=self.strides[2],
            dilation_d_factor=self.dilations[0],
            dilation_h_factor=self.dilations[1],
            dilation_w_factor=self.dilations[2],
            fused_activation_function=self.activation,
        )


def _activated(form: Form, y: np.ndarray) -> np.ndarray:
    return (np.clip(y, 0, 6) if form.activation == 3 else y).astype(np.float32)


def case(form: Form, constant: bool = True) -> Case:
    random = np.random.default_rng(1)
    x = random.standard_normal((2, *form.sizes, form.channels[0])).astype(np.float32)
    w = random.standard_normal((*form.taps, *form.channels)).astype(np.float32)
    bias = random.standard_normal(form.channels[1]).astype(np.float32) * form.bias

    def make() -> bytes:
        model = ModelBuilder()
        source, y = model.tensor(x.shape), model.tensor((2, *form.small_sizes(), form.channels[1]))
        weights = model.constant(w) if constant else model.tensor(w.shape)
        inputs = [source, weights] + ([model.constant(bias)] if form.bias else [])
        model.op(BuiltinOperator.CONV_3D, inputs, [y], form.options(tflite.Conv3DOptionsT))
        return model.build([source] if constant else [source, weights], [y])

    def oracle(x: np.ndarray, *_: np.ndarray) -> np.ndarray:
        y = np.zeros((2, *form.small_sizes(), form.channels[1])) + bias
        for point, tap, wide in form.meetings():
            y[:, *point] += x[:, *wide].astype(np.float64) @ w[tap]
        return _activated(form, y)

    return Case(
        id=f"CONV_3D-{form}{'' if constant else '-given'}",
        make=make,
        inputs=[x] if constant else [x, w],
        oracle=oracle,
        closeness=_NEAR,
    )


def transpose_case(form: Form, fixed: str = "all") -> Case:
    """fixed: which of shape and weights are constants: "all", "shape" or "weights"."""
    random = np.random.default_rng(1)
    in_channels, out_channels = form.channels
    x = random.standard_normal((2, *form.small_sizes(), in_channels)).astype(np.float32)
    w = random.standard_normal((*form.taps, out_channels, in_channels)).astype(np.float32)
    bias = random.standard_normal(out_channels).astype(np.float32) * form.bias
    shape = np.array([2, *form.sizes, out_channels], np.int32)

    def make() -> bytes:
        model = ModelBuilder()
        source, y = model.tensor(x.shape), model.tensor(tuple(shape))
        shapes = model.tensor((5,), np.int32) if fixed == "weights" else model.constant(shape)
        weights = model.tensor(w.shape) if fixed == "shape" else model.constant(w)
        inputs = [shapes, weights, source] + ([model.constant(bias)] if form.bias else [])
        options = form.options(tflite.Conv3DOptionsT)
        model.op(BuiltinOperator.CONV_3D_TRANSPOSE, inputs, [y], options)
        return model.build({"all": [], "shape": [weights], "weights": [shapes]}[fixed] + [source], [y])

    def oracle(*inputs: np.ndarray) -> np.ndarray:
        x = inputs[-1].astype(np.float64)
        y = np.zeros(tuple(shape)) + bias
        for point, tap, wide in form.meetings():
            y[:, *wide] += x[:, *point] @ w[tap].T
        return _activated(form, y)

    given = {"all": [], "shape": [w], "weights": [shape]}[fixed]
    refused = Refuses(r"input->dims->data\[1\] > 0 was not true") if x.size == 0 else None
    return Case(
        id=f"CONV_3D_TRANSPOSE-{form}-{fixed}",
        make=make,
        inputs=[*given, x],
        oracle=oracle,
        closeness=_NEAR,
        litert_default=refused,
        litert_reference=refused,
    )


_FORMS = [
    Form((4, 5, 6), (2, 3, 2)),
    Form((5, 4, 7), (3, 3, 3), (2, 1, 3), padding=_SAME, activation=3),
    Form((5, 6, 5), (2, 2, 3), dilations=(2, 1, 2), padding=_SAME, bias=False),
]

CASES = [
    *map(case, _FORMS),
    case(_FORMS[0], constant=False),
    case(_FORMS[1], constant=False),
    case(Form((2, 2, 2), (4, 3, 4), padding=_SAME)),
    *map(transpose_case, _FORMS),
    transpose_case(Form((1, 2, 3), (2, 3, 3))),
    transpose_case(_FORMS[1], "shape"),
    transpose_case(_FORMS[1], "weights"),
    transpose_case(_FORMS[2], "weights"),
]
