"""Forms that exporters rarely write: scales of blocks, computed weights, trees of several kinds."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.onnx import ModelProto

from ...onnx_builder import model, node, value
from ..graphs import checked
from .test_operators import random


def run(made: ModelProto, **given: np.ndarray) -> np.ndarray:
    content = checked(Converter.from_onnx(made).convert())
    return Interpreter(model_content=content).get_signature_runner()(**given)["y"]


@pytest.mark.parametrize("length", [8, 9, 10, 11])
@pytest.mark.parametrize("auto", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
def test_a_transposed_convolution_of_a_told_size(length: int, auto: str) -> None:
    """What is too much is cut off on both sides, what is missing is added behind: onnxruntime's results."""
    told = {} if auto == "NOTSET" else {"auto_pad": auto}
    made = model(
        [node("ConvTranspose", ["x", "w"], "y", strides=[3], output_shape=[length], **told)],
        [value("x", [1, 1, 3])],
        [value("y", [1, 1, length])],
        {"w": np.array([[[1, 0.5, 0.25]]], np.float32)},
    )
    whole = np.array([1, 0.5, 0.25, 2, 1, 0.5, 3, 1.5, 0.75, 0, 0], np.float32)
    first = int(length == 8 and auto != "SAME_UPPER")
    found = run(made, x=np.array([[[1, 2, 3]]], np.float32))
    np.testing.assert_array_equal(found[0, 0], whole[first : first + length])


def test_weights_that_are_computed_may_be_dilated() -> None:
    x, w = random(1, 2, 5, 6), random(2, 3, 2, 3)
    attributes = {"dilations": [2, 3], "strides": [2, 1]}
    outputs = [value("y", None)]
    nodes = [node("Abs", ["w"], "v"), node("ConvTranspose", ["x", "v"], "y", **attributes)]
    computed = run(model(nodes, [value("x", x.shape), value("w", w.shape)], outputs), x=x, w=w)
    known = run(model(nodes[1:], [value("x", x.shape)], outputs, {"v": np.abs(w)}), x=x)
    np.testing.assert_allclose(computed, known, rtol=1e-6)
    wanted = np.zeros((1, 3, 11, 12), np.float32)
    for (i, j, k, m), weight in np.ndenumerate(np.abs(w)):
        wanted[0, j, 2 * k : 2 * k + 9 : 2, 3 * m : 3 * m + 6] += weight * x[0, i]
    np.testing.assert_allclose(computed, wanted, rtol=1e-5)


BLOCKS = [(0, 2, (6, 4)), (1, 3, (2, 6, 2)), (-1, 4, (3, 6)), (1, 4, (2, 4))]


@pytest.mark.parametrize(("axis", "block", "shape"), BLOCKS)
@pytest.mark.parametrize("signed", [True, False])
def test_scales_of_blocks(axis: int, block: int, shape: tuple[int, ...], signed: bool) -> None:
    """The last block may be shorter; scales and zero points are computed or constant."""
    dtype = np.int8 if signed else np.uint8
    count = -(-shape[axis] // block)
    sizes = list(shape)
    sizes[axis] = count
    random = np.random.default_rng(7)
    x = random.integers(0, 100, shape).astype(dtype)
    scale = random.uniform(0.5, 2, sizes).astype(np.float32)
    zero = random.integers(0, 100, sizes).astype(dtype)

    def along(values: np.ndarray) -> np.ndarray:
        return values.repeat(block, axis).take(range(shape[axis]), axis).astype(np.float32)

    attributes = {"axis": axis, "block_size": block}
    real = (x.astype(np.float32) - along(zero)) * along(scale)
    nodes = [node("DequantizeLinear", ["x", "s", "z"], "y", **attributes)]
    inputs = [value("x", shape, dtype), value("s", sizes), value("z", sizes, dtype)]
    found = run(model(nodes, inputs, [value("y", shape)]), x=x, s=scale, z=zero)
    np.testing.assert_allclose(found, real, rtol=1e-6)
    held = {"s": scale, "z": zero}
    found = run(model(nodes, inputs[:1], [value("y", shape)], held), x=x)
    np.testing.assert_allclose(found, real, rtol=1e-6)
    nodes = [node("QuantizeLinear", ["x", "s", "z"], "y", **attributes)]
    given = random.uniform(-150, 150, shape).astype(np.float32)
    limits = np.iinfo(dtype)
    wanted = np.clip(np.rint(given / along(scale)) + along(zero), limits.min, limits.max).astype(dtype)
    inputs = [value("x", shape), *inputs[1:]]
    np.testing.assert_array_equal(
        run(model(nodes, inputs, [value("y", shape, dtype)]), x=given, s=scale, z=zero), wanted
    )


def test_scales_of_blocks_must_fit() -> None:
    nodes = [node("DequantizeLinear", ["x", "s"], "y", axis=0, block_size=2)]
    made = model(nodes, [value("x", [6, 4], np.int8), value("s", [2, 4])], [value("y", [6, 4])])
    with pytest.raises(ModelError, match=r"DequantizeLinear.*scales must be \[3, 4\] for blocks of 2"):
        Converter.from_onnx(made)


def test_trees_whose_nodes_compare_in_several_ways() -> None:
    """A root that asks for one of a set, a node below a number, one equal to it, and the leaves."""
    attributes = {
        "nodes_featureids": [0, 1, 0],
        "nodes_splits": np.array([0, 1.5, 4], np.float32),
        "nodes_modes": np.array([6, 0, 4], np.uint8),
        "nodes_truenodeids": [1, 0, 2],
        "nodes_trueleafs": [0, 1, 1],
        "nodes_falsenodeids": [2, 1, 3],
        "nodes_falseleafs": [0, 1, 1],
        "leaf_targetids": [0, 0, 0, 0],
        "leaf_weights": np.array([10, 20, 30, 40], np.float32),
        "tree_roots": [0],
        "membership_values": np.array([1, 2.5, np.nan], np.float32),
    }
    nodes = [node("TreeEnsemble", ["x"], "y", "ai.onnx.ml", **attributes)]
    made = model(nodes, [value("x", [None, 2])], [value("y", [None, 1])], ai_onnx_ml=5)
    x = np.array([[1, 1], [2.5, 2], [4, 0], [3, 0], [np.nan, 1]], np.float32)
    np.testing.assert_array_equal(run(made, x=x)[:, 0], [10, 20, 30, 40, 40])
    attributes["membership_values"] = np.array([1, 2.5], np.float32)
    made = model(
        [node("TreeEnsemble", ["x"], "y", "ai.onnx.ml", **attributes)],
        made.graph.input,
        made.graph.output,
        ai_onnx_ml=5,
    )
    with pytest.raises(ModelError, match="membership_values must have a set for each of 1 nodes, got 0"):
        Converter.from_onnx(made)


def test_images_are_decoded_before_the_model() -> None:
    nodes = [node("ImageDecoder", ["x"], "y")]
    with pytest.raises(UnsupportedError, match="decode them before the model, and feed their pixels"):
        Converter.from_onnx(model(nodes, [value("x", [None], np.uint8)], [value("y", None, np.uint8)]))


def test_models_before_opset_7_of_operators_that_have_not_changed() -> None:
    x = np.array([[1, -2], [3, 0]], np.float32)
    nodes = [node("Relu", ["x"], "a"), node("Transpose", ["a"], "y", perm=[1, 0])]
    found = run(model(nodes, [value("x", [2, 2])], [value("y", [2, 2])], opset=1), x=x)
    np.testing.assert_array_equal(found, np.maximum(x, 0).T)
    nodes = [node("Add", ["x", "x"], "a", broadcast=1), node("Neg", ["a"], "y")]
    with pytest.raises(UnsupportedError, match="opset must be 7 or newer for Add, got 6"):
        Converter.from_onnx(model(nodes, [value("x", [2, 2])], [value("y", [2, 2])], opset=6))
