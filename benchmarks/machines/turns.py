"""CPU time of a model in numlite for a target, and in another engine or checkout: two processes in turns."""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from .instructions import ENGINE

_TURN_SECONDS = 0.03
# What keeps OpenVINO to AVX2: its library of kernels, and its own.
_AVX2_ONLY = {"ONEDNN_MAX_CPU_ISA": "AVX2", "OV_CPU_MAX_ISA": "AVX2"}


class Ratio(NamedTuple):
    """CPU seconds of an inference, and the other engine's over numlite's: of the shortest, and the median."""

    numlite: float
    other: float
    shortest: float
    median: float


class Engine:
    """A process that runs a model when it is told to."""

    def __init__(self, python: str, engine: str, model: Path, **variables: str) -> None:
        command = [python, str(ENGINE), engine, str(model), "turns"]
        environment, pipe = os.environ | variables, subprocess.PIPE
        self._process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._orders, self._answers = self._process.stdin, self._process.stdout
        for line in self._answers:
            if line.strip() == "ready":
                return
        raise RuntimeError(f"{engine}: must run {model}, ended with {self._process.wait()}")

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._orders.close()
        self._process.wait()
        self._answers.close()

    def seconds(self, runs: int) -> float:
        """CPU seconds of one of so many runs."""
        self._orders.write(f"{runs}\n")
        self._orders.flush()
        return float(self._answers.readline())


def against(python: str, engine: str, peer: str, target: str, model: Path, turns: int = 25) -> Ratio:
    """numlite in a Python, compiled for a target, and an engine in another.

    OpenVINO is kept to AVX2, another numlite to the same target; without a name it is the machine's own.
    """
    limits = {"NUMLITE_CPU": target} if target else {}
    theirs = {"openvino": _AVX2_ONLY, "numlite": limits}.get(engine, {})
    with Engine(peer, engine, model, **theirs) as other, Engine(python, "numlite", model, **limits) as own:
        runs = max(1, round(_TURN_SECONDS / max(own.seconds(1), 1e-6)))
        return ratio([(own.seconds(runs), other.seconds(runs)) for _ in range(turns)])


def ratio(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """Of turns: numlite's seconds and the other engine's."""
    own, other = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    return Ratio(own, other, other / own, statistics.median(b / a for a, b in pairs))
