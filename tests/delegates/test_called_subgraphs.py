"""Delegates and called subgraphs: acquired, skipped, taken with their loop, called by several."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from numlite.delegates import Delegate, DelegateContext, delegate_registration
from numlite.interpreter import Interpreter
from numlite.lite.context import Context
from numlite.lite.errors import DelegateError, StateError
from numlite.lite.node import Node
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .graphs import Op, unary, while_model, while_result
from .numpy_delegate import NumpyDelegate
from .test_application import Hooks, _fail, run
from .test_hostile_delegates import LOOP_X, _keep


class Elsewhere(NumpyDelegate):
    """Takes the body of the loop from its prepare for the main subgraph."""

    def __init__(self, *operators: str, fails: bool = False, skip: bool = False) -> None:
        super().__init__(*operators)
        self.fails, self.skip = fails, skip
        self.shapes: list[tuple[int, ...]] = []

    def prepare(self, context: DelegateContext) -> None:
        if context.index != 0:
            return
        body = context.acquire_subgraph_context(2)
        names = [(n, body.node_and_registration(n)[1].name) for n in body.execution_plan]
        taken = [n for n, name in names if name in self.operators]
        body.replace_node_subsets_with_delegate_kernels(self._registration(), taken)
        if self.skip:
            context.mark_subgraph_as_delegation_skippable(2)
        if self.fails:
            _fail()


def loop_x(count: int) -> np.ndarray:
    return np.linspace(0, 1, count, dtype=np.float32)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("others", [0, 1])
def test_nodes_of_an_acquired_subgraph(skip: bool, others: int) -> None:
    delegates: list[Delegate] = [Elsewhere("SIN", skip=skip), *[NumpyDelegate("ADD")] * others]
    interpreter = Interpreter(model_content=while_model(), experimental_delegates=delegates)
    body = interpreter.core.subgraph(2)
    for count in (3, 5, 3, 4):
        assert np.allclose(run(interpreter, loop_x(count)), while_result(loop_x(count)), rtol=1e-6)
        owners = [body.nodes[n].delegate for n in body.execution_plan]
        assert owners[0] is delegates[0]
        assert owners[1] is (delegates[1] if others and not skip else None)
    assert len(body.nodes) == 3 + len([owner for owner in owners if owner])


def test_an_acquired_subgraph_is_given_back() -> None:
    interpreter = Interpreter(model_content=while_model())
    with pytest.raises(DelegateError, match="on fire"):
        interpreter.modify_graph_with_delegate(Elsewhere("SIN", fails=True, skip=True))
    body = interpreter.core.subgraph(2)
    assert body.execution_plan == [0, 1, 2] and len(body.nodes) == 3
    assert np.allclose(run(interpreter, LOOP_X), while_result(LOOP_X), rtol=1e-6)
    interpreter.modify_graph_with_delegate(NumpyDelegate("SIN"))  # the body is skipped no more
    assert np.allclose(run(interpreter, LOOP_X), while_result(LOOP_X), rtol=1e-6)
    assert any(body.nodes[n].delegate for n in body.execution_plan)


def test_copies_of_an_acquired_subgraph() -> None:
    graph = ModelBuilder()
    x, y = graph.tensor((2,)), graph.tensor((5,))
    a, b = graph.tensor((2,)), graph.tensor((5,))
    outer, callee = graph.add_subgraph("outer"), graph.add_subgraph("callee")
    for operand, result in ((x, a), (y, b)):
        graph.op(Op.CALL, [operand], [result], tflite.CallOptionsT(subgraph=callee.index))
    v = outer.tensor((2,))
    outer.finish([v], [v])
    v = callee.tensor((2,))
    callee.finish([v], [unary(callee, Op.SIN, v, (2,))])
    delegate = Elsewhere("SIN")
    interpreter = Interpreter(model_content=graph.build([x, y], [a, b]), experimental_delegates=[delegate])
    interpreter.allocate_tensors()
    for t, count in ((x, 2), (y, 5)):
        interpreter.set_tensor(t, loop_x(count))
    interpreter.invoke()
    for t, count in ((a, 2), (b, 5)):
        assert np.array_equal(interpreter.get_tensor(t), np.sin(loop_x(count)))
    instances = interpreter.core.runtime.instances(2)
    assert len(instances) == 2
    assert all(s.nodes[n].delegate is delegate for s in instances for n in s.execution_plan)


def test_an_acquired_subgraph_goes_back_with_the_one_that_took_it() -> None:
    interpreter = Interpreter(
        model_content=while_model(), experimental_delegates=[Elsewhere("SIN", skip=True)]
    )
    main, body = interpreter.core.subgraph(0), interpreter.core.subgraph(2)
    interpreter.allocate_tensors()
    assert body.execution_plan == [3, 1, 2] and main.delegation is not None
    main.delegation.undo(main)
    assert body.execution_plan == [0, 1, 2]
    assert np.allclose(run(interpreter, LOOP_X), while_result(LOOP_X), rtol=1e-6)
    assert body.execution_plan == [3, 1, 2]


class LoopTaker(Delegate):
    """Runs a whole WHILE itself, so that nobody need look at its subgraphs."""

    def prepare(self, context: DelegateContext) -> None:
        loops = [n for n in context.execution_plan if context.node_and_registration(n)[1].name == "WHILE"]
        registration = delegate_registration("LoopTaker", _keep, invoke=run_loop)
        context.replace_node_subsets_with_delegate_kernels(registration, loops)
        for index in (1, 2) if loops else ():
            context.mark_subgraph_as_delegation_skippable(index)


def run_loop(context: Context, node: Node) -> None:
    context.output(node, 0).array()[...] = while_result(context.input(node, 0).array())


def test_a_delegate_that_takes_a_loop() -> None:
    delegates = [LoopTaker(), NumpyDelegate()]
    interpreter = Interpreter(model_content=while_model(), experimental_delegates=delegates)
    for count in (3, 5):
        assert np.allclose(run(interpreter, loop_x(count)), while_result(loop_x(count)))
    assert [row.op for row in interpreter.profile(1)] == ["LoopTaker"]
    for subgraph in interpreter.core.subgraphs[1:]:
        assert all(node.delegate is None for node in subgraph.nodes)


def test_contexts_that_are_kept_hold_no_subgraph() -> None:
    kept: list[DelegateContext] = []

    class Keeping(Elsewhere):
        def prepare(self, context: DelegateContext) -> None:
            kept.append(context)
            if context.index == 0:
                kept.append(context.acquire_subgraph_context(2))
            super().prepare(context)

    interpreter = Interpreter(model_content=while_model(), experimental_delegates=[Keeping("SIN")])
    assert np.allclose(run(interpreter, LOOP_X), while_result(LOOP_X), rtol=1e-6)
    subgraphs = [weakref.ref(subgraph) for subgraph in interpreter.core.subgraphs]
    for context in kept:
        with pytest.raises(StateError, match="while the delegate is being prepared"):
            context.execution_plan  # noqa: B018
    del interpreter
    gc.collect()
    assert not any(subgraph() for subgraph in subgraphs)


def test_a_subgraph_that_is_left_alone_calls_one_that_is_changed() -> None:
    """main calls outer, which nobody may take, and outer calls inner: NEG, SIN."""
    graph = ModelBuilder()
    x, y = graph.tensor((4,)), graph.tensor((4,))
    outer, inner = graph.add_subgraph("outer"), graph.add_subgraph("inner")
    graph.op(Op.CALL, [x], [y], tflite.CallOptionsT(subgraph=outer.index))
    v, w = outer.tensor((4,)), outer.tensor((4,))
    outer.op(Op.CALL, [v], [w], tflite.CallOptionsT(subgraph=inner.index))
    outer.finish([v], [w])
    v = inner.tensor((4,))
    inner.finish([v], [unary(inner, Op.SIN, unary(inner, Op.NEG, v, (4,)), (4,))])

    class Skipping(NumpyDelegate):
        def prepare(self, context: DelegateContext) -> None:
            if context.index == 0:
                context.mark_subgraph_as_delegation_skippable(outer.index)

    interpreter = Interpreter(model_content=graph.build([x], [y]), experimental_delegates=[Skipping()])
    value = loop_x(4)
    assert np.allclose(run(interpreter, value), np.sin(-value), atol=1e-6)
    for operator in ("SIN", "NEG"):
        interpreter.modify_graph_with_delegate(NumpyDelegate(operator))
        gc.collect()
        assert np.array_equal(run(interpreter, value), np.sin(-value))
    failing = Hooks("SIN", prepare=_fail)
    failing.prepare = lambda context: _fail()  # type: ignore[method-assign]
    with pytest.raises(DelegateError):
        interpreter.modify_graph_with_delegate(failing)
    gc.collect()
    assert np.allclose(run(interpreter, value), np.sin(-value), atol=1e-6)


def test_only_the_main_subgraph_takes_nodes_of_others() -> None:
    class Upwards(NumpyDelegate):
        def prepare(self, context: DelegateContext) -> None:
            if context.index == 2:
                main = context.acquire_subgraph_context(0)
                assert main.execution_plan == (0,)
                main.replace_node_subsets_with_delegate_kernels(self._registration(), [0])

    interpreter = Interpreter(model_content=while_model())
    with pytest.raises(DelegateError, match="prepared for subgraph 0, got subgraph 2"):
        interpreter.modify_graph_with_delegate(Upwards())
    assert np.allclose(run(interpreter, LOOP_X), while_result(LOOP_X), rtol=1e-6)


def test_wrong_nodes_of_an_acquired_subgraph() -> None:
    class Wrong(NumpyDelegate):
        def prepare(self, context: DelegateContext) -> None:
            if context.index == 0:
                body = context.acquire_subgraph_context(2)
                body.replace_node_subsets_with_delegate_kernels(self._registration(), [7])

    interpreter = Interpreter(model_content=while_model())
    with pytest.raises(DelegateError, match="must be in the execution plan, got 7"):
        interpreter.modify_graph_with_delegate(Wrong())
    assert np.allclose(run(interpreter, LOOP_X), while_result(LOOP_X), rtol=1e-6)
