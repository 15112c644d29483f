"""Programs that JAX exported compute what JAX does: as graphs, in numlite and in LiteRT."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import Converter, run_graph
from numlite.converter.conversion import Conversion
from numlite.interpreter import Interpreter
from numlite.kernels.compiled.language.target import target
from numlite.lite.errors import UnsupportedError

from .recorded import Recorded, recorded

NETWORKS = (
    *("mlp", "cnn", "resnet", "vit", "lstm", "gru", "norms", "embedding", "open_images", "open_text"),
    *("mlp export", "open_images export"),
)
# Programs of which there are no models.
REFUSED = {"rng": "make them of a key"}
NAMES = tuple(name for name in recorded() if name not in REFUSED)
# Floats differ by the order of sums and by polynomials: 3 in a million of the largest.
CLOSE = 3e-6


@cache
def converted(name: str) -> tuple[Conversion, Converter]:
    converter = Converter.from_stablehlo(recorded()[name].program)
    return converter.conversion(), converter


def check(case: Recorded, found: list[np.ndarray]) -> None:
    assert len(found) == len(case.results)
    for place, (result, wanted) in enumerate(zip(found, case.results, strict=True)):
        assert result.shape == wanted.shape and result.dtype == wanted.dtype, place
        if wanted.dtype.kind in "iub":
            np.testing.assert_array_equal(result, wanted, err_msg=f"result {place}")
            continue
        result, wanted = result.astype(np.float64), wanted.astype(np.float64)
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
        np.testing.assert_allclose(result, wanted, rtol=0, atol=CLOSE * scale, err_msg=f"result {place}")


def test_all_networks_are_recorded() -> None:
    assert set(NETWORKS) <= set(NAMES) and len(NAMES) >= 24


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_form_says_why(name: str) -> None:
    with pytest.raises(UnsupportedError, match=REFUSED[name]):
        Converter.from_stablehlo(recorded()[name].program)


@pytest.mark.parametrize("name", NAMES)
def test_as_a_graph(name: str, tmp_path: Path) -> None:
    case = recorded()[name]
    (tmp_path / "program").write_bytes(case.program)
    _, converter = converted(name)
    entry = converter.entries[0]
    feeds = dict(zip(entry.inputs, case.arguments, strict=True))
    check(case, run_graph(tmp_path / "program", feeds, list(entry.outputs)))


@pytest.mark.parametrize("name", NAMES)
def test_converted(name: str) -> None:
    case = recorded()[name]
    conversion, converter = converted(name)
    assert not [operator for graph in conversion.lite.graphs() for operator in graph if operator.custom_code]
    check(case, by(Interpreter(model_content=conversion.model), converter, case))


@pytest.mark.parametrize("name", NAMES)
def test_in_litert(name: str) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    conversion, converter = converted(name)
    case = recorded()[name]
    found = by(litert.Interpreter(model_content=conversion.model), converter, case)
    if not target().avx512:  # LiteRT's logarithm of infinity is finite there
        found = [
            np.where(np.isinf(wanted), wanted, result) if result.shape == wanted.shape else result
            for result, wanted in zip(found, case.results, strict=True)
        ]
    check(case, found)


def by(interpreter: Interpreter, converter: Converter, case: Recorded) -> list[np.ndarray]:
    """The results of an interpreter, in the program's order."""
    entry = converter.entries[0]
    found = interpreter.get_signature_runner()(**dict(zip(entry.inputs, case.arguments, strict=True)))
    return [found[name] for name in entry.outputs]


@pytest.mark.parametrize(("name", "batch"), [("open_images", 1), ("open_images", 5), ("open_text", 3)])
def test_open_sizes_at_other_sizes(name: str, batch: int) -> None:
    case = recorded()[name]
    conversion, converter = converted(name)
    interpreter = Interpreter(model_content=conversion.model)
    [x] = case.arguments
    more = np.concatenate([x] * batch)[:batch]
    [result] = by(interpreter, converter, Recorded(name, b"", [more], []))
    wanted = np.concatenate([case.results[0]] * batch)[:batch]
    np.testing.assert_allclose(result, wanted, rtol=0, atol=CLOSE * np.abs(wanted).max())


def test_shapes_and_values_that_are_told() -> None:
    case = recorded()["open_images"]
    fixed = Converter.from_stablehlo(case.program, input_shapes={"x": [3, 6, 6, 2]})
    model = fixed.convert()
    assert Interpreter(model_content=model).get_input_details()[0]["shape_signature"].tolist() == [3, 6, 6, 2]
    assert len(model) < len(converted("open_images")[0].model)
    [x] = case.arguments
    constant = Converter.from_stablehlo(case.program, input_values={"x": x})
    found = Interpreter(model_content=constant.convert()).get_signature_runner()()
    np.testing.assert_allclose(found["result"], case.results[0], atol=1e-6)
