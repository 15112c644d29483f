"""Runs models in guarded memory: kernels must stay inside what they may touch, and results must not change.

    python tests/run_guarded.py model.tflite folder/

A kernel that strays ends the process; the last name printed is the model's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numlite
import numpy as np
from numlite.cli.model_inputs import fill_inputs, named

sys.path.insert(0, str(Path(__file__).resolve().parent))
import guarded_memory


def outputs(content: bytes | memoryview, kind: numlite.OpResolverType) -> list[np.ndarray]:
    """Of the second of two invokes on the same random inputs."""
    interpreter = numlite.Interpreter(model_content=content, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    details = interpreter.get_input_details()
    for detail, array in zip(details, fill_inputs(named(details), {}, seed=0).values(), strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def main() -> int:
    paths = [Path(name) for name in sys.argv[1:]]
    models = [model for path in paths for model in (sorted(path.rglob("*.tflite")) or [path])]
    kinds = (numlite.OpResolverType.AUTO, numlite.OpResolverType.BUILTIN_REF)
    wanted = {(model, kind): outputs(model.read_bytes(), kind) for model in models for kind in kinds}
    guarded_memory.install()
    faults = 0
    for (model, kind), plain in wanted.items():
        print(f"{model} {kind.name}", flush=True)
        guarded = outputs(guarded_memory.guarded_copy(model.read_bytes()), kind)
        if not guarded_memory.check_tails():
            print("  wrote behind the end of its memory")
            faults += 1
        if not all(np.array_equal(a, b) for a, b in zip(plain, guarded, strict=True)):
            print("  gives other results in guarded memory")
            faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
