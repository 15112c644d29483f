"""Graphs and models of ../shared/convert run again, and whether they give what TensorFlow gave."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numlite import Interpreter
from numlite.converter import run_graph
from numlite.lite.errors import UnsupportedError

from .shared_arrays import CONVERT, decoded, difference

GRAPHS = CONVERT / "graphs"
KERNEL_GRAPHS = CONVERT / "kernels" / "graphs"
SAVED_MODELS = CONVERT / "savedmodels"


@dataclass(frozen=True)
class Replay:
    """One run: run() gives the outputs, expected are tensors' descriptions and TensorFlow's values."""

    name: str
    run: Callable[[], Sequence[np.ndarray]]
    expected: Sequence[tuple[dict[str, Any], np.ndarray]]
    tolerance: dict[str, float]


@dataclass
class Outcome:
    """Names of the runs that gave TensorFlow's outputs; what is wrong with others, by name; missing ops."""

    equal: list[str] = field(default_factory=list)
    wrong: dict[str, str] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)
    unsupported: dict[str, str] = field(default_factory=dict)

    def add(self, replay: Replay) -> None:
        try:
            found = replay.run()
        except UnsupportedError as error:
            self.unsupported[replay.name] = str(error)
            self.missing.update(missing_ops(error))
            return
        except (ValueError, RuntimeError) as error:
            self.wrong[replay.name] = f"{type(error).__name__}: {error}"
            return
        pairs = zip(found, replay.expected, strict=True)
        differences = [
            difference(value, wanted, replay.tolerance)
            for value, (described, wanted) in pairs
            if not described.get("ignore")
        ]
        if any(differences):
            self.wrong[replay.name] = "; ".join(filter(None, differences))
        else:
            self.equal.append(replay.name)


def missing_ops(error: UnsupportedError) -> set[str]:
    """The TensorFlow ops that an error names as without a kernel."""
    return set(re.findall(r"^  (?:.*\): )?(\w+): ", str(error), re.MULTILINE))


def outcome_of(replays: Iterator[Replay]) -> Outcome:
    outcome = Outcome()
    for replay in replays:
        outcome.add(replay)
    return outcome


def _descriptions(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.json")):
        if path.name != "index.json":
            yield json.loads(path.read_text())


def _tensors(described: Sequence[dict[str, Any]], file: Path) -> list[np.ndarray]:
    with np.load(file) as arrays:
        return [decoded(tensor, arrays) for tensor in described]


def graph_replays(optimize: object = False, step: int = 1) -> Iterator[Replay]:
    """The graphs, or each step-th of them, by run_graph."""
    for d in islice(_descriptions(GRAPHS), 0, None, step):
        feeds = _tensors(d["inputs"], GRAPHS / d["inputs_file"])
        run = _graph_run(GRAPHS / d["graph"], d, feeds, optimize=optimize)
        yield Replay(d["name"], run, _expected(d), d["tol"])


def kernel_graph_replays() -> Iterator[Replay]:
    """The small graphs of ops that one node cannot show."""
    for path in sorted(KERNEL_GRAPHS.glob("*.json")):
        for d in json.loads(path.read_text())["cases"]:
            feeds = _tensors(d["inputs"], path.with_suffix(".npz"))
            wanted = _tensors(d["outputs"], path.with_suffix(".npz"))
            run = _graph_run(base64.b64decode(d["graph_def_b64"]), d, feeds)
            expected = list(zip(d["outputs"], wanted, strict=True))
            yield Replay(f"{path.stem}-{d['case']}", run, expected, d["tol"])


def select_tf_replays() -> Iterator[Replay]:
    """The models with TensorFlow ops, by the interpreter."""
    for d in _descriptions(GRAPHS):
        if d["tflite"] and d["tflite"]["mode"].startswith("select_tf"):
            feeds = _tensors(d["inputs"], GRAPHS / d["inputs_file"])
            yield Replay(
                d["name"], _model_run(GRAPHS / d["tflite"]["file"], d, feeds), _expected(d), d["tol"]
            )


def saved_model_replays(optimize: object = False) -> Iterator[Replay]:
    """Every signature of the SavedModels."""
    for folder in sorted(path.parent for path in SAVED_MODELS.glob("*/index.json")):
        d = json.loads((folder / "index.json").read_text())
        for key, signature in d["signatures"].items():
            feeds = _tensors(signature["inputs"], folder / d["inputs_file"])
            wanted = _tensors(signature["outputs"], folder / d["expected_file"])
            run = _graph_run(folder / d["dir"], signature, feeds, key, optimize)
            expected = list(zip(signature["outputs"], wanted, strict=True))
            yield Replay(f"{folder.name}-{key}", run, expected, d["tol"])


def _expected(d: dict[str, Any]) -> list[tuple[dict[str, Any], np.ndarray]]:
    wanted = _tensors(d["outputs"], GRAPHS / d["expected_file"])
    described = [dict(tensor) for tensor in d["outputs"]]
    if d["name"].startswith("op_FusedBatchNorm"):
        # For inference TensorFlow leaves the memory of the reserved outputs as it finds it.
        for tensor, value in zip(described[3:], wanted[3:], strict=True):
            tensor["ignore"] = not np.any(value)
    return list(zip(described, wanted, strict=True))


def _graph_run(
    graph: Path | bytes,
    d: dict[str, Any],
    feeds: Sequence[np.ndarray],
    signature: str | None = None,
    optimize: object = False,
) -> Callable[[], Sequence[np.ndarray]]:
    given = {tensor["name"]: value for tensor, value in zip(d["inputs"], feeds, strict=True)}
    names = [tensor["name"] for tensor in d["outputs"]]
    return lambda: run_graph(graph, given, names, signature, True, optimize=optimize)


def _model_run(
    model: Path, d: dict[str, Any], feeds: Sequence[np.ndarray]
) -> Callable[[], Sequence[np.ndarray]]:
    given = {
        tensor["name"].partition(":")[0]: value for tensor, value in zip(d["inputs"], feeds, strict=True)
    }

    def run() -> list[np.ndarray]:
        interpreter = Interpreter(str(model))
        inputs = [
            (detail, given[detail["name"].partition(":")[0]]) for detail in interpreter.get_input_details()
        ]
        for detail, value in inputs:
            if tuple(detail["shape"]) != value.shape:
                interpreter.resize_tensor_input(detail["index"], value.shape)
        interpreter.allocate_tensors()
        for detail, value in inputs:
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]

    return run
