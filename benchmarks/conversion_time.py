"""Time and memory to convert a graph: our converter's process against TensorFlow's, start-up included or not.

    python benchmarks/conversion_time.py --tensorflow PYTHON             # graphs of ../shared/convert
    python benchmarks/conversion_time.py --tensorflow PYTHON --make DIR  # the same nets in full size
    python benchmarks/conversion_time.py --tensorflow PYTHON graph.pb ...
    python benchmarks/conversion_time.py --tensorflow PYTHON --started   # those of benchmarks/converter.py

PYTHON is that of an environment with TensorFlow and Keras. The processes run in turns; the first of each,
which fills caches, does not count. CPU seconds are those of user and system, memory is the largest resident
set. With --started each process converts all graphs in turn, several times, and the seconds by the clock of a
conversion count alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tests.converter.corpus import FOLDER, cases

NETWORKS = ("MobileNetV2", "EfficientNetB0", "DenseNet121")

TENSORFLOW = """
import sys
import tensorflow as tf
def convert(path):
    graph = tf.compat.v1.GraphDef.FromString(open(path, "rb").read())
    used = {text.split(":")[0].lstrip("^") for node in graph.node for text in node.input}
    inputs = [node.name for node in graph.node if node.op == "Placeholder"]
    unused = [node for node in graph.node if node.name not in used]
    outputs = [node.name for node in unused if node.op not in ("NoOp", "Placeholder")]
    return tf.compat.v1.lite.TFLiteConverter.from_frozen_graph(path, inputs, outputs).convert()
"""
NUMLITE = """
import sys
from numlite.converter import convert_graph, read_graph
def convert(path):
    return convert_graph(read_graph(path))
"""
ONCE = """
open(sys.argv[2], "wb").write(convert(sys.argv[1]))
"""
STARTED = """
import json, statistics, time
paths = json.load(open(sys.argv[1]))
taken = {path: [] for path in paths}
for _ in range(int(sys.argv[3]) + 1):
    for path, seconds in taken.items():
        start = time.perf_counter()
        try:
            convert(path)
        except Exception:
            continue
        seconds.append(time.perf_counter() - start)
medians = {path: statistics.median(seconds[1:]) for path, seconds in taken.items() if seconds}
json.dump(medians, open(sys.argv[2], "w"))
"""
MAKE = """
import sys
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
for name in sys.argv[2:]:
    tf.keras.utils.set_random_seed(1)
    model = getattr(tf.keras.applications, name)(weights=None)
    shape = tf.TensorSpec((1, *model.input_shape[1:]), tf.float32, name="image")
    function = tf.function(lambda image: model(image, training=False)).get_concrete_function(shape)
    frozen = convert_variables_to_constants_v2(function).graph.as_graph_def()
    open(f"{sys.argv[1]}/{name}.pb", "wb").write(frozen.SerializeToString())
"""


class Cost(NamedTuple):
    """What a process took: seconds by the clock and of CPU, and bytes."""

    wall: float
    cpu: float
    peak: int


def cost(python: str, program: str, graph: Path, output: Path) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(
        [python, "-c", program + ONCE, str(graph), str(output)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{graph.name}: {python} failed with status {status}")
    seconds = time.perf_counter() - start
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def compared(graph: Path, tensorflow: str, runs: int, folder: Path) -> str:
    """A line of the table."""
    programs = ((tensorflow, TENSORFLOW), (sys.executable, NUMLITE))
    files = [folder / "tensorflow.tflite", folder / "numlite.tflite"]
    measured: list[list[Cost]] = [[], []]
    for i in range(runs + 1):
        for costs, (python, program), file in zip(measured, programs, files, strict=True):
            taken = cost(python, program, graph, file)
            if i:
                costs.append(taken)
    theirs, ours = (
        Cost(*(statistics.median(each) for each in zip(*costs, strict=True))) for costs in measured
    )
    sizes = [file.stat().st_size for file in files]
    cells = [
        graph.stem,
        *(f"{theirs.cpu:.2f} s", f"{ours.cpu:.2f} s", f"{theirs.cpu / ours.cpu:.1f}"),
        *(f"{theirs.wall:.2f} s", f"{ours.wall:.2f} s", f"{theirs.wall / ours.wall:.1f}"),
        *(f"{int(theirs.peak) >> 20} MB", f"{int(ours.peak) >> 20} MB"),
        *(f"{sizes[0]:,}", f"{sizes[1]:,}"),
    ]
    return f"| {' | '.join(cells)} |"


def started(graphs: list[Path], tensorflow: str, runs: int, folder: Path) -> None:
    """Prints the ratios of all graphs that both convert, and those below 1."""
    (folder / "graphs.json").write_text(json.dumps([str(graph) for graph in graphs]))
    medians = []
    for python, program in ((tensorflow, TENSORFLOW), (sys.executable, NUMLITE)):
        child = [python, "-c", program + STARTED, str(folder / "graphs.json"), str(folder / "taken.json")]
        subprocess.run([*child, str(runs)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        medians.append(json.loads((folder / "taken.json").read_text()))
    theirs, ours = medians
    ratios = sorted((theirs[path] / ours[path], path) for path in theirs if path in ours)
    print(f"{len(ratios)} graphs, TensorFlow's time by numlite's:", end=" ")
    print(", ".join(f"{ratios[int(part * (len(ratios) - 1))][0]:.2f}" for part in (0, 0.1, 0.5, 0.9, 1)))
    print("(the least, a tenth, the median, nine tenths, the most)")
    for ratio, path in ratios:
        if ratio < 1:
            print(f"  {Path(path).stem}: {theirs[path] * 1e3:.1f} ms, {ours[path] * 1e3:.1f} ms: {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("graphs", nargs="*", type=Path, help="frozen graphs")
    parser.add_argument("--tensorflow", required=True, help="the Python of an environment with TensorFlow")
    parser.add_argument("--make", type=Path, help="make the networks in full size in this folder first")
    parser.add_argument("--started", action="store_true", help="without the start of a process")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.started:
        graphs = arguments.graphs or [FOLDER / case.described["graph"] for case in cases("builtins")]
        with tempfile.TemporaryDirectory() as folder:
            started(graphs, arguments.tensorflow, arguments.runs, Path(folder))
        return
    graphs = arguments.graphs or [FOLDER / f"keras_{name}_0.pb" for name in NETWORKS]
    if arguments.make:
        arguments.make.mkdir(parents=True, exist_ok=True)
        subprocess.run([arguments.tensorflow, "-c", MAKE, str(arguments.make), *NETWORKS], check=True)
        graphs = [arguments.make / f"{name}.pb" for name in NETWORKS]
    print(
        "| graph | TF CPU | numlite | ratio | time | numlite | ratio | memory | numlite | bytes | numlite |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for graph in graphs:
            print(compared(graph, arguments.tensorflow, arguments.runs, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
