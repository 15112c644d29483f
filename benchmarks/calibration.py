"""Time of Quantizer.calibrate by that of as many inferences, in one process and in several.

    python benchmarks/calibration.py float.tflite --samples 200 1000 --jobs 2

In turns, by the clock, after a first round that prepares: the samples run, calibrated here, and calibrated by
so many processes. Samples are random images that are computed ahead, as many as fit 256 MiB, over and over.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numlite.converter.quantization import recipes
from numlite.converter.quantization.quantizer import Quantizer
from numlite.interpreter import Interpreter

_HELD_BYTES = 256 << 20


def run(path: Path, samples: Iterator[list[np.ndarray]]) -> None:
    interpreter = Interpreter(str(path))
    interpreter.allocate_tensors()
    inputs = [given["index"] for given in interpreter.get_input_details()]
    for sample in samples:
        for index, value in zip(inputs, sample, strict=True):
            interpreter.set_tensor(index, value)
        interpreter.invoke()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path, help="a .tflite of floats")
    parser.add_argument("--samples", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    quantizer = Quantizer(arguments.model.read_bytes(), recipes.static_int8())
    shapes = [given["shape"] for given in Interpreter(str(arguments.model)).get_input_details()]
    held = max(1, min(max(arguments.samples), _HELD_BYTES // (4 * sum(int(np.prod(s)) for s in shapes))))
    random = np.random.default_rng(0)
    data = [[random.normal(size=shape).astype(np.float32) for shape in shapes] for _ in range(held)]

    def samples(count: int) -> Iterator[list[np.ndarray]]:
        return itertools.islice(itertools.cycle(data), count)

    print(f"| samples | run, s | calibrated, times that | {arguments.jobs} processes, times as fast |")
    print("|---|---|---|---|")
    for count in arguments.samples:
        works = (
            partial(run, arguments.model),
            quantizer.calibrate,
            partial(quantizer.calibrate, jobs=arguments.jobs),
        )
        seconds: list[list[float]] = [[] for _ in works]
        for turn in range(arguments.rounds + 1):
            for work, taken in zip(works, seconds, strict=True):
                start = time.perf_counter()
                work(samples(count))
                if turn:
                    taken.append(time.perf_counter() - start)
        runs, here, apart = (statistics.median(each) for each in seconds)
        spread = sorted(one / several for one, several in zip(seconds[1], seconds[2], strict=True))
        told = f"{here / apart:.2f} ({spread[0]:.2f} - {spread[-1]:.2f})"
        print(f"| {count} | {runs:.2f} | {here / runs:.2f} | {told} |", flush=True)


if __name__ == "__main__":
    main()
