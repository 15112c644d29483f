"""Graphs with TensorFlow's outputs and models (../shared/convert/graphs), and how ours compare with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numlite.converter import Conversion, convert, read_graph
from numlite.converter.target_spec import Settings

from ..running import run
from ..shared_folder import SHARED

FOLDER = SHARED / "convert/graphs"


@dataclass(frozen=True)
class Case:
    """A graph as its JSON file describes it."""

    described: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.described["name"])

    @property
    def mode(self) -> str:
        """How TensorFlow converts it: "builtins", "select_tf" ..., "none" when it cannot."""
        return self.described["tflite"]["mode"] if self.described["tflite"] else "none"

    def convert(self, settings: Settings | None = None) -> Conversion:
        """Our conversion, with the signature's shapes as TensorFlow's had them."""
        d = self.described
        inputs = [tensor["name"] for tensor in d["inputs"]]
        outputs = [tensor["name"] for tensor in d["outputs"]]
        shapes = {tensor["name"]: tensor["sig_shape"] for tensor in d["inputs"]}
        return convert(read_graph(FOLDER / d["graph"]), inputs, outputs, shapes, settings)

    def arrays(self, side: str) -> list[np.ndarray]:
        """Input or expected output values, in order ("inputs", "outputs")."""
        described = self.described[side]
        file = self.described["inputs_file" if side == "inputs" else "expected_file"]
        with np.load(FOLDER / file) as held:
            return [decoded(tensor, held) for tensor in described]

    def difference(self, results: Sequence[np.ndarray]) -> float:
        """The largest error as a multiple of the tolerance: at most 1 is within it; inf for a wrong shape."""
        tolerance = self.described["tol"]
        worst = 0.0
        for described, y, expected in zip(
            self.described["outputs"], results, self.arrays("outputs"), strict=True
        ):
            if not described.get("ignore"):
                worst = max(worst, _excess(y, expected, tolerance["rtol"], tolerance["atol"]))
        return worst


def cases(mode: str | None = None) -> list[Case]:
    """The graphs, all or those of a mode, by name."""
    files = (path for path in sorted(FOLDER.glob("*.json")) if path.name != "index.json")
    found = [Case(json.loads(path.read_text())) for path in files]
    return [case for case in found if mode is None or case.mode == mode]


def decoded(described: dict[str, Any], held: Any) -> np.ndarray:
    """A tensor of an .npz file as its descriptor says: strings as bytes objects, bfloat16 as ml_dtypes'."""
    array = held[described["key"]]
    if described["enc"] == "str":
        offsets, raw = held[described["key"] + "_off"], array.tobytes()
        strings = np.empty(len(offsets) - 1, object)
        strings[:] = [raw[a:b] for a, b in pairwise(offsets)]
        return strings.reshape(described["shape"])
    if described["enc"] == "u16":
        import ml_dtypes

        return array.view(ml_dtypes.bfloat16).reshape(described["shape"])
    return array.reshape(described["shape"])


def _excess(y: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> float:
    y = np.asarray(y)
    if y.shape != expected.shape:
        return float("inf")
    if expected.dtype.kind not in "fc" and expected.dtype.name != "bfloat16":
        return 0.0 if np.array_equal(y, expected) else float("inf")
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    a, b = y.astype(wide), expected.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(same, 0.0, np.abs(a - b) / (atol + rtol * np.abs(b)))
    error = np.where(np.isnan(error), np.inf, error)
    return float(error.max(initial=0.0))


def run_model(model: bytes, inputs: Sequence[np.ndarray], runtime: str) -> list[np.ndarray]:
    """The outputs by numlite's interpreter or LiteRT's ("litert")."""
    module = "numlite.interpreter" if runtime == "numlite" else "ai_edge_litert.interpreter"
    interpreter = import_module(module).Interpreter(model_content=model)
    return run(interpreter, *inputs)
