"""Parts of transforms: cosine transforms are one product."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite

RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
RANDOM = np.random.default_rng(5)
COMPLEX, INT = AttrValue(type=8), AttrValue(type=3)


def part_of_transform(
    samples: int,
    length: int,
    op: str = "Real",
    scales: np.ndarray | None = None,
    bounds: tuple[int, int, int] | None = None,
    pads: int = 0,
    masks: int = 1,
    rows: int = -1,
) -> GraphBuilder:
    g = GraphBuilder()
    x = g.placeholder("x", [rows, samples])
    if pads:
        x = g.node("Pad", "padded", x, g.constant("pads", np.array([[0, 0], [0, pads]], np.int32)))
    y = g.node("RFFT", "transform", x, g.constant("length", np.array([length], np.int32)))
    if bounds is not None:
        places = [
            g.constant(f"p{i}", np.array([0, at] if i < 2 else [1, at], np.int32))
            for i, at in enumerate(bounds)
        ]
        held = {"T": COMPLEX, "Index": INT, "ellipsis_mask": AttrValue(i=masks)}
        y = g.node("StridedSlice", "cut", y, *places, **held)
    if scales is not None:
        y = g.node("Mul", "scaled", y, g.constant("scales", scales), T=COMPLEX)
    g.node(op, "y", y, T=COMPLEX)
    return g


def scales(count: int) -> np.ndarray:
    return np.exp(1j * RANDOM.uniform(0, 6, count)).astype(np.complex64)


FORMS = {
    "cosines of 20": dict(samples=20, length=40, scales=scales(20), bounds=(0, 20, 1)),
    "cosines of 16": dict(samples=16, length=32, scales=scales(16), bounds=(0, 16, 1)),
    "with zeros behind": dict(samples=20, length=40, scales=scales(20), bounds=(0, 20, 1), pads=20),
    "imaginary": dict(samples=20, length=40, op="Imag", scales=scales(5), bounds=(2, 12, 2)),
    "one scale": dict(samples=12, length=12, scales=scales(1)),
    "fewer samples than there are": dict(samples=12, length=10, scales=scales(6)),
    "no scale": dict(samples=10, length=10),
    "known rows": dict(samples=20, length=40, scales=scales(20), bounds=(0, 20, 1), rows=3),
}


@RUNTIMES
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_parts_of_scaled_transforms_are_one_product(form: dict, run: Callable[..., list[np.ndarray]]) -> None:
    model = checked(convert_graph(part_of_transform(**form).graph_def))
    assert operators(model) == ["FULLY_CONNECTED"]
    for rows in (3,) if "rows" in form else (3, 1, 5):
        x = RANDOM.standard_normal((rows, form["samples"])).astype(np.float32)
        y = np.fft.rfft(x, form["length"])
        y = y[:, slice(*form["bounds"])] if "bounds" in form else y
        y = y * form.get("scales", 1)
        expected = y.imag if form.get("op") == "Imag" else y.real
        np.testing.assert_allclose(run(model, x)[0], expected, rtol=1e-4, atol=1e-5)


def test_transforms_that_have_an_operator_keep_it() -> None:
    graph = part_of_transform(16, 16, scales=scales(9), rows=2)
    assert "RFFT2D" in operators(convert_graph(graph.graph_def))


def test_slices_of_complex_numbers_that_nothing_takes_in_are_refused() -> None:
    graph = part_of_transform(16, 16, bounds=(0, 4, 1), masks=0)
    with pytest.raises(UnsupportedError, match="does not take complex64"):
        convert_graph(graph.graph_def)
