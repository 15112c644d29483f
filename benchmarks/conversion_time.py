"""Time and memory to convert a graph: our converter's process against TensorFlow's, start-up included.

    python benchmarks/conversion_time.py --tensorflow PYTHON             # graphs of ../shared/convert
    python benchmarks/conversion_time.py --tensorflow PYTHON --make DIR  # the same nets in full size
    python benchmarks/conversion_time.py --tensorflow PYTHON graph.pb ...

PYTHON is that of an environment with TensorFlow and Keras. The processes run in turns; the first of each,
which fills caches, does not count. CPU seconds are those of user and system, memory is the largest resident
set.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

GRAPHS = Path(__file__).resolve().parents[2] / "shared/convert/graphs"
NETWORKS = ("MobileNetV2", "EfficientNetB0", "DenseNet121")

TENSORFLOW = """
import sys
import tensorflow as tf
graph = tf.compat.v1.GraphDef.FromString(open(sys.argv[1], "rb").read())
used = {text.split(":")[0].lstrip("^") for node in graph.node for text in node.input}
inputs = [node.name for node in graph.node if node.op == "Placeholder"]
unused = [node for node in graph.node if node.name not in used]
outputs = [node.name for node in unused if node.op not in ("NoOp", "Placeholder")]
converter = tf.compat.v1.lite.TFLiteConverter.from_frozen_graph(sys.argv[1], inputs, outputs)
open(sys.argv[2], "wb").write(converter.convert())
"""
NUMLITE = """
import sys
from numlite.converter import convert_graph, read_graph
open(sys.argv[2], "wb").write(convert_graph(read_graph(sys.argv[1])))
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
        [python, "-c", program, str(graph), str(output)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("graphs", nargs="*", type=Path, help="frozen graphs")
    parser.add_argument("--tensorflow", required=True, help="the Python of an environment with TensorFlow")
    parser.add_argument("--make", type=Path, help="make the networks in full size in this folder first")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    graphs = arguments.graphs or [GRAPHS / f"keras_{name}_0.pb" for name in NETWORKS]
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
