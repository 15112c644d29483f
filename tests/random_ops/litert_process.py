"""Runs trials by LiteRT in a process of its own, which may die of them; and by numlite alike.

A trial goes to the child as a pickle, and so does its outcome come back: plain tuples, whatever the
package is called on either side.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from ..pickle_pipe import Process, serve
from .one_op import Trial

RESOLVERS = ("AUTO", "BUILTIN_REF")
TIMEOUT_S = 60


@dataclass
class Outcome:
    """The outputs of each run that came to its end, and what was said where one did not."""

    outputs: list[list[np.ndarray]] = field(default_factory=list)
    refusal: str | None = None
    died: bool = False


def run(api: Any, trial: Trial, resolver: str) -> Outcome:
    """By an `interpreter` module, numlite's or LiteRT's."""
    outcome = Outcome()
    try:
        interpreter = api.Interpreter(
            model_content=trial.content,
            experimental_op_resolver_type=api.OpResolverType[resolver],
            num_threads=trial.threads,
        )
        for number, arrays in enumerate(trial.runs):
            outcome.outputs.append(_one_run(interpreter, arrays, first=number == 0))
    except Exception as error:
        outcome.refusal = f"{type(error).__name__}: {error}"
    return outcome


def _one_run(interpreter: Any, arrays: tuple[np.ndarray, ...], first: bool) -> list[np.ndarray]:
    details = interpreter.get_input_details()
    changed = [(d, x) for d, x in zip(details, arrays, strict=True) if tuple(d["shape"]) != x.shape]
    for detail, value in changed:
        interpreter.resize_tensor_input(detail["index"], value.shape)
    if changed or first:
        interpreter.allocate_tensors()
    for detail, value in zip(details, arrays, strict=True):
        dtype = detail["dtype"]
        bits = value.dtype == np.uint16 and np.dtype(dtype).itemsize == 2
        interpreter.set_tensor(detail["index"], value.view(dtype) if bits else value)
    interpreter.invoke()
    return [_plain(interpreter.get_tensor(d["index"])) for d in interpreter.get_output_details()]


def _plain(array: np.ndarray) -> np.ndarray:
    """A copy in types that NumPy has itself (those of ml_dtypes as unsigned integers)."""
    array = np.array(array)
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array


class LiteRT:
    """A child that runs trials, started again after each death."""

    def __init__(self) -> None:
        self.process = Process([sys.executable, "-m", "tests.random_ops.litert_process"], TIMEOUT_S)

    def run(self, trial: Trial, resolver: str) -> Outcome:
        answer = self.process.ask((trial.content, trial.runs, resolver, trial.threads))
        return Outcome(died=True) if answer is None else Outcome(*answer)

    def stop(self) -> None:
        self.process.stop()


def answer(
    content: bytes, runs: Any, resolver: str, threads: int
) -> tuple[list[list[np.ndarray]], str | None]:
    """The child's answer: outputs and refusal."""
    outcome = run(import_module("ai_edge_litert.interpreter"), Trial(content, runs, "", threads), resolver)
    return outcome.outputs, outcome.refusal


if __name__ == "__main__":
    serve(answer)
