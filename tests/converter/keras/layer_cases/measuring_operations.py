"""Operations on Keras tensors: bits, losses and distances, products in a row, new pixels, matrices, waves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .case import Case
from .whole_models import of_function

Function = Callable[[Any, Any], Any]


def _whole(ops: Any, x: Any) -> Any:
    return ops.cast(x * 20, "int32")


def _image(ops: Any, x: Any) -> Any:
    return ops.reshape(x, (-1, 4, 3, 2))


def _colours(ops: Any, x: Any) -> Any:
    return ops.sigmoid(ops.reshape(x, (-1, 4, 2, 3)))


def _shares(ops: Any, x: Any) -> Any:
    return ops.softmax(x, axis=-1)


def _classes(ops: Any, x: Any) -> Any:
    return ops.cast(ops.abs(x[:, :, 0]) * 2, "int32")


MEASURING: dict[str, Function] = {
    "bits of both": lambda ops, x: [
        ops.bitwise_and(_whole(ops, x), _whole(ops, x * 3)),
        ops.bitwise_or(_whole(ops, x), _whole(ops, x * 3)),
    ],
    "shifts": lambda ops, x: [
        ops.left_shift(_whole(ops, x), ops.cast(ops.abs(x) * 2, "int32")),
        ops.bitwise_left_shift(_whole(ops, x), 3),
        ops.right_shift(_whole(ops, x), ops.cast(ops.abs(x) * 2, "int32")),
        ops.bitwise_right_shift(_whole(ops, x * 30), 2),
    ],
    "angle": lambda ops, x: [ops.angle(x), ops.conj(x)],
    "bessel": lambda ops, x: [ops.i0(x), ops.i0(x * 9)],
    # To int32 and from integers to floats Keras's own limits wrap around.
    "saturate_cast": lambda ops, x: [
        ops.saturate_cast(x * 100, "int8"),
        ops.saturate_cast(x * 200, "uint8"),
        ops.saturate_cast(_whole(ops, x * 99), "int8"),
    ],
    "allclose": lambda ops, x: [
        ops.all(ops.isclose(x, x + 1e-9)),
        ops.allclose(x, x + 1e-9),
        ops.allclose(x, x + 1e-3),
    ],
    "binary_crossentropy": lambda ops, x: [
        ops.binary_crossentropy(ops.cast(x > 0, "float32"), ops.sigmoid(x * 2 + 0.5)),
        ops.binary_crossentropy(ops.sigmoid(x), x * 30, from_logits=True),
    ],
    "categorical_crossentropy": lambda ops, x: [
        ops.categorical_crossentropy(_shares(ops, x), _shares(ops, x * 2) + 0.1),
        ops.categorical_crossentropy(_shares(ops, x), x * 3, from_logits=True),
        ops.categorical_crossentropy(ops.softmax(x, axis=1), x * 3, from_logits=True, axis=1),
        ops.categorical_crossentropy(ops.softmax(x, axis=1), ops.softmax(x * 2, axis=1), axis=1),
    ],
    "sparse_categorical_crossentropy": lambda ops, x: [
        ops.sparse_categorical_crossentropy(_classes(ops, x), _shares(ops, x) + 0.0),
        ops.sparse_categorical_crossentropy(_classes(ops, x), x * 4, from_logits=True),
        ops.sparse_categorical_crossentropy(_classes(ops, x)[:, :, None], x, from_logits=True),
    ],
    "psnr": lambda ops, x: ops.psnr(x, x * 0.9, 2.5),
    "cdist": lambda ops, x: [ops.cdist(x, x[:, :2] * 2), ops.cdist(x[0], x[1, :3])],
    "corrcoef": lambda ops, x: ops.corrcoef(x[0]),
    "correlate": lambda ops, x: [
        *(ops.correlate(x[0, 0], x[0, 1, :3], mode=mode) for mode in ("valid", "same", "full")),
        *(ops.correlate(x[0, 0], x[0, 1, :4], mode=mode) for mode in ("valid", "same")),
    ],
    "cumprod": lambda ops, x: [
        ops.cumprod(x, axis=1),
        ops.cumprod(x, axis=-1),
        ops.cumprod(_whole(ops, x), axis=2),
        ops.cumprod(x[0, :2]),
    ],
    "nancumprod": lambda ops, x: ops.nancumprod(ops.log(x), axis=1),
    "logspace": lambda ops, x: [
        ops.logspace(x[0], x[1], 5),
        ops.logspace(x, 1.0, 4, base=2, endpoint=False, axis=-1),
    ],
    "geomspace": lambda ops, x: [
        ops.geomspace(ops.abs(x[0]) + 0.5, ops.abs(x[1]) + 9, 6),
        ops.geomspace(-ops.abs(x[0]) - 0.5, -ops.abs(x[1]) - 9, 4, axis=1),
    ],
    "segments": lambda ops, x: [
        ops.segment_min(x[0], np.array([0, 2, 0, 1], np.int32), num_segments=3),
        ops.segment_prod(x[0], np.array([0, 2, 0, 1], np.int32), num_segments=3),
    ],
    "colours": lambda ops, x: [
        ops.image.rgb_to_hsv(_colours(ops, x)),
        ops.image.hsv_to_rgb(_colours(ops, x)),
        ops.image.rgb_to_hsv(_colours(ops, x)[0] * 0 + 0.25),
        ops.image.hsv_to_rgb(ops.image.rgb_to_hsv(_colours(ops, x)[1])),
        ops.image.rgb_to_hsv(ops.transpose(_colours(ops, x), (0, 3, 1, 2)), data_format="channels_first"),
    ],
    "sobel_edges": lambda ops, x: [
        ops.image.sobel_edges(_image(ops, x)),
        ops.image.sobel_edges(ops.reshape(x, (-1, 2, 4, 3)), data_format="channels_first"),
    ],
    "gaussian_blur": lambda ops, x: [
        ops.image.gaussian_blur(_image(ops, x)),
        ops.image.gaussian_blur(_image(ops, x), (3, 5), (0.7, 2.0)),
        ops.image.gaussian_blur(_image(ops, x)[0], (5, 3), (1.5, 0.5)),
    ],
    "ssim": lambda ops, x: [
        ops.image.ssim(_image(ops, x), _image(ops, x * 0.8 + 0.1), filter_size=3),
        ops.image.ssim(_image(ops, x)[0], _image(ops, -x)[1], 2.0, 2, 0.8, 0.02, 0.05),
    ],
    "unfold": lambda ops, x: [
        ops.unfold(ops.reshape(x, (-1, 2, 4, 3)), 2),
        ops.unfold(ops.reshape(x, (-1, 2, 4, 3)), (3, 2), padding=1, stride=2),
        ops.unfold(ops.reshape(x, (-1, 1, 6, 4)), 2, dilation=(2, 3)),
    ],
    "fold": lambda ops, x: [
        ops.fold(ops.reshape(x, (-1, 4, 6)), (3, 4), 2),
        ops.fold(ops.reshape(x, (-1, 4, 6)), (5, 4), (2, 2), stride=(2, 1), padding=(0, 0)),
    ],
}


def _square(ops: Any, x: Any) -> Any:
    return x[:, :, :4] + ops.eye(4) * np.linspace(-2, 3, 4).astype(np.float32)


def _definite(ops: Any, x: Any) -> Any:
    return x @ ops.transpose(x, (0, 2, 1)) + np.eye(4, dtype=np.float32)


MATRICES: dict[str, Function] = {
    "det": lambda ops, x: [ops.det(_square(ops, x)), ops.det(x[0, :3, :3]), *ops.slogdet(_square(ops, x))],
    "inv": lambda ops, x: [ops.inv(_square(ops, x)), ops.inv(x[0, 1:3, 2:4])],
    "solve": lambda ops, x: [
        ops.solve(_square(ops, x), x),
        ops.solve(_square(ops, x)[0], x[0, :, 5]),
        ops.linalg.solve_triangular(ops.tril(_definite(ops, x)), x, lower=True),
        ops.linalg.solve_triangular(ops.triu(_definite(ops, x)), x),
    ],
    "cholesky": lambda ops, x: [
        ops.cholesky(_definite(ops, x)),
        ops.cholesky(_definite(ops, x), upper=True),
        ops.logdet(_definite(ops, x)),
        ops.linalg.cholesky_inverse(ops.cholesky(_definite(ops, x))),
        ops.linalg.cholesky_inverse(ops.cholesky(_definite(ops, x), upper=True), upper=True),
    ],
    "fft": lambda ops, x: [
        *ops.fft((x, x * 2 + 1)),
        *ops.fft2((x, x * 2 + 1)),
        *ops.ifft2((x, x * 2 + 1)),
    ],
    "rfft": lambda ops, x: [
        *ops.rfft(x),
        *ops.rfft(x, fft_length=8),
        *ops.rfft(x, fft_length=5),
        ops.irfft((x[:, :, :4], x[:, :, 1:5] * np.array([0, 1, 1, 0], np.float32))),
        ops.irfft((x[:, :, :4], x[:, :, 1:5] * np.array([0, 1, 1, 1], np.float32)), fft_length=7),
    ],
}


def measuring_operations() -> Iterator[Case]:
    for name, function in {**MEASURING, **MATRICES}.items():
        yield of_function(f"measuring {name}", function)
