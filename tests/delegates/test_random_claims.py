"""Random graphs, claims and delegates: the delegated result is the plain one."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.delegates import Delegate, PartitionMode, SimpleDelegateOptions
from numlite.delegates.compile import compile_model
from numlite.interpreter import Interpreter
from numlite.lite.control_edges import METADATA_NAME, serialize_control_dependencies
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .graphs import Op
from .numpy_delegate import NumpyDelegate
from .test_buffer_handles import Device

SHAPE = (2, 3)
OPTIONS = {"ADD": tflite.AddOptionsT, "MUL": tflite.MulOptionsT}
Step = tuple[str, int, int]


class ClaimingDevice(Device):
    """A delegate with memory of its own that takes the nodes it is told to."""

    def __init__(self, options: SimpleDelegateOptions) -> None:
        super().__init__("NEG", "ADD", "MUL")
        self.options = options


@st.composite
def graphs(draw: Any) -> tuple[list[Step], list[int], list[tuple[int, int]]]:
    """Nodes (operator, operand, other operand) over tensor 0, outputs, and forward control edges."""
    steps: list[Step] = []
    for n in range(draw(st.integers(1, 12))):
        operand = st.integers(0, n)
        steps.append((draw(st.sampled_from(("NEG", "ADD", "MUL"))), draw(operand), draw(operand)))
    outputs = draw(st.lists(st.integers(1, len(steps)), min_size=1, max_size=3, unique=True))
    node = st.integers(0, len(steps) - 1)
    edges = draw(st.lists(st.tuples(node, node).map(sorted).map(tuple), max_size=4))
    return steps, outputs, [edge for edge in edges if edge[0] != edge[1]]


def build(steps: list[Step], outputs: list[int], edges: list[tuple[int, int]] | None) -> bytes:
    graph = ModelBuilder()
    for _ in range(len(steps) + 1):
        graph.tensor(SHAPE)
    for n, (operator, a, b) in enumerate(steps):
        inputs = [a] if operator == "NEG" else [a, b]
        options = OPTIONS[operator]() if operator in OPTIONS else None
        graph.op(Op[operator], inputs, [n + 1], options)
    if edges is not None:
        data = serialize_control_dependencies([edges])
        graph.model.buffers.append(tflite.BufferT(data=data))
        graph.model.metadata = [tflite.MetadataT(name=METADATA_NAME, buffer=len(graph.model.buffers) - 1)]
    return graph.build([0], outputs)


def results(content: bytes, delegates: list[Delegate], outputs: list[int]) -> list[np.ndarray]:
    interpreter = Interpreter(model_content=content, experimental_delegates=delegates)
    interpreter.allocate_tensors()
    found = []
    for sign in (1, -1):
        interpreter.set_tensor(0, sign * np.arange(1, 7, dtype=np.float32).reshape(SHAPE) / 4)
        interpreter.invoke()
        found += [interpreter.get_tensor(t) for t in outputs]
    return found


def claims(count: int) -> st.SearchStrategy[SimpleDelegateOptions]:
    nodes = st.lists(st.integers(0, count - 1), unique=True).map(tuple)
    return st.builds(SimpleDelegateOptions, allow_nodes=nodes, partition_mode=st.sampled_from(PartitionMode))


@settings(max_examples=60)
@given(st.data(), graphs(), st.booleans())
def test_delegated_result_is_the_plain_one(
    data: Any, graph: tuple[list[Step], list[int], list[tuple[int, int]]], explicit: bool
) -> None:
    steps, outputs, edges = graph
    content = build(steps, outputs, edges if explicit else None)
    first, second = data.draw(claims(len(steps))), data.draw(claims(len(steps)))
    delegates: list[Delegate] = [NumpyDelegate(options=first), ClaimingDevice(second)]
    if data.draw(st.booleans()):
        delegates.reverse()
    with np.errstate(over="ignore", invalid="ignore"):
        plain, delegated = results(content, [], outputs), results(content, delegates, outputs)
    for expected, got in zip(plain, delegated, strict=True):
        np.testing.assert_array_equal(got, expected)


@settings(max_examples=60)
@given(st.data(), graphs(), st.booleans())
def test_compiled_result_is_the_plain_one(
    data: Any, graph: tuple[list[Step], list[int], list[tuple[int, int]]], explicit: bool
) -> None:
    steps, outputs, edges = graph
    content = build(steps, outputs, edges if explicit else None)
    delegate = NumpyDelegate(options=data.draw(claims(len(steps))))
    source = Interpreter(model_content=content, experimental_delegates=[delegate])
    compiled = compile_model(source.core, delegate, "numpy")
    replaced = [name for report in compiled.partitions for name in report.replaced]
    assert len(replaced) == len(delegate.options.allow_nodes or ())
    with np.errstate(over="ignore", invalid="ignore"):
        plain = results(content, [], outputs)
        outcome = results(compiled.content, [NumpyDelegate("NONE")], outputs)
    for expected, got in zip(plain, outcome, strict=True):
        np.testing.assert_array_equal(got, expected)
