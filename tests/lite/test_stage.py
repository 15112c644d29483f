"""An observer sees every value, also of operators that write over their inputs and of subgraphs that run."""

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.converter.quantization.value_statistics import Extremes
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError
from numlite.lite.kernel_call import KernelCall
from numlite.lite.node_context import NodeContext
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


def chosen_and_doubled() -> bytes:
    """WHERE gives as many rows as are true, which only a run tells; then they are added to themselves."""
    model = ModelBuilder()
    x = model.tensor([4], np.bool_, name="x")
    places, y = (
        model.tensor([1, 1], np.int64, name=name, shape_signature=[-1, 1]) for name in ("places", "y")
    )
    model.op(Op.WHERE, [x], [places])
    model.op(Op.ADD, [places, places], [y])
    return model.build([x], [y])


def test_a_probe_looks_at_what_is_native_and_the_observer_at_the_rest() -> None:
    for content, native in ((negated_twice(), {1, 2}), (chosen_and_doubled(), {2})):
        interpreter = Interpreter(model_content=content)
        probed: set[int] = set()
        seen: list[int] = []

        def probe(
            subgraph: NodeContext, tensors: Sequence[int], probed: set[int] = probed
        ) -> list[KernelCall]:
            probed.update(tensors)
            return []

        interpreter.core.observe(lambda subgraph, tensors, seen=seen: seen.extend(tensors), probe)
        interpreter.allocate_tensors()
        interpreter.invoke()
        assert probed == native
        assert sorted(seen) == sorted({0, 1, 2} - native)


def test_calls_of_a_probe_run_right_behind_their_nodes() -> None:
    interpreter = Interpreter(model_content=negated_twice())
    extremes = {t: Extremes(1) for t in (1, 2)}

    def probe(subgraph: NodeContext, tensors: Sequence[int]) -> list[KernelCall]:
        return [extremes[t].call(subgraph.tensors[t]) for t in tensors]

    interpreter.core.observe(lambda subgraph, tensors: None, probe)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.array([1, -2, 3, 0], np.float32))
    interpreter.invoke()
    assert [extremes[t].ranges.ravel().tolist() for t in (1, 2)] == [[-3, 2], [-2, 3]]
    interpreter.set_tensor(0, np.array([1, np.nan, 3, 0], np.float32))
    with pytest.raises(InvokeError, match="'a': values must be finite"):
        interpreter.invoke()
    assert [extremes[t].found_wrong for t in (1, 2)] == [True, False]
