"""ONNX models converted: operators, transposes left, error and time beside onnxruntime's.

    python benchmarks/onnx_models.py FOLDER --onnxruntime PYTHON [--channels-last] [--onnx2tf FOLDER]

FOLDER has .onnx files of one input x [1, 3, h, w] and one output y (benchmarks/onnx_export.py makes some).
PYTHON has onnxruntime, which runs on one thread, as numlite does. Both take turns, and the milliseconds are
medians of the processor's time. The error is the largest difference by the largest output. With
--channels-last inputs are [1, h, w, 3], and no transpose need be left.

The second folder has what onnx2tf makes of the same files (onnx2tf -i NET.onnx -o FOLDER/NET): operators,
transposes, error and milliseconds of its models in numlite stand beside ours.
"""

from __future__ import annotations

import argparse
import statistics
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
[y] = session.run(None, {"x": x})
np.savez(sys.argv[2], x=x, y=y)
print("ready", flush=True)
for _ in sys.stdin:
    start = time.process_time()
    session.run(None, {"x": x})
    print(time.process_time() - start, flush=True)
"""


class Reference:
    """onnxruntime in a process of its own: its input, its output, and a run whenever one is asked for."""

    def __init__(self, python: str, path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            found = Path(folder) / "found.npz"
            command = [python, "-c", _REFERENCE, str(path), str(found)]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
            )
            self._line()
            with np.load(found) as held:
                self.known = dict(held)

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"onnxruntime ended with {self.process.wait()}")
        return line

    def seconds(self) -> float:
        """The processor's time for one run."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        return float(self._line())

    def end(self) -> None:
        self.process.communicate()


def operators(content: bytes) -> Counter[str]:
    """How many operators there are of each kind."""
    file = tflite.read(content)
    names = [tflite.BuiltinOperator(code.builtin_code).name for code in file.operator_codes]
    return Counter(names[each.opcode_index] for graph in file.subgraphs for each in graph.operators)


def seconds(run: Callable[[], object]) -> float:
    """The processor's time for one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def measured(content: bytes, reference: Reference) -> tuple[list[str], float, float]:
    """Operators, transposes and error of a model, whichever order its images have; its time, the other's."""
    interpreter = Interpreter(model_content=content)
    [input_], [output] = interpreter.get_input_details(), interpreter.get_output_details()
    x, y = reference.known["x"], reference.known["y"]
    x = x if tuple(input_["shape"]) == x.shape else np.moveaxis(x, 1, -1)
    interpreter.allocate_tensors()

    def run() -> np.ndarray:
        interpreter.set_tensor(input_["index"], x)
        interpreter.invoke()
        return interpreter.get_tensor(output["index"])

    error = np.abs(run() - y).max() / max(np.abs(y).max(), 1e-30)
    counts = operators(content)
    turns = [(seconds(run), reference.seconds()) for _ in range(_RUNS)]
    own, other = (1e3 * statistics.median(each) for each in zip(*turns, strict=True))
    return [str(counts.total()), str(counts["TRANSPOSE"]), f"{error:.1e}"], own, other


def _theirs(model: Path, reference: Reference) -> list[str]:
    counts, own, _ = measured(model.read_bytes(), reference)
    return [*counts, f"{own:.1f}"]


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
        reference = Reference(given.onnxruntime, path)
        start = time.process_time()
        content = Converter.from_onnx(path, channels_last=["x"] if given.channels_last else []).convert()
        converted = time.process_time() - start
        counts, own, other = measured(content, reference)
        row = [*counts, f"{own:.1f}", f"{other:.1f}", f"{converted:.1f}"]
        if given.onnx2tf is not None:
            model = given.onnx2tf / path.stem / f"{path.stem}_float32.tflite"
            row += _theirs(model, reference) if model.exists() else ["none"]
        reference.end()
        print(f"{path.stem:22}" + "".join(f"{each:>13}" for each in row), flush=True)


if __name__ == "__main__":
    main()
