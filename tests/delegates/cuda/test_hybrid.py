"""float32 tensors by int8 weights: what the device quantizes and sums is the CPU's."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.delegates.cuda.compile import compile_triton
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ...cases.case import Case
from ...model_builder import ModelBuilder
from .graphs import SAME
from .machine_code import SHARED_BYTES, kernels_of, machine_code
from .replays import cases_of
from .simulation import check_equal, interpreter_of, needs_triton, run, simulated, taken

pytestmark = needs_triton

_NUMERICS = ("default", "reference")
_DEPTH = 37


def _rows() -> np.ndarray:
    """Rows of one sign and of both, constant and empty ones, ties, and NaN among numbers."""
    random = np.random.default_rng(5)
    rows = random.standard_normal((40, _DEPTH)) * 10.0 ** random.integers(-6, 6, (40, 1))
    rows[0], rows[1], rows[2] = 0, 3.5, -2.25
    rows[3:8], rows[8:13] = np.abs(rows[3:8]), -np.abs(rows[8:13])
    rows[13] = (np.arange(_DEPTH) - 18) / 2
    rows[14, :] = 0
    rows[14, 3], rows[14, 4] = 127.5, -127.5
    rows[15, 7] = np.nan
    rows[16] = np.linspace(-0.5, 254.5, _DEPTH)
    return rows.astype(np.float32)


def _identity(options: tflite.FullyConnectedOptionsT, scale: float | list[float]) -> bytes:
    """FULLY_CONNECTED that gives each row's quantized values, times its scale."""
    model = ModelBuilder()
    x = model.tensor((1, _DEPTH), shape_signature=[-1, _DEPTH])
    w = model.constant(np.eye(_DEPTH, dtype=np.int8), scale=scale, zero_point=0)
    y = model.tensor((1, _DEPTH), shape_signature=[-1, _DEPTH])
    model.op(BuiltinOperator.FULLY_CONNECTED, [x, w], [y], options, 9)
    return model.build([x], [y])


@pytest.mark.parametrize("numerics", _NUMERICS)
@pytest.mark.parametrize("asymmetric", (False, True))
def test_quantized_values_are_the_cpu_s(numerics: str, asymmetric: bool) -> None:
    model = _identity(tflite.FullyConnectedOptionsT(asymmetric_quantize_inputs=asymmetric), 1.0)
    x, delegate = [_rows()], simulated()
    interpreter = interpreter_of(model, delegate, numerics)
    got, expected = run(interpreter, x)[0], run(interpreter_of(model, None, numerics), x)[0]
    assert taken(delegate, interpreter)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=0)


def _conv(size: int, padded: bool, added: bool) -> bytes:
    """PAD, CONV_2D of 8 channels, ADD of the input, as asked for."""
    random, model = np.random.default_rng(6), ModelBuilder()
    shape = (1, 5, 4, 8)
    x = y = model.tensor(shape, shape_signature=[-1, *shape[1:]])
    if padded:
        shape = (1, 7, 6, 8)
        y = model.tensor(shape, shape_signature=[-1, *shape[1:]])
        pads = model.constant(np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32))
        model.op(BuiltinOperator.PAD, [x, pads], [y])
    stored = random.integers(-127, 128, (8, size, size, 8)).astype(np.int8)
    w = model.constant(stored, scale=random.uniform(0.001, 0.01, 8), zero_point=0)
    inputs = [y, w, model.constant(random.standard_normal(8).astype(np.float32))]
    y = model.tensor(shape, shape_signature=[-1, *shape[1:]])
    options = tflite.Conv2DOptionsT(padding=SAME, stride_w=1, stride_h=1)
    model.op(BuiltinOperator.CONV_2D, inputs, [y], options, 5)
    if added:
        z = model.tensor(shape, shape_signature=[-1, *shape[1:]])
        model.op(BuiltinOperator.ADD, [y, x], [z], tflite.AddOptionsT(fused_activation_function=1))
        y = z
    return model.build([x], [y])


@pytest.mark.parametrize("numerics", _NUMERICS)
@pytest.mark.parametrize("batch", (0, 1, 3))
@pytest.mark.parametrize(
    "size, padded, added", ((1, True, False), (3, True, False), (1, False, True), (3, False, True))
)
def test_around_a_convolution(size: int, padded: bool, added: bool, batch: int, numerics: str) -> None:
    x = np.random.default_rng(7).standard_normal((batch, 5, 4, 8)).astype(np.float32) + np.float32(0.4)
    check_equal(_conv(size, padded, added), [x], numerics)


def test_in_16_bits() -> None:
    """What is quantized is what the tensor holds."""
    x = np.random.default_rng(8).standard_normal((2, 5, 4, 8)).astype(np.float32)
    check_equal(_conv(3, False, True), [x], precision="float16", rtol=2e-2)


def _matmul(w_shape: tuple[int, ...], asymmetric: bool = False, adj_y: bool = False) -> bytes:
    """BATCH_MATMUL of [batch, 3, 5, 17] by an int8 constant with a scale for each column, or one."""
    random, model = np.random.default_rng(9), ModelBuilder()
    x = model.tensor((2, 3, 5, 17), shape_signature=[-1, 3, 5, 17])
    w = model.constant(random.integers(-127, 128, w_shape).astype(np.int8), scale=0.02, zero_point=0)
    columns = w_shape[-2 if adj_y else -1]
    y = model.tensor((2, 3, 5, columns), shape_signature=[-1, 3, 5, columns])
    options = tflite.BatchMatMulOptionsT(adj_y=adj_y, asymmetric_quantize_inputs=asymmetric)
    model.op(BuiltinOperator.BATCH_MATMUL, [x, w], [y], options, 4)
    return model.build([x], [y])


@pytest.mark.parametrize("numerics", _NUMERICS)
@pytest.mark.parametrize("asymmetric", (False, True))
@pytest.mark.parametrize("w_shape, adj_y", (((17, 9), False), ((3, 9, 17), True), ((2, 1, 17, 40), False)))
def test_batch_matmul(w_shape: tuple[int, ...], adj_y: bool, asymmetric: bool, numerics: str) -> None:
    x = np.random.default_rng(10).standard_normal((2, 3, 5, 17)).astype(np.float32) + np.float32(0.4)
    check_equal(_matmul(w_shape, asymmetric, adj_y), [x], numerics)


_CPU_ONLY = [case for case in cases_of("hybrid") if case.id.startswith("hybrid-dense-tanh")]


@needs_triton
@pytest.mark.parametrize("case", _CPU_ONLY, ids=lambda case: case.id)
def test_activations_that_are_no_clamps_are_left_to_the_cpu(case: Case) -> None:
    delegate = simulated()
    interpreter_of(case.make(), delegate, "default").allocate_tensors()
    assert list(delegate._reasons.values()) == [
        "FULLY_CONNECTED: TANH and SIGN_BIT of int8 weights are not built"
    ]


@pytest.mark.long
@pytest.mark.parametrize("numerics", _NUMERICS)
def test_compiles_for_sm_90(numerics: str) -> None:
    cases = [case for case in cases_of("hybrid") if all(case is not left for left in _CPU_ONLY)]
    models: list[tuple[bytes, dict[int, tuple[int, ...]]]] = [(case.make(), {}) for case in cases]
    models += [(_conv(size, False, True), {0: (32, 5, 4, 8)}) for size in (1, 3)]
    models.append(
        (_identity(tflite.FullyConnectedOptionsT(asymmetric_quantize_inputs=True), 1.0), {0: (3, 37)})
    )
    models += [(_matmul((3, 17, 9)), {0: (2, 3, 5, 17)}), (_matmul((17, 64)), {0: (40, 3, 5, 17)})]
    kernels = {
        kernel: None for model, shapes in models for kernel in kernels_of(model, shapes, "tf32x3", numerics)
    }
    assert {kernel.function for kernel in kernels} >= {"quantize_rows", "conv", "depthwise"}
    for kernel in kernels:
        code = machine_code(kernel)
        assert code.stack == 0 and code.shared <= SHARED_BYTES, f"{kernel}: {code.stack}, {code.shared}"
        if kernel.function == "quantize_rows":
            # A product and a sum in one instruction would be rounded once, where the CPU rounds twice.
            assert "fma.rn.f32" not in compile_triton(kernel, 90).asm["ptx"], kernel
