"""The models that TensorFlow converted with flex operators give TensorFlow's outputs."""

from __future__ import annotations

import re

import pytest

from ...tensorflow_replays import GRAPHS, Outcome, outcome_of, select_tf_replays

# Of 349 models. It must not shrink.
EQUAL = 347
# TensorFlow's converter has dropped the nodes that push what this model pops.
LOST = frozenset(("v1_cf_v1_while_grad_like_stack_0",))

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not GRAPHS.exists(), reason="needs ../shared/convert"),
]


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return outcome_of(select_tf_replays())


def test_models_whose_ops_are_built_are_equal(outcome: Outcome) -> None:
    assert set(outcome.wrong) <= LOST
    assert len(outcome.equal) >= EQUAL


def test_other_models_say_which_node_is_not_built(outcome: Outcome) -> None:
    assert all(re.search(r"node \d+ \(\w+\)", text) for text in outcome.unsupported.values())
