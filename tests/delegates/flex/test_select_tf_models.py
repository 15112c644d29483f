"""The models that TensorFlow converted with flex operators give TensorFlow's outputs."""

from __future__ import annotations

import pytest

from ...tensorflow_replays import GRAPHS, ROUNDED_OTHERWISE, Outcome, outcome_of, select_tf_replays

# Of 349 models; the others have ops without a kernel. It must not shrink.
EQUAL = 341
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
    assert set(outcome.wrong) <= LOST | ROUNDED_OTHERWISE
    assert len(outcome.equal) >= EQUAL


def test_other_models_name_the_missing_ops(outcome: Outcome) -> None:
    without = [text for text in outcome.unsupported.values() if "must have fallback kernels" in text]
    assert outcome.missing or not without
    # What a builtin operator cannot do is said by that operator.
    assert all("(FlexDelegate)" in text or "QUANTIZE" in text for text in outcome.unsupported.values())
