"""Strings, runs of words, random numbers and steps of training."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter, OpsSet
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.onnx import NodeProto

from ...onnx_builder import model, node, value

RANDOM = np.random.default_rng(9)
TRAINING = "ai.onnx.preview.training"


def texts(*words: str) -> np.ndarray:
    return np.array([word.encode() for word in words], object)


def run(made: NodeProto, *outputs: str, select: bool = False, **inputs: np.ndarray) -> list[np.ndarray]:
    ends = [value(name, None) for name in outputs]
    for info in ends:
        info.type.Clear()
    infos = [value(name, x.shape, x.dtype.type) for name, x in inputs.items()]
    built = model([made], infos, ends, ai_onnx_preview_training=1)
    converter = Converter.from_onnx(built)
    if select:
        converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS]
    found = Interpreter(model_content=converter.convert()).get_signature_runner()(**inputs)
    return [found[name] for name in outputs]


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, ["a b", "", "  c d  e "]),
        ({"maxsplit": 1}, ["a b c ", "d", "e "]),
        ({"maxsplit": 2}, ["a b", "c"]),
        ({"delimiter": ","}, ["a,,b", "c", ","]),
        ({"delimiter": "--", "maxsplit": 1}, ["a--b--c", "d"]),
    ],
)
def test_split_is_that_of_python(attributes: dict, words: list[str]) -> None:
    made = node("StringSplit", ["x"], ["y", "n"], **attributes)
    y, n = run(made, "y", "n", select=True, x=texts(*words))
    parts = [word.split(attributes.get("delimiter"), attributes.get("maxsplit", -1)) for word in words]
    widest = max(map(len, parts))
    assert n.tolist() == [len(each) for each in parts]
    assert y.tolist() == [[part.encode() for part in [*each, *[""] * (widest - len(each))]] for each in parts]


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"stopwords": ["a"], "case_change_action": "LOWER"}, ["be", "c"]),
        ({"stopwords": ["A"], "is_case_sensitive": 1}, ["a", "Be", "c"]),
        ({"stopwords": ["a", "be", "c"]}, [""]),
        ({}, ["a", "Be", "A", "c"]),
    ],
)
def test_stop_words_go(attributes: dict, wanted: list[str]) -> None:
    made = node("StringNormalizer", ["x"], "y", **attributes)
    [y] = run(made, "y", select=True, x=texts("a", "Be", "A", "c")[None])
    assert y.tolist() == [[word.encode() for word in wanted]]


def test_texts_are_joined_and_matched() -> None:
    x, y = texts("a", "b1")[:, None], texts("x", "", "y")
    [joined] = run(node("StringConcat", ["x", "y"], "z"), "z", select=True, x=x, y=y)
    assert joined.tolist() == [[b"ax", b"a", b"ay"], [b"b1x", b"b1", b"b1y"]]
    [match] = run(node("RegexFullMatch", ["x"], "z", pattern=r"[a-z]\d"), "z", select=True, x=x)
    assert match.tolist() == [[False], [True]]


def counted(row: list, pools: list[list[tuple]], skips: int) -> Counter:
    """How often each run of the pools is in the row, with up to so many left out between its parts."""
    found: Counter = Counter()
    for pool in pools:
        for run_ in pool:
            for step in range(1, 2 if len(run_) == 1 else skips + 2):
                ends = range(len(row) - step * (len(run_) - 1))
                found[run_] += sum(tuple(row[at : at + step * len(run_) : step]) == run_ for at in ends)
    return found


@pytest.mark.parametrize("skips", [0, 2])
@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("is_text", [False, True])
def test_runs_of_words_and_numbers(mode: str, skips: int, is_text: bool) -> None:
    pools: list[list[tuple]] = [[(1,), (3,)], [(2, 2), (3, 1)], [(1, 2, 3)]]
    columns, weights = [5, 0, 2, 4, 1], [0.5, 2.0, 3.0, 7.0, 0.25, 4.0]
    numbers = RANDOM.integers(1, 4, (3, 9))
    flat = [part for pool in pools for run_ in pool for part in run_]
    names = {"pool_strings": [str(each) for each in flat]} if is_text else {"pool_int64s": flat}
    made = node(
        *("TfIdfVectorizer", ["x"], "y"),
        **{"ngram_counts": [0, 2, 6], "ngram_indexes": columns, "min_gram_length": 1, "max_gram_length": 3},
        **{"max_skip_count": skips, "mode": mode, "weights": weights},
        **names,
    )
    x = np.array([[str(each).encode() for each in row] for row in numbers], object) if is_text else numbers
    [y] = run(made, "y", x=x)
    wanted = np.zeros((3, 6), np.float32)
    for place, row in enumerate(numbers.tolist()):
        found = counted(row, pools, skips)
        for column, run_ in zip(columns, [run_ for pool in pools for run_ in pool], strict=True):
            wanted[place, column] += found[run_]
    wanted = np.minimum(wanted, 1) if mode == "IDF" else wanted
    np.testing.assert_array_equal(y, wanted * (1 if mode == "TF" else np.float32(weights)))


def test_random_numbers_are_of_their_kind() -> None:
    [normal] = run(
        node("RandomNormalLike", ["x"], "y", mean=3.0, scale=0.5), "y", x=np.zeros((40, 50), np.float32)
    )
    assert normal.shape == (40, 50)
    assert abs(normal.mean() - 3) < 0.1
    assert abs(normal.std() - 0.5) < 0.1
    [even] = run(
        node("RandomUniformLike", ["x"], "y", low=-2.0, high=2.0, seed=1.5), "y", x=np.zeros(2000, np.float32)
    )
    assert even.min() >= -2
    assert even.max() < 2
    assert abs(even.mean()) < 0.2
    [hits] = run(node("Bernoulli", ["x"], "y", dtype=7), "y", x=np.repeat(np.float32([0, 0.25, 1]), 1000))
    assert hits.dtype == np.int64
    assert hits[:1000].sum() == 0
    assert 150 < hits[1000:2000].sum() < 350
    assert hits[2000:].sum() == 1000
    logits = np.log(np.array([[0.2, 0.8], [1, 1e-9]], np.float32))
    [drawn] = run(node("Multinomial", ["x"], "y", sample_size=1000), "y", x=logits)
    assert drawn.dtype == np.int32
    assert 700 < drawn[0].sum() < 900
    assert drawn[1].sum() == 0


def test_random_numbers_are_others_in_each_run() -> None:
    """They are drawn by the model, though all that they are made of is constant."""
    nodes = [node("RandomNormal", [], "y", shape=[8]), node("RandomUniformLike", ["x"], "z")]
    built = model(nodes, [value("x", [8])], [value("y", [8]), value("z", [8])])
    runner = Interpreter(model_content=Converter.from_onnx(built).convert()).get_signature_runner()
    first, second = (runner(x=np.zeros(8, np.float32)) for _ in range(2))
    assert not any((first[name] == second[name]).any() for name in "yz")


def test_training_drops_as_many_as_it_is_told() -> None:
    x = np.full(4000, 3, np.float32)
    settings = {"ratio": np.array(0.25, np.float32), "mode": np.array(True)}
    made = model(
        [node("Dropout", ["x", "ratio", "mode"], ["y", "mask"])],
        [value("x", [4000])],
        [value("y", None), value("mask", None, bool)],
        settings,
    )
    found = Interpreter(model_content=Converter.from_onnx(made).convert()).get_signature_runner()(x=x)
    np.testing.assert_allclose(found["y"], np.where(found["mask"], 4, 0), rtol=1e-6)
    assert 2800 < found["mask"].sum() < 3200


@pytest.mark.parametrize("count", [0, 3])
def test_steps_of_training(count: int) -> None:
    x, g, v, h = (RANDOM.uniform(0.1, 1, 5).astype(np.float32) for _ in range(4))
    rate, at = np.array(0.1, np.float32), np.array(count)
    shared = {"r": rate, "t": at, "x": x, "g": g}
    gradient = 0.01 * x + g
    made = node(
        "Adagrad", ["r", "t", "x", "g", "h"], ["y", "k"], TRAINING, norm_coefficient=0.01, decay_factor=0.1
    )
    y, k = run(made, "y", "k", **shared, h=h)
    np.testing.assert_allclose(k, h + gradient**2, rtol=1e-6)
    np.testing.assert_allclose(y, x - 0.1 / (1 + count * 0.1) * gradient / (np.sqrt(k) + 1e-6), rtol=1e-5)
    made = node("Adam", ["r", "t", "x", "g", "v", "h"], ["y", "m", "k"], TRAINING, norm_coefficient=0.01)
    y, m, k = run(made, "y", "m", "k", **shared, v=v, h=h)
    np.testing.assert_allclose(m, 0.9 * v + 0.1 * gradient, rtol=1e-5)
    size = 0.1 * (np.sqrt(1 - 0.999**count) / (1 - 0.9**count) if count else 1)
    np.testing.assert_allclose(y, x - size * m / (np.sqrt(k) + 1e-6), rtol=1e-4)
    given = {"norm_coefficient": 0.01, "alpha": 0.9, "beta": 0.5, "mode": "nesterov"}
    made = node("Momentum", ["r", "t", "x", "g", "v"], ["y", "m"], TRAINING, **given)
    y, m = run(made, "y", "m", **shared, v=v)
    np.testing.assert_allclose(m, 0.9 * v + (0.5 if count else 1) * gradient, rtol=1e-5)
    np.testing.assert_allclose(y, x - 0.1 * (gradient + 0.9 * m), rtol=1e-5)


def test_what_is_wrong_is_told() -> None:
    with pytest.raises(UnsupportedError, match="maxsplit 0"):
        run(node("StringSplit", ["x"], "y", maxsplit=0), "y", x=texts("a"))
    with pytest.raises(ModelError, match="ngram_indexes must be one for each of 2 runs, got 1"):
        given = {"ngram_counts": [0], "ngram_indexes": [0], "pool_int64s": [1, 2]}
        settings = {"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "mode": "TF"}
        run(node("TfIdfVectorizer", ["x"], "y", **given, **settings), "y", x=np.arange(3))
    with pytest.raises(ModelError, match="there must be 4 inputs for each tensor, got 3"):
        x = np.zeros(2, np.float32)
        names = ["r", "t", "a", "b", "c"]
        run(node("Adam", names, "y", TRAINING), "y", r=x[0], t=x[0], a=x, b=x, c=x)
