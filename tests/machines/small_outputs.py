"""Prints a digest of the outputs of some models of one float32 operator, and which compilers were imported.

It runs in any Python that has numlite and NumPy: on this machine for its targets, and on emulated ones.
"""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.tests.model_builder import ModelBuilder

Op = tflite.BuiltinOperator
SHAPE = (7, 333)
UNARY = ("TANH", "ELU", "RELU6", "HARD_SWISH", "SQRT", "SIN", "COS", "EXP", "LOGISTIC", "LOG")


def models() -> dict[str, bytes]:
    made = {name: _one(getattr(Op, name)) for name in UNARY}
    made["SOFTMAX"] = _one(Op.SOFTMAX, tflite.SoftmaxOptionsT(beta=1.0))
    made["LOG_SOFTMAX"] = _one(Op.LOG_SOFTMAX)
    made["SUM"] = _one(Op.SUM, tflite.ReducerOptionsT(keep_dims=True), np.array([1], np.int32), (7, 1))
    made["MEAN"] = _one(Op.MEAN, tflite.ReducerOptionsT(keep_dims=True), np.array([0, 1], np.int32), (1, 1))
    return made


def _one(
    code: int, options: object = None, axes: np.ndarray | None = None, shape: tuple[int, ...] = SHAPE
) -> bytes:
    model = ModelBuilder()
    x, y = model.tensor(SHAPE), model.tensor(shape)
    inputs = [x] if axes is None else [x, model.constant(axes)]
    model.op(code, inputs, [y], options)
    return model.build([x], [y])


def digest(content: bytes, num_threads: int) -> str:
    """Of the outputs of some runs with other values in each, at the ends of float32 too."""
    interpreter = Interpreter(model_content=content, num_threads=num_threads)
    interpreter.allocate_tensors()
    generator, found = np.random.default_rng(0), hashlib.sha256()
    for scale in (1e-40, 1e-3, 1, 10, 60, 3e38):
        x = (generator.standard_normal(SHAPE) * scale).clip(-3e38, 3e38).astype(np.float32)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        # Which NaN it is depends on the processor.
        found.update(np.where(np.isnan(y), np.float32(np.nan), y).tobytes())
    return found.hexdigest()[:16]


if __name__ == "__main__":
    digests = {name: digest(content, int(sys.argv[1])) for name, content in models().items()}
    compilers = [name for name in ("numba", "llvmlite") if name in sys.modules]
    print(json.dumps({"digests": digests, "compilers": compilers}))
