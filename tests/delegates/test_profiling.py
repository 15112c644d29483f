"""The profile of delegated graphs: one row a node, or one an operator for delegates that want it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numlite.delegates import DelegateFlags, profile_operator
from numlite.interpreter import Interpreter

from .graphs import sine, sine_model
from .numpy_delegate import FUNCTIONS, NumpyDelegate, NumpyKernel
from .test_application import X, run
from .test_native_kernels import Passing, Whole

PER_OPERATOR = DelegateFlags.PER_OPERATOR_PROFILING


class TimedKernel(NumpyKernel):
    def init(self, context: Any, params: Any) -> None:
        super().init(context, params)
        self.numbers = params.nodes_to_replace

    def invoke(self, context: Any, node: Any) -> None:
        values = {t: context.tensor(t).array() for t in node.inputs}
        for number, (operator, inputs, output) in zip(self.numbers, self.steps, strict=True):
            with profile_operator(context, operator, number):
                values[output] = FUNCTIONS[operator](*(values[t] for t in inputs))
        for t in node.outputs:
            context.tensor(t).array()[...] = values[t]


class Timed(NumpyDelegate):
    def __init__(self, flags: DelegateFlags) -> None:
        super().__init__("SIN", "MUL")
        self.flags = flags

    def create_kernel(self) -> TimedKernel:
        return TimedKernel()


@pytest.mark.parametrize(
    ("flags", "force", "expected"),
    [
        (DelegateFlags.NONE, False, [("Timed", 5), ("ADD", 1), ("ADD", 4)]),
        (PER_OPERATOR, False, [("SIN", 0), ("MUL", 2), ("SIN", 3), ("ADD", 1), ("ADD", 4)]),
        (PER_OPERATOR, True, [("Timed", 5), ("SIN", 0), ("MUL", 2), ("SIN", 3), ("ADD", 1), ("ADD", 4)]),
    ],
    ids=["no flag", "per operator", "forced"],
)
def test_rows(flags: DelegateFlags, force: bool, expected: list[tuple[str, int]]) -> None:
    interpreter = Interpreter(
        model_content=sine_model(),
        experimental_delegates=[Timed(flags)],
        experimental_force_delegate_node_profiling=force,
    )
    assert np.array_equal(run(interpreter, X), sine(X))
    rows = interpreter.profile(3)
    assert [(row.op, row.node) for row in rows] == expected
    named = {row.node: row.output for row in rows}
    assert named[1] == "t3"
    assert interpreter.core.subgraph().operator_profiler is None
    assert np.array_equal(run(interpreter, X), sine(X))


def test_an_operator_of_no_node_counts_for_the_delegates_node() -> None:
    class Numberless(TimedKernel):
        def init(self, context: Any, params: Any) -> None:
            super().init(context, params)
            self.numbers = tuple(1000 + n for n in self.numbers)

    delegate = Timed(PER_OPERATOR)
    delegate.create_kernel = Numberless  # type: ignore[method-assign]
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    interpreter.allocate_tensors()
    assert [(row.op, row.node) for row in interpreter.profile(1)][:3] == [("SIN", 5), ("MUL", 5), ("ADD", 1)]


@pytest.mark.parametrize("make", [Passing, Whole])
def test_compiled_kernels_have_rows(make: type[Any]) -> None:
    delegate = make()
    delegate.flags = PER_OPERATOR
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    plain = run(Interpreter(model_content=sine_model()), X)
    assert np.array_equal(run(interpreter, X), plain)
    rows = interpreter.profile(2)
    assert len(rows) == 5 and all(row.calls == 1 for row in rows)
    assert sum("sin" in row.op.lower() for row in rows) == 2
    assert delegate.name not in {row.op for row in rows}


def test_a_failing_kernel_leaves_no_profiler_behind() -> None:
    delegate = Timed(PER_OPERATOR)
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert np.array_equal(run(interpreter, X), sine(X))
    node = interpreter.core.subgraph().nodes[5]
    kernel: Any = node.user_data
    steps, kernel.steps = kernel.steps, [("NONE", (), 0)] * 3
    with pytest.raises(RuntimeError, match="node 5"):
        interpreter.profile(1)
    assert interpreter.core.subgraph().operator_profiler is None
    kernel.steps = steps
    assert np.array_equal(run(interpreter, X), sine(X))
