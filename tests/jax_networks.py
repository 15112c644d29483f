"""Networks of JAX and flax with random weights, which tests/record_jax.py exports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

# A function, its arguments, and their shapes where sizes are left open.
Case = tuple[Callable[..., Any], Sequence[np.ndarray]] | tuple[Callable[..., Any], Sequence[np.ndarray], str]
DRAW = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return DRAW.standard_normal(shape).astype(np.float32)


def places(below: int, *shape: int) -> np.ndarray:
    return DRAW.integers(0, below, shape).astype(np.int32)


def weighted(model: nn.Module, x: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    """The network with weights of every kind drawn, so that none is 0 or 1."""

    def drawn(path: Any, old: jax.Array) -> jax.Array:
        if old.ndim < 2:
            new = floats(*old.shape) * 0.3
            return jnp.asarray(np.abs(new) + 0.5 if "var" in jax.tree_util.keystr(path) else new)
        return jnp.asarray(floats(*old.shape) / np.sqrt(np.prod(old.shape[:-1])), jnp.float32)

    held = jax.tree_util.tree_map_with_path(drawn, model.init(jax.random.PRNGKey(0), x))
    return lambda x: model.apply(held, x)


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.tanh(nn.Dense(12)(nn.relu(nn.Dense(16)(x))))
        return nn.softmax(nn.Dense(5)(x))


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.relu(nn.BatchNorm(use_running_average=True)(nn.Conv(6, (3, 3))(x)))
        x = nn.relu6(nn.Conv(8, (3, 3), strides=(2, 2))(nn.max_pool(x, (2, 2), (2, 2))))
        x = nn.avg_pool(x, (2, 2), (1, 1))
        return nn.Dense(4)(x.reshape(x.shape[0], -1))


class Block(nn.Module):
    depth: int
    stride: int = 1

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        strides = (self.stride, self.stride)

        def normalized(y: jax.Array) -> jax.Array:
            return nn.BatchNorm(use_running_average=True)(y)

        y = nn.relu(normalized(nn.Conv(self.depth, (3, 3), strides, use_bias=False)(x)))
        y = normalized(nn.Conv(self.depth, (3, 3), use_bias=False)(y))
        if x.shape != y.shape:
            x = normalized(nn.Conv(self.depth, (1, 1), strides, use_bias=False)(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.max_pool(nn.Conv(4, (5, 5), (2, 2))(x), (3, 3), (2, 2), padding="SAME")
        return nn.Dense(3)(jnp.mean(Block(6, 2)(Block(4)(x)), axis=(1, 2)))


class Vit(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.Conv(8, (4, 4), (4, 4))(x)
        x = x.reshape(x.shape[0], -1, 8)
        x = x + self.param("position", nn.initializers.normal(), (1, *x.shape[1:]))
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(y, y)
        x = x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x))))
        return nn.Dense(5)(x[:, 0])


class Gru(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        forth = nn.RNN(nn.GRUCell(5))(x)
        back = nn.RNN(nn.GRUCell(5), reverse=True, keep_order=True)(x)
        return nn.Dense(3)(jnp.concatenate([forth, back], -1))


class Norms(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        y = nn.RMSNorm()(nn.gelu(nn.LayerNorm()(x), approximate=False))
        return y + nn.GroupNorm(num_groups=2)(x)


class Embedding(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        return nn.log_softmax(nn.Dense(7)(nn.Embed(20, 8)(x).mean(1)))


class OpenImages(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        y = nn.relu(nn.Conv(4, (3, 3))(x))
        return nn.softmax(nn.LayerNorm()(nn.Dense(6)(y.reshape(y.shape[0], -1))))


class OpenText(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        y = nn.Embed(20, 8)(x)
        attended = nn.MultiHeadDotProductAttention(num_heads=2)(y, y, mask=nn.make_causal_mask(x))
        return nn.Dense(7)(nn.LayerNorm()(y + attended))


def _case(model: nn.Module, x: np.ndarray, *sizes: str) -> Case:
    return (weighted(model, x), [x], *sizes)


NETWORKS: dict[str, Callable[[], Case]] = {
    "mlp": lambda: _case(Mlp(), floats(3, 8)),
    "cnn": lambda: _case(Cnn(), floats(2, 12, 12, 3)),
    "resnet": lambda: _case(ResNet(), floats(1, 16, 16, 3)),
    "vit": lambda: _case(Vit(), floats(2, 8, 8, 3)),
    "lstm": lambda: _case(nn.RNN(nn.OptimizedLSTMCell(6)), floats(2, 5, 4)),
    "gru": lambda: _case(Gru(), floats(2, 6, 4)),
    "norms": lambda: _case(Norms(), floats(3, 4, 8)),
    "embedding": lambda: _case(Embedding(), places(20, 3, 5)),
    "open_images": lambda: _case(OpenImages(), floats(3, 6, 6, 2), "b, 6, 6, 2"),
    "open_text": lambda: _case(OpenText(), places(20, 2, 5), "b, t"),
}
