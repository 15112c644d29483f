"""Real models on the simulated device, equal to the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from ...conftest import SHARED_MODELS
from .simulation import RESOLVERS, interpreter_of, needs_triton, run, simulated, taken

pytestmark = needs_triton
QUICK = ("ad01_int8", "ad01_fp32", "kws_int8")
LONG = ("resnet8_int8", "resnet8_float", "mobilenet_v1_0.25_128_uint8")


@pytest.mark.parametrize("numerics", RESOLVERS)
@pytest.mark.parametrize("name", (*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)))
def test_equals_the_cpu(name: str, numerics: str) -> None:
    path = SHARED_MODELS / f"{name}.tflite"
    if not path.exists():
        pytest.skip("no ../shared/models beside the repository")
    content = path.read_bytes()
    random, delegate = np.random.default_rng(0), simulated()
    interpreter, cpu = interpreter_of(content, delegate, numerics), interpreter_of(content, None, numerics)
    inputs = []
    for detail in cpu.get_input_details():
        shape = tuple(int(size) for size in detail["shape"])
        if detail["dtype"] == np.float32:
            inputs.append(random.standard_normal(shape).astype(np.float32))
        else:
            limits = np.iinfo(detail["dtype"])
            inputs.append(random.integers(limits.min, limits.max + 1, shape).astype(detail["dtype"]))
    got, expected = run(interpreter, inputs), run(cpu, inputs)
    assert taken(delegate, interpreter) > 0 and len(interpreter.core.subgraphs[0].execution_plan) == 1
    for mine, theirs in zip(got, expected, strict=True):
        if theirs.dtype == np.float32:
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5 * np.abs(theirs).max())
        else:
            np.testing.assert_array_equal(mine, theirs)
