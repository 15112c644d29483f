"""Programs of layers: convolutions and pools with gradients, recurrent layers, images, signals."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.random_ops.draw import Draw
from tests.random_tf.program import Input, Program, opened


def _weights(draw: Draw, *shape: int) -> tf.Tensor:
    return tf.constant(draw.random.normal(size=shape).astype(np.float32))


def gradients(draw: Draw) -> Program:
    """A layer's gradient, by its input and its weights."""
    s, h, c = opened(draw, b=draw.number(1, 2)), draw.number(4, 6), draw.number(1, 3)
    kind, stride, padding = draw.number(0, 9), draw.pick(1, 2), draw.pick("SAME", "VALID")

    def layer(x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
        flat = tf.reshape(x, [tf.shape(x)[0], -1])
        return (
            lambda: tf.nn.conv2d(x, w, stride, padding),
            lambda: tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], padding),
            lambda: tf.nn.max_pool2d(x, 2, stride, padding),
            lambda: tf.nn.avg_pool2d(x, 2, stride, padding),
            lambda: tf.nn.conv2d_transpose(x, w, [tf.shape(x)[0], h * 2, h * 2, c], 2, "SAME"),
            lambda: tf.nn.log_softmax(flat),
            lambda: tf.nn.moments(x, [1, 2])[1],
            lambda: tf.image.resize(x, [7, 3]),
            lambda: tf.pad(x, [[0, 0], [1, 2], [2, 1], [0, 0]], "REFLECT"),
            lambda: tf.nn.local_response_normalization(x, 2),
        )[kind]()

    def function(x: tf.Tensor) -> Any:
        w = _weights(draw, 3, 3, c, c)
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = layer(x, w)
            z = tf.reduce_sum(y * tf.sin(y))
        return [y, *(g for g in tape.gradient(z, [x, w]) if g is not None)]

    return Program(function, (Input((s["b"], h, h, c)),))


def recurrent(draw: Draw) -> Program:
    import keras

    s = opened(draw, b=draw.number(1, 3), t=draw.pick(2, 3, 5))
    c, units, kind = (
        draw.number(2, 3),
        draw.pick(2, 4),
        draw.pick("LSTM", "GRU", "SimpleRNN", "Bidirectional"),
    )
    options = {"return_sequences": draw.chance(), "activation": draw.pick("tanh", "relu")}
    keras.utils.set_random_seed(draw.number(0, 1000))
    if kind == "Bidirectional":
        layer = keras.layers.Bidirectional(keras.layers.LSTM(units, **options))
    else:
        layer = getattr(keras.layers, kind)(units, go_backwards=draw.chance(0.3), **options)
    masked = draw.chance(0.3)
    layer.build((None, None, c))

    def function(x: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        return layer(x, mask=tf.sequence_mask(lengths, tf.shape(x)[1])) if masked else layer(x)

    return Program(function, (Input((s["b"], s["t"], c)), Input((s["b"],), "int32", 1, 2)))


def images(draw: Draw) -> Program:
    s = opened(draw, b=draw.number(1, 2), h=draw.pick(4, 5, 8), w=draw.pick(4, 6, 7))
    c, kind, size = draw.pick(1, 3), draw.number(0, 13), [draw.pick(2, 3, 7, 9), draw.pick(2, 5, 8, 11)]
    how, aligned = draw.pick("bilinear", "nearest", "bicubic", "area", "lanczos3"), draw.chance()
    smooth, type_ = draw.chance(0.3), draw.pick("float32", "float32", "uint8")

    def function(x: tf.Tensor) -> Any:
        image, old, real = tf.image, tf.compat.v1.image, tf.cast(x, tf.float32)
        return (
            lambda: image.resize(x, size, method=how, antialias=smooth),
            lambda: old.resize_bilinear(x, size, align_corners=aligned),
            lambda: old.resize_nearest_neighbor(x, size, align_corners=aligned),
            lambda: old.resize_bicubic(x, size, align_corners=aligned),
            lambda: image.resize_with_pad(x, *size),
            lambda: image.resize_with_crop_or_pad(x, *size),
            lambda: (image.flip_left_right(x), image.rot90(x)),
            lambda: image.central_crop(x, 0.5),
            lambda: image.per_image_standardization(x),
            lambda: (image.sobel_edges(real), image.total_variation(real)),
            lambda: image.extract_patches(x, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], "VALID"),
            lambda: image.crop_and_resize(
                real, [[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.6, 1.2]], [0, 0], [3, 4], method="bilinear"
            ),
            lambda: (image.adjust_contrast(real, 1.5), image.adjust_brightness(real, 0.2)),
            lambda: image.image_gradients(real),
        )[kind]()

    high = 255.0 if type_ == "uint8" else 1.0
    return Program(function, (Input((s["b"], s["h"], s["w"], c), type_, 0.0, high),))


def signals(draw: Draw) -> Program:
    s, n, kind = opened(draw, b=draw.number(1, 2)), draw.pick(32, 64), draw.number(0, 7)
    length, step = draw.pick(8, 16), draw.pick(4, 8)

    def function(x: tf.Tensor) -> Any:
        signal = tf.signal
        return (
            lambda: tf.abs(signal.stft(x, length, step, draw.pick(16, 32))),
            lambda: signal.frame(x, length, step, pad_end=draw.chance()),
            lambda: signal.inverse_stft(signal.stft(x, 16, 8, 16), 16, 8, 16),
            lambda: signal.overlap_and_add(signal.frame(x, length, step), step),
            lambda: (signal.dct(x, norm="ortho"), signal.idct(x)),
            lambda: (signal.rfft(x, [32]), tf.abs(signal.rfft(x))),
            lambda: (signal.irfft(signal.rfft(x)), signal.fft(tf.cast(x, tf.complex64))),
            lambda: (x * signal.hann_window(n), signal.fftshift(x, axes=[-1])),
        )[kind]()

    return Program(function, (Input((s["b"], n)),))


FAMILIES = {"gradients": gradients, "recurrent": recurrent, "images": images, "signals": signals}
