"""Keras models converted: operators, error and time beside TensorFlow's.

    python benchmarks/keras_models.py FOLDER

FOLDER has what benchmarks/keras_export.py saved. TensorFlow ran there on one thread, as numlite does here.
The error is the largest difference by the largest output.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from numlite import Interpreter
from numlite.converter import Converter

_RUNS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    print("| net | Keras | file | operators | error | numlite | TensorFlow | converted in |")
    print("|---|---|---|---|---|---|---|---|")
    for stored in sorted(given.folder.glob("*.npz")):
        name, version, form = stored.stem.rsplit("_", 2)
        print(f"| {name} | {version} | .{form} | {row(stored, stored.with_suffix(f'.{form}'))} |", flush=True)


def row(stored: Path, path: Path) -> str:
    """What the table says of a net."""
    wanted = np.load(stored)
    start = time.perf_counter()
    model = Converter.from_keras_file(path).convert()
    converted = time.perf_counter() - start
    interpreter = Interpreter(model_content=model, num_threads=1)
    runner = interpreter.get_signature_runner()
    inputs = {next(iter(runner.get_input_details())): wanted["x"]}
    times = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        (y,) = runner(**inputs).values()
        times.append(time.perf_counter() - start)
    error = np.abs(y - wanted["y"]).max() / np.abs(wanted["y"]).max()
    operators = len(interpreter._get_ops_details())
    taken = f"{min(times) * 1e3:.1f} ms | {float(wanted['seconds']) * 1e3:.1f} ms"
    return f"{operators} | {error:.1e} | {taken} | {converted:.1f} s"


if __name__ == "__main__":
    main()
