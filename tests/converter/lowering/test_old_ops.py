"""Ops of TensorFlow's early versions, and forms of others that few graphs have."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite

RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
INT16 = 5


@RUNTIMES
def test_blocks_whose_side_is_an_attribute(run) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [1, 4, 6, 1])
    paddings = g.constant("paddings", np.array([[2, 0], [0, 2]], np.int32))
    blocks = g.node("SpaceToBatch", "blocks", x, paddings, block_size=2)
    crops = g.constant("crops", np.array([[2, 0], [0, 2]], np.int32))
    g.node("BatchToSpace", "y", blocks, crops, block_size=2)
    model = checked(convert_graph(g.graph_def, ["x"], ["blocks", "y"]))
    assert operators(model) == ["SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"]
    image = np.arange(24, dtype=np.float32).reshape(1, 4, 6, 1)
    found, back = run(model, image)
    padded = np.pad(image, ((0, 0), (2, 0), (0, 2), (0, 0)))
    expected = [padded[0, i::2, j::2] for i in range(2) for j in range(2)]
    np.testing.assert_array_equal(found, np.stack(expected))
    np.testing.assert_array_equal(back, image)


@RUNTIMES
@pytest.mark.parametrize("length", [3, -1])
def test_a_bias_before_other_axes_is_reshaped(run, length: int) -> None:
    g = GraphBuilder()
    x, bias = g.placeholder("x", [2, 3, 4, 5]), g.placeholder("bias", [length])
    g.node("BiasAdd", "y", x, bias, data_format="NCHW")
    model = checked(convert_graph(g.graph_def, ["x", "bias"], ["y"]))
    image, channels = np.ones((2, 3, 4, 5), np.float32), np.float32([1, 2, 3])
    [y] = run(model, image, channels)
    np.testing.assert_array_equal(y, image + channels[:, None, None])


@RUNTIMES
def test_the_first_bias(run) -> None:
    g = GraphBuilder()
    g.node("BiasAddV1", "y", g.placeholder("x", [2, 3]), g.placeholder("bias", [3]))
    model = checked(convert_graph(g.graph_def, ["x", "bias"], ["y"]))
    assert operators(model) == ["ADD"]
    [y] = run(model, np.ones((2, 3), np.float32), np.float32([1, 2, 3]))
    np.testing.assert_array_equal(y, np.float32([[2, 3, 4], [2, 3, 4]]))


def test_places_of_narrow_types_have_no_form() -> None:
    g = GraphBuilder()
    axis = g.constant("axis", np.array(0, np.int32))
    g.node("ArgMax", "y", g.placeholder("x", [2, 3]), axis, output_type=AttrValue(type=INT16))
    with pytest.raises(UnsupportedError, match="ARG_MAX gives int32 or int64, not int16"):
        convert_graph(g.graph_def, ["x"], ["y"])
