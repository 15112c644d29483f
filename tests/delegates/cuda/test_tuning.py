"""Tuning on the simulated device, whose times mean nothing: answers are kept, and change no integer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.delegates.cuda import tuning
from numlite.delegates.cuda.delegate import create_delegate
from numlite.delegates.cuda.tiles import Choice, ranked
from numlite.lite.errors import UnsupportedError

from .graphs import conv_model, network, random_input
from .simulation import interpreter_of, needs_triton, run, simulated

MODEL, SHAPE = conv_model("int8", (1, 4, 4, 160), 40, 1), (1, 4, 4, 160)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where answers are, with few candidates so that the test is quick."""
    monkeypatch.setattr(tuning, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(tuning, "_CANDIDATES", 3)
    return tmp_path / "cuda"


@needs_triton
def test_answers_are_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = random_input("int8", SHAPE)
    (expected,) = run(interpreter_of(MODEL), [x])
    (got,) = run(interpreter_of(MODEL, simulated(tune=True)), [x])
    np.testing.assert_array_equal(got, expected)
    (path,) = kept.glob("tile-*.json")
    before = path.read_bytes()

    def never(*args: object) -> float:
        raise AssertionError("what is kept must not be timed again")

    monkeypatch.setattr(tuning, "_time_us", never)
    (got,) = run(interpreter_of(MODEL, simulated(tune=True)), [x])
    np.testing.assert_array_equal(got, expected)
    assert path.read_bytes() == before


@needs_triton
def test_what_was_chosen_is_used(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slowest by estimate is made the fastest by time."""
    asked = []

    def backwards(device: object, lowering: object) -> float:
        asked.append(lowering.launches[0].kernel)  # type: ignore[attr-defined]
        return -float(len(asked))

    monkeypatch.setattr(tuning, "_time_us", backwards)
    delegate = simulated(tune=True)
    run(interpreter_of(MODEL, delegate), [random_input("int8", SHAPE)])
    assert len(asked) == 3 and delegate.device.launches[asked[-1]] == 1  # type: ignore[union-attr]


@needs_triton
@pytest.mark.parametrize("content", (b"", b"{}", b"[1, 2]", b"[999, 1, 1, 1, 1, 1]", b'["a"]', b"\xff"))
def test_damaged_answers_are_timed_again(kept: Path, content: bytes) -> None:
    x = random_input("int8", SHAPE)
    run(interpreter_of(MODEL, simulated(tune=True)), [x])
    (path,) = kept.glob("tile-*.json")
    path.write_bytes(content)
    (got,) = run(interpreter_of(MODEL, simulated(tune=True)), [x])
    np.testing.assert_array_equal(got, run(interpreter_of(MODEL), [x])[0])
    assert path.read_bytes() != content


@needs_triton
def test_a_network_is_the_same(kept: Path) -> None:
    x = random_input("int8", (2, 9, 9, 3))
    (got,) = run(interpreter_of(network("int8"), simulated(tune=True)), [x])
    np.testing.assert_array_equal(got, run(interpreter_of(network("int8")), [x])[0])
    assert len(list(kept.glob("tile-*.json"))) == 5


@needs_triton
@pytest.mark.parametrize("type", ("int8", "float32"))
def test_every_configuration_computes_the_same(type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tiles and splits: integers bit for bit, floats as near as their order of addition allows."""
    model, shape = conv_model(type, (1, 5, 5, 64), 40), (1, 5, 5, 64)
    x = random_input(type, shape)
    (expected,) = run(interpreter_of(model), [x])
    seen: set[Choice] = set()
    for place in range(0, 60, 7):

        def choose(product, place: int = place) -> Choice:  # type: ignore[no-untyped-def]
            choices = ranked(product)
            seen.add(choices[place % len(choices)])
            return choices[place % len(choices)]

        monkeypatch.setattr("numlite.delegates.cuda.lowering.choose", choose)
        (got,) = run(interpreter_of(model, simulated()), [x])
        (again,) = run(interpreter_of(model, simulated()), [x])
        np.testing.assert_array_equal(got, again)
        tolerance = 0 if type == "int8" else 1e-5
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    assert {choice.splits > 1 for choice in seen} == {False, True} and len(seen) > 5


def test_option() -> None:
    assert create_delegate(arch="90", tune="true").cuda_options.tune
    with pytest.raises(UnsupportedError, match="tune must be true or false, got 'often'"):
        create_delegate(arch="90", tune="often")
