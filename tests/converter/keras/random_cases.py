"""Random layers with random settings."""

from __future__ import annotations

import random
from typing import Any

from layer_cases.case import Case, of_layer

_ACTIVATIONS = (
    "linear",
    "relu",
    "tanh",
    "sigmoid",
    "elu",
    "selu",
    "gelu",
    "softplus",
    "swish",
    "hard_sigmoid",
)


def cases(first: int, count: int) -> list[Case]:
    """So many cases, each by its own seed."""
    return [_case(seed) for seed in range(first, first + count)]


def _case(seed: int) -> Case:
    rng = random.Random(seed)
    make = rng.choice(_KINDS)
    name, shape, settings = make(rng)
    return of_layer(f"{seed} {name}", shape, lambda L: getattr(L, name)(**settings(L)))


def _sizes(rng: random.Random, rank: int, low: int = 3, high: int = 9) -> tuple[int, ...]:
    return tuple(rng.randint(low, high) for _ in range(rank))


def _conv(rng: random.Random) -> tuple:
    rank = rng.randint(1, 3)
    groups = rng.choice((1, 1, 2))
    strides = rng.choice((1, 1, 2, 3))
    settings = {
        "filters": 2 * rng.randint(1, 4),
        "kernel_size": _sizes(rng, rank, 1, 3),
        "padding": rng.choice(("same", "valid")),
        "strides": strides,
        "dilation_rate": rng.choice((1, 2)) if strides == 1 else 1,
        "groups": groups,
        "use_bias": rng.random() < 0.5,
        "activation": rng.choice(_ACTIVATIONS),
    }
    return f"Conv{rank}D", (*_sizes(rng, rank, 5), 2 * rng.randint(1, 3)), lambda L: settings


def _conv_transpose(rng: random.Random) -> tuple:
    rank = rng.randint(1, 3)
    strides = rng.randint(1, 3)
    settings: dict[str, Any] = {
        "filters": rng.randint(1, 4),
        "kernel_size": _sizes(rng, rank, 1, 4),
        "padding": rng.choice(("same", "valid")),
        "strides": strides,
        "use_bias": rng.random() < 0.5,
    }
    if strides > 1 and rng.random() < 0.4:
        settings["output_padding"] = rng.randint(0, strides - 1)
    return f"Conv{rank}DTranspose", (*_sizes(rng, rank, 3, 6), rng.randint(1, 4)), lambda L: settings


def _by_channel(rng: random.Random) -> tuple:
    rank, strides = rng.randint(1, 2), rng.choice((1, 1, 2))
    settings: dict[str, Any] = {
        "kernel_size": _sizes(rng, rank, 1, 3),
        "padding": rng.choice(("same", "valid")),
        "strides": strides,
        "depth_multiplier": rng.randint(1, 3),
        "use_bias": rng.random() < 0.5,
        "activation": rng.choice(_ACTIVATIONS),
    }
    name = rng.choice(("DepthwiseConv", "SeparableConv"))
    if name == "SeparableConv":
        settings["filters"] = rng.randint(1, 5)
    return f"{name}{rank}D", (*_sizes(rng, rank, 4), rng.randint(1, 4)), lambda L: settings


def _pool(rng: random.Random) -> tuple:
    rank = rng.randint(1, 3)
    settings = {
        "pool_size": _sizes(rng, rank, 1, 3),
        "strides": rng.choice((None, 1, 2)),
        "padding": rng.choice(("same", "valid")),
    }
    return f"{rng.choice(('Max', 'Average'))}Pooling{rank}D", (*_sizes(rng, rank, 3), 3), lambda L: settings


def _normalization(rng: random.Random) -> tuple:
    shape = _sizes(rng, rng.randint(2, 3), 2, 6)
    axis = rng.randint(1, len(shape))
    settings = {
        "axis": axis,
        "epsilon": 10 ** rng.uniform(-4, -1),
        "center": rng.random() < 0.6,
        "scale": rng.random() < 0.6,
    }
    name = rng.choice(("BatchNormalization", "LayerNormalization", "GroupNormalization"))
    if name == "GroupNormalization":
        settings["groups"] = rng.choice(
            [n for n in range(1, shape[axis - 1] + 1) if shape[axis - 1] % n == 0]
        )
    return name, shape, lambda L: settings


def _recurrent(rng: random.Random) -> tuple:
    name = rng.choice(("LSTM", "GRU", "SimpleRNN"))
    settings = {
        "units": rng.randint(1, 5),
        "activation": rng.choice(_ACTIVATIONS),
        "use_bias": rng.random() < 0.6,
        "return_sequences": rng.random() < 0.5,
        "return_state": rng.random() < 0.5,
        "go_backwards": rng.random() < 0.5,
        "unroll": rng.random() < 0.3,
    }
    if name != "SimpleRNN":
        settings["recurrent_activation"] = rng.choice(("sigmoid", "hard_sigmoid", "tanh"))
    if name == "GRU":
        settings["reset_after"] = rng.random() < 0.5
    steps = rng.choice((rng.randint(1, 12), None)) if not settings["unroll"] else rng.randint(1, 12)
    return name, (steps, rng.randint(1, 5)), lambda L: settings


def _bidirectional(rng: random.Random) -> tuple:
    name, shape, settings = _recurrent(rng)
    shape = (shape[0], shape[1])
    more = {"merge_mode": rng.choice(("concat", "sum", "ave", "mul", None))}
    return "Bidirectional", shape, lambda L: {"layer": getattr(L, name)(**settings(L)), **more}


def _conv_lstm(rng: random.Random) -> tuple:
    rank = rng.randint(1, 2)
    settings = {
        "filters": rng.randint(1, 3),
        "kernel_size": rng.randint(1, 3),
        "padding": rng.choice(("same", "valid")),
        "strides": rng.randint(1, 2),
        "return_sequences": rng.random() < 0.5,
        "return_state": rng.random() < 0.3,
        "go_backwards": rng.random() < 0.5,
        "use_bias": rng.random() < 0.5,
    }
    return f"ConvLSTM{rank}D", (rng.choice((3, 10)), *_sizes(rng, rank, 4, 6), 2), lambda L: settings


def _dense(rng: random.Random) -> tuple:
    settings = {
        "units": rng.randint(1, 6),
        "use_bias": rng.random() < 0.5,
        "activation": rng.choice(_ACTIVATIONS),
    }
    return "Dense", _sizes(rng, rng.randint(1, 3), 1, 5), lambda L: settings


def _around(rng: random.Random) -> tuple:
    rank = rng.randint(1, 3)
    pairs = tuple((rng.randint(0, 2), rng.randint(0, 2)) for _ in range(rank))
    name, setting = rng.choice((("ZeroPadding", "padding"), ("Cropping", "cropping")))
    value = pairs[0] if rank == 1 else pairs
    return f"{name}{rank}D", (*_sizes(rng, rank, 5), 2), lambda L: {setting: value}


def _up(rng: random.Random) -> tuple:
    rank = rng.randint(1, 3)
    settings: dict[str, Any] = {"size": rng.randint(1, 3) if rank == 1 else _sizes(rng, rank, 1, 3)}
    if rank == 2:
        settings["interpolation"] = rng.choice(("nearest", "bilinear", "bicubic", "lanczos3"))
    return f"UpSampling{rank}D", (*_sizes(rng, rank, 2, 5), 2), lambda L: settings


def _resizing(rng: random.Random) -> tuple:
    settings = {
        "height": rng.randint(2, 9),
        "width": rng.randint(2, 9),
        "interpolation": rng.choice(("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")),
        "crop_to_aspect_ratio": rng.random() < 0.4,
    }
    return "Resizing", (*_sizes(rng, 2, 3, 9), 3), lambda L: settings


_KINDS = (
    *(_conv, _conv, _conv_transpose, _by_channel, _pool, _normalization, _recurrent, _recurrent),
    *(_bidirectional, _conv_lstm, _dense, _around, _up, _resizing),
)
