"""Values on a grid, as TensorFlow's own kernels compute them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.graph_def import AttrValue

from ..graphs import run_numlite
from ..operator_rules.rewritten import check, scalar

_QINT8 = 11
# Values that lie halfway between two of a grid are tested apart: a float's last bit decides.
X = np.array([[-9, -2.513, -1.517, -0.519, -0.0133, 0], [0.0133, 0.263, 0.507, 1.41, 2.49, 9]], np.float32)


def fake_quant(low: float, high: float, bits: int, narrow: bool) -> GraphBuilder:
    g = GraphBuilder()
    ends = scalar(g, "low", low), scalar(g, "high", high)
    x = g.placeholder("x", X.shape)
    g.node("FakeQuantWithMinMaxVars", "y", x, *ends, num_bits=bits, narrow_range=narrow)
    return g


@pytest.mark.parametrize("ends", [(-1, 2), (0, 2.5), (-2, 0)], ids=str)
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 8, 12, 16])
def test_fake_quantization(ends: tuple[float, float], bits: int, narrow: bool) -> None:
    whole_bytes = bits == 8 and not narrow
    # Cut off at 0 is what RELU does.
    cut = ["RELU" if ends[0] == 0 else "MAXIMUM"] if narrow else []
    expected = ["QUANTIZE", "DEQUANTIZE"] if whole_bytes else [*cut, "FAKE_QUANT"]
    check(fake_quant(*ends, bits, narrow), expected, x=X)


@pytest.mark.parametrize("bits", [4, 8, 16])
@pytest.mark.parametrize("ends", [(1, 6), (-6, -1.5)], ids=str)
def test_a_range_beside_zero_is_moved_to_it(ends: tuple[float, float], bits: int) -> None:
    check(fake_quant(*ends, bits, False), ["QUANTIZE", "DEQUANTIZE"] if bits == 8 else ["FAKE_QUANT"], x=X)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("ends", [(0, 1e-45), (-3e38, 3e38), (0, 0), (2, -2), (3, 3)], ids=str)
def test_ranges_without_steps_are_refused(ends: tuple[float, float], bits: int) -> None:
    with pytest.raises(UnsupportedError, match="a range with"):
        convert_graph(fake_quant(*ends, bits, False).graph_def)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("mode", ["HALF_UP", "HALF_TO_EVEN"])
def test_range_of_integers(signed: bool, narrow: bool, bits: int, mode: str) -> None:
    g = GraphBuilder()
    ends = scalar(g, "low", -2 if signed else 0), scalar(g, "high", 2.5)
    attributes = {"signed_input": signed, "narrow_range": narrow, "num_bits": bits, "round_mode": mode}
    g.node("QuantizeAndDequantizeV2", "y", g.placeholder("x", X.shape), *ends, range_given=True, **attributes)
    cut = ["MAXIMUM"] if narrow and signed else []
    steps = ["MAXIMUM" if signed else "RELU", "MINIMUM", "MUL", "ROUND", "MUL"]
    expected = [*cut, "FAKE_QUANT"] if mode == "HALF_UP" else steps
    check(g, expected, x=X)


@pytest.mark.parametrize("signed", [False, True])
def test_a_range_of_their_own_cuts_nothing_off(signed: bool) -> None:
    """Values below 0 stay where the grid has none: the largest says how long a step is."""
    g = GraphBuilder()
    ends = scalar(g, "low", 0), scalar(g, "high", 0)
    g.node("QuantizeAndDequantizeV2", "y", g.placeholder("x", X.shape), *ends, signed_input=signed)
    model = convert_graph(g.graph_def)
    [y] = run_numlite(model, X)
    [wanted] = run_graph(g.graph_def, {"x": X}, ["y"])
    assert wanted.min() < -8
    np.testing.assert_allclose(y, wanted, rtol=1e-6)


def test_halves_go_where_the_mode_says() -> None:
    x = np.array([0.5, 1.5, -0.5, -1.5, 126.5, -200, 200], np.float32)
    for mode in ("HALF_UP", "HALF_TO_EVEN"):
        g = GraphBuilder()
        ends = scalar(g, "low", -128), scalar(g, "high", 127)
        attributes = {"range_given": True, "round_mode": mode}
        g.node("QuantizeAndDequantizeV2", "y", g.placeholder("x", [7]), *ends, **attributes)
        expected = ["FAKE_QUANT"] if mode == "HALF_UP" else ["MAXIMUM", "MINIMUM", "ROUND"]
        check(g, expected, x=x)


@pytest.mark.parametrize(
    ("dtype", "type", "stored"), [(np.int8, 6, 11), (np.uint8, 4, 12), (np.int16, 5, 15)], ids=str
)
def test_integers_become_floats_of_a_range_known_at_run(dtype: type, type: int, stored: int) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 3, 100], dtype)
    g = GraphBuilder()
    held = g.node("Bitcast", "q", g.placeholder("x", [4], type), type=AttrValue(type=stored))
    g.node("Dequantize", "y", held, g.placeholder("low", []), g.placeholder("high", []))
    model = convert_graph(g.graph_def, ["x", "low", "high"], ["y"])
    low, high = np.float32(-1.5), np.float32(2)
    [y] = run_numlite(model, x, low, high)
    wanted = (x.astype(np.float32) - limits.min) * ((high - low) / (limits.max - limits.min)) + low
    np.testing.assert_allclose(y, wanted, atol=1e-5)


def test_other_ways_to_store_ranges_are_refused() -> None:
    g = GraphBuilder()
    held = g.node("Bitcast", "q", g.placeholder("x", [4], 6), type=AttrValue(type=11))
    ends = g.placeholder("low", []), g.placeholder("high", [])
    g.node("Dequantize", "y", held, *ends, mode=AttrValue(s=b"SCALED"))
    with pytest.raises(UnsupportedError, match="only mode MIN_COMBINED"):
        convert_graph(g.graph_def, ["x", "low", "high"], ["y"])


@pytest.mark.parametrize("wanted", [2, 5])
def test_an_axis_of_scales_is_as_long_as_they_are(wanted: int) -> None:
    g = GraphBuilder()
    scales, zeros = g.constant("scales", np.float32([0.5, 2])), g.constant("zeros", np.int32([0, 1]))
    ends = {"quantization_min_val": -128, "quantization_max_val": 127, "quantization_axis": 1}
    q = g.placeholder("q", [3, -1], _QINT8)
    g.node(
        "UniformDequantize", "y", q, scales, zeros, Tin=AttrValue(type=_QINT8), Tout=AttrValue(type=1), **ends
    )
    if wanted == 2:
        values = np.int8([[1, 2], [3, 4], [-5, -6]])
        (y,) = run_numlite(convert_graph(g.graph_def), values)
        np.testing.assert_array_equal(y, [[0.5, 2], [1.5, 6], [-2.5, -14]])
        return
    g.graph_def.node[[node.name for node in g.graph_def.node].index("q")].attr["shape"].shape.dim[
        1
    ].size = wanted
    with pytest.raises(ModelError, match="must be 5 scales along axis 1, got 2"):
        convert_graph(g.graph_def)
