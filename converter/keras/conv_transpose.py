"""Transposed convolutions."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ..building.tensor import Tensor
from .activations import activation_of
from .call import Call, Rule
from .kind import Kind
from .window import Window, window_of, with_height, without_height


def _transposed(rank: int) -> Rule:
    """TRANSPOSE_CONV or CONV_3D_TRANSPOSE; kernel [..., o, i]."""

    def rule(c: Call) -> Tensor:
        sizes = c.config.sizes("kernel_size", rank)
        kernel = c.weight("kernel", [*sizes, c.config.positive("filters"), None])
        window = window_of(c, rank, sizes)
        x = c.last(c.x)
        if x.sizes[-1] not in (-1, kernel.sizes[-1]):
            raise ModelError(f"channels must be {kernel.sizes[-1]}, got {x.sizes[-1]}")
        y = _spread(c, x, _dilated(kernel, window), window)
        bias = c.optional_weight("bias", [y.sizes[-1]])
        return activation_of(c)(c.back(y if bias is None else c.make("BiasAdd", y, bias)))

    return rule


def _dilated(kernel: Tensor, window: Window) -> Tensor:
    """The kernel with zeros between its elements, as the operators have no dilations."""
    if set(window.dilations) == {1}:
        return kernel
    data = kernel.data
    assert data is not None
    reach = [(k - 1) * d + 1 for k, d in zip(window.kernel, window.dilations, strict=True)]
    wide = np.zeros((*reach, *data.shape[-2:]), data.dtype)
    wide[tuple(slice(None, None, d) for d in window.dilations)] = data
    return kernel.body.constant(wide, kernel.name)


def _spread(c: Call, x: Tensor, kernel: Tensor, window: Window) -> Tensor:
    body, rank = c.body, window.rank
    extra = (
        list(c.config.sizes("output_padding", rank, smallest=0))
        if c.config.has("output_padding")
        else [None] * rank
    )
    sizes = body.sizes_of(x)
    reach = kernel.sizes[:rank]
    spread = [
        _size(c, sizes[1 + axis], reach[axis], window.strides[axis], window.padding, extra[axis])
        for axis in range(rank)
    ]
    ones = {"dilations": [1] * (max(rank, 2) + 2)}
    attributes = {**window.attributes(), **ones}
    outputs = kernel.sizes[-2]
    if rank == 1:
        raised = body.reshaped(kernel, [1, *kernel.sizes])
        vector = body.vector([sizes[0], 1, *spread, outputs])
        return without_height(body.op("Conv2DBackpropInput", vector, raised, with_height(x), **attributes))
    op = "Conv2DBackpropInput" if rank == 2 else "Conv3DBackpropInputV2"
    return body.op(op, body.vector([sizes[0], *spread, outputs]), kernel, x, **attributes)


def _size(
    c: Call, size: int | Tensor, reach: int, stride: int, padding: str, extra: int | None
) -> int | Tensor:
    """The size of the result along an axis. Keras 2 counts what output_padding adds otherwise."""
    if extra is not None and extra >= stride:
        raise ModelError(f"output_padding must be less than strides, got {extra} and {stride}")
    if extra is None:
        more = max(reach - stride, 0) if padding == "VALID" else 0
        return size * stride + more
    if padding == "VALID":
        more = reach + extra
    elif c.importer.shared.is_keras_2:
        more = reach - 2 * (reach // 2) + extra
    else:
        more = reach % 2 + extra
    if not isinstance(size, int):
        return (size - 1) * stride + more
    if (size - 1) * stride + more < 1:
        raise UnsupportedError("the result would be empty")
    return (size - 1) * stride + more


REGISTRATIONS: dict[str, Kind] = {
    f"Conv{rank}DTranspose": Kind(_transposed(rank), "kernel bias?use_bias") for rank in (1, 2, 3)
}
