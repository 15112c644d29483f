"""Damaged ONNX models: they convert, or end in an error that says why."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numlite.converter import Converter, run_graph
from numlite.schema.onnx import ModelProto

from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import damaged
from tests.onnx_builder import graph, model, node, value

_MOST_BYTES = 20_000
RUN_SECONDS = 3


def _seeds(given: Sequence[Path]) -> list[Seed]:
    """The given files, else models that are built here."""
    paths = [file for path in given for file in (sorted(path.rglob("*.onnx")) if path.is_dir() else [path])]
    if given:
        return [Seed(path.name, path.read_bytes()) for path in paths if path.stat().st_size <= _MOST_BYTES]
    built = {"images": _images(), "shapes": _shapes(), "loop": _loop(), "recurrent": _recurrent()}
    built |= {"integers": _integers(), "trees": _trees()}
    return [Seed(name, made.SerializeToString(deterministic=True)) for name, made in built.items()]


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def _images() -> ModelProto:
    nodes = [
        node("Conv", ["x", "w", "b"], "c", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("BatchNormalization", ["c", "b", "b", "b", "b"], "n"),
        node("Relu", ["n"], "r"),
        node("MaxPool", ["r"], "m", kernel_shape=[2, 2], ceil_mode=1),
        node("Resize", ["m", "", "s"], "z", mode="linear"),
        node("ConvTranspose", ["z", "w"], "t", strides=[2, 2], output_padding=[1, 1]),
        node("GlobalAveragePool", ["t"], "g"),
        node("Flatten", ["g"], "f"),
        node("Gemm", ["f", "k"], "y", transB=1, alpha=0.5),
    ]
    held = {"w": _ones(3, 3, 3, 3), "b": _ones(3), "s": np.array([1, 1, 2, 2], np.float32), "k": _ones(2, 3)}
    return model(nodes, [value("x", [1, 3, 8, 8])], [value("y", [1, 2])], held)


def _shapes() -> ModelProto:
    nodes = [
        node("Shape", ["x"], "s"),
        node("Gather", ["s", "i"], "n", axis=0),
        node("Unsqueeze", ["n", "a"], "u"),
        node("Concat", ["u", "r"], "w", axis=0),
        node("Reshape", ["x", "w"], "f"),
        node("Slice", ["f", "a", "e", "q"], "c"),
        node("Split", ["c"], ["p", "o"], axis=1, num_outputs=2),
        node("Pad", ["p", "d"], "g", mode="reflect"),
        node("Where", ["h", "g", "o2"], "k"),
        node("Greater", ["g", "t"], "h"),
        node("Expand", ["t", "w"], "o2"),
        node("TopK", ["k", "v"], ["y", "z"]),
    ]
    nodes[8], nodes[9], nodes[10] = nodes[9], nodes[10], nodes[8]
    held = {
        **{"i": np.array(0), "a": np.array([0]), "r": np.array([-1]), "e": np.array([6]), "q": np.array([1])},
        **{"d": np.array([0, 1, 0, 2]), "t": _ones(1, 1), "v": np.array([2])},
    }
    return model(nodes, [value("x", ["n", 2, 3])], [value("y", None), value("z", None, np.int64)], held)


def _loop() -> ModelProto:
    body = graph(
        [node("Add", ["s", "x"], "t"), node("Less", ["t", "four"], "g"), node("Identity", ["t"], "l")],
        [value("i", [], np.int64), value("go", [], np.bool_), value("s", [])],
        [value("g", [], np.bool_), value("t", []), value("l", [])],
        {"four": np.float32(4)},
    )
    branches = [graph([node(op, ["x"], "b")], [], [value("b", [])]) for op in ("Neg", "Abs")]
    nodes = [
        node("Loop", ["n", "", "zero"], ["last", "all"], body=body),
        node("Greater", ["last", "zero"], "c"),
        node("If", ["c"], "y", then_branch=branches[0], else_branch=branches[1]),
    ]
    inputs = [value("x", []), value("n", [], np.int64)]
    return model(nodes, inputs, [value("y", []), value("all", [None])], {"zero": np.float32(0)})


def _recurrent() -> ModelProto:
    names = ["x", "w", "r"]
    nodes = [node("LSTM", names, ["a", "h", "c"], hidden_size=2), node("Softmax", ["a"], "y", axis=-1)]
    return model(
        nodes, [value("x", [None, 1, 3])], [value("y", None)], {"w": _ones(1, 8, 3), "r": _ones(1, 8, 2)}
    )


def _integers() -> ModelProto:
    grid = ["s", "z"]
    nodes = [
        node("QuantizeLinear", ["x", *grid], "q"),
        node("DequantizeLinear", ["q", *grid], "d"),
        node("DequantizeLinear", ["w", "t", "u"], "v", axis=0),
        node("Conv", ["d", "v"], "c"),
        node("QuantizeLinear", ["c", *grid], "p"),
        node("DequantizeLinear", ["p", *grid], "y"),
    ]
    held = {"s": np.float32(0.1), "z": np.array(128, np.uint8), "w": np.ones((2, 3, 1, 1), np.int8)}
    held |= {"t": _ones(2), "u": np.zeros(2, np.int8)}
    return model(nodes, [value("x", [1, 3, 4, 4])], [value("y", None)], held)


def _trees() -> ModelProto:
    made = node(
        "TreeEnsembleRegressor",
        ["x"],
        "y",
        domain="ai.onnx.ml",
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[1, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.5, 0.0, 0.0],
        nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        target_treeids=[0, 0],
        target_nodeids=[1, 2],
        target_ids=[0, 0],
        target_weights=[1.0, 2.0],
        n_targets=1,
    )
    made_model = model([made], [value("x", ["n", 2])], [value("y", None)])
    made_model.opset_import.add(domain="ai.onnx.ml", version=3)
    return made_model


def _damage(seed: Seed, draw: random.Random) -> Mutant:
    return Mutant(damaged(seed.content, ModelProto, draw), "damaged model", draw=draw.getrandbits(32))


def _attempt(mutant: Mutant) -> str:
    converter = Converter.from_onnx(mutant.content)
    if random.Random(mutant.draw).random() < 0.7:
        converter.convert()
        return "converted"
    entry = converter.entries[0]
    feeds = {}
    for name, node_name in entry.inputs.items():
        tensor = next(each for each in entry.module.graph.body if each.name == node_name)  # type: ignore[union-attr]
        shape = [2 if size < 0 else size for size in tensor.shape("shape") or ()]
        if np.prod(shape, dtype=float) > 1 << 16:
            return "not run"
        dtype = {1: np.float32, 9: np.int64}.get(tensor.type("dtype"))
        if dtype is None:
            return "not run"
        feeds[node_name] = np.ones(shape, dtype)
        del name
    run_graph(entry.module, feeds, list(entry.outputs.values()), timeout_s=RUN_SECONDS)
    return "run"


ONNX = Kind(
    "onnx", _seeds, _damage, _attempt, frozenset({"converted", "run", "not run"}), ".onnx", runs_models=False
)
