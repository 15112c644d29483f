"""Operations on Keras tensors: those that search, cut, put, leave out NaN, and do what layers do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .case import Case
from .whole_models import of_function

Function = Callable[[Any, Any], Any]
_KERNEL = np.linspace(-1, 1, 3 * 3 * 2 * 4).reshape(3, 3, 2, 4).astype(np.float32)
_DEPTHWISE = np.linspace(-1, 1, 3 * 3 * 2 * 2).reshape(3, 3, 2, 2).astype(np.float32)
_ACROSS = np.linspace(-1, 1, 4 * 5).reshape(1, 1, 4, 5).astype(np.float32)
_LINE = np.linspace(-1, 1, 3 * 6 * 4).reshape(3, 6, 4).astype(np.float32)


def _image(ops: Any, x: Any) -> Any:
    return ops.reshape(x, (-1, 4, 3, 2))


def _heads(ops: Any, x: Any, count: int = 2) -> Any:
    return ops.reshape(x, (-1, 4, count, 6 // count))


FURTHER: dict[str, Function] = {
    "nan": lambda ops, x: [
        getattr(ops, f"nan{name}")(ops.log(x), axis=axis, keepdims=keeps)
        for name in ("sum", "prod", "max", "min", "mean", "var", "std")
        for axis, keeps in ((1, False), ((0, 2), True))
    ],
    "nan of all": lambda ops, x: [
        ops.nansum(ops.log(x)),
        ops.isnan(ops.nanmax(ops.log(x * 0 - 1))),
        ops.nanmean(ops.log(x)),
    ],
    "nan places": lambda ops, x: [
        ops.nanargmax(ops.log(x), axis=1),
        ops.nanargmin(ops.log(x), axis=-1, keepdims=True),
        ops.nanargmax(ops.log(x * 0 - 1), axis=2),
        ops.nancumsum(ops.log(x), axis=1),
        ops.nancumsum(ops.log(x)),
    ],
    "slice": lambda ops, x: [
        ops.slice(x, (0, 1, 2), (2, 3, 2)),
        ops.slice(x, ops.cast(ops.abs(x[0, 0, :3]), "int32"), (1, 2, 3)),
    ],
    "slice_update": lambda ops, x: [
        ops.slice_update(x, (0, 1, 2), x[:1, :2, :3] * 0),
        ops.slice_update(x, ops.cast(ops.abs(x[0, 0, :3]), "int32"), x[:1, :1, :1] + 9),
    ],
    "scatter": lambda ops, x: [
        ops.scatter(np.array([[1], [0], [1], [4]], np.int32), x[0], (5, 6)),
        ops.scatter_update(x[0], np.array([[1], [3]], np.int32), x[1, :2]),
        ops.scatter_update(x[0], np.array([[1, 2], [3, 0], [1, 2]], np.int32), x[1, 0, :3], reduction="add"),
    ],
    "diag": lambda ops, x: [
        *(ops.diag(x[0, 0], k=k) for k in (0, 2, -1)),
        *(ops.diag(x[0], k=k) for k in (0, 1, -2)),
        ops.diagflat(x[0, :2], k=1),
    ],
    "splits": lambda ops, x: [
        *ops.array_split(x, 4, axis=2),
        *ops.hsplit(x, 2),
        *ops.dsplit(x, [1, 4]),
        *ops.vsplit(x[0], 2),
        *ops.hsplit(x[0, 0], 3),
    ],
    "dstack": lambda ops, x: [
        ops.dstack([x, x + 1]),
        ops.dstack([x[0], x[1]]),
        ops.dstack([x[0, 0], x[0, 1]]),
    ],
    "cross": lambda ops, x: [
        ops.cross(x[:, :, :3], x[:, :, 3:]),
        ops.cross(x[:, :, :2], x[:, :, 3:5]),
        ops.cross(x[:, :, :2], x[:, :, 3:]),
        ops.cross(x[:, :3], x[:, 1:], axis=1),
        ops.cross(x[:, :3, :4], x[0, 0, :3], axisa=1, axisb=0, axisc=1),
    ],
    "kron": lambda ops, x: [ops.kron(x[0], x[1, :2]), ops.kron(x[0, 0], x[0])],
    "linspace": lambda ops, x: [
        ops.linspace(x[0], x[1], 5),
        ops.linspace(0.5, x, 3, axis=-1),
        ops.linspace(x, 2.0, 4, endpoint=False, axis=1),
        ops.linspace(x, x + 1, 1),
    ],
    "full": lambda ops, x: [ops.full((2, 3), x[0, 0, 0]), ops.empty_like(x) * 0, ops.size(x), ops.ndim(x)],
    "sequences": lambda ops, x: [ops.extract_sequences(x, 3, 2), ops.extract_sequences(x[0], 6, 1)],
    "patches": lambda ops, x: [
        ops.image.extract_patches(_image(ops, x), 2),
        ops.image.extract_patches(_image(ops, x), (3, 2), strides=1, padding="same"),
        ops.image.extract_patches(_image(ops, x), 2, strides=1, dilation_rate=2),
        ops.image.extract_patches(_image(ops, x)[0], (2, 3), strides=(2, 1)),
    ],
    "unravel": lambda ops, x: [*ops.unravel_index(ops.cast(ops.abs(x[0, 0]) * 9, "int32"), (3, 4, 5))],
    "vander": lambda ops, x: [ops.vander(x[0, 0]), ops.vander(ops.abs(x[0, 0]) + 1, 3, increasing=True)],
    "search": lambda ops, x: [
        ops.searchsorted(ops.sort(x[0, 0]), x[0, 1]),
        ops.searchsorted(ops.round(ops.sort(x[0, 0]) * 2), ops.round(x[0, 1] * 2), side="right"),
        ops.digitize(x, np.array([-0.5, 0.0, 0.5])),
    ],
    "isin": lambda ops, x: [ops.isin(x, x[0, :2]), ops.isin(ops.round(x * 2), [0, 1], invert=True)],
    "in_top_k": lambda ops, x: ops.in_top_k(ops.cast(ops.abs(x[0, :, 0]) * 2, "int32"), x[0], k=3),
    "multi_hot": lambda ops, x: [
        ops.multi_hot(ops.cast(ops.abs(x[0]) * 2, "int32"), 5),
        ops.multi_hot(ops.cast(ops.abs(x[0, 0]) * 2, "int32"), 4),
    ],
    "segments": lambda ops, x: [
        ops.segment_sum(x[0], ops.cast(ops.abs(x[0, :, 0]) * 2, "int32"), num_segments=5),
        ops.segment_max(x[0], np.array([0, 0, 2, 1], np.int32), num_segments=3),
    ],
    "quantiles": lambda ops, x: [
        ops.quantile(x[0], 0.3),
        ops.quantile(x, [0.0, 0.25, 1.0], axis=1),
        ops.quantile(x, 0.6, axis=(1, 2), keepdims=True),
        ops.percentile(x, [10.0, 70.0], axis=-1, keepdims=True),
    ],
    "convolutions": lambda ops, x: [
        ops.conv(_image(ops, x), _KERNEL, padding="same"),
        ops.conv(_image(ops, x), _KERNEL, strides=2, padding="same"),
        ops.conv(x, _LINE, padding="valid"),
        ops.depthwise_conv(_image(ops, x), _DEPTHWISE, padding="same"),
        ops.separable_conv(_image(ops, x), _DEPTHWISE, _ACROSS),
    ],
    "dot_product_attention": lambda ops, x: [
        ops.dot_product_attention(_heads(ops, x), _heads(ops, x * 2), _heads(ops, x + 1)),
        ops.dot_product_attention(_heads(ops, x), _heads(ops, x), _heads(ops, x), is_causal=True, scale=0.3),
        ops.dot_product_attention(
            _heads(ops, x),
            _heads(ops, x),
            _heads(ops, x),
            bias=x[:, None, :, :4],
            mask=x[:, None, :, 1:5] > -0.5,
        ),
        ops.dot_product_attention(ops.reshape(x, (-1, 2, 4, 3)), _heads(ops, x), _heads(ops, x + 1)),
    ],
    "bits": lambda ops, x: [
        ops.bitwise_not(ops.cast(x * 9, "int32")),
        ops.bitwise_xor(ops.cast(x * 9, "int32"), ops.cast(x * 5, "int32")),
        ops.signbit(x),
        ops.ldexp(x, ops.cast(x * 3, "int32")),
        ops.logaddexp2(x, x * 3),
        ops.erfinv(ops.tanh(x)),
        ops.erfc(x * 3),
        ops.isreal(x),
        ops.real(x),
        ops.conj(x),
        ops.imag(x),
    ],
}


def further_operations() -> Iterator[Case]:
    for name, function in FURTHER.items():
        yield of_function(f"further {name}", function)
