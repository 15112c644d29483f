"""Time and memory to quantize a net with data, beside TensorFlow's converter and ai-edge-quantizer.

    python benchmarks/quantizing_time.py DIR --tensorflow PYTHON --quantizer PYTHON --make
    python benchmarks/quantizing_time.py DIR --tensorflow PYTHON --quantizer PYTHON

DIR holds saved (a SavedModel), float.pb, float.tflite and samples.npy: --make makes those of MobileNetV2 of
224 x 224 there first. Each PYTHON is that of an environment with the package. All make int8 models of 100
samples, calibration included, and start anew: TensorFlow from the SavedModel and from the frozen graph, which
it converts in the same go, the others from TensorFlow's float .tflite. The processes run in turns; the first
of each, which fills caches, does not count. CPU seconds are those of user and system, memory is the largest
resident set, all are medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# Smooth images, as trained nets see them.
MAKE = """
import sys
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
folder, count = sys.argv[1], int(sys.argv[2])
tf.keras.utils.set_random_seed(1)
model = tf.keras.applications.MobileNetV2(weights=None)
shape = tf.TensorSpec((1, 224, 224, 3), tf.float32, name="image")
function = tf.function(lambda image: model(image, training=False)).get_concrete_function(shape)
graph = convert_variables_to_constants_v2(function).graph.as_graph_def()
open(f"{folder}/float.pb", "wb").write(graph.SerializeToString())
model.export(f"{folder}/saved", verbose=False)
open(f"{folder}/float.tflite", "wb").write(tf.lite.TFLiteConverter.from_keras_model(model).convert())
rough = np.random.default_rng(0).normal(size=(count, 14, 14, 3)).astype(np.float32)
smooth = tf.image.resize(rough, (224, 224), "bicubic").numpy()
np.save(f"{folder}/samples.npy", np.clip(smooth, -1, 1).astype(np.float32))
"""
TENSORFLOW = """
import sys
import numpy as np
import tensorflow as tf
folder, output, source = sys.argv[1:]
def samples():
    for sample in np.load(f"{folder}/samples.npy", mmap_mode="r"):
        yield [np.array(sample[np.newaxis])]
if source == "saved":
    converter = tf.lite.TFLiteConverter.from_saved_model(f"{folder}/saved")
else:
    graph = tf.compat.v1.GraphDef.FromString(open(f"{folder}/float.pb", "rb").read())
    used = {text.split(":")[0].lstrip("^") for node in graph.node for text in node.input}
    outputs = [n.name for n in graph.node if n.name not in used and n.op not in ("NoOp", "Placeholder")]
    frozen = tf.compat.v1.lite.TFLiteConverter.from_frozen_graph
    converter = frozen(f"{folder}/float.pb", ["image"], outputs)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = samples
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
converter.inference_input_type = converter.inference_output_type = tf.int8
open(output, "wb").write(converter.convert())
"""
QUANTIZER = """
import sys
import numpy as np
from ai_edge_quantizer import quantizer, recipe
folder, output = sys.argv[1:]
made = quantizer.Quantizer(f"{folder}/float.tflite")
made.load_quantization_recipe(recipe.static_wi8_ai8())
samples = [{"keras_tensor": x[np.newaxis]} for x in np.load(f"{folder}/samples.npy", mmap_mode="r")]
ranges = made.calibrate({"serving_default": samples}, num_threads=2)
open(output, "wb").write(bytes(made.quantize(ranges).quantized_model))
"""


class Cost(NamedTuple):
    """What a process took: seconds by the clock and of CPU, and bytes."""

    wall: float
    cpu: float
    peak: int


def cost(command: list[str]) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed with status {status}: {told.decode()[-1000:]}")
    seconds = time.perf_counter() - start
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def commands(folder: Path, tensorflow: str | None, quantizer: str | None) -> dict[str, list[str]]:
    """By what they are called in the table; each writes a file of its own."""
    found, where = {}, str(folder)
    for source in ("saved", "frozen") if tensorflow else ():
        made = [str(tensorflow), "-c", TENSORFLOW, where, f"{where}/tensorflow.tflite", source]
        found[f"TensorFlow's converter, {source}"] = made
    if quantizer:
        found["ai-edge-quantizer"] = [quantizer, "-c", QUANTIZER, where, f"{where}/quantizer.tflite"]
    given = ["--calibrate", str(folder / "samples.npy"), "--io", "int8", "-o", str(folder / "numlite.tflite")]
    ours = [sys.executable, "-m", "numlite", "quantize", str(folder / "float.tflite"), *given]
    convert = [sys.executable, "-c", "from numlite.cli import convert_model; convert_model()"]
    return found | {
        "numlite quantize --improve none": [*ours, "--improve", "none"],
        "numlite quantize": ours,
        "convert-model --quantize int8, saved": [*convert, where + "/saved", "--quantize", "int8", *given],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="of saved, float.pb, float.tflite and samples.npy")
    parser.add_argument("--tensorflow", help="the Python of an environment with TensorFlow")
    parser.add_argument("--quantizer", help="the Python of an environment with ai-edge-quantizer")
    parser.add_argument("--make", action="store_true", help="make what the folder is to hold first")
    parser.add_argument("--samples", type=int, default=100, help="how many are made")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    folder = arguments.folder
    if arguments.make:
        folder.mkdir(parents=True, exist_ok=True)
        made = [arguments.tensorflow, "-c", MAKE, str(folder), str(arguments.samples)]
        subprocess.run(made, check=True, stderr=subprocess.DEVNULL)
    programs = commands(folder, arguments.tensorflow, arguments.quantizer)
    measured: dict[str, list[Cost]] = {name: [] for name in programs}
    for run in range(arguments.runs + 1):
        for name, command in programs.items():
            taken = cost(command)
            if run:
                measured[name].append(taken)
    print("| | CPU s | of all runs | s by the clock | MiB |", "|---|---|---|---|---|", sep="\n")
    for name, costs in measured.items():
        wall, cpu, peak = (statistics.median(each) for each in zip(*costs, strict=True))
        every = ", ".join(f"{each.cpu:.2f}" for each in costs)
        print(f"| {name} | {cpu:.2f} | {every} | {wall:.2f} | {int(peak) >> 20} |")


if __name__ == "__main__":
    main()
