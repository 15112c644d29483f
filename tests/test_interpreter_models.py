"""Real models give LiteRT's outputs: integers byte for byte, floats closely."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import numlite.interpreter
import numpy as np
import pytest

from .conftest import SHARED_MODELS

# Sums of thousands of float32 products, in another order; relative to the largest output.
FLOAT_TOLERANCE = 1e-4

# Dynamic range convolutions quantize activations while they run: a last bit of one layer may
# move an activation of the next by a quantum.
TOLERANCES = {"kws_float32": 1e-2}


def random_inputs(details: list[dict[str, Any]], seed: int) -> list[np.ndarray]:
    values = np.random.default_rng(seed)
    return [
        values.standard_normal(tuple(detail["shape"])).astype(np.float32)
        if detail["dtype"] is np.float32
        else values.integers(0, 256, tuple(detail["shape"])).astype(np.uint8).view(detail["dtype"])
        for detail in details
    ]


def outputs(api: Any, path: pathlib.Path, resolver: str, threads: int) -> list[np.ndarray]:
    """The outputs of two invokes with different inputs."""
    interpreter = api.Interpreter(
        str(path),
        num_threads=threads,
        experimental_op_resolver_type=api.OpResolverType[resolver],
    )
    interpreter.allocate_tensors()
    details = interpreter.get_input_details()
    results = []
    for seed in range(2):
        for detail, value in zip(details, random_inputs(details, seed), strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        results += [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    return results


@pytest.mark.parametrize(("resolver", "threads"), [("AUTO", 1), ("AUTO", 2), ("BUILTIN_REF", 1)])
def test_outputs_are_litert_s(litert: Any, model_path: pathlib.Path, resolver: str, threads: int) -> None:
    ours = outputs(numlite.interpreter, model_path, resolver, threads)
    theirs = outputs(litert, model_path, resolver, 1)
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        if a.dtype.kind == "f":
            tolerance = TOLERANCES.get(model_path.stem, FLOAT_TOLERANCE)
            assert np.allclose(a, b, rtol=0, atol=tolerance * max(1, float(np.abs(b).max())))
        else:
            assert np.array_equal(a, b), f"{np.count_nonzero(a != b)} of {a.size} differ"


_MOST_MODULES = 104  # of numlite, that one model of bytes imports until its first inference
_FIRST_INFERENCE = """
import sys
from numlite.interpreter import Interpreter
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
interpreter.invoke()
print("\\n".join(name for name in sys.modules if name.split(".")[0] == "numlite"))
"""


def test_a_first_inference_imports_few_modules() -> None:
    model = SHARED_MODELS / "kws_int8.tflite"
    if not model.exists():
        pytest.skip("no ../shared/models beside the repository")
    command = [sys.executable, "-c", _FIRST_INFERENCE, str(model)]
    subprocess.run(command, capture_output=True, check=True)  # keeps what it finds out about the sources
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert len(modules) <= _MOST_MODULES, f"{len(modules)}: {' '.join(sorted(modules))}"
