"""Operations on Keras tensors, and models of several layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .case import Case, Keras


def of_function(name: str, function: Callable[[Any, Any], Any], shape: tuple = (4, 6)) -> Case:
    """keras.ops, or Python's operators, on one tensor."""

    def build(K: Keras) -> Any:
        x = K.Input(shape)
        return K.Model(x, function(K.ops, x))

    return Case(name, build, (3,))


def operations() -> Iterator[Case]:
    unary = "abs arctan cos exp expm1 negative round sigmoid sign sin sinh square tan tanh floor"
    for name in (*unary.split(), "ceil", "relu", "gelu", "silu"):
        yield of_function(f"ops.{name}", lambda ops, x, name=name: getattr(ops, name)(x))
    yield of_function("ops.log1p", lambda ops, x: ops.log1p(ops.abs(x)))
    yield of_function("operators", lambda ops, x: (1 - x) * 2 / (x * x + 1.5) + (x**2.0) - 3)
    yield of_function("operators of halves", lambda ops, x: x[:, :2] * x[:, 2:])
    yield of_function("getitem", lambda ops, x: x[:, 1:3, ::2])
    yield of_function("getitem ellipsis", lambda ops, x: x[..., -1])
    yield of_function("getitem new axis", lambda ops, x: x[:, None, 2])
    yield of_function("matmul", lambda ops, x: x @ ops.transpose(x, (0, 2, 1)))
    yield of_function("compared", lambda ops, x: ops.where(x > 0.5, x, ops.cast(x < 0, "float32")))
    yield of_function("clip", lambda ops, x: ops.clip(x, -0.5, 0.5))
    for name in ("sum", "mean", "max", "min", "var", "std", "prod", "logsumexp"):
        yield of_function(
            f"ops.{name}", lambda ops, x, name=name: getattr(ops, name)(x, axis=-1, keepdims=True)
        )
    yield of_function("argmax", lambda ops, x: ops.argmax(x, axis=1))
    yield of_function("shapes", lambda ops, x: ops.squeeze(ops.expand_dims(ops.reshape(x, (-1, 3, 8)), 1), 1))
    yield of_function("stacked", lambda ops, x: ops.stack([x, ops.flip(x, axis=1)], axis=2))
    yield of_function("joined", lambda ops, x: ops.concatenate([x, x * 2], axis=-1))
    yield of_function("split", lambda ops, x: ops.split(x, 3, axis=-1))
    yield of_function("split at", lambda ops, x: ops.split(x, [1, 4], axis=-1))
    yield of_function("repeat", lambda ops, x: ops.repeat(x, 2, axis=1))
    yield of_function("tile", lambda ops, x: ops.tile(x, (1, 2, 3)))
    yield of_function("pad", lambda ops, x: ops.pad(x, ((0, 0), (1, 2), (0, 1))))
    yield of_function("take", lambda ops, x: ops.take(x, [0, 2, -1], axis=2))
    yield of_function("einsum", lambda ops, x: ops.einsum("bij,bkj->bik", x, x))
    yield of_function("softmax", lambda ops, x: ops.softmax(x, axis=1))
    yield of_function("swapaxes", lambda ops, x: ops.moveaxis(ops.swapaxes(x, 1, 2), 1, 2))
    yield of_function("top_k", lambda ops, x: ops.top_k(x, 2))
    yield of_function("one_hot", lambda ops, x: ops.one_hot(ops.cast(ops.abs(x), "int32"), 3))
    yield of_function("cumsum", lambda ops, x: ops.cumsum(x, axis=1))


# By name, of x [n, 4, 6].
MORE: dict[str, Callable[[Any, Any], Any]] = {
    "sort": lambda ops, x: [ops.sort(x, axis=1), ops.sort(x), ops.argsort(x, axis=1), ops.argsort(-x)],
    "median": lambda ops, x: [
        ops.median(x, axis=1),
        ops.median(x[:, :3], axis=1, keepdims=True),
        ops.median(x),
    ],
    "take_along_axis": lambda ops, x: [
        ops.take_along_axis(x, ops.argsort(x, axis=a), axis=a) for a in (1, -1)
    ],
    "append": lambda ops, x: [ops.append(x, x * 2, axis=1), ops.append(x, x), ops.ravel(x)],
    "stacks": lambda ops, x: [ops.hstack([x, x]), ops.vstack([x, x]), ops.vstack([x[0, 0], x[0, 1]])],
    "flips": lambda ops, x: [ops.fliplr(x), ops.flipud(x)],
    "roll": lambda ops, x: [ops.roll(x, 2, axis=1), ops.roll(x, -1), ops.roll(x, (1, 2), axis=(1, 2))],
    # Keras's half turns are those of squares.
    "rot90": lambda ops, x: [ops.rot90(x[:, :, :4], k, axes=(1, 2)) for k in (1, 2, 3)],
    "diff": lambda ops, x: [ops.diff(x), ops.diff(x, n=2, axis=1)],
    "triangles": lambda ops, x: [ops.tril(x), ops.triu(x), ops.tril(x, k=-1), ops.triu(x, k=2)],
    "diagonals": lambda ops, x: [
        *(ops.diagonal(x, offset=k, axis1=1, axis2=2) for k in (0, 2, -1)),
        ops.trace(x, axis1=1, axis2=2),
    ],
    "meshgrid": lambda ops, x: [
        *ops.meshgrid(x[0, 0], x[0, :, 0]),
        *ops.meshgrid(x[0, 0], x[1, 0], indexing="ij"),
    ],
    "select": lambda ops, x: ops.select([x > 0.5, x < -0.2], [x * 2, x - 1], 7.0),
    "average": lambda ops, x: [
        ops.average(x, axis=1),
        ops.average(x, axis=2, weights=ops.abs(x) + 1),
        ops.average(x),
    ],
    "counts": lambda ops, x: [ops.count_nonzero(ops.relu(x), axis=1), ops.ptp(x, axis=(1, 2), keepdims=True)],
    "moments": lambda ops, x: [*ops.moments(x, axes=(1, 2)), *ops.moments(x, axes=[2], keepdims=True)],
    "norm": lambda ops, x: [
        ops.norm(x, axis=-1),
        ops.norm(x[0]),
        *(ops.norm(x, ord=p, axis=1, keepdims=True) for p in (1, 2, 3, float("inf"))),
        ops.norm(x, ord="fro", axis=(1, 2)),
    ],
    "products": lambda ops, x: [
        ops.outer(x[0, 0], x[0, 1]),
        ops.dot(x, x[0, 0]),
        ops.dot(x, ops.transpose(x[0])),
        ops.inner(x, x[0]),
        ops.vdot(x[0, 0], x[0, 1]),
    ],
    "tensordot": lambda ops, x: [
        ops.tensordot(x, x[0], axes=[[1, 2], [0, 1]]),
        ops.tensordot(x, ops.transpose(x[0]), axes=1),
    ],
    "trapezoid": lambda ops, x: [ops.trapezoid(x), ops.trapezoid(x, dx=0.5, axis=1)],
    "units": lambda ops, x: [
        ops.cbrt(x),
        ops.deg2rad(x),
        ops.rad2deg(x),
        ops.exp2(x),
        ops.erfc(x),
        ops.sinc(x),
        ops.fabs(x),
        ops.trunc(x * 3),
    ],
    "pairs": lambda ops, x: [
        ops.divide_no_nan(x, ops.relu(x)),
        ops.hypot(x, x + 1),
        ops.heaviside(ops.relu(x), x + 0.5),
        ops.fmod(x * 5, x - 2),
        ops.fmax(x, ops.log(x)),
        ops.fmin(ops.log(x), x),
        ops.isclose(x, x + 1e-9),
    ],
    "no numbers": lambda ops, x: [
        ops.isinf(1 / ops.relu(x)),
        ops.isposinf(1 / ops.relu(x)),
        ops.isneginf(-1 / ops.relu(x)),
        ops.nan_to_num(ops.log(x), nan=2.0),
        ops.nan_to_num(1 / ops.relu(x), posinf=9.0),
        ops.threshold(x, 0.1, -3.0),
    ],
    "norms": lambda ops, x: [
        ops.layer_normalization(x, axis=-1, epsilon=1e-3),
        ops.rms_normalization(x, axis=-1),
    ],
    "batch": lambda ops, x: [
        ops.batch_normalization(x, x[0, 0], ops.abs(x[0, 1]) + 1, axis=-1),
        ops.batch_normalization(
            x, x[0, :, 0], ops.abs(x[0, :, 1]) + 1, axis=1, offset=x[0, :, 2], scale=x[0, :, 3]
        ),
        ops.convert_to_tensor(x),
    ],
    "space": lambda ops, x: ops.space_to_depth(x[..., None], 2),
    "depth": lambda ops, x: ops.depth_to_space(ops.reshape(x, (-1, 2, 3, 4)), 2),
    "images": lambda ops, x: [
        ops.image.resize(ops.reshape(x, (-1, 4, 3, 2)), (6, 5)),
        ops.image.rgb_to_grayscale(ops.reshape(x, (-1, 4, 2, 3))),
        ops.image.pad_images(x[..., None], 1, 2, target_height=7, target_width=9),
        ops.image.pad_images(x[..., None], 1, 2, 0, 1),
        ops.image.crop_images(x[..., None], 1, 2, target_height=2, target_width=3),
        ops.max_pool(x[..., None], 2),
        ops.average_pool(x, 2, strides=1, padding="same"),
    ],
}


def more_operations() -> Iterator[Case]:
    for name, function in MORE.items():
        yield of_function(f"more {name}", function)


def models() -> Iterator[Case]:
    def of_tensorflow(K: Keras) -> Any:
        import tensorflow as tf

        x = K.Input((4, 6))
        y = tf.concat([x[:, 1:3] * 2.0 + 1.0, tf.nn.relu(-x)], axis=1) / 3.0
        z = tf.transpose(tf.reshape(y, (-1, 4, 9)), (0, 2, 1))
        return K.Model(x, [tf.reduce_mean(z, axis=-1), tf.matmul(y, y, transpose_b=True), x[:, :, 0] - 1.0])

    yield Case("functions of TensorFlow", of_tensorflow, (2,))

    def nested(K: Keras) -> Any:
        L = K.layers
        inner = K.Sequential([K.Input((6,)), L.Dense(4, activation="relu"), L.BatchNormalization()])
        a, b = K.Input((6,)), K.Input((6,))
        left, right = inner(a), inner(b)
        core = K.Input((4,))
        deep = K.Model(core, [L.Dense(3)(core), L.Dense(2)(core)])
        one, two = deep(L.Add()([left, right]))
        return K.Model([a, b], [one, two, L.Subtract()([left, right])])

    yield Case("nested models", nested)

    def shared(K: Keras) -> Any:
        x = K.Input((5, 4))
        layer = K.layers.Dense(4, activation="tanh")
        return K.Model(x, layer(layer(layer(x))))

    yield Case("shared layer", shared)

    def without_input(K: Keras) -> Any:
        model = K.Sequential([K.layers.Dense(4), K.layers.Dense(2)])
        model.build((None, 3))
        return model

    yield Case("Sequential without input", without_input)

    def by_name(K: Keras) -> Any:
        a, b = K.Input((3,), name="left"), K.Input((3,), name="right")
        y = K.layers.Concatenate()([b, a])
        return K.Model({"left": a, "right": b}, {"second": y, "first": K.layers.Dense(2)(y)})

    yield Case("dictionaries", by_name)

    def encoder(K: Keras) -> Any:
        L = K.layers
        x = K.Input((None,), dtype="int32")
        h = L.Embedding(5, 8, mask_zero=True)(x)
        a = L.MultiHeadAttention(2, 4)(h, h)
        h = L.LayerNormalization()(L.Add()([h, a]))
        f = L.Dense(8)(L.Dense(16, activation="gelu")(h))
        h = L.LayerNormalization()(L.Add()([h, f]))
        return K.Model(x, L.Dense(3, activation="softmax")(L.GlobalAveragePooling1D()(h)))

    yield Case("transformer", encoder)

    def frozen(K: Keras) -> Any:
        L = K.layers
        inner = K.Sequential(
            [K.Input((6, 6, 3)), L.Conv2D(4, 3), L.BatchNormalization(trainable=False), L.ReLU()]
        )
        inner.layers[0].trainable = False
        x = K.Input((6, 6, 3))
        return K.Model(x, L.Dense(2)(L.GlobalMaxPooling2D()(inner(x))))

    yield Case("frozen layers", frozen)
