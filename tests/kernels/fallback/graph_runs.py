"""Kernels with state, run one after another in one environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numlite.kernels.fallback.attributes import FunctionName
from numlite.kernels.fallback.environment import Environment
from numlite.kernels.fallback.node_runner import run_node

from .nodes import node


class Session:
    """Runs nodes that share resources; their functions are Python's."""

    def __init__(self, **functions: Callable[..., Sequence[np.ndarray]]) -> None:
        def call(function: FunctionName, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
            return list(functions[function.name](*inputs))

        self.environment = Environment(call)

    def all(self, op: str, inputs: Sequence[object] = (), **attributes: str) -> list[np.ndarray]:
        arrays = [np.asarray(value) for value in inputs]
        return run_node(node(op, **attributes), arrays, environment=self.environment)

    def one(self, op: str, *inputs: object, **attributes: str) -> np.ndarray:
        """The first output."""
        return self.all(op, inputs, **attributes)[0]
