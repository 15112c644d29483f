"""How near integer models come, and which gains are more than chance."""

import numpy as np
import pytest
from numlite.converter.quantization.float_graph import Site
from numlite.converter.quantization.measured_ends import (
    End,
    closeness,
    end_values,
    is_gain,
    is_steady_gain,
    sample_gains,
)
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.reader_functions import logistic
from numlite.lite.model import Model

from .float_models import outputs, samples
from .uneven_models import depthwise, uneven

PLAIN = End(Site(0, 0), None, None)
RNG = np.random.default_rng(0)
# Closeness by all of five samples, and without each one.
SAME = np.full(6, 30.0)
REAL = [RNG.normal(size=(1, 5)) for _ in range(7)]


def near(error: float, seed: int = 1) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [a + error * rng.normal(size=a.shape) for a in REAL]


@pytest.mark.parametrize("function", [None, logistic])
def test_each_sample_is_left_out_once(function: object) -> None:
    end = PLAIN._replace(function=function)
    found = near(0.1)
    whole, *others = closeness(end, REAL, found)
    assert len(others) == len(REAL)
    if function is None:
        for out, value in enumerate(others):
            kept = [i for i in range(len(REAL)) if i != out]
            assert value == pytest.approx(
                closeness(end, [REAL[i] for i in kept], [found[i] for i in kept])[0]
            )
    assert min(others) <= whole <= max(others)


def test_one_sample_is_all_that_is_known() -> None:
    assert closeness(PLAIN, REAL[:1], near(0.1)[:1]).shape == (1,)
    assert is_gain(np.array([30.0]), np.array([31.0]), 0.6, 1.0)
    assert not is_gain(np.array([30.0]), np.array([30.5]), 0.6, 1.0)


def test_a_gain_of_all_samples_counts() -> None:
    before, after = closeness(PLAIN, REAL, near(0.1)), closeness(PLAIN, REAL, near(0.05))
    assert is_gain(before, after, 0.6, 2.0)
    assert not is_gain(after, before, 0.6, 1.0)


def test_a_gain_of_one_sample_is_chance() -> None:
    """The same errors but for one sample, whose error was most of all."""
    worse = near(0.1)
    worse[3] = worse[3] + 0.5
    before, after = closeness(PLAIN, REAL, worse), closeness(PLAIN, REAL, near(0.1))
    assert after[0] > before[0] + 1
    assert not is_gain(before, after, 0.6, 1.2)


def test_others_see_the_samples_that_they_ask_for() -> None:
    content = uneven(depthwise)
    model, data = Model(content), samples(content, 4)
    place = model.root.subgraphs[0].outputs[0]
    end, seen = (0, model.root.subgraphs[0].tensors[place].name), list[tuple[Site, np.ndarray]]()
    (values,) = end_values(model, [end], data, lambda site, array: seen.append((site, array.copy())), {1, 3})
    expected = [outputs(content, sample)[0] for sample in data]
    np.testing.assert_array_equal(values, expected)
    ends = [array for site, array in seen if site == Site(0, place)]
    np.testing.assert_array_equal(ends, [expected[1], expected[3]])
    assert len({site for site, _ in seen}) > 3


def test_a_run_in_one_call_gives_what_one_node_by_node_does() -> None:
    """Inner tensors, whose memory others get; batches of two sizes by turns, the first one again."""
    content = uneven(depthwise)
    editor, few = ModelEditor(Model(content)), samples(content, 4)
    editor.subgraphs[0].tensors[editor.subgraphs[0].inputs[0]].shape_signature = [-1, 6, 6, 4]
    model = Model(editor.finish().content())
    data = [[np.concatenate([x[0]] * (1 + i % 2))] for i, x in enumerate(few)]
    names = [
        (0, tensor.name) for tensor in model.root.subgraphs[0].tensors if not tensor.buffer and tensor.name
    ]
    watched = end_values(model, names, data, lambda site, values: None)
    assert len(names) > 3
    for ours, theirs in zip(end_values(model, names, data), watched, strict=True):
        assert len(ours) == len(theirs) == 4
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


def test_only_results_count() -> None:
    """Values that a function makes the same of."""
    end, far = PLAIN._replace(function=np.sign), [3 * a for a in REAL]
    assert closeness(end, REAL, far, of_results=True)[0] > closeness(end, REAL, far)[0] + 40
    np.testing.assert_array_equal(closeness(PLAIN, REAL, far, of_results=True), closeness(PLAIN, REAL, far))


def test_a_steady_gain_counts_beside_one_sample_that_outweighs_all() -> None:
    """Errors of a half, but for a sample whose large error stays: together they hardly gain."""
    before = np.array([1.0, 1.2, 0.9, 1.1, 1e4])
    after = np.array([0.25, 0.3, 0.2, 0.3, 1e4])
    gains = sample_gains([before, before[:3]], [after, after[:3]])
    assert gains[0] == pytest.approx(10 * np.log10(4))
    assert len(gains) == 5
    assert 10 * np.log10(before.sum() / after.sum()) < 0.01
    assert is_steady_gain(SAME, SAME, gains, 0.6, 2.0)
    assert not is_steady_gain(SAME, SAME, -gains, 0.6, 2.0)


def test_a_steady_gain_does_not_count_where_results_lose() -> None:
    gains, worse = np.full(5, 3.0), SAME - 2.0
    assert not is_steady_gain(SAME, worse, gains, 0.6, 2.0)
    scattered = worse + np.array([0.0, 4.0, -4.0, 4.0, -4.0, 4.0])
    assert is_steady_gain(SAME, scattered, gains, 0.6, 2.0)


@pytest.mark.parametrize("gains", [[9.0, -8.0, 7.0, -6.0], [0.5, 0.5, 0.5], []])
def test_gains_that_scatter_or_are_small(gains: list[float]) -> None:
    assert not is_steady_gain(SAME, SAME, np.array(gains), 0.6, 2.0)
