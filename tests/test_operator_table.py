"""docs/operators.md says what the registry and the cases say."""

import pytest
from numlite.interpreter import Interpreter
from numlite.kernels.operator_facts import NAMED_TYPES
from numlite.kernels.operators import OPERATORS
from numlite.lite.errors import UnsupportedError
from numlite.lite.tensor import TensorType
from numlite.schema import tflite

from .cases.due import EXACT_OPERATORS
from .operator_table import PATH, loosest, seen, text
from .test_cases import CASES


def test_the_table_of_operators_is_fresh() -> None:
    assert PATH.read_text() == text(), "stale: run python -m tests.operator_table"


def test_what_computes_nothing_new_is_held_exactly() -> None:
    loose = [case for name in EXACT_OPERATORS for row in seen()[name].values() for case in row.inexact]
    assert not loose


@pytest.mark.parametrize(
    "seen_words, word",
    [
        ({"exact", "close"}, "close"),
        ({"within 2", "within 16", "exact"}, "within 16"),
        ({"exact", "refuses"}, "exact"),
        ({"close", "differs"}, "differs"),
        (set(), "-"),
    ],
)
def test_a_group_is_as_its_loosest(seen_words: set[str], word: str) -> None:
    assert loosest(seen_words) == word


TYPED = [name for name, facts in OPERATORS.items() if facts.built]


def test_types_that_cases_run_are_in_the_table() -> None:
    for name in TYPED:
        facts = OPERATORS[name]
        listed = {NAMED_TYPES[word].name.lower() for word in (*facts.built.split(), *facts.halves.split())}
        for types in seen()[name]:
            operand, _, result = types.partition(" -> ")
            assert {operand.split()[0], result} & listed, f"{name} runs {types}, the table lists {listed}"


def _of_strings(name: str) -> bytes:
    """The model of one of the operator's cases, with strings where it has a type that the table lists."""
    listed = {NAMED_TYPES[word] for word in (*OPERATORS[name].built.split(), *OPERATORS[name].halves.split())}
    for case in CASES.values():
        if not case.id.startswith(f"{name}-"):
            continue
        model = tflite.unpack(tflite.read(case.make()))
        [graph] = model.subgraphs
        [node] = graph.operators
        tensors = [graph.tensors[t] for t in (*node.inputs, *node.outputs)]
        told = next(tensor.type for tensor in tensors if tensor.type in listed)
        changed = [tensor for tensor in tensors if tensor.type == told]
        if all(model.buffers[tensor.buffer].data is None for tensor in changed):
            for tensor in changed:
                tensor.type = TensorType.STRING
            return tflite.pack(model)
    raise LookupError(name)


@pytest.mark.parametrize("name", TYPED)
def test_types_that_the_table_lacks_are_refused(name: str) -> None:
    interpreter = Interpreter(model_content=_of_strings(name))
    with pytest.raises(UnsupportedError, match=f"{name}: types built are [a-z]"):
        interpreter.allocate_tensors()
