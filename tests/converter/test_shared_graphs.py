"""Graphs with TensorFlow's own outputs (../shared/convert/graphs): those of ops that are built."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import convert_graph, read_graph
from numlite.converter.lowering.register import FAMILIES
from numlite.lite.errors import UnsupportedError

from .graphs import checked, histogram, run, run_litert

FOLDER = Path(__file__).parents[3] / "shared/convert/graphs"

# Where the flex delegate will come in: types that no builtin operator takes.
OTHER_TYPES = {"float16", "float64", "bfloat16"}
# int32 is built for arithmetic, but not for these; training is not built at all.
NOT_BUILT = {
    "op_MatMul_2a",
    "op_Mean_1a",
    "op_FusedBatchNormV2_1a",
    "op_FusedBatchNormV3_1a",
    "op_FusedBatchNorm_1a",
}

Processor = Callable[..., list[np.ndarray]]


@cache
def described() -> dict[str, dict]:
    """The JSON of every graph that has built ops only, by name."""
    known = {*(op for ops in FAMILIES.values() for op in ops), "Placeholder", "NoOp", "Const", "Identity"}
    texts = (p.read_text() for p in sorted(FOLDER.glob("*.json")) if p.name != "index.json")
    return {d["name"]: d for d in map(json.loads, texts) if set(d["tf_ops"]) <= known}


def array(described_tensor: dict, arrays: np.lib.npyio.NpzFile) -> np.ndarray:
    return arrays[described_tensor["key"]]


def refused(name: str) -> bool:
    types = {tensor["dtype"] for tensor in described()[name]["inputs"]}
    reshaping = name.startswith(("op_Reshape", "op_Identity"))
    return name in NOT_BUILT or (bool(types & OTHER_TYPES) and not reshaping)


def run_numlite(model: bytes, *inputs: np.ndarray) -> list[np.ndarray]:
    from numlite.interpreter import Interpreter

    return run(Interpreter(model_content=model), *inputs)


@pytest.mark.skipif(not FOLDER.exists(), reason="../shared/convert is absent")
@pytest.mark.parametrize("processor", [run_litert, run_numlite])
@pytest.mark.parametrize("name", described() if FOLDER.exists() else [])
def test_equals_tensorflow(name: str, processor: Processor) -> None:
    d = described()[name]
    arguments = (
        read_graph(FOLDER / d["graph"]),
        [i["name"] for i in d["inputs"]],
        [o["name"] for o in d["outputs"]],
        {i["name"]: i["sig_shape"] for i in d["inputs"]},
    )
    if refused(name):
        with pytest.raises(UnsupportedError):
            convert_graph(*arguments)
        return
    model = checked(convert_graph(*arguments))
    given, expected = (np.load(FOLDER / f"{name}.{side}.npz") for side in ("in", "out"))
    outputs = processor(model, *(array(i, given) for i in d["inputs"]))
    for o, y in zip(d["outputs"], outputs, strict=True):
        np.testing.assert_allclose(y, array(o, expected), **d["tol"])
    check_size(model, d["tflite"])


def check_size(model: bytes, tensorflows: dict | None) -> None:
    """No more operators than TensorFlow's converter makes, where it needs builtin ones only."""
    if tensorflows is not None and tensorflows["mode"] == "builtins":
        assert sum(histogram(model).values()) <= tensorflows["total_ops"]
