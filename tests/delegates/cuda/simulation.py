"""Models on the simulated device, to be compared with the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pytest
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.simulated import why_not_simulated
from numlite.interpreter import Interpreter, OpResolverType

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")

RESOLVERS = {"default": OpResolverType.AUTO, "reference": OpResolverType.BUILTIN_REF}


def skip_unless_simulated() -> None:
    missing = why_not_simulated()
    if missing is not None:
        pytest.skip(missing)


def simulated(precision: str = "tf32x3", **options: object) -> CudaDelegate:
    """A delegate for the simulated device; skips where that one cannot run."""
    skip_unless_simulated()
    return CudaDelegate(CudaOptions(precision=precision, device="simulated", **options))  # type: ignore[arg-type]


def interpreter_of(
    model: bytes, delegate: CudaDelegate | None = None, numerics: str = "default"
) -> Interpreter:
    return Interpreter(
        model_content=model,
        experimental_delegates=None if delegate is None else [delegate],
        experimental_op_resolver_type=RESOLVERS[numerics],
    )


def run(interpreter: Interpreter, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs for inputs, whose shapes the model takes on."""
    details = interpreter.get_input_details()
    for detail, value in zip(details, inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    for detail, value in zip(details, inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def taken(delegate: CudaDelegate, interpreter: Interpreter) -> int:
    """How many of the model's operators the delegate runs."""
    subgraph = interpreter.core.subgraphs[0]
    nodes = [subgraph.nodes[n] for n in subgraph.execution_plan]
    return sum(len(node.options.nodes_to_replace) for node in nodes if node.delegate is delegate)


def check_equal(
    model: bytes,
    inputs: Sequence[np.ndarray],
    numerics: str = "default",
    precision: str = "tf32x3",
    rtol: float = 1e-5,
) -> CudaDelegate:
    """Run on the CPU and on the simulated device: integers must be equal, floats as near as rtol.

    rtol is of each output's largest magnitude. All operators must be taken.
    """
    delegate = simulated(precision)
    interpreter = interpreter_of(model, delegate, numerics)
    got = run(interpreter, inputs)
    plan = interpreter.core.subgraphs[0].execution_plan
    assert all(interpreter.core.subgraphs[0].nodes[n].delegate is delegate for n in plan), delegate._reasons
    for mine, theirs in zip(got, run(interpreter_of(model, None, numerics), inputs), strict=True):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        if theirs.dtype.kind != "f":
            np.testing.assert_array_equal(mine, theirs)
        else:
            largest = float(np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs)))
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * largest)
    return delegate
