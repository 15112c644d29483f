"""Convolutions: whole, by channel, and both after each other."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...schema.graph_def import DT_INT32
from ..building.movement import split_of
from ..building.tensor import Tensor
from .activations import activation_of
from .call import Call, Rule
from .kind import Kind
from .window import Window, before, window_of, with_height, without_height

_PADDINGS = ("valid", "same", "causal")


def _conv(rank: int) -> Rule:
    """CONV_2D or CONV_3D; kernel [..., i / groups, o]."""

    def rule(c: Call) -> Tensor:
        kernel = c.weight(
            "kernel", [*c.config.sizes("kernel_size", rank), None, c.config.positive("filters")]
        )
        window = window_of(c, rank, kernel.sizes[:rank], _PADDINGS)
        return _finished(c, convolved(c.last(c.x), kernel, window, c.config.positive("groups", 1)))

    return rule


def _finished(c: Call, y: Tensor) -> Tensor:
    bias = c.optional_weight("bias", [y.sizes[-1]])
    return activation_of(c)(c.back(y if bias is None else c.make("BiasAdd", y, bias)))


def convolved(x: Tensor, kernel: Tensor, window: Window, groups: int = 1) -> Tensor:
    """x, channels last, under a kernel [..., i / groups, o]."""
    depth, outputs = kernel.sizes[-2] * groups, kernel.sizes[-1]
    if x.sizes[-1] not in (-1, depth) or outputs % groups:
        raise ModelError(
            f"channels must be {depth} in {groups} groups, got {x.sizes[-1]} (kernel {list(kernel.sizes)})"
        )
    x, window = _causal(x, window)
    if window.rank == 1:
        raised = kernel.body.reshaped(kernel, [1, *kernel.sizes])
        return without_height(kernel.body.op("Conv2D", with_height(x), raised, **window.attributes()))
    if window.rank == 2:
        return kernel.body.op("Conv2D", x, kernel, **window.attributes())
    if groups == 1:
        return kernel.body.op("Conv3D", x, kernel, **window.attributes())
    parts = zip(
        split_of(x, [kernel.sizes[-2]] * groups, 4),
        split_of(kernel, [outputs // groups] * groups, 4),
        strict=True,
    )
    made = [kernel.body.op("Conv3D", part, filter, **window.attributes()) for part, filter in parts]
    return kernel.body.op("ConcatV2", *made, kernel.body.scalar(4, DT_INT32))


def _causal(x: Tensor, window: Window) -> tuple[Tensor, Window]:
    """x with what causal padding asks for before it."""
    if window.padding != "CAUSAL":
        return x, window
    if window.rank != 1:
        raise ModelError("padding causal is of one dimension")
    reach = (window.kernel[0] - 1) * window.dilations[0]
    return before(x, reach), Window(window.kernel, window.strides, window.dilations, "VALID")


def by_channel(x: Tensor, kernel: Tensor, window: Window) -> Tensor:
    """A convolution of each channel: kernel [..., c, multiplier], x with channels last."""
    body, (depth, multiplier) = x.body, kernel.sizes[-2:]
    if x.sizes[-1] not in (-1, depth):
        raise ModelError(f"channels must be {depth}, got {x.sizes[-1]}")
    x, window = _causal(x, window)
    if window.rank == 1:
        raised = body.reshaped(kernel, [1, *kernel.sizes])
        window = Window((1, *window.kernel), window.strides * 2, (1, *window.dilations), window.padding)
        return without_height(by_channel(with_height(x), raised, window))
    if len(set(window.strides)) == 1:
        return body.op("DepthwiseConv2dNative", x, kernel, **window.attributes())
    grouped = body.reshaped(kernel, [*window.kernel, 1, depth * multiplier])
    return body.op("Conv2D", x, grouped, **window.attributes())


def _depthwise(rank: int) -> Rule:
    def rule(c: Call) -> Tensor:
        kernel = _filters(c, rank, "kernel")
        return _finished(
            c, by_channel(c.last(c.x), kernel, window_of(c, rank, kernel.sizes[:rank], _PADDINGS))
        )

    return rule


def _filters(c: Call, rank: int, name: str) -> Tensor:
    sizes = c.config.sizes("kernel_size", rank)
    return c.weight(name, [*sizes, None, c.config.positive("depth_multiplier", 1)])


def _separable(rank: int) -> Rule:
    """By channel, then across channels at each place."""

    def rule(c: Call) -> Tensor:
        kernel = _filters(c, rank, "depthwise_kernel")
        window = window_of(c, rank, kernel.sizes[:rank], _PADDINGS)
        y = by_channel(c.last(c.x), kernel, window)
        ones = (1,) * rank
        across = c.weight(
            "pointwise_kernel", [*ones, kernel.sizes[-2] * kernel.sizes[-1], c.config.positive("filters")]
        )
        return _finished(c, convolved(y, across, Window(ones, ones, ones, "VALID")))

    return rule


_DEPTHWISE = "kernel bias?use_bias"
_SEPARABLE = "depthwise_kernel pointwise_kernel bias?use_bias"
REGISTRATIONS: dict[str, Kind] = {
    **{f"Conv{rank}D": Kind(_conv(rank), "kernel bias?use_bias") for rank in (1, 2, 3)},
    **{f"DepthwiseConv{rank}D": Kind(_depthwise(rank), _DEPTHWISE) for rank in (1, 2)},
    **{f"SeparableConv{rank}D": Kind(_separable(rank), _SEPARABLE) for rank in (1, 2)},
}
