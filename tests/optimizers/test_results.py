"""Graphs and SavedModels give TensorFlow's outputs after each list of optimizers."""

import warnings

import pytest

from ..tensorflow_replays import GRAPHS
from .results import LISTS, TARGETS, outcome_of

pytestmark = pytest.mark.skipif(not GRAPHS.exists(), reason="needs ../shared/convert")


def wrong_of(name: str, target: str, step: int) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcome_of(name, target, step)
    assert len(found.equal) >= 970 // step + 14
    return found.wrong | found.unsupported


@pytest.mark.parametrize(("name", "target"), [("default", "numlite"), ("aggressive", "portable")])
def test_some_graphs_are_equal(name: str, target: str) -> None:
    assert not wrong_of(name, target, 50)


@pytest.mark.long
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", LISTS)
def test_graphs_are_equal(name: str, target: str, step: int) -> None:
    assert not wrong_of(name, target, step)
