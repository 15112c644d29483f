"""Prints digests of the outputs of small models of one product of bytes each, of many sizes.

Depths, columns and rows are those at which tiles, panels and steps of the depth end; bytes lie at the ends
of their ranges. It runs in any Python that has numlite and NumPy: on this machine, and on emulated ones.

    python product_outputs.py COUNT
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable

import numpy as np
from numlite.interpreter import Interpreter, OpResolverType
from numlite.lite.errors import UnsupportedError
from numlite.schema import tflite
from numlite.tests.model_builder import ModelBuilder

Op = tflite.BuiltinOperator
RESOLVERS = OpResolverType.AUTO, OpResolverType.BUILTIN_REF
DEPTHS, COLUMNS, ROWS = (
    (1, 3, 4, 7, 8, 12, 16, 17, 20, 23, 36, 41),
    (1, 5, 8, 15, 16, 17, 33, 48, 50),
    (1, 2, 3, 5, 6, 7, 13, 30),
)


def _bytes(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, least: int = -128) -> np.ndarray:
    """Ends of the range in three of four, else anything."""
    ends = rng.choice([least, -127, 127, 0], shape)
    values = np.where(rng.random(shape) < 0.75, ends, rng.integers(least, 128, shape))
    return values.astype(np.int8) if dtype == "int8" else (values + 128).astype(np.uint8)


def _scale(depth: int) -> float:
    """Of a result, so that few sums of so many products leave its range."""
    return 60.0 * depth**0.5


def _fully_connected(rng: np.random.Generator, dtype: str) -> bytes:
    rows, depth, columns = (int(rng.choice(sizes)) for sizes in (ROWS, DEPTHS, COLUMNS))
    model, quantized = ModelBuilder(), dtype != "float32"
    zero = {"int8": 0, "uint8": 131, "float32": 0}[dtype]
    given = {"scale": 1.0, "zero_point": int(rng.integers(-128, 128)) + 128 * (dtype == "uint8")}
    x = model.tensor((rows, depth), dtype, **(given if quantized else {}))
    kind = "int8" if dtype == "float32" else dtype
    w = model.constant(
        _bytes(rng, (columns, depth), kind, int(rng.choice([-128, -127]))), scale=1.0, zero_point=zero
    )
    b = model.constant(rng.integers(-9000, 9000, columns).astype("int32" if quantized else "float32"))
    y = model.tensor(
        (rows, columns), dtype, **({"scale": _scale(depth) * 30, "zero_point": zero} if quantized else {})
    )
    model.op(Op.FULLY_CONNECTED, [x, w, b], [y], tflite.FullyConnectedOptionsT(), version=4)
    return model.build([x], [y])


def _conv(rng: np.random.Generator, dtype: str) -> bytes:
    height, width, side, stride = (
        int(rng.integers(low, high)) for low, high in ((3, 8), (3, 9), (1, 4), (1, 3))
    )
    depth, columns = (int(rng.choice(sizes)) for sizes in (DEPTHS, COLUMNS))
    model, quantized, kind = ModelBuilder(), dtype != "float32", "int8" if dtype == "float32" else dtype
    zero = {"int8": -7, "uint8": 3, "float32": 0}[dtype]
    w_zero = 120 if dtype == "uint8" else 0
    x = model.tensor(
        (1, height, width, depth), dtype, **({"scale": 1.0, "zero_point": zero} if quantized else {})
    )
    values = _bytes(rng, (columns, side, side, depth), kind, int(rng.choice([-128, -127])))
    w = model.constant(values, scale=1.0, zero_point=w_zero)
    b = model.constant(rng.integers(-9000, 9000, columns).astype("int32" if quantized else "float32"))
    sizes = (1, -(-height // stride), -(-width // stride), columns)
    y = model.tensor(sizes, dtype, **({"scale": _scale(depth) * 90, "zero_point": zero} if quantized else {}))
    options = tflite.Conv2DOptionsT(padding=tflite.Padding.SAME, stride_h=stride, stride_w=stride)
    model.op(Op.CONV_2D, [x, w, b], [y], options, version=3)
    return model.build([x], [y])


def _batch_matmul(rng: np.random.Generator, dtype: str) -> bytes:
    rows, depth, columns = (int(rng.choice(sizes)) for sizes in (ROWS, DEPTHS, COLUMNS))
    model, adjoint, constant = ModelBuilder(), bool(rng.integers(2)), bool(rng.integers(2))
    x = model.tensor((2, rows, depth), dtype, scale=1.0, zero_point=int(rng.integers(-128, 128)))
    shape, how = (2, columns, depth) if adjoint else (2, depth, columns), {"scale": 1.0, "zero_point": 0}
    w = model.constant(_bytes(rng, shape, dtype), **how) if constant else model.tensor(shape, dtype, **how)
    y = model.tensor((2, rows, columns), dtype, scale=_scale(depth) * 90, zero_point=5)
    model.op(Op.BATCH_MATMUL, [x, w], [y], tflite.BatchMatMulOptionsT(adj_y=adjoint), version=2)
    return model.build([x] if constant else [x, w], [y])


MODELS: tuple[tuple[Callable[[np.random.Generator, str], bytes], str], ...] = (
    *((_fully_connected, dtype) for dtype in ("int8", "uint8", "float32")),
    *((_conv, dtype) for dtype in ("int8", "uint8", "float32")),
    (_batch_matmul, "int8"),
)


def digests(number: int) -> dict[str, str]:
    """Of a model's outputs in each numerics; "UnsupportedError" where there is no kernel for it."""
    make, dtype = MODELS[number % len(MODELS)]
    content = make(np.random.default_rng(number), dtype)
    found = {}
    for resolver in RESOLVERS:
        name = f"{number} {make.__name__.lstrip('_')} {dtype} {resolver.name}"
        try:
            found[name] = hashlib.sha256(_outputs(content, resolver, number)).hexdigest()[:16]
        except UnsupportedError:
            found[name] = UnsupportedError.__name__
    return found


def _outputs(content: bytes, resolver: OpResolverType, seed: int) -> bytes:
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    rng = np.random.default_rng(seed)
    for detail in interpreter.get_input_details():
        shape, dtype = tuple(detail["shape"]), np.dtype(detail["dtype"]).name
        x = rng.standard_normal(shape).astype(dtype) if dtype == "float32" else _bytes(rng, shape, dtype)
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    y: np.ndarray = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return y.tobytes()


if __name__ == "__main__":
    print(json.dumps({k: v for number in range(int(sys.argv[1])) for k, v in digests(number).items()}))
