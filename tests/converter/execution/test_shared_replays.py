"""run_graph gives TensorFlow's outputs on every graph and SavedModel whose ops have kernels."""

from __future__ import annotations

import pytest

from ...tensorflow_replays import (
    GRAPHS,
    Outcome,
    graph_replays,
    kernel_graph_replays,
    outcome_of,
    saved_model_replays,
)

# How many are equal: of 970 graphs, of 180 small ones, of 14 signatures. The others have ops without a
# kernel. It must not shrink.
EQUAL = {graph_replays: 970, kernel_graph_replays: 176, saved_model_replays: 14}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not GRAPHS.exists(), reason="needs ../shared/convert"),
]


@pytest.fixture(scope="module", params=EQUAL, ids=lambda replays: replays.__name__)
def outcome(request: pytest.FixtureRequest) -> tuple[int, Outcome]:
    return EQUAL[request.param], outcome_of(request.param())


def test_graphs_whose_ops_are_built_are_equal(outcome: tuple[int, Outcome]) -> None:
    count, found = outcome
    assert not found.wrong
    assert len(found.equal) >= count


def test_other_graphs_name_the_missing_ops(outcome: tuple[int, Outcome]) -> None:
    _, found = outcome
    assert found.missing or not found.unsupported
    assert all("every op must have a kernel" in text for text in found.unsupported.values())
