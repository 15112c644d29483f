"""FULLY_CONNECTED with a scale for each block: panels of 4-bit weights give the plain loop's bytes."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.kernels.contraction import blockwise
from numlite.schema import tflite

from ..cases.packed_weights import packed
from ..model_builder import ModelBuilder

INT4 = tflite.TensorType.INT4
RANDOM = np.random.default_rng(3)


def model(rows: int, blocks: int, block_size: int, units: int, with_bias: bool) -> bytes:
    model = ModelBuilder()
    depth = blocks * block_size
    w = RANDOM.integers(-8, 8, (units, depth))
    scales = RANDOM.uniform(-0.1, 0.1, (units, blocks)).astype(np.float16)
    operands = [model.tensor((rows, depth)), model.tensor(w.shape, INT4, packed(w, INT4))]
    operands.append(model.constant(RANDOM.standard_normal(units).astype(np.float32)) if with_bias else -1)
    details = tflite.BlockwiseQuantizationT(
        scales=model.constant(scales), zero_points=-1, block_size=block_size
    )
    model.model.subgraphs[0].tensors[operands[1]].quantization = tflite.QuantizationParametersT(
        details=details
    )
    y = model.tensor((rows, units))
    options = tflite.FullyConnectedOptionsT()
    model.op(tflite.BuiltinOperator.FULLY_CONNECTED, operands, [y], options, 12)
    return model.build(operands[:1], [y])


def outputs(content: bytes, x: np.ndarray, resolver: OpResolverType, threads: int = 1) -> bytes:
    interpreter = Interpreter(
        model_content=content, num_threads=threads, experimental_op_resolver_type=resolver
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tobytes()


@pytest.mark.parametrize("resolver", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF], ids=lambda r: r.name)
@pytest.mark.parametrize(
    ("rows", "blocks", "block_size", "units"),
    [
        (1, 8, 32, 100),
        (1, 1, 8, 1),
        (1, 5, 64, 96),
        (1, 3, 16, 250),
        (2, 3, 24, 33),
        (5, 2, 64, 16),
        (9, 4, 16, 40),
        (23, 2, 256, 65),
    ],
)
def test_panels_give_the_bytes_of_the_plain_loop(
    monkeypatch: pytest.MonkeyPatch,
    resolver: OpResolverType,
    rows: int,
    blocks: int,
    block_size: int,
    units: int,
) -> None:
    x = RANDOM.standard_normal((rows, blocks * block_size)).astype(np.float32)
    for with_bias in (False, True):
        content = model(rows, blocks, block_size, units, with_bias)
        packed_outputs = outputs(content, x, resolver)
        with monkeypatch.context() as patch:
            patch.setattr(blockwise, "fits_int4", lambda weights: False)
            assert outputs(content, x, resolver) == packed_outputs


def test_two_threads_give_the_same_bytes() -> None:
    content = model(40, 8, 128, 1000, True)
    x = RANDOM.standard_normal((40, 1024)).astype(np.float32)
    auto = OpResolverType.AUTO
    assert outputs(content, x, auto, 2) == outputs(content, x, auto)


def test_what_does_not_fit_panels_is_left_to_the_plain_loop() -> None:
    fits = blockwise.fits_int4
    assert fits(np.full((2, 3, 8), -8, np.int8))
    assert not fits(np.full((2, 3, 8), 8, np.int8))
    assert not fits(np.zeros((2, 3, 12), np.int8))
    assert not fits(np.zeros((1, 1, (1 << 16) + 8), np.int8))
