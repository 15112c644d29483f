"""ONNX's own node tests, converted and run: which pass, which are refused and why, by operator.

    python tests/onnx_nodes.py --onnx PYTHON [--match NAME]

PYTHON is a Python that has the onnx package (NUMLITE_ONNX says it, too), whose tests these are
(`onnx.backend.test`). An output is right where it differs from ONNX's by at most 1e-5 of the larger of 1 and
itself (1e-2 of 16 bits).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes  # noqa: F401  # where it is imported, interpreters give and take bfloat16 as its type
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numlite
from numlite.converter import Converter, OpsSet
from numlite.lite.errors import UnsupportedError
from numlite.schema.onnx import ModelProto, ValueInfoProto

_WRITER = Path(__file__).with_name("onnx_node_cases.py")
# What is due, what ONNX itself allows (some of its outputs have four digits), and of 16 bits.
_EXACT, _ONNX, _SHORT = 1e-5, 1e-3, 1e-2
_ASKS_FOR_NUMBERS = re.compile("must be constant|must be known|a constant number of turns|fixed number")
_RANDOM = re.compile("bernoulli|training_dropout(?!_zero)")


@dataclass(frozen=True)
class Outcome:
    """How one test ended, and why.

    bound: passed with inputs that are sizes or settings as constants, or with the lengths of sequences;
    select: with TensorFlow's ops in the model; drawn: random numbers, of which only shapes are compared;
    close: nearer than ONNX asks for, but not as near as is due; wrong: farther; failed: with another error
    than a refusal.
    """

    name: str
    op: str
    ended: str
    why: str = ""


def write_cases(python: str, folder: Path) -> int:
    """The tests, written by the other Python; how many there are."""
    command = [python, str(_WRITER), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return int(done.stdout.split()[-1])


def outcomes(folder: Path, match: str = "") -> Iterator[Outcome]:
    for path in sorted(folder.glob("*.onnx")):
        if re.search(match, path.stem):
            yield outcome(path)


def outcome(path: Path) -> Outcome:
    """One test, run."""
    name, op = path.stem, "?"
    try:
        op = _operator(path.read_bytes())
        with np.load(path.with_suffix(".npz")) as held:
            arrays = dict(held)
        model, ended = _converted(path, arrays)
        if _RANDOM.search(name):
            arrays = {key: array if key[0] == "i" else array[...] * 0 for key, array in arrays.items()}
            wrong = _compared(path, model, arrays, np.inf)
            return Outcome(name, op, "wrong" if wrong else "drawn", wrong)
        wrong = _compared(path, model, arrays, _EXACT)
        if wrong and not _compared(path, model, arrays, _ONNX):
            return Outcome(name, op, "close", wrong)
        return Outcome(name, op, "wrong" if wrong else ended, wrong)
    except UnsupportedError as error:
        return Outcome(name, op, "refused", str(error).splitlines()[-1].partition("): ")[2] or str(error))
    except Exception as error:
        return Outcome(name, op, "failed", f"{type(error).__name__}: {error}")


def _converted(path: Path, arrays: dict[str, np.ndarray]) -> tuple[bytes, str]:
    """The model, and what it took: nothing (passed), constant settings (bound), TensorFlow's ops (select)."""
    shapes, values = _lengths(path, arrays), _missing(path, arrays)
    try:
        ended = "bound" if shapes or values else "passed"
        return Converter.from_onnx(path, shapes, values).convert(), ended
    except UnsupportedError as error:
        small = _small_inputs(path, arrays) if _ASKS_FOR_NUMBERS.search(str(error)) else {}
        if small:
            return Converter.from_onnx(path, shapes, {**small, **values}).convert(), "bound"
        if "(--select-tf-ops)" not in str(error):
            raise
        converter = Converter.from_onnx(path, shapes, values)
        converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS]
        return converter.convert(), "select"


def _lengths(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, list]:
    """The shapes of the items of inputs that are sequences."""
    found = {}
    for place, info in enumerate(ModelProto.FromString(path.read_bytes()).graph.input):
        if f"i{place}[]" in arrays:
            count = int(arrays[f"i{place}[]"])
            found[info.name] = [list(arrays[f"i{place}[{at}]"].shape) for at in range(count)]
    return found


def _missing(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, None]:
    """The inputs that are optional values, and not there."""
    inputs = ModelProto.FromString(path.read_bytes()).graph.input
    return {info.name: None for place, info in enumerate(inputs) if f"i{place}[none]" in arrays}


def _parts(ends: Iterable[ValueInfoProto], role: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of inputs or outputs by the names that the converted model has for them."""
    found = {}
    for place, info in enumerate(ends):
        key = f"{role}{place}"
        if key in arrays:
            found[info.name] = arrays[key]
        elif f"{key}[]" in arrays:
            count = int(arrays[f"{key}[]"])
            found |= {f"{info.name}[{at}]": arrays[f"{key}[{at}]"] for at in range(count)}
    return found


def _operator(content: bytes) -> str:
    """The operator that the test is of; one that is written out in others has the name of all of those."""
    ops = {node.op_type for node in ModelProto.FromString(content).graph.node}
    return ops.pop() if len(ops) == 1 else "(expanded)"


def _small_inputs(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The inputs that are sizes, axes or settings rather than data: scalars, and vectors behind the first."""
    found = {}
    for place, info in enumerate(ModelProto.FromString(path.read_bytes()).graph.input):
        if f"i{place}" in arrays and arrays[f"i{place}"].ndim <= bool(place):
            found[info.name] = arrays[f"i{place}"]
    return found


def _compared(path: Path, model: bytes, arrays: dict[str, np.ndarray], close: float) -> str:
    """What is wrong with the outputs, "" when nothing is."""
    graph = ModelProto.FromString(path.read_bytes()).graph
    runner = numlite.Interpreter(model_content=model).get_signature_runner()
    details = runner.get_input_details()
    inputs = {}
    for name, given in _parts(graph.input, "i", arrays).items():
        if name not in details:
            continue
        is_text = given.dtype.kind == "U"
        inputs[name] = (
            np.char.encode(given).astype(object) if is_text else given.astype(details[name]["dtype"])
        )
    results = runner(**inputs)
    wanted = _parts(graph.output, "o", arrays)
    for name in wanted.keys() - results.keys():
        # A sequence of a length that is known only when the model runs is one tensor.
        whole = name.partition("[")[0]
        place = int(name[len(whole) + 1 : -1]) if whole != name else -1
        if whole not in results or place >= len(results[whole]):
            return f"output {name}: it is not there"
        results[name] = results[whole][place]
    for name, array in wanted.items():
        fault = _fault(results[name], array, close)
        if fault:
            return f"output {name}: {fault}"
    return ""


def _fault(found: np.ndarray, wanted: np.ndarray, close: float) -> str:
    found = np.asarray(found)
    if found.shape != wanted.shape:
        return f"shape {list(found.shape)}, not {list(wanted.shape)}"
    if wanted.dtype.kind == "U":
        texts = [each.decode() if isinstance(each, bytes) else each for each in found.reshape(-1)]
        return "" if texts == list(wanted.reshape(-1)) else "other texts"
    short = wanted.dtype == np.float16 or str(found.dtype) in ("bfloat16", "float16")
    close = _SHORT if short else close
    with np.errstate(all="ignore"):
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        bad = ~((np.abs(a - b) <= close * np.maximum(1, np.abs(b))) | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not bad.any():
        return ""
    return f"{int(bad.sum())} of {bad.size} differ, the first {a[bad][0]:.8g}, not {b[bad][0]:.8g}"


def table(found: list[Outcome]) -> str:
    """Numbers by operator, then the reasons of what did not pass."""
    kinds = ("passed", "bound", "select", "drawn", "close", "refused", "wrong", "failed")
    by_op: dict[str, Counter[str]] = {}
    for each in found:
        by_op.setdefault(each.op, Counter())[each.ended] += 1
    lines = [f"{'operator':28}" + "".join(f"{kind:>9}" for kind in kinds)]
    lines += [f"{op:28}" + "".join(f"{by_op[op][kind] or '':>9}" for kind in kinds) for op in sorted(by_op)]
    whole = Counter(each.ended for each in found)
    lines += [f"{'all':28}" + "".join(f"{whole[kind]:>9}" for kind in kinds), ""]
    reasons = Counter(
        (each.ended, each.op, each.why)
        for each in found
        if each.ended not in ("passed", "bound", "select", "drawn")
    )
    lines += [f"{ended:8} {count:4} {op}: {why[:160]}" for (ended, op, why), count in sorted(reasons.items())]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--onnx", metavar="PYTHON", default=os.environ.get("NUMLITE_ONNX"), help="a Python that has onnx"
    )
    parser.add_argument("--folder", type=Path, help="tests that onnx_node_cases.py wrote before")
    parser.add_argument("--match", default="", help="a regular expression of the tests' names")
    given = parser.parse_args()
    if given.folder is None and given.onnx is None:
        parser.error("--onnx or NUMLITE_ONNX must name a Python that has the onnx package")
    if given.folder is not None:
        found = list(outcomes(given.folder, given.match))
    else:
        with tempfile.TemporaryDirectory() as folder:
            write_cases(given.onnx, Path(folder))
            found = list(outcomes(Path(folder), given.match))
    print(table(found))
    return int(any(each.ended in ("wrong", "failed") for each in found))


if __name__ == "__main__":
    sys.exit(main())
