"""On a real device (-m gpu): the same results as the CPU, graphs, several interpreters and threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.driver import CudaDevice

from .graphs import Op, conv_model, depthwise_model, network, random_input, residual_model
from .simulation import RESOLVERS, interpreter_of, needs_triton, run

pytestmark = [pytest.mark.gpu, needs_triton]

BYTES = ("int8", "uint8")
# Norm of the difference over that of the result; TF32 has 10 bits, bfloat16 7.
TOLERANCES = {"tf32x3": 1e-6, "ieee": 1e-6, "tf32": 2e-3, "float16": 2e-3, "bfloat16": 2e-2}
MODELS = {
    "network": (network, (9, 9, 3)),
    "residual": (residual_model, (6, 6, 16)),
    "conv": (lambda type: conv_model(type, (1, 28, 28, 64), 128), (28, 28, 64)),
    "conv-1x1": (lambda type: conv_model(type, (1, 28, 28, 96), 24, 1), (28, 28, 96)),
    "conv-image": (lambda type: conv_model(type, (1, 64, 64, 3), 32, stride=2), (64, 64, 3)),
    "conv-odd": (lambda type: conv_model(type, (1, 13, 11, 17), 33, dilation=2), (13, 11, 17)),
    "depthwise": (lambda type: depthwise_model(type, (1, 28, 28, 96)), (28, 28, 96)),
    "depthwise-5x5": (lambda type: depthwise_model(type, (1, 28, 28, 48), 5, stride=2), (28, 28, 48)),
    "depthwise-plain": (lambda type: depthwise_model(type, (1, 9, 9, 7), multiplier=2), (9, 9, 7)),
}


@pytest.mark.parametrize("numerics", RESOLVERS)
@pytest.mark.parametrize("type", BYTES)
@pytest.mark.parametrize("name", MODELS)
def test_bytes_are_equal(name: str, type: str, numerics: str) -> None:
    make, shape = MODELS[name]
    model, delegate = make(type), CudaDelegate()
    interpreter = interpreter_of(model, delegate, numerics)
    cpu = interpreter_of(model, None, numerics)
    for batch in (1, 32, 3):
        x = random_input(type, (batch, *shape), batch)
        np.testing.assert_array_equal(run(interpreter, [x])[0], run(cpu, [x])[0])


@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("name", MODELS)
def test_floats_are_near(name: str, precision: str) -> None:
    make, shape = MODELS[name]
    model = make("float32")
    x = random_input("float32", (4, *shape))
    interpreter = interpreter_of(model, CudaDelegate(CudaOptions(precision=precision)))
    (got,), (expected,) = run(interpreter, [x]), run(interpreter_of(model), [x])
    assert np.linalg.norm(got - expected) <= TOLERANCES[precision] * np.linalg.norm(expected)
    (again,) = run(interpreter, [x])
    np.testing.assert_array_equal(got, again)


def test_several_threads_share_the_device() -> None:
    model = network("int8")
    inputs = [random_input("int8", (2, 9, 9, 3), seed) for seed in range(4)]
    expected = [run(interpreter_of(model), [x])[0] for x in inputs]

    def work(n: int) -> None:
        interpreter = interpreter_of(model, CudaDelegate())
        for _ in range(20):
            np.testing.assert_array_equal(run(interpreter, [inputs[n]])[0], expected[n])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_out_of_memory_leaves_smaller_batches() -> None:
    model = conv_model("int8", (1, 512, 512, 64), 64)
    interpreter = interpreter_of(model, CudaDelegate())
    index = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(index, (120, 512, 512, 64))
    device = CudaDevice()
    taken = []
    try:
        with pytest.raises(RuntimeError, match="OUT_OF_MEMORY"):
            while True:
                taken.append(device.allocate(2 << 30))
        with pytest.raises(RuntimeError, match="OUT_OF_MEMORY"):
            interpreter.allocate_tensors()
            interpreter.invoke()
    finally:
        for address in taken:
            device.free(address)
    x = random_input("int8", (1, 512, 512, 64))
    np.testing.assert_array_equal(run(interpreter, [x])[0], run(interpreter_of(model), [x])[0])


def test_activations_after_a_residual() -> None:
    for type in (*BYTES, "float32"):
        model = residual_model(type, after=Op.RELU6)
        x = random_input(type, (5, 6, 6, 16))
        (got,), (expected,) = run(interpreter_of(model, CudaDelegate()), [x]), run(interpreter_of(model), [x])
        np.testing.assert_allclose(got.astype(np.float64), expected, rtol=1e-5, atol=1e-5)


def test_profile_has_device_times() -> None:
    interpreter = interpreter_of(network("int8"), CudaDelegate())
    run(interpreter, [random_input("int8", (8, 9, 9, 3))])
    rows = [row for row in interpreter.profile(3) if row.op == "CONV_2D"]
    assert len(rows) == 4 and all(row.time_ns > 0 for row in rows)
