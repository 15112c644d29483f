"""Numbers that are drawn: builtin operators, which share nothing; tables that runtimes have none of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.conversion import convert
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.target_spec import Settings
from numlite.lite.errors import UnsupportedError
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite

RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
FLOAT, INT, HALF, LONG = (AttrValue(type=number) for number in (1, 3, 19, 9))
SEEDS = {"seed": AttrValue(i=3), "seed2": AttrValue(i=4)}
# The mean and deviation of what an op draws.
DRAWN = {"RandomUniform": (0.5, 12**-0.5), "RandomStandardNormal": (0.0, 1.0)}


def drawing(op: str, sizes: np.ndarray | None, count: int = 1, **attributes: AttrValue) -> bytes:
    g = GraphBuilder()
    kind = LONG if sizes is not None and sizes.dtype == np.int64 else INT
    shape = g.placeholder("sizes", [2], 3) if sizes is None else g.constant("sizes", sizes)
    if sizes is not None:
        g.placeholder("x", [1])
    for i in range(count):
        g.node(op, f"y{i}", shape, T=kind, **{"dtype": FLOAT, **SEEDS, **attributes})
    return checked(convert_graph(g.graph_def, None, [f"y{i}" for i in range(count)]))


@RUNTIMES
@pytest.mark.parametrize("op", DRAWN)
def test_numbers_fill_shapes(op: str, run: Callable[..., list[np.ndarray]]) -> None:
    model = drawing(op, None)
    assert operators(model) == [{"RandomUniform": "RANDOM_UNIFORM"}.get(op, "RANDOM_STANDARD_NORMAL")]
    mean, deviation = DRAWN[op]
    for shape in ((50, 40), (1, 3000)):
        [y] = run(model, np.array(shape, np.int32))
        assert y.shape == shape and abs(y.mean() - mean) < 0.1 and abs(y.std() - deviation) < 0.1


@pytest.mark.parametrize(
    "sizes", [np.array([4, 5], np.int32), np.array([4, 5], np.int64)], ids=["int32", "int64"]
)
def test_numbers_of_known_shapes_are_drawn_when_the_model_runs(sizes: np.ndarray) -> None:
    model = drawing("RandomUniform", sizes, 2)
    assert operators(model) == ["RANDOM_UNIFORM"] * 2
    a, b = run_numlite(model)
    assert a.shape == b.shape == (4, 5)


@RUNTIMES
@pytest.mark.parametrize("kind", [INT, LONG], ids=["int32", "int64"])
def test_places_are_drawn_as_often_as_their_logits_say(
    kind: AttrValue, run: Callable[..., list[np.ndarray]]
) -> None:
    g = GraphBuilder()
    logits, count = g.placeholder("x", [-1, 3]), g.constant("count", np.array(2000, np.int32))
    g.node("Multinomial", "y", logits, count, T=FLOAT, output_dtype=kind, **SEEDS)
    model = checked(convert_graph(g.graph_def))
    assert operators(model) == ["MULTINOMIAL"]
    shares = np.array([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]])
    [y] = run(model, np.log(shares).astype(np.float32))
    assert y.dtype == (np.int32 if kind is INT else np.int64)
    found = [np.bincount(row, minlength=3) / 2000 for row in y]
    np.testing.assert_allclose(found, shares, atol=0.05)


def test_other_types_have_no_operator() -> None:
    with pytest.raises(UnsupportedError, match="RandomUniform"):
        drawing("RandomUniform", None, dtype=HALF)


def test_all_ops_of_a_table_that_has_no_operator_are_tensorflows() -> None:
    """Integers by integers, as Keras's IntegerLookup has them."""
    g = GraphBuilder()
    kinds = {"key_dtype": LONG, "value_dtype": LONG}
    g.node("HashTableV2", "t", shared_name=AttrValue(s=b"t"), **kinds)
    x, other = g.placeholder("x", [-1], 9), g.constant("other", np.array(-1, np.int64))
    g.node("LookupTableFindV2", "y", "t", x, other, Tin=LONG, Tout=LONG)
    g.node("LookupTableSizeV2", "n", "t")
    model = tflite.read(checked(convert(g.graph_def, settings=Settings(select=True)).model))
    codes = sorted(code.custom_code for code in model.operator_codes)
    assert codes == ["FlexHashTableV2", "FlexLookupTableFindV2", "FlexLookupTableSizeV2"]
    with pytest.raises(UnsupportedError, match="a table of int64 by int64"):
        convert_graph(g.graph_def)
