"""A subgraph that comes to run itself is refused, whichever operators lead back to it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError, PrepareError
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder, SubgraphBuilder

ONE, TWO = np.ones((), np.float32), np.ones(2, np.float32)
ROW, ROWS = np.zeros((1, 1), np.int32), np.ones((1, 2), np.float32)
FUNCTION, CONDITION = ("f", "f"), ("f", "?")
JOINING, COMPARING = ("ff", "f"), ("ff", "?")
SCATTER = {
    "update_window_dims": [1],
    "inserted_window_dims": [0],
    "scatter_dims_to_operand_dims": [0],
    "index_vector_dim": 1,
}

# Operator and what of it calls: options that run a subgraph, the node's inputs, what the subgraph
# takes and gives.
Caller = tuple[Callable[[int], TableT], list[np.ndarray], tuple[str, str]]
CALLERS: dict[str, Caller] = {
    "IF": (
        lambda n: tflite.IfOptionsT(then_subgraph_index=n, else_subgraph_index=n),
        [np.array(True), ONE],
        FUNCTION,
    ),
    "WHILE-condition": (
        lambda n: tflite.WhileOptionsT(cond_subgraph_index=n, body_subgraph_index=1),
        [ONE],
        CONDITION,
    ),
    "WHILE-body": (
        lambda n: tflite.WhileOptionsT(cond_subgraph_index=2, body_subgraph_index=n),
        [ONE],
        FUNCTION,
    ),
    "CALL": (lambda n: tflite.CallOptionsT(subgraph=n), [ONE], FUNCTION),
    "CALL_ONCE": (lambda n: tflite.CallOnceOptionsT(init_subgraph_index=n), [], ("", "")),
    "STABLEHLO_CASE": (
        lambda n: tflite.StablehloCaseOptionsT(branch_subgraph_indices=[1, n]),
        [np.zeros((), np.int32), ONE],
        FUNCTION,
    ),
    "STABLEHLO_WHILE-condition": (
        lambda n: tflite.StablehloWhileOptionsT(cond_subgraph_index=n, body_subgraph_index=1),
        [ONE],
        CONDITION,
    ),
    "STABLEHLO_WHILE-body": (
        lambda n: tflite.StablehloWhileOptionsT(cond_subgraph_index=2, body_subgraph_index=n),
        [ONE],
        FUNCTION,
    ),
    "STABLEHLO_COMPOSITE": (
        lambda n: tflite.StableHLOCompositeOptionsT(name="again", decomposition_subgraph_index=n),
        [ONE],
        FUNCTION,
    ),
    "STABLEHLO_REDUCE": (
        lambda n: tflite.StablehloReduceOptionsT(dimensions=[0], body_subgraph_index=n),
        [TWO, ONE],
        JOINING,
    ),
    "STABLEHLO_REDUCE_WINDOW": (
        lambda n: tflite.StablehloReduceWindowOptionsT(window_dimensions=[2], body_subgraph_index=n),
        [TWO, ONE],
        JOINING,
    ),
    "STABLEHLO_SORT": (
        lambda n: tflite.StablehloSortOptionsT(dimension=0, comparator_subgraph_index=n),
        [TWO],
        COMPARING,
    ),
    "STABLEHLO_SCATTER": (
        lambda n: tflite.StablehloScatterOptionsT(update_computation_subgraph_index=n, **SCATTER),
        [ROWS, ROW, ROWS],
        JOINING,
    ),
}


def subgraph_of(graph: SubgraphBuilder, signature: tuple[str, str]) -> None:
    """Its inputs and outputs, scalars of these kinds; what it computes does not matter."""
    given = [graph.tensor((), np.dtype(kind)) for kind in signature[0]]
    made = [graph.tensor((), np.dtype(kind)) for kind in signature[1]]
    if made:
        code = BuiltinOperator.LESS if signature[1] == "?" else BuiltinOperator.MAXIMUM
        graph.op(code, [given[0], given[-1]], made)
    graph.finish(given, made)


def call(graph: SubgraphBuilder, caller: str, index: int) -> None:
    """Add a node that runs a subgraph, on constants."""
    options, inputs, _ = CALLERS[caller]
    given = [graph.constant(x) for x in inputs]
    made = [graph.tensor((), np.float32)] if inputs else []
    graph.op(BuiltinOperator[caller.partition("-")[0]], given, made, options(index))


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("caller", CALLERS)
def test_a_circle_of_subgraphs_is_refused(caller: str, length: int) -> None:
    """The main graph runs the first link, which runs the next one; the last runs the first again."""
    model = ModelBuilder()
    subgraph_of(model.add_subgraph("function"), FUNCTION)
    subgraph_of(model.add_subgraph("condition"), CONDITION)
    links = [model.add_subgraph(f"link {k}") for k in range(length)]
    for link, called in zip(links, links[1:] + links[:1], strict=True):
        subgraph_of(link, CALLERS[caller][2])
        call(link, caller, called.index)
    call(model, caller, links[0].index)
    with pytest.raises((ModelError, PrepareError), match="itself"):
        Interpreter(model_content=model.build([], [])).allocate_tensors()


@pytest.mark.parametrize("caller", CALLERS)
def test_a_call_without_a_circle_is_prepared(caller: str) -> None:
    model = ModelBuilder()
    subgraph_of(model.add_subgraph("function"), FUNCTION)
    subgraph_of(model.add_subgraph("condition"), CONDITION)
    last = model.add_subgraph("last")
    subgraph_of(last, CALLERS[caller][2])
    call(model, caller, last.index)
    Interpreter(model_content=model.build([], [])).allocate_tensors()
