"""Equalization: the float model computes what it did, with channels that are all as wide as their tensor."""

import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.channel_sets import ChannelSets
from numlite.converter.quantization.equalize import channel_growth, equalize
from numlite.converter.quantization.float_graph import FloatGraph
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.lite.model import Model
from numlite.schema import tflite

from .float_models import numbers, outputs, samples, weights
from .uneven_models import DEPTH, MAP, Between, depthwise, gated, joined, one, shortcut, two, uneven

POOL = tflite.Pool2DOptionsT(stride_w=2, stride_h=2, filter_width=2, filter_height=2)
HALF = (1, 3, 3, DEPTH)
PADS = np.array([[0, 0], [1, 1], [2, 0], [0, 0]], np.int32)
MEAN = one("MEAN", numbers(1, 2), shape=(1, DEPTH), options=tflite.ReducerOptionsT())
RELU = one("RELU")
KEEPING: dict[str, Between] = {
    "relu": RELU,
    "leaky": one("LEAKY_RELU", options=tflite.LeakyReluOptionsT(alpha=0.3)),
    "prelu": one("PRELU", weights((1, 1, DEPTH))),
    "max pool": one("MAX_POOL_2D", shape=HALF, options=POOL),
    "average pool": one("AVERAGE_POOL_2D", shape=HALF, options=POOL),
    "pad": one("PAD", PADS, shape=(1, 8, 8, DEPTH)),
    "resize": one("RESIZE_BILINEAR", numbers(9, 9), shape=(1, 9, 9, DEPTH)),
    "mean, dense": two(RELU, MEAN),
    "reshape": one("RESHAPE", numbers(36, DEPTH), shape=(36, DEPTH)),
    "added constant": one("ADD", weights((DEPTH,)), options=tflite.AddOptionsT()),
    "subtracted number": one("SUB", np.array(0.3, np.float32), options=tflite.SubOptionsT()),
    "multiplied": one("MUL", weights((DEPTH,)), options=tflite.MulOptionsT()),
    "depthwise": depthwise,
    "shortcut": shortcut,
    "joined": joined,
    "gated": gated,
}
FIXED: dict[str, Between] = {
    "hard swish": one("HARD_SWISH"),
    "squared": one("SQUARE"),
    "other last axis": one("RESHAPE", numbers(12, 24), shape=(12, 24)),
    "mean of channels": one(
        *("MEAN", numbers(3)), shape=(1, 6, 6, 1), options=tflite.ReducerOptionsT(keep_dims=True)
    ),
    "added rows": two(
        one("PAD", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32), shape=(1, 8, 8, DEPTH)),
        one("ADD", weights((1, 8, 1, 1)), shape=(1, 8, 8, DEPTH), options=tflite.AddOptionsT()),
    ),
    "padded channels": one("PAD", PADS[[0, 0, 0, 1]], shape=(1, 6, 6, DEPTH + 2)),
}


def channel_sets(content: bytes) -> ChannelSets:
    return ChannelSets(FloatGraph(ModelEditor(Model(content))))


def equalized(content: bytes, share: float = 1.0) -> bytes:
    found = Quantizer(content, recipes.static_int8()).calibrate(samples(content, 16))
    editor = ModelEditor(Model(content))
    equalize(editor, found.channels, share, found, {})
    return editor.finish().content()


@pytest.mark.parametrize("name", KEEPING)
def test_the_model_computes_what_it_did(name: str) -> None:
    content = uneven(KEEPING[name])
    made = equalized(content)
    assert made != content
    for sample in samples(content):
        [expected], [found] = outputs(content, sample), outputs(made, sample)
        # Products are summed up in other units.
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["relu", "max pool", "reshape", "depthwise"])
def test_all_channels_are_as_wide_as_their_tensor(name: str) -> None:
    made = equalized(uneven(KEEPING[name]))
    found = Quantizer(made, recipes.static_int8()).calibrate(samples(made, 16))
    widths = {site: np.abs(seen).max(axis=0) for site, seen in found.channels.items()}
    first = min(widths)
    # They were 60 times as wide. What is negative and what is positive of them each has its own end.
    assert widths[first].min() > 0.3 * widths[first].max()


@pytest.mark.parametrize("before", [RELU, one("HARD_SWISH")], ids=["scaled", "fixed"])
def test_both_sides_of_a_product_have_factors_of_their_own(before: Between) -> None:
    constant = np.array([1, -0.5, 2, 0.3, -1, 3, 0.7, 0.2], np.float32)
    content = uneven(
        two(before, one("MUL", constant, options=tflite.MulOptionsT(fused_activation_function=1)))
    )
    made = equalized(content)
    for sample in samples(content):
        [expected], [found] = outputs(content, sample), outputs(made, sample)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    found = Quantizer(made, recipes.static_int8()).calibrate(samples(made, 16))
    widths = {site: np.abs(seen).max(axis=0) for site, seen in found.channels.items()}
    last = widths[max(widths)]
    assert last[last > 0].min() > 0.3 * last.max()


@pytest.mark.parametrize("name", ["relu", "shortcut", "joined"])
def test_ranges_are_those_of_the_scaled_tensors(name: str) -> None:
    content = uneven(KEEPING[name])
    data = samples(content, 16)
    before = Quantizer(content, recipes.static_int8()).calibrate(data)
    editor = ModelEditor(Model(content))
    changed = equalize(editor, before.channels, 0.5, before, {})
    after = Quantizer(editor.finish().content(), recipes.static_int8()).calibrate(data)
    assert changed
    for site, range_ in changed.items():
        np.testing.assert_allclose(range_, after[site], rtol=1e-4, atol=1e-5)


def test_ranges_grow_as_channels_did() -> None:
    content = uneven(KEEPING["relu"])
    data = samples(content, 16)
    some, all_ = (Quantizer(content, recipes.static_int8()).calibrate(data[:n]) for n in (4, 16))
    growth = channel_growth(some.channels, all_.channels)
    assert set(growth) == set(all_.channels) and all(1 <= each < 1.5 for each in growth.values())
    close, wide = (
        equalize(ModelEditor(Model(content)), all_.channels, 1.0, all_, each) for each in ({}, growth)
    )
    assert close
    for site, range_ in close.items():
        np.testing.assert_allclose(wide[site], np.array(range_) * growth[site])


@pytest.mark.parametrize("name", FIXED)
def test_what_keeps_no_factors_is_left_alone(name: str) -> None:
    content = uneven(FIXED[name])
    assert not channel_sets(content).free
    for sample in samples(content, 2):
        np.testing.assert_array_equal(outputs(equalized(content), sample)[0], outputs(content, sample)[0])


def test_channels_that_callers_see_are_fixed() -> None:
    editor = ModelEditor(Model(uneven(RELU)))
    assert ChannelSets(FloatGraph(editor)).free
    [graph] = editor.subgraphs
    seen = next(i for i, tensor in enumerate(graph.tensors or []) if tensor.name == "between")
    graph.outputs = [*(graph.outputs or []), seen]
    assert not ChannelSets(FloatGraph(editor)).free


def test_relu6_cuts_channels_off_at_what_was_seen() -> None:
    """Within what was seen it is the same."""
    content = uneven(one("RELU6"))
    data = samples(content, 16)
    made = equalized(content)
    for sample in data:
        [expected], [found] = outputs(content, sample), outputs(made, sample)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_shapes_of_joined_sets() -> None:
    sets = channel_sets(uneven(joined))
    sizes = sorted(len(sets.sets[site]) for site in sets.free)
    assert sizes == [3, DEPTH, DEPTH + 3]
    assert MAP[-1] == DEPTH
