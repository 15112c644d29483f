"""ONNX models converted: operators, transposes left, error and time beside onnxruntime's.

    python benchmarks/onnx_models.py FOLDER --onnxruntime PYTHON [--channels-last] [--onnx2tf FOLDER]

FOLDER has .onnx files of one input x [1, 3, h, w] and one output y (benchmarks/onnx_export.py makes some).
PYTHON has onnxruntime, which runs on one thread, as numlite does. The error is the largest difference by the
largest output. With --channels-last inputs are [1, h, w, 3], and no transpose need be left.

The second folder has what onnx2tf makes of the same files (onnx2tf -i NET.onnx -o FOLDER/NET): operators,
transposes, error and milliseconds of its models in numlite stand beside ours.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from numlite import Interpreter
from numlite.converter import Converter
from numlite.schema import tflite

_RUNS = 7
_REFERENCE = """
import sys, time
import numpy as np
import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options)
shape = [size if isinstance(size, int) else 1 for size in session.get_inputs()[0].shape]
x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
times = []
for _ in range({runs}):
    start = time.perf_counter()
    [y] = session.run(None, {{"x": x}})
    times.append(time.perf_counter() - start)
np.savez(sys.argv[2], x=x, y=y, seconds=min(times))
"""


def reference(python: str, path: Path) -> dict[str, np.ndarray]:
    """Input, output and seconds of onnxruntime."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.npz"
        code = _REFERENCE.format(runs=_RUNS)
        subprocess.run([python, "-c", code, str(path), str(found)], check=True, timeout=600)
        with np.load(found) as held:
            return dict(held)


def operators(content: bytes) -> Counter[str]:
    """How many operators there are of each kind."""
    file = tflite.read(content)
    names = [tflite.BuiltinOperator(code.builtin_code).name for code in file.operator_codes]
    return Counter(names[each.opcode_index] for graph in file.subgraphs for each in graph.operators)


def fastest(run: Callable[[], object]) -> float:
    times = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def measured(content: bytes, known: dict[str, np.ndarray]) -> list[str]:
    """Operators, transposes, error and milliseconds of a model, whichever order its images have."""
    interpreter = Interpreter(model_content=content)
    [input_], [output] = interpreter.get_input_details(), interpreter.get_output_details()
    x = known["x"]
    x = x if tuple(input_["shape"]) == x.shape else np.moveaxis(x, 1, -1)
    interpreter.allocate_tensors()

    def run() -> np.ndarray:
        interpreter.set_tensor(input_["index"], x)
        interpreter.invoke()
        return interpreter.get_tensor(output["index"])

    error = np.abs(run() - known["y"]).max() / max(np.abs(known["y"]).max(), 1e-30)
    counts = operators(content)
    return [str(counts.total()), str(counts["TRANSPOSE"]), f"{error:.1e}", f"{1e3 * fastest(run):.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--onnxruntime", metavar="PYTHON", required=True)
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--onnx2tf", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    heads = ["operators", "transposes", "error", "ms", "onnxruntime", "converted s"]
    if given.onnx2tf is not None:
        heads += ["onnx2tf's", "transposes", "error", "ms"]
    print(f"{'net':22}" + "".join(f"{head:>13}" for head in heads))
    for path in sorted(given.folder.glob("*.onnx")):
        known = reference(given.onnxruntime, path)
        start = time.perf_counter()
        content = Converter.from_onnx(path, channels_last=["x"] if given.channels_last else []).convert()
        seconds = time.perf_counter() - start
        row = [*measured(content, known), f"{1e3 * float(known['seconds']):.1f}", f"{seconds:.1f}"]
        if given.onnx2tf is not None:
            other = given.onnx2tf / path.stem / f"{path.stem}_float32.tflite"
            row += measured(other.read_bytes(), known) if other.exists() else ["none"]
        print(f"{path.stem:22}" + "".join(f"{each:>13}" for each in row), flush=True)


if __name__ == "__main__":
    main()
