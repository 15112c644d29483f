"""Functions that texts have as operations of CHLO, where they are steep, at an end or no number."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType

import ai_edge_litert.interpreter as litert
import numlite
import numpy as np
import pytest
from numlite.converter import Converter, run_graph

RUNTIMES = pytest.mark.parametrize("runtime", [numlite, litert], ids=["numlite", "litert"])
INF, NAN = math.inf, math.nan
EULER = 0.5772156649015329


def computed(runtime: ModuleType, operation: str, values: list[float]) -> np.ndarray:
    type = f"tensor<{len(values)}xf32>"
    model = Converter.from_stablehlo(
        f"func.func @main(%x: {type}) -> {type} {{\n"
        f"%y = chlo.{operation} %x : {type} -> {type}\nreturn %y : {type}\n}}"
    ).convert()
    [found] = runtime.Interpreter(model_content=model).get_signature_runner()(x=np.float32(values)).values()
    return found


@RUNTIMES
def test_erfc(runtime: ModuleType) -> None:
    values = [-INF, -5, -1, 0, 0.5, 1, 2, 5, 9, INF, NAN]
    wanted = [math.erfc(value) for value in values]
    np.testing.assert_allclose(computed(runtime, "erfc", values), wanted, rtol=5e-5)


@RUNTIMES
def test_erf_inv(runtime: ModuleType) -> None:
    found = computed(runtime, "erf_inv", [-1, 0, 0.5, 1, 1.5, NAN])
    np.testing.assert_allclose(found, [-INF, 0, 0.4769362762, INF, NAN, NAN], rtol=1e-6)


@RUNTIMES
@pytest.mark.parametrize("beside", [-1e-3, -1e-5, 1e-5, 1e-3])
def test_digamma_beside_its_poles(runtime: ModuleType, beside: float) -> None:
    """As -1 / e at e beside one: but for e^2, what is added at 0 is digamma(1) + e pi^2 / 6."""
    e = float(np.float32(beside))
    wanted = -1 / e - EULER + e * math.pi**2 / 6
    found = computed(runtime, "digamma", [beside, 0, -3, INF, NAN])
    np.testing.assert_allclose(found, [wanted, NAN, NAN, INF, NAN], rtol=1e-6)


INVERSES = {"acosh": np.arccosh, "asinh": np.arcsinh, "atanh": np.arctanh, "cosh": np.cosh, "sinh": np.sinh}


@pytest.mark.parametrize("name", INVERSES)
def test_hyperbolic_functions_over_the_whole_range(name: str, tmp_path: Path) -> None:
    """Of all sizes of float32, of both signs, and close to 1: as NumPy has it, computed in 64 bits."""
    draw = np.random.default_rng(2)
    sizes = [
        10.0 ** draw.uniform(-37, 38.5, 900),
        1 + 10.0 ** draw.uniform(-7, 0, 300),
        draw.uniform(0, 1, 300),
    ]
    ends = [0, 1, 0.1, 88.5, 89.4, 1e19, 1.9e19, 3.4e38, math.inf, math.nan]
    x = np.concatenate([*sizes, ends]).astype(np.float32)
    x = np.concatenate([x, -x])
    type = f"tensor<{x.size}xf32>"
    text = (
        f"func.func @main(%x: {type}) -> {type} {{\n%y = chlo.{name} %x : {type} -> {type}\n"
        f"return %y : {type}\n}}"
    )
    (tmp_path / "program").write_text(text)
    converter = Converter.from_stablehlo(text)
    [output] = converter.entries[0].outputs
    runner = numlite.Interpreter(model_content=converter.convert()).get_signature_runner()
    with np.errstate(all="ignore"):
        wanted = INVERSES[name](x.astype(np.float64)).astype(np.float32)
    for found in (runner(x=x)[output], *run_graph(tmp_path / "program", {"x": x}, [output])):
        np.testing.assert_allclose(found, wanted, rtol=2e-6)
