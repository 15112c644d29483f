"""TensorFlow, in a process of a Python that has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.pickle_pipe import Process

TIMEOUT_S = 120


class Refused(Exception):
    """TensorFlow does not trace, run or convert it, or died of it."""


class TensorFlow:
    """Asks the process; Refused says why there is no answer."""

    def __init__(self, python: str | Path) -> None:
        command = [str(python), "-m", "tests.random_tf.tensorflow_child"]
        self.process = Process(command, TIMEOUT_S)
        # glibc fills what is allocated with other bytes; started when it is first asked.
        self.perturbed = Process(["env", "MALLOC_PERTURB_=165", *command], TIMEOUT_S)

    def _ask(self, *question: Any, process: Process | None = None) -> Any:
        answer = (process or self.process).ask(question)
        if answer is None:
            raise Refused("TensorFlow died, or took too long")
        found, why = answer
        if why:
            raise Refused(why)
        return found

    def trace(self, number: int, family: str) -> Any:
        """Graph, inputs, their names and the outputs' names of a random program."""
        return self._ask("trace", number, family)

    def run(self, graph: bytes, feeds: Mapping[str, np.ndarray], fetches: Sequence[str]) -> list[np.ndarray]:
        found: list[np.ndarray] = self._ask("run", graph, dict(feeds), list(fetches))
        return found

    def run_perturbed(
        self, graph: bytes, feeds: Mapping[str, np.ndarray], fetches: Sequence[str]
    ) -> list[np.ndarray]:
        """run() by a process whose memory holds other bytes before TensorFlow writes to it."""
        question = ("run", graph, dict(feeds), list(fetches))
        found: list[np.ndarray] = self._ask(*question, process=self.perturbed)
        return found

    def convert(self, graph: bytes, inputs: Sequence[str], outputs: Sequence[str], flex: bool) -> bytes:
        found: bytes = self._ask("convert", graph, list(inputs), list(outputs), flex)
        return found

    def stop(self) -> None:
        self.process.stop()
        self.perturbed.stop()
