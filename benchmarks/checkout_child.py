"""Runs models in one checkout's numlite when checkouts.py tells it to: with NumPy and that numlite only.

A line of its input is a path, MODEL.tflite with its inputs in MODEL.npz, which is answered by the CPU seconds
of one run, or a number of runs, answered by those of one of them. `-` stands for a model that is refused.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numlite.interpreter import Interpreter

_WARM_UP_SECONDS = 0.02


def main() -> None:
    run: Callable[[], object] = int
    for line in sys.stdin:
        order = line.strip()
        if order.isdigit():
            print(seconds(run, int(order)), flush=True)
            continue
        run = int  # the model before it goes
        try:
            run = ready(Path(order))
            print(warmed_up(run), flush=True)
        except (ValueError, RuntimeError) as error:
            print(f"{Path(order).stem}: {error}", file=sys.stderr, flush=True)
            print("-", flush=True)


def ready(model: Path) -> Callable[[], object]:
    """What runs the model, on inputs that it has been given."""
    interpreter = Interpreter(str(model), num_threads=1)
    with np.load(model.with_suffix(".npz")) as held:
        arrays = list(held.values())
    places = [
        d for d in interpreter.get_input_details() if not interpreter.core.tensor(d["index"]).is_constant
    ]
    for detail, array in zip(places, arrays, strict=True):
        if tuple(detail["shape"]) != array.shape:
            interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for detail, array in zip(places, arrays, strict=True):
        interpreter.set_tensor(detail["index"], array)
    return interpreter.invoke


def warmed_up(run: Callable[[], object]) -> float:
    """CPU seconds of the shortest of some runs."""
    shortest, end = float("inf"), time.process_time() + _WARM_UP_SECONDS
    while time.process_time() < end or shortest == float("inf"):
        shortest = min(shortest, seconds(run, 1))
    return shortest


def seconds(run: Callable[[], object], count: int) -> float:
    """CPU seconds of one of so many runs."""
    begun = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - begun) / count


if __name__ == "__main__":
    main()
