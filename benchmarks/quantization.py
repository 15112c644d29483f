"""What quantizing costs and saves: SQNR and bytes beside TensorFlow's and ai-edge-quantizer's models.

    python benchmarks/quantization.py                                  # nets of ../shared/convert/quant
    python benchmarks/quantization.py --held DIR --quantizer PYTHON    # others; and ai-edge-quantizer
    python benchmarks/quantization.py --match keras --scheme dynamic
    python benchmarks/quantization.py --goals                          # which goals are met, at the end

A net is a folder with float.tflite or float.pb, TensorFlow's files of schemes, data.npz ("x": inputs one
after another) and outputs.npz ("float"). PYTHON is that of an environment with ai-edge-quantizer. SQNR is
that of LiteRT's outputs in dB against TensorFlow's float model; then comes that of numlite's outputs against
LiteRT's, and the share of int8 weights that are TensorFlow's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ai_edge_litert.interpreter as litert
import numlite
import numpy as np
from numlite.converter import convert_graph, read_graph
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.recipe import Recipe, scheme_recipe
from numlite.lite.model import Model
from numlite.lite.tensor import TensorType
from numlite.model_comparison import sqnr_db
from quantization_goals import Found, Row, float_count, goals, operator_count

NETS = Path(__file__).resolve().parents[2] / "shared/convert/quant"


class Peer(NamedTuple):
    """A scheme: numlite's recipe, TensorFlow's file, ai-edge-quantizer's recipes, and what inputs become."""

    recipe: Recipe
    file: str = ""
    names: tuple[str, ...] = ()
    ends: str = "float32"
    improve: str | None = None


_FLOAT_ENDS = "int8_floatio"


# TensorFlow's model where it made none with float inputs and outputs; its integers are the same.
_INTEGER_ENDS = "TF with int8 ends"
SCHEMES = {
    "int8": Peer(scheme_recipe("int8"), "int8", ends="int8"),
    "int8, min-max": Peer(scheme_recipe("int8"), "int8", ends="int8", improve="none"),
    "int8, float ends": Peer(scheme_recipe("int8"), _FLOAT_ENDS),
    "int8 per tensor": Peer(scheme_recipe("int8", per_channel=False), "int8_pertensor", ends="int8"),
    "int16x8": Peer(scheme_recipe("int16x8"), "int16x8", ends="int16"),
    "dynamic": Peer(scheme_recipe("dynamic"), "dynamic", ("dynamic_legacy_wi8_afp32",)),
    "dynamic, all": Peer(scheme_recipe("dynamic", least=0), "", ("dynamic_wi8_afp32",)),
    "float16": Peer(scheme_recipe("float16"), "float16"),
    "weight-int8": Peer(scheme_recipe("weight-int8"), "", ("weight_only_wi8_afp32",)),
    "weight-int4": Peer(
        scheme_recipe("weight-int4"),
        "",
        ("weight_only_wi4_afp32", "weight_only_wi4_afp32:MSE", "weight_only_wi4_afp32:OCTAV"),
    ),
    "dynamic int4": Peer(
        scheme_recipe("dynamic", least=0, weight_bits=4),
        "",
        ("dynamic_wi4_afp32", "dynamic_wi4_afp32:MSE", "dynamic_wi4_afp32:OCTAV"),
    ),
    "dynamic int4 GPTQ": Peer(
        scheme_recipe("dynamic", least=0, weight_bits=4, algorithm="gptq"), "", ("dynamic_wi4_afp32:OCTAV",)
    ),
    "dynamic int4 Hadamard": Peer(
        scheme_recipe("dynamic", least=0, weight_bits=4, algorithm="hadamard"),
        "",
        ("dynamic_wi4_afp32:HADAMARD_ROTATION",),
    ),
    "dynamic int2": Peer(scheme_recipe("dynamic", least=0, weight_bits=2)),
    "dynamic int4 b32": Peer(
        scheme_recipe("dynamic", least=0, weight_bits=4, block=32), "", ("dynamic_wi4b32_afp32",)
    ),
}
QUANTIZER = """
import sys
from ai_edge_quantizer import quantizer, recipe
name, _, algorithm = sys.argv[2].partition(":")
made = quantizer.Quantizer(sys.argv[1])
rules = getattr(recipe, name)()
for rule in rules:
    rule["algorithm_key"] = algorithm or rule["algorithm_key"]
made.load_quantization_recipe(rules)
open(sys.argv[3], "wb").write(bytes(made.quantize().quantized_model))
"""


def float_model(folder: Path) -> bytes:
    given = folder / "float.tflite"
    return given.read_bytes() if given.exists() else convert_graph(read_graph(folder / "float.pb"))


def representative(folder: Path) -> Iterator[list[np.ndarray]]:
    """The samples that TensorFlow was given, of batch 1."""
    for sample in np.load(folder / "data.npz")["rep"]:
        yield [sample[np.newaxis].astype(np.float32)]


def outputs(module: object, content: bytes, samples: np.ndarray) -> list[np.ndarray]:
    """The first output for each sample."""
    made = module.Interpreter(model_content=content)  # type: ignore[attr-defined]
    made.allocate_tensors()
    given, taken = made.get_input_details()[0], made.get_output_details()[0]
    found = []
    for sample in samples:
        made.set_tensor(given["index"], quantized(sample.reshape(given["shape"]), given))
        made.invoke()
        found.append(real(made.get_tensor(taken["index"])[0], taken))
    return found


def quantized(values: np.ndarray, detail: dict[str, Any]) -> np.ndarray:
    """Real numbers as an input takes them."""
    if detail["dtype"] == np.float32:
        return values.astype(np.float32)
    scale, zero_point = detail["quantization"]
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.rint(values / scale) + zero_point, limits.min, limits.max).astype(detail["dtype"])


def real(values: np.ndarray, detail: dict[str, Any]) -> np.ndarray:
    """An output as real numbers."""
    scale, zero_point = detail["quantization"]
    return values if detail["dtype"] == np.float32 else ((values.astype(np.float32) - zero_point) * scale)


def measured(content: bytes, samples: np.ndarray, expected: np.ndarray) -> tuple[Found, float]:
    """What LiteRT makes of a model, and how near numlite is to that, in dB."""
    theirs, ours = (np.array(outputs(module, content, samples)) for module in (litert, numlite))
    sqnr, count = sqnr_db(expected, theirs), operator_count(content)
    return Found(len(content), count, sqnr, agreement(expected, theirs)), sqnr_db(theirs, ours)


def agreement(expected: np.ndarray, found: np.ndarray) -> float | None:
    """The share of rows whose largest value is at the same place, None where they are no probabilities."""
    rows = expected.reshape(len(expected), -1)
    if rows.shape[1] < 2 or rows.min() < 0 or np.abs(rows.sum(axis=1) - 1).max() > 1e-3:
        return None
    return float((rows.argmax(axis=1) == found.reshape(len(found), -1).argmax(axis=1)).mean())


def int8_weights(content: bytes) -> dict[tuple[int, ...], list[np.ndarray]]:
    """int8 constants by shape, in the order of their names."""
    editor = ModelEditor(Model(content))
    found: dict[tuple[int, ...], list[tuple[str, np.ndarray]]] = {}
    for subgraph in editor.subgraphs:
        for tensor in subgraph.tensors or []:
            value = editor.constant(tensor) if tensor.type == TensorType.INT8 else None
            if value is not None:
                found.setdefault(value.shape, []).append((tensor.name or "", value))
    return {
        shape: [value for _, value in sorted(pairs, key=lambda p: p[0])] for shape, pairs in found.items()
    }


def equal_weights(ours: bytes, theirs: bytes) -> float | None:
    """The share of TensorFlow's int8 weights that ours are, matched by shape and name."""
    mine, other = int8_weights(ours), int8_weights(theirs)
    equal = total = 0
    for shape, values in other.items():
        for value, own in zip(values, mine.get(shape, []), strict=False):
            equal, total = equal + int(np.count_nonzero(value == own)), total + value.size
    return equal / total if total else None


def theirs(python: str, model: bytes, name: str) -> bytes | None:
    """ai-edge-quantizer's model, None where it makes none."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "float.tflite"), Path(folder, "quantized.tflite")
        source.write_bytes(model)
        command = [python, "-c", QUANTIZER, str(source), name, str(result)]
        done = subprocess.run(command, capture_output=True, check=False)
        return result.read_bytes() if done.returncode == 0 else None


def peers(folder: Path, peer: Peer, model: bytes, python: str | None) -> Iterator[tuple[str, bytes | None]]:
    if peer.file and (folder / f"{peer.file}.tflite").exists():
        yield "TF", (folder / f"{peer.file}.tflite").read_bytes()
    elif peer.file == _FLOAT_ENDS and (folder / "int8.tflite").exists():
        yield _INTEGER_ENDS, (folder / "int8.tflite").read_bytes()
    for name in peer.names if python else ():
        yield f"AEQ {name.partition(':')[2]}".strip(), theirs(python or "", model, name)


def shown(found: Found | None) -> str:
    if found is None:
        return "none"
    return f"{found.size} B " + ("fails" if found.sqnr is None else f"{found.sqnr:.1f} dB")


def row(folder: Path, name: str, peer: Peer, model: bytes, python: str | None) -> tuple[str, Row]:
    """A line of the table, and what the goals ask of it."""
    samples = np.load(folder / "data.npz")["x"].astype(np.float32)
    expected = np.load(folder / "outputs.npz")["float"]
    quantizer = Quantizer(model, peer.recipe)
    ranges = quantizer.calibrate(representative(folder)) if quantizer.need_calibration else None
    made = quantizer.quantize(ranges, input_type=peer.ends, output_type=peer.ends, improve=peer.improve)
    content = made.quantized_model
    ours, near = measured(content, samples, expected)
    cells = [folder.name, name, shown(ours), f"{near:.0f} dB"]
    weights: float | None = None
    beside: Found | None = None
    for who, other in peers(folder, peer, model, python):
        try:
            found = None if other is None else measured(other, samples, expected)[0]
        except (RuntimeError, ValueError):
            found = Found(len(other or b""), operator_count(other or b""))
        worse = [] if found is None else [what for what, is_so in compared(ours, found) if is_so]
        cells.append(f"{who}: {shown(found)}{' WORSE: ' + ', '.join(worse) if worse else ''}")
        if who == _INTEGER_ENDS and found is not None:  # whose bytes tell nothing here
            beside = found._replace(size=ours.size, operators=ours.operators)
        elif who == "TF":
            beside = found
            if other is not None and (folder / "float.tflite").exists():
                weights = equal_weights(content, other)
    cells.append("weights -" if weights is None else f"weights {weights:.5f}")
    kept = Row(folder.name, name, ours, beside, near == np.inf, weights, float_count(content))
    return "| " + " | ".join(cells) + " |", kept


def compared(ours: Found, other: Found) -> list[tuple[str, bool]]:
    """In what ours is worse; 0.1 dB is no difference, as sums in another order make it."""
    noise = other.sqnr is not None and ours.sqnr is not None and ours.sqnr < other.sqnr - 0.1
    return [("bytes", ours.size > other.size), ("SQNR", noise)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held", type=Path, default=NETS, help="a folder of nets")
    parser.add_argument("--match", default="", help="nets whose name holds this")
    parser.add_argument("--scheme", action="append", choices=SCHEMES, help="may be repeated")
    parser.add_argument("--goals", action="store_true", help="say at the end which goals are met")
    parser.add_argument("--quantizer", metavar="PYTHON", help="compare with ai-edge-quantizer")
    arguments = parser.parse_args()
    folders = sorted(path.parent for path in arguments.held.glob(f"*{arguments.match}*/data.npz"))
    if not folders:
        sys.exit(f"{arguments.held}: no folder holds a data.npz")
    rows = []
    for folder in folders:
        model = float_model(folder)
        for name in arguments.scheme or SCHEMES:
            line, found = row(folder, name, SCHEMES[name], model, arguments.quantizer)
            print(line, flush=True)
            rows.append(found)
    if arguments.goals:
        print(*goals(rows), sep="\n")


if __name__ == "__main__":
    main()
