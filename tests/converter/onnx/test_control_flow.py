"""If, Loop and Scan: branches, turns that carry and list, and loops that end before their limit."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError
from numlite.schema.onnx import ModelProto

from ...onnx_builder import Size, graph, model, node, value
from ..graphs import checked
from .test_operators import random

NO_LIMIT = 2**63 - 1


def run(made: ModelProto, **given: np.ndarray) -> dict[str, np.ndarray]:
    content = checked(Converter.from_onnx(made).convert())
    return Interpreter(model_content=content).get_signature_runner()(**given)


@pytest.mark.parametrize("truth", [True, False])
def test_if_runs_a_branch_that_uses_values_around_it(truth: bool) -> None:
    branches = [
        graph([node("Mul", ["m", "k"], out)], [], [value(out, [2])], {"k": np.float32(factor)})
        for out, factor in (("a", 3), ("b", 5))
    ]
    nodes = [
        node("Neg", ["x"], "m"),
        node("If", ["c"], "y", then_branch=branches[0], else_branch=branches[1]),
    ]
    made = model(nodes, [value("x", [2]), value("c", [], np.bool_)], [value("y", [2])])
    runner = Interpreter(model_content=Converter.from_onnx(made).convert()).get_signature_runner()
    found = runner(x=np.array([1, 2], np.float32), c=np.array(truth))["y"]
    np.testing.assert_array_equal(found, [-3, -6] if truth else [-5, -10])


@pytest.mark.parametrize("turns", [3, 1])
def test_loop_carries_and_lists(turns: int) -> None:
    """Each turn adds x and lists the sum; it ends after the count or when the sum is 4 or more."""
    body = graph(
        [
            node("Add", ["sum", "x"], "next"),
            node("Less", ["next", "four"], "less"),
            node("Identity", ["next"], "listed"),
        ],
        [value("i", [], np.int64), value("go", [], np.bool_), value("sum", [])],
        [value("less", [], np.bool_), value("next", []), value("listed", [])],
        {"four": np.float32(4)},
    )
    nodes = [node("Loop", ["count", "", "zero"], ["last", "all"], body=body)]
    made = model(
        nodes,
        [value("x", []), value("count", [], np.int64)],
        [value("last", []), value("all", [None])],
        {"zero": np.float32(0)},
    )
    runner = Interpreter(model_content=Converter.from_onnx(made).convert()).get_signature_runner()
    found = runner(x=np.float32(1), count=np.array(turns))
    assert found["last"] == turns
    np.testing.assert_array_equal(found["all"], np.arange(1, turns + 1))


def test_scan_goes_over_rows_backwards() -> None:
    body = graph(
        [node("Add", ["sum", "row"], "next"), node("Identity", ["next"], "listed")],
        [value("sum", [2]), value("row", [2])],
        [value("next", [2]), value("listed", [2])],
    )
    nodes = [
        node("Scan", ["zero", "x"], ["last", "all"], body=body, num_scan_inputs=1, scan_input_directions=[1])
    ]
    made = model(
        nodes,
        [value("x", [3, 2])],
        [value("last", [2]), value("all", [3, 2])],
        {"zero": np.zeros(2, np.float32)},
    )
    runner = Interpreter(model_content=Converter.from_onnx(made).convert()).get_signature_runner()
    x = random(3, 2)
    found = runner(x=x)
    np.testing.assert_allclose(found["all"], np.cumsum(x[::-1], 0), rtol=1e-6)
    np.testing.assert_allclose(found["last"], x.sum(0), rtol=1e-6)


def doubling(limit: int | None, going: str = "", count: str = "", size: Size = 2) -> ModelProto:
    """Each turn doubles and lists x while it is below 50; the limit is constant, the input count, or none."""
    body = graph(
        [
            node("Add", ["before", "before"], "after"),
            node("ReduceMax", ["after"], "largest", keepdims=0),
            node("Less", ["largest", "fifty"], "less"),
            node("Identity", ["after"], "listed"),
        ],
        [value("i", [], np.int64), value("go", [], np.bool_), value("before", [size])],
        [value("less", [], np.bool_), value("after", [size]), value("listed", [size])],
        {"fifty": np.float32(50)},
    )
    inputs = [value("x", [size])]
    inputs += [value(name, [], np.bool_ if name == "go" else np.int64) for name in (going, count) if name]
    held = {} if limit is None else {"limit": np.array(limit)}
    nodes = [
        node("Loop", [count or (limit is not None and "limit") or "", going, "x"], ["y", "all"], body=body)
    ]
    return model(nodes, inputs, [value("y", [size]), value("all", [None, size])], held)


@pytest.mark.parametrize("limit", [None, NO_LIMIT, 20, 3])
def test_a_loop_lists_as_much_as_it_has_turns(limit: int | None) -> None:
    for x in (np.array([1, 3], np.float32), np.array([1, 40], np.float32)):
        turns = min(5 if x[1] == 3 else 1, limit or 20)
        found = run(doubling(limit), x=x)
        np.testing.assert_array_equal(found["all"], [x * 2 ** (n + 1) for n in range(turns)])
        np.testing.assert_array_equal(found["y"], x * 2**turns)


@pytest.mark.parametrize(("count", "turns"), [(-2, 0), (0, 0), (2, 2), (9, 5)])
def test_a_limit_that_is_computed(count: int, turns: int) -> None:
    x = np.array([1, 3], np.float32)
    found = run(doubling(None, count="n"), x=x, n=np.array(count))
    assert found["all"].shape == (turns, 2)
    np.testing.assert_array_equal(found["y"], x * 2**turns)


@pytest.mark.parametrize("limit", [NO_LIMIT, 7])
@pytest.mark.parametrize("go", [True, False])
def test_a_loop_that_does_not_begin_lists_nothing(go: bool, limit: int) -> None:
    found = run(doubling(limit, going="go"), x=np.array([1, 30], np.float32), go=np.array(go))
    assert found["all"].shape == (int(go), 2)


def test_the_largest_limit_is_none() -> None:
    """Constant or not; nothing is listed."""
    body = graph(
        [node("Add", ["b", "b"], "a"), node("Less", ["a", "fifty"], "less")],
        [value("i", [], np.int64), value("go", [], np.bool_), value("b", [])],
        [value("less", [], np.bool_), value("a", [])],
        {"fifty": np.float32(50)},
    )
    inputs = [value("x", []), value("n", [], np.int64)]
    for limit in ("n", "m"):
        nodes = [node("Loop", [limit, "", "x"], ["y"], body=body)]
        made = model(nodes, inputs, [value("y", [])], {"m": np.array(NO_LIMIT)})
        assert run(made, x=np.float32(3), n=np.array(NO_LIMIT))["y"] == 96


def test_a_list_without_limit_needs_a_known_shape() -> None:
    with pytest.raises(
        UnsupportedError, match=r"Loop_y.*\n?.*must have a known shape where the loop has no limit"
    ):
        Converter.from_onnx(doubling(None, size="n")).convert()
    found = run(doubling(6, size="n"), x=np.array([1, 2, 3], np.float32))
    assert found["all"].shape == (5, 3)


def test_what_a_turn_that_lists_cannot_do_is_told() -> None:
    """By the name of its node, once."""
    body = graph(
        [node("Unknown", ["b"], "a"), node("Exp", ["a"], "listed")],
        [value("i", [], np.int64), value("go", [], np.bool_), value("b", [])],
        [value("go", [], np.bool_), value("a", []), value("listed", [])],
    )
    nodes = [node("Loop", ["n", "", "x"], ["y", "all"], body=body)]
    inputs = [value("x", []), value("n", [], np.int64)]
    with pytest.raises(UnsupportedError) as found:
        Converter.from_onnx(model(nodes, inputs, [value("y", []), value("all", [None])]))
    assert str(found.value).count("Unknown_a") == 1
