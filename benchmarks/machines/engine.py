"""One model in one engine, run by another process's orders: numlite, LiteRT or OpenVINO, one thread.

    engine.py ENGINE MODEL count      # marks two inferences for instructions.c
    engine.py ENGINE MODEL turns      # reads a number of runs, prints CPU seconds of one; again and again
    engine.py ENGINE MODEL digest     # prints a digest of the outputs of two inputs

It runs in the Pythons of other machines and engines, so it needs NumPy and the engine only.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Runs = tuple[Callable[[int], None], Callable[[], Any], Callable[[], list[np.ndarray]]]


def main() -> None:
    engine, model, what = sys.argv[1:]
    fill, run, outputs = {"numlite": interpreter, "litert": interpreter, "openvino": openvino}[engine](
        engine, model
    )
    fill(0)
    run()
    if what == "count":
        mark = ctypes.CDLL(None).close
        run()
        mark(-777)
        run()
        mark(-777)
    elif what == "turns":
        run()
        print("ready", flush=True)
        for line in sys.stdin:
            begun, count = time.process_time(), int(line)
            for _ in range(count):
                run()
            print((time.process_time() - begun) / count, flush=True)
    else:
        digest = hashlib.sha256()
        for seed in range(2):
            fill(seed)
            run()
            for array in outputs():
                digest.update(f"{array.dtype} {array.shape} ".encode() + array.tobytes())
        print(digest.hexdigest()[:16])


def interpreter(engine: str, model: str) -> Runs:
    if engine == "litert":
        from ai_edge_litert.interpreter import Interpreter
    else:
        from numlite.interpreter import Interpreter
    made = Interpreter(model, num_threads=1)
    made.allocate_tensors()

    def fill(seed: int) -> None:
        for place, details in enumerate(made.get_input_details()):
            made.set_tensor(details["index"], values(tuple(details["shape"]), details["dtype"], seed + place))

    def outputs() -> list[np.ndarray]:
        return [made.get_tensor(details["index"]) for details in made.get_output_details()]

    return fill, made.invoke, outputs


def openvino(engine: str, model: str) -> Runs:
    from openvino import Core, Tensor

    core = Core()
    compiled = core.compile_model(
        core.read_model(model), "CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    )
    request = compiled.create_infer_request()

    def fill(seed: int) -> None:
        for place, port in enumerate(compiled.inputs):
            shape = tuple(side.get_length() if side.is_static else 1 for side in port.partial_shape)
            request.set_tensor(port, Tensor(values(shape, port.element_type.to_dtype(), seed + place)))

    def outputs() -> list[np.ndarray]:
        return [request.get_tensor(port).data for port in compiled.outputs]

    return fill, request.infer, outputs


def values(shape: tuple[int, ...], dtype: Any, seed: int) -> np.ndarray:
    """Random elements: integers over their whole range but the widest, floats from 0 to 1."""
    generator, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind not in "iu":
        return generator.random(shape).astype(dtype)
    limits = np.iinfo(dtype) if dtype.itemsize < 4 else np.iinfo(np.int8)
    return generator.integers(max(limits.min, -1000), min(limits.max, 1000) + 1, shape).astype(dtype)


if __name__ == "__main__":
    main()
