"""A small delegate that runs SIN, NEG, ADD and MUL with NumPy, as an example and for the tests."""

from __future__ import annotations

import json

import numpy as np
from numlite.delegates import DelegateContext, DelegateParams, SimpleDelegate, SimpleDelegateKernel
from numlite.lite.context import Context
from numlite.lite.node import Node
from numlite.lite.registration import Registration

FUNCTIONS = {"SIN": np.sin, "NEG": np.negative, "ADD": np.add, "MUL": np.multiply}


class NumpyKernel(SimpleDelegateKernel):
    """Runs its nodes in order; values between them never leave NumPy."""

    def init(self, context: DelegateContext, params: DelegateParams) -> None:
        self.steps = []
        for n in params.nodes_to_replace:
            node, registration = context.node_and_registration(n)
            self.steps.append((registration.name, node.inputs, node.outputs[0]))

    def invoke(self, context: Context, node: Node) -> None:
        values = {t: context.tensor(t).array() for t in node.inputs}
        for operator, inputs, output in self.steps:
            values[output] = FUNCTIONS[operator](*(values[t] for t in inputs))
        for t in node.outputs:
            context.tensor(t).array()[...] = values[t]

    def serialize(self, context: DelegateContext, params: DelegateParams) -> bytes:
        """The steps, with tensors numbered inputs first, then outputs, then those in between."""
        numbers: dict[int, int] = {}
        for t in (*params.input_tensors, *params.output_tensors):
            numbers.setdefault(t, len(numbers))
        for _, _, output in self.steps:
            numbers.setdefault(output, len(numbers))
        steps = [(name, [numbers[t] for t in inputs], numbers[output]) for name, inputs, output in self.steps]
        return json.dumps(steps).encode()

    def load(self, context: Context, node: Node, program: bytes) -> None:
        border = (*node.inputs, *node.outputs)

        def tensor(number: int) -> int:
            return border[number] if number < len(border) else -1 - number

        self.steps = [
            (name, tuple(map(tensor, inputs)), tensor(output)) for name, inputs, output in json.loads(program)
        ]


class NumpyDelegate(SimpleDelegate):
    """Takes the operators that it is made with (all it knows, if none are named)."""

    def __init__(self, *operators: str, **settings: object) -> None:
        super().__init__(**settings)
        self.operators = operators or tuple(FUNCTIONS)

    def is_node_supported(self, context: DelegateContext, node: Node, registration: Registration) -> bool:
        return registration.name in self.operators

    def create_kernel(self) -> NumpyKernel:
        return NumpyKernel()


def create_delegate(operators: str = "") -> NumpyDelegate:
    return NumpyDelegate(*operators.split())
