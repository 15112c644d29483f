"""Random cases of operators that multiply by weights."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .draw import Draw, Kind, Shape
from .entry import Entry
from .one_op import OneOp, activation

# Types of operand and weights, of which each has its own kernels.
FLOAT, HYBRID, FULL, WIDE, HALF = "float", "hybrid", "int8", "int16x8", "float16"
MODES = (FLOAT, FLOAT, HYBRID, FULL, FULL, WIDE, "uint8", HALF)


class Product:
    """The tensors of one product: operand, weights, bias and result, of types that go together."""

    def __init__(
        self, draw: Draw, op: OneOp, packed: tuple[str, ...] = (), wide: tuple[str, ...] = ("int8",)
    ) -> None:
        """wide: the weights that int16 is multiplied with."""
        self.draw, self.op = draw, op
        self.mode = draw.pick(*MODES)
        of_mode = {FLOAT: "float32", HYBRID: "float32", FULL: "int8", WIDE: "int16", HALF: "float16"}
        self.kind = draw.kind(of_mode.get(self.mode, "uint8"))
        if self.mode == "uint8" or self.mode in (FLOAT, HALF):
            self.weights_type = self.kind.type
        elif self.mode == WIDE and len(wide) > 1:
            self.weights_type = draw.pick(*wide)
        else:
            self.weights_type = draw.pick("int8", "int8", *packed) if packed else "int8"
        self.weights_kind = Kind(self.weights_type)
        self.bias_type = tflite.TensorType.FLOAT32

    def weights(self, shape: Shape, channel: int | None, given: float = 0.05) -> int:
        """channel: the axis that may have its own scales."""
        kind = self.draw.kind(self.weights_type)
        if self.weights_type in ("int4", "int2"):
            kind = Kind(self.weights_type, (0.05,))
        if kind.scale and self.mode != "uint8":
            kind = Kind(kind.type, kind.scale, 0 if self.draw.chance(0.97) else kind.zero_point)
        if channel is not None and kind.scale and self.mode != "uint8" and self.draw.chance(0.6):
            count = max(1, shape[channel])
            kind = Kind(
                kind.type,
                tuple(float(np.float32(10 ** self.draw.random.uniform(-3, 0))) for _ in range(count)),
                0,
                channel,
            )
        self.weights_kind = kind
        values = self._without_lowest if self.mode == HYBRID and self.weights_type == "int8" else None
        return self.op.input(shape, kind, values, constant=1 - given)

    def _without_lowest(self, shape: Shape) -> np.ndarray:
        """int8 without -128, whose sign LiteRT's vector code loses; converters do without it, too."""
        return np.maximum(self.draw.values(self.weights_kind, shape), -127).astype(np.int8)

    def bias(self, count: int, most: int = 3000) -> int:
        """-1 where there is none."""
        if self.draw.chance(0.25):
            return -1
        if not self.kind.scale:
            return self.op.input((count,), self.kind, constant=0.9)
        type_ = self.draw.pick("int64", "int64", "int32") if self.mode == WIDE else "int32"
        if self.mode == WIDE:  # else LiteRT reads all as int64
            self.bias_type = tflite.TensorType[type_.upper()]
        scales = tuple(float(np.float32(self.kind.scale[0] * s)) for s in self.weights_kind.scale)
        kind = Kind(type_, scales, 0, 0)
        values = self.draw.random.integers(-most, most, count).astype(type_)
        return (
            self.op.constant(values, kind)
            if self.draw.chance(0.9)
            else self.op.input((count,), kind, lambda shape: values)
        )

    def result(self) -> None:
        kind = self.draw.like(self.kind)
        if kind.scale and kind.scale == self.kind.scale:
            kind = self.draw.quantized(kind.type)
        self.op.output(kind)


def _padding(draw: Draw) -> tflite.Padding:
    return tflite.Padding(draw.pick(0, 1))


def _image(draw: Draw, channels: int) -> Shape:
    n = draw.pick(1, 1, 2, 3, 0 if draw.chance(0.1) else 1)
    most = 24 if draw.chance(0.1) else 11
    return (n, draw.number(1, most), draw.number(1, most), channels)


def _depth(draw: Draw, *often: int) -> int:
    """One of those mostly; seldom as many as whole tiles and blocks of the kernels, and some more."""
    return draw.pick(31, 32, 48, 64, 65, 100, 128) if draw.chance(0.06) else draw.pick(*often)


def _conv(draw: Draw, op: OneOp) -> None:
    product = Product(draw, op, ("int4",))
    groups = draw.pick(1, 1, 1, 2, 3)
    each, out = _depth(draw, *range(1, 10)), _depth(draw, 1, 2, 3, 5, 8, 16, 17) * groups
    x = op.input(_image(draw, each * groups), product.kind, constant=0.02)
    w = product.weights((out, draw.number(1, 4), draw.number(1, 4), each), 0)
    b = product.bias(out)
    product.result()
    op.op([x, w, b] if b >= 0 or draw.chance() else [x, w], tflite.Conv2DOptionsT(
        padding=_padding(draw),
        stride_w=draw.pick(1, 1, 2, 3, 5),
        stride_h=draw.pick(1, 1, 2, 3, 5),
        fused_activation_function=activation(draw),
        dilation_w_factor=draw.pick(1, 1, 1, 2, 3),
        dilation_h_factor=draw.pick(1, 1, 1, 2, 3),
        quantized_bias_type=product.bias_type,
    ))  # fmt: skip


def _depthwise(draw: Draw, op: OneOp) -> None:
    product = Product(draw, op, ("int4",))
    channels, times = _depth(draw, 1, 2, 3, 4, 8, 9, 16, 17), draw.pick(1, 1, 1, 2, 3, 8)
    op.fixed_axes.add(-1)  # LiteRT keeps the first run's multiplier
    x = op.input(_image(draw, channels), product.kind, constant=0.02)
    w = product.weights((1, draw.number(1, 5), draw.number(1, 5), channels * times), 3)
    b = product.bias(channels * times)
    product.result()
    op.op([x, w, b] if b >= 0 or draw.chance() else [x, w], tflite.DepthwiseConv2DOptionsT(
        padding=_padding(draw),
        stride_w=draw.pick(1, 1, 2, 3),
        stride_h=draw.pick(1, 1, 2, 3),
        depth_multiplier=times,
        fused_activation_function=activation(draw),
        dilation_w_factor=draw.pick(1, 1, 1, 2, 3),
        dilation_h_factor=draw.pick(1, 1, 1, 2, 3),
    ))  # fmt: skip


def _transpose_conv(draw: Draw, op: OneOp) -> None:
    product = Product(draw, op, ("int4",))
    out, channels = _depth(draw, 1, 2, 3, 5, 8), _depth(draw, *range(1, 10))
    image = _image(draw, channels)
    kernel = (draw.number(1, 4), draw.number(1, 4))
    strides = (draw.number(1, 3), draw.number(1, 3))
    padding = _padding(draw)
    sizes = [
        n * s if padding == tflite.Padding.SAME else n * s + max(k - s, 0)
        for n, s, k in zip(image[1:3], strides, kernel, strict=True)
    ]
    if draw.chance(0.15):
        sizes = [n + draw.number(0, s - 1) for n, s in zip(sizes, strides, strict=True)]
    shape = op.numbers([image[0], *sizes, out])
    w = product.weights((out, *kernel, channels), 0)
    x = op.input(image, product.kind, constant=0.02)
    b = product.bias(out)
    product.result()
    op.op([shape, w, x, b] if b >= 0 else [shape, w, x], tflite.TransposeConvOptionsT(
        padding=padding, stride_w=strides[1], stride_h=strides[0], fused_activation_function=activation(draw),
        quantized_bias_type=product.bias_type,
    ))  # fmt: skip


def _fully_connected(draw: Draw, op: OneOp) -> None:
    product = Product(draw, op, ("int4", "int2"), ("int8", "int16"))
    depth = _depth(draw, 1, 2, 3, 4, 7, 8, 9, 16, 32, 33, 300)
    units = _depth(draw, 1, 2, 3, 4, 5, 8, 16, 17)
    shape = (*draw.shape(0, 3, 200), depth)
    if draw.chance(0.1):
        shape = (draw.number(1, 3), 2, depth) if depth % 2 else (draw.number(1, 3), 2, depth // 2)
    x = op.input(shape, product.kind, constant=0.02)
    w = product.weights((units, depth), 0)
    b = product.bias(units)
    product.result()
    op.op([x, w, b] if b >= 0 or draw.chance() else [x, w], tflite.FullyConnectedOptionsT(
        fused_activation_function=activation(draw),
        keep_num_dims=draw.chance(),
        quantized_bias_type=product.bias_type,
        asymmetric_quantize_inputs=draw.chance(),
    ))  # fmt: skip


def _batch_matmul(draw: Draw, op: OneOp) -> None:
    product = Product(draw, op, wide=("int8", "int16"))
    m, k, n = draw.size(), draw.size(), draw.size()
    first, second = draw.broadcast(draw.shape(0, 3, 12))
    adj_x, adj_y = draw.chance(0.3), draw.chance(0.4)
    left, right = ((k, m) if adj_x else (m, k)), ((n, k) if adj_y else (k, n))
    inputs = [op.input((*first, *left), product.kind, constant=0.02)]
    inputs.append(product.weights((*second, *right), None, given=0.6))
    if product.mode == FULL and draw.chance(0.05):
        op.output("int32")
    else:
        product.result()
    op.op(inputs, tflite.BatchMatMulOptionsT(
        adj_x=adj_x, adj_y=adj_y, asymmetric_quantize_inputs=draw.chance()
    ))  # fmt: skip


def _conv_3d(draw: Draw, op: OneOp) -> None:
    c, out = draw.number(1, 4), draw.number(1, 5)
    kernel, strides = [draw.number(1, 3) for _ in range(3)], [draw.number(1, 2) for _ in range(3)]
    image, padding = [draw.number(1, 5) for _ in range(3)], _padding(draw)
    batch = draw.number(1, 2)
    options = tflite.Conv3DOptionsT(
        padding=padding,
        stride_d=strides[0], stride_h=strides[1], stride_w=strides[2],
        fused_activation_function=activation(draw),
        dilation_d_factor=draw.pick(1, 1, 2), dilation_h_factor=draw.pick(1, 1, 2),
        dilation_w_factor=draw.pick(1, 1, 2),
    )  # fmt: skip
    bias = [op.input((out,), "float32", constant=0.8)] if draw.chance() else []
    if op.name == "CONV_3D":
        x = op.input((batch, *image, c), "float32")
        w = op.input((*kernel, c, out), "float32", constant=0.8)
        op.output("float32")
        op.op([x, w, *bias], options)
        return
    if draw.chance(0.8):
        options.dilation_d_factor = options.dilation_h_factor = options.dilation_w_factor = 1
    same = padding == tflite.Padding.SAME
    sizes = [n * s if same else (n - 1) * s + k for n, s, k in zip(image, strides, kernel, strict=True)]
    shape = op.numbers([batch, *sizes, out])
    w = op.input((*kernel, out, c), "float32", constant=0.8)
    x = op.input((batch, *image, c), "float32")
    op.output("float32")
    op.op([shape, w, x, *bias], options)


ENTRIES = {
    "CONV_2D": Entry(_conv, atol=1e-5, nan=True, hybrid=1e-5, nudges=True),
    "DEPTHWISE_CONV_2D": Entry(_depthwise, atol=1e-5, nan=True, hybrid=1e-5, nudges=True),
    "TRANSPOSE_CONV": Entry(_transpose_conv, atol=1e-5, nan=True, hybrid=1e-5, nudges=True),
    "FULLY_CONNECTED": Entry(_fully_connected, atol=1e-5, nan=True, hybrid=1e-5, nudges=True),
    "BATCH_MATMUL": Entry(_batch_matmul, atol=1e-5, nan=True, hybrid=1e-5, nudges=True),
    "CONV_3D": Entry(_conv_3d, atol=1e-5, nan=True, hybrid=1e-5, nudges=True),
    "CONV_3D_TRANSPOSE": Entry(_conv_3d, atol=1e-5, nan=True, hybrid=1e-5, nudges=True),
}
