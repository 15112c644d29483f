"""Chains over rows, as layer normalization is written: one node, with the bytes of its operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.lite.errors import PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import ActivationFunctionType

from ..row_chains import (
    KEEP_DIMS,
    Chain,
    Shape,
    as_keras_has_it,
    by_the_book,
    model,
    root_mean_square,
    with_a_sum_before,
)

pytestmark = pytest.mark.filterwarnings("ignore:Warning. Enabling .experimental_preserve")
FORMS = [as_keras_has_it, by_the_book, root_mean_square, with_a_sum_before]
SHAPES = [(2, 9, 32), (1, 197, 192), (3, 5, 2, 41), (9, 700)]


def ready(content: bytes, **settings: object) -> Interpreter:
    interpreter = Interpreter(model_content=content, **settings)
    interpreter.allocate_tensors()
    return interpreter


def results(interpreter: Interpreter, seed: int = 0) -> list[bytes]:
    detail = interpreter.get_input_details()[0]
    x = np.random.default_rng(seed).normal(size=detail["shape"]).astype(np.float32)
    if x.size > 1:
        x.flat[0], x.flat[-1] = np.inf, -0.0
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]).tobytes() for d in interpreter.get_output_details()]


def nodes(interpreter: Interpreter) -> int:
    return len(interpreter.core.subgraph().schedule)


def kernels(interpreter: Interpreter) -> list[str]:
    return [call.kernel for node in interpreter.core.subgraph().schedule for call in node.calls or ()]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_the_bytes_of_its_operators(form: Callable, shape: Shape, threads: int) -> None:
    content = model(form, shape)
    apart = ready(content, experimental_preserve_all_tensors=True)
    fused = ready(content, num_threads=threads)
    assert nodes(apart) > 6 and kernels(fused) == ["row_chain_f32"]
    for seed in range(2):
        assert results(fused, seed) == results(apart, seed)


@pytest.mark.parametrize("resolver", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
def test_in_both_numerics(resolver: OpResolverType) -> None:
    content = model(by_the_book, (2, 9, 32))
    settings = {"experimental_op_resolver_type": resolver}
    apart = ready(content, experimental_preserve_all_tensors=True, **settings)
    assert results(ready(content, **settings)) == results(apart)


def test_another_shape_is_another_program() -> None:
    b = Chain()
    x = b.tensor([2, 9, 32], shape_signature=[-1, 9, 32])
    content = b.build([x], [as_keras_has_it(b, x, (2, 9, 32))])
    fused, apart = ready(content), ready(content, experimental_preserve_all_tensors=True)
    for rows in (5, 2, 0, 1):
        for interpreter in (fused, apart):
            interpreter.resize_tensor_input(0, [rows, 9, 32])
            interpreter.allocate_tensors()
        assert results(fused, rows) == results(apart, rows)


def test_a_row_of_nothing_has_no_mean() -> None:
    b = Chain()
    x = b.tensor([9, 32], shape_signature=[9, -1])
    mean = b.mean(x, (9, 32))
    y = b.add("MUL", [mean, b.number(2)], (9, 1))
    content = b.build([x], [b.add("ADD", [y, b.row(1, [9, 16])], (9, 16))])
    fused, apart = ready(content), ready(content, experimental_preserve_all_tensors=True)
    for interpreter in (fused, apart):
        interpreter.resize_tensor_input(0, [9, 0])
        interpreter.allocate_tensors()
    assert nodes(fused) == 1 and np.isnan(np.frombuffer(results(fused)[0], np.float32)).all()
    assert results(fused) == results(apart)


def test_an_error_names_the_node_at_fault() -> None:
    b = Chain()
    x, y = b.tensor([9, 32]), b.tensor([9, 32], shape_signature=[9, -1])
    mean = b.mean(x, (9, 32))
    moved = b.add("SUB", [x, mean], (9, 32))
    wrong = b.add("MUL", [moved, y], (9, 32))
    content = b.build([x, y], [b.add("ADD", [wrong, b.number(1)], (9, 32))])
    name = Interpreter(model_content=content).get_tensor_details()[wrong]["name"]
    told = []
    for settings in ({}, {"experimental_preserve_all_tensors": True}):
        interpreter = ready(content, **settings)
        interpreter.resize_tensor_input(y, [9, 31])
        with pytest.raises(PrepareError) as error:
            interpreter.allocate_tensors()
        told.append(str(error.value))
    assert told[0] == told[1] and told[0].startswith(f"node 2 (MUL), output {name!r}: MUL: ")


def test_variables_keep_what_the_last_run_wrote() -> None:
    b, shape = Chain(), (9, 32)
    x, state = b.tensor(shape), b.tensor(shape, is_variable=True)
    product = b.add("MUL", [x, b.mean(state, shape)], shape)
    y = b.add("ADD", [product, b.number(1)], shape)
    b.op(tflite.BuiltinOperator.ADD, [x, b.row(1, shape)], [state])
    content = b.build([x], [y])
    fused, apart = ready(content), ready(content, experimental_preserve_all_tensors=True)
    first, second = results(fused, 0), results(fused, 1)
    assert first != results(fused, 0)
    assert [first, second] == [results(apart, 0), results(apart, 1)]


def met_by_a_plane(b: Chain, x: int, shape: Shape) -> int:
    """A constant for each of the middle axis, which is no row."""
    scaled = b.add("MUL", [as_keras_has_it(b, x, shape), b.row(6, [shape[1], 1])], shape)
    return b.add("ADD", [scaled, b.row(7, [shape[-1]])], shape)


@pytest.mark.parametrize("form, shape", [(as_keras_has_it, (2, 9, 8)), (met_by_a_plane, (2, 9, 32))])
def test_what_is_no_program_runs_as_its_operators(form: Callable, shape: Shape) -> None:
    content = model(form, shape)
    fused = ready(content)
    assert nodes(fused) == 1 and "row_chain_f32" not in kernels(fused)
    assert results(fused) == results(ready(content, experimental_preserve_all_tensors=True))


def test_what_is_no_program_uses_its_memory_again() -> None:
    b, shape = Chain(), (9, 8)
    x = b.tensor(shape)
    y = b.add("MUL", [x, b.mean(x, shape)], shape)
    for k in range(9):
        y = b.add(("ADD", "MUL")[k % 2], [y, b.number(k + 0.5)], shape)
    content = b.build([x], [y])
    fused = ready(content)
    [node] = fused.core.subgraph().schedule
    assert len(node.temporaries) == 3  # for means, and two of the whole size
    assert results(fused) == results(ready(content, experimental_preserve_all_tensors=True))


def test_what_others_look_at_stays_apart() -> None:
    b = Chain()
    x = b.tensor([2, 9, 32])
    mean = b.mean(x, (2, 9, 32))
    y = b.add("MUL", [b.add("SUB", [x, mean], (2, 9, 32)), b.row(1, [32])], (2, 9, 32))
    fused = ready(b.build([x], [b.add("ADD", [y, b.number(1)], (2, 9, 32)), mean]))
    assert nodes(fused) == 4


@pytest.mark.parametrize("change", ["activation", "axis", "no sum"])
def test_what_looks_alike_stays_apart(change: str) -> None:
    b, shape = Chain(), (2, 9, 32)
    x = b.tensor(shape)
    means = {
        "axis": lambda: b.add("MEAN", [x, b.constant([1])], [2, 1, 32], KEEP_DIMS),
        "no sum": lambda: b.row(2, [2, 9, 1]),
    }
    mean = means.get(change, lambda: b.mean(x, shape))()
    centred = b.add("SUB", [x, mean], shape)
    activation = ActivationFunctionType.RELU if change == "activation" else ActivationFunctionType.NONE
    options = tflite.AddOptionsT(fused_activation_function=activation)
    y = b.add("MUL", [centred, b.row(1, [32])], shape)
    fused = ready(b.build([x], [b.add("ADD", [y, b.number(1)], shape, options)]))
    assert "row_chain_f32" not in kernels(fused)


def test_who_observes_sees_each_result() -> None:
    interpreter = ready(model(as_keras_has_it, (2, 9, 32)))
    seen: list[int] = []
    interpreter.core.observe(lambda subgraph, tensors: seen.extend(tensors))
    interpreter.allocate_tensors()
    results(interpreter)
    assert len(seen) == 11
    interpreter.core.observe(None)
    interpreter.allocate_tensors()
    assert kernels(interpreter) == ["row_chain_f32"]


def test_what_lies_between_is_not_given() -> None:
    interpreter = ready(model(as_keras_has_it, (2, 9, 32)))
    interpreter.invoke()
    with pytest.raises(ValueError, match="between operators that run as one"):
        interpreter.get_tensor(2)
