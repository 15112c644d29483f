"""run_graph and GraphRunner that optimize first."""

import numpy as np
import pytest
from numlite.converter import run_graph
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import DT_FLOAT, AttrValue, TensorShapeProto

from .optimized import Net

LEVELS = (False, True, "aggressive", {"optimizers": ["constfold"]})


def net() -> Net:
    made = Net()
    x = made.x(2, 3)
    flat = made.op("Reshape", made.op("Neg", made.op("Neg", x)), made.c([3, 2], np.int32))
    return made.out(made.op("AddV2", made.op("Mul", flat, made.c(1)), made.op("Mul", made.c(2), made.c(3))))


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_all_levels_give_the_same(level: object) -> None:
    made = net()
    (found,) = run_graph(made.graph_def, made.feeds, made.fetches, optimize=level)
    np.testing.assert_array_equal(found, made.feeds["x0"].reshape(3, 2) + 6)


def test_a_value_inside_may_be_fed() -> None:
    """Its declared shape says nothing of what is fed."""
    made = net()
    inside = next(node.name for node in made.graph_def.node if node.op == "Reshape")
    (found,) = run_graph(made.graph_def, {inside: np.ones((5, 4), np.float32)}, made.fetches, optimize=True)
    np.testing.assert_array_equal(found, np.full((5, 4), 7, np.float32))


def test_other_feeds_and_fetches_are_optimized_for_themselves() -> None:
    made = net()
    runner = GraphRunner(made.graph_def, optimize=True)
    inside = next(node.name for node in made.graph_def.node if node.op == "Neg")
    (first,) = runner.run(made.feeds, [inside])
    np.testing.assert_array_equal(first, -made.feeds["x0"])
    (whole,) = runner.run(made.feeds, made.fetches)
    np.testing.assert_array_equal(whole, made.feeds["x0"].reshape(3, 2) + 6)


def test_a_placeholder_of_rank_0_takes_any_shape() -> None:
    made = Net()
    made.x()
    made.out(made.op("Shape", "x0"))
    wide = np.ones((2, 5), np.float32)
    (found,) = run_graph(made.graph_def, {"x0": wide}, made.fetches, optimize=True)
    assert found.tolist() == [2, 5]


def test_variables_keep_their_values_from_run_to_run() -> None:
    made = Net()
    kind = AttrValue(type=DT_FLOAT)
    handle = made.node(
        "VarHandleOp", "v", dtype=kind, shape=AttrValue(shape=TensorShapeProto()), shared_name="v"
    )
    made.node("AssignVariableOp", "set", handle, made.x(), dtype=kind)
    made.node("AssignAddVariableOp", "add", handle, made.c(1), dtype=kind)
    made.out(made.node("ReadVariableOp", "read", handle, dtype=kind))
    runner = GraphRunner(made.graph_def, optimize=True)
    runner.run(made.feeds, targets=["set"])
    for _ in range(2):
        runner.run(targets=["add"])
    (found,) = runner.run({}, made.fetches)
    assert found == made.feeds["x0"] + 2


def test_random_numbers_go_on_in_another_plan() -> None:
    """A node with state is the same one, whatever is fetched."""
    made = Net()
    shape = made.c([3], np.int32)
    made.node("RandomUniform", "r", shape, dtype=AttrValue(type=DT_FLOAT), seed=3, seed2=4)
    made.out(made.op("Neg", "r"))
    plain, optimizing = (GraphRunner(made.graph_def, optimize=level) for level in (False, True))
    for fetches in (["r"], made.fetches, ["r"]):
        np.testing.assert_array_equal(plain.run({}, fetches)[0], optimizing.run({}, fetches)[0])


def test_what_is_no_level_is_refused() -> None:
    made = net()
    with pytest.raises(
        ValueError, match="optimize: must be True, False, 'aggressive' or a config, got 'much'"
    ):
        GraphRunner(made.graph_def, optimize="much")
    with pytest.raises(UnsupportedError, match="is not built"):
        run_graph(
            made.graph_def, made.feeds, made.fetches, optimize={"experimental_conditional_code_motion": True}
        )
