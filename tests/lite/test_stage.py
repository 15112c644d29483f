"""An observer sees every value, also of operators that write over their inputs and of subgraphs that run."""

import numpy as np
from numlite.interpreter import Interpreter
from numlite.lite.subgraph import Subgraph
from numlite.schema import tflite

from ..model_builder import ModelBuilder

Op = tflite.BuiltinOperator


def negated_twice() -> bytes:
    model = ModelBuilder()
    x, a, y = (model.tensor([4], name=name) for name in "xay")
    model.op(Op.NEG, [x], [a])
    model.op(Op.NEG, [a], [y])
    return model.build([x], [y])


def test_inputs_and_results_are_seen_once_each_before_they_are_overwritten() -> None:
    interpreter = Interpreter(model_content=negated_twice())
    seen: list[tuple[int, list[float]]] = []

    def observe(subgraph: Subgraph, tensors: tuple[int, ...]) -> None:
        seen.extend((t, subgraph.tensors[t].array().tolist()) for t in tensors)

    interpreter.core.observe(observe)
    values = np.array([1, -2, 3, 0], np.float32)
    for _ in range(2):
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, values)
        interpreter.invoke()
    one = [(0, values.tolist()), (1, (-values).tolist()), (2, values.tolist())]
    assert seen == [*one, *one]
    interpreter.core.observe(None)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, values)
    interpreter.invoke()
    assert len(seen) == 6
