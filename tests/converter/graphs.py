"""Small graphs, and a way to run what the converter makes of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import tflite
from numlite.schema.operator_code import builtin_code
from numlite.schema.verifier import verify

from ..running import run


def sine_graph() -> GraphBuilder:
    """f(x) = sin(x) + x + sin(2x)."""
    graph = GraphBuilder()
    x = graph.placeholder("x", [1])
    double = graph.node("Mul", "double", x, graph.constant("two", np.float32(2).reshape(())))
    total = graph.node("AddV2", "total", graph.node("Sin", "sin", x), x)
    graph.node("AddV2", "f", total, graph.node("Sin", "sin_of_double", double))
    return graph


def operators(model: bytes) -> list[str]:
    """Names of the model's operators, in order."""
    read = tflite.read(model)
    codes = [tflite.BuiltinOperator(builtin_code(code)).name for code in read.operator_codes]
    return [codes[operator.opcode_index] for operator in read.subgraphs[0].operators]


def histogram(model: bytes) -> dict[str, int]:
    return dict(Counter(operators(model)))


def run_litert(model: bytes, *inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs by LiteRT; skips where it is not installed."""
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    return run(litert.Interpreter(model_content=model), *inputs)


def run_numlite(model: bytes, *inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs by numlite."""
    from numlite.interpreter import Interpreter

    return run(Interpreter(model_content=model), *inputs)


def checked(model: bytes) -> bytes:
    """The model, known to be well formed."""
    verify(model)
    return model
