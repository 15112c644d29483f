"""Functions of complex numbers, whose parts operators hold, near the ends of float32's range."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import Converter
from numlite.converter.stablehlo.model_import import stablehlo_entry
from numlite.converter.stablehlo.program import ArrayType, Block, FunctionOperation, Operation, Program, Value
from numlite.interpreter import Interpreter

FLOATS, COMPLEX = ArrayType((10,), "f32"), ArrayType((10,), "complex<f32>")
ENDS = np.float32([3, 3e19, -3e37, 2e-22, 3e-37, 0, np.inf, np.nan, 1, 3e38])
OTHERS = np.float32([-4, 4e19, 4e37, -2e-22, 0, 0, np.nan, -np.inf, 1e-30, 2])


def computed(runtime: str, count: int, *operations: str) -> list[np.ndarray]:
    """Real and imaginary parts of ENDS and OTHERS, twice where there are two numbers, through operations."""
    parts = [Value(FLOATS, f"x{place}") for place in range(2 * count)]
    numbers = [Value(COMPLEX) for _ in range(count)]
    steps = [Operation("complex", parts[2 * n : 2 * n + 2], [z]) for n, z in enumerate(numbers)]
    for name in operations:
        given = steps[count].results if name in ("real", "imag") else numbers
        steps.append(Operation(name, list(given), [Value(COMPLEX if name == "divide" else FLOATS)]))
    kept = [step.results[0] for step in steps[count:] if step.results[0].type is FLOATS]
    main = Block(parts, [*steps, Operation("return", kept, [])])
    model = Converter([stablehlo_entry(Program({"main": FunctionOperation("main", main, [], [])}))]).convert()
    made = Interpreter
    if runtime == "litert":
        made = pytest.importorskip("ai_edge_litert.interpreter").Interpreter
    interpreter = made(model_content=model)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), (ENDS, OTHERS, OTHERS, ENDS), strict=False):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


@pytest.mark.parametrize("runtime", ["numlite", "litert"])
def test_magnitudes(runtime: str) -> None:
    (found,) = computed(runtime, 1, "abs")
    np.testing.assert_allclose(found, np.hypot(ENDS, OTHERS), rtol=3e-7)


@pytest.mark.parametrize("runtime", ["numlite", "litert"])
def test_quotients(runtime: str) -> None:
    """x + yi by y + xi, where squares are too large or too small."""
    real, imaginary = computed(runtime, 2, "divide", "real", "imag")
    for place in range(4):
        wide = np.float64(ENDS[place]), np.float64(OTHERS[place])
        wanted = complex(*wide) / complex(*reversed(wide))
        np.testing.assert_allclose([real[place], imaginary[place]], [wanted.real, wanted.imag], atol=3e-7)
