"""Custom operators of strings: words, joined neighbours, projections of hashes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError, PrepareError
from numlite.schema.tflite import TensorType

from ..cases.custom_case import custom_model

S, L, F = TensorType.STRING, np.int64, np.float32
TEXTS = np.array(
    [[b"a bc  d", b"", b" \t\n"], [b"x", b"\xe3\x80\x80y\xc2\xa0z\xe2\x80\x8a", b"w\x1cv u"]], object
)
NGRAMS = {"width": 2, "axis": -1, "reduction_type": "STRING_JOIN", "string_separator": "+"}


def ready(
    code: str,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[type | TensorType],
    options: dict[str, object] | bytes = b"",
) -> Interpreter:
    """An interpreter of one operator, its inputs set."""
    model = custom_model(code, inputs, [((), kind) for kind in outputs], options)
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    return interpreter


def results(interpreter: Interpreter) -> list[np.ndarray]:
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def test_words_fill_up_an_axis() -> None:
    [y] = results(ready("tftext:WhitespaceTokenizer", [TEXTS], [S]))
    none = [b"", b"", b""]
    expected = [
        [[b"a", b"bc", b"d"], none, none],
        [[b"x", b"", b""], [b"y", b"z", b""], [b"w\x1cv", b"u", b""]],
    ]
    assert y.tolist() == expected


def test_words_of_rows_have_splits_for_each_axis() -> None:
    interpreter = ready("tftext:WhitespaceTokenizer", [TEXTS], [S, L, L])
    values, outer, inner = results(interpreter)
    assert values.tolist() == [b"a", b"bc", b"d", b"x", b"y", b"z", b"w\x1cv", b"u"]
    assert outer.tolist() == [0, 3, 6] and inner.tolist() == [0, 3, 3, 3, 4, 6, 8]
    interpreter.resize_tensor_input(0, [1, 1])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.array([[b"p q"]], object))
    values, outer, inner = results(interpreter)
    assert values.tolist() == [b"p", b"q"] and outer.tolist() == [0, 1] and inner.tolist() == [0, 2]


def test_words_of_nothing() -> None:
    values, splits = results(ready("tftext:WhitespaceTokenizer", [np.zeros(0, object)], [S, L]))
    assert values.shape == (0,) and splits.tolist() == [0]
    [y] = results(ready("tftext:WhitespaceTokenizer", [np.array(b"a b", object)], [S]))
    assert y.tolist() == [b"a", b"b"]


@pytest.mark.parametrize(
    "text", [b"a b\xff c", "a b\N{REPLACEMENT CHARACTER} c".encode(), b"a b\xed\xa0\x80"]
)
def test_words_end_where_the_text_is_none(text: bytes) -> None:
    [y] = results(ready("tftext:WhitespaceTokenizer", [np.array([text], object)], [S]))
    assert y.tolist() == [[b"a", b"b"]]


def test_neighbours_of_a_tensor_are_joined() -> None:
    x = np.array([[b"a", b"b", b"c"], [b"d", b"", b"f"]], object)
    [y] = results(ready("tftext:Ngrams", [x], [S], NGRAMS))
    assert y.tolist() == [[b"a+b", b"b+c"], [b"d+", b"+f"]]
    [y] = results(ready("tftext:Ngrams", [x], [S], {**NGRAMS, "width": 4}))
    assert y.shape == (2, 0)
    [y] = results(ready("tftext:Ngrams", [np.zeros((2, 0), object)], [S], NGRAMS))
    assert y.shape == (2, 0)


def test_neighbours_of_rows_are_joined() -> None:
    values = np.array([b"a", b"b", b"c", b"d", b"e"], object)
    splits = [np.array(s, np.int64) for s in ([0, 2, 3], [0, 3, 3, 5])]
    joined, outer, inner = results(ready("tftext:Ngrams", [values, *splits], [S, L, L], NGRAMS))
    assert joined.tolist() == [b"a+b", b"b+c", b"d+e"]
    assert outer.tolist() == [0, 2, 3] and inner.tolist() == [0, 2, 2, 3]


def test_projections_are_those_of_the_reference() -> None:
    """Source: the numbers of tflite-support's test of the operator."""
    values = np.array([b"^h", b"he", b"el", b"ll", b"lo", b"o$", b"^h", b"hi", b"i$"], object)
    options = {"hash_seed": [5, 7], "buckets": 0x7FFFFFFF}
    inputs = [values, np.array([0, 6, 9, 9], np.int64)]
    [y] = results(ready("tftext:custom:SgnnProjection", inputs, [F], options))
    np.testing.assert_allclose(y[:2], [[0.448691, -0.238499], [-0.037561, 0.080748]], atol=1e-6)
    assert np.isnan(y[2]).all()


REFUSED = {
    "inputs": ("tftext:WhitespaceTokenizer", [TEXTS, TEXTS], [S], b"", "must have 1 input"),
    "splits for one axis": ("tftext:WhitespaceTokenizer", [TEXTS], [S, L], b"", "one more for each axis"),
    "numbers": ("tftext:WhitespaceTokenizer", [np.zeros(2, F)], [S], b"", "input must be string"),
    "splits of floats": ("tftext:WhitespaceTokenizer", [TEXTS[0]], [S, F], b"", "output 1 must be int64"),
    "no options": ("tftext:Ngrams", [TEXTS], [S], b"", "flexbuffer map"),
    "no width": ("tftext:Ngrams", [TEXTS], [S], {**NGRAMS, "width": 0}, "width must be at least 1"),
    "axis": ("tftext:Ngrams", [TEXTS], [S], {**NGRAMS, "axis": 0}, "axis -1"),
    "sums": ("tftext:Ngrams", [TEXTS], [S], {**NGRAMS, "reduction_type": "SUM"}, "STRING_JOIN"),
    "no separator": ("tftext:Ngrams", [TEXTS], [S], {**NGRAMS, "string_separator": None}, "must be a text"),
    "one string": ("tftext:Ngrams", [np.array(b"a", object)], [S], NGRAMS, "must have an axis"),
    "results": ("tftext:Ngrams", [TEXTS], [S, L], NGRAMS, "as many outputs as inputs"),
    "no splits": ("tftext:Ngrams", [TEXTS[0], np.zeros(0, L)], [S, L], NGRAMS, "a number or more"),
    "seeds": (
        "tftext:custom:SgnnProjection",
        [TEXTS[0], np.array([0, 3])],
        [F],
        {"hash_seed": [1 << 40], "buckets": 9},
        "fit 32 bits",
    ),
    "buckets": (
        "tftext:custom:SgnnProjection",
        [TEXTS[0], np.array([0, 3])],
        [F],
        {"hash_seed": [1], "buckets": 1},
        "buckets must be 2 or more",
    ),
}


@pytest.mark.parametrize(("code", "inputs", "outputs", "options", "reason"), REFUSED.values(), ids=REFUSED)
def test_nodes_that_do_not_fit_are_refused(code, inputs, outputs, options, reason) -> None:
    with pytest.raises(PrepareError, match=f"{code}.*{reason}"):
        ready(code, inputs, outputs, options)


@pytest.mark.parametrize("splits", [[0, 4], [-1, 2], [0, 2, 1]])
@pytest.mark.parametrize(
    ("code", "outputs", "options"),
    [
        ("tftext:Ngrams", [S, L], NGRAMS),
        ("tftext:custom:SgnnProjection", [F], {"hash_seed": [3], "buckets": 100}),
    ],
)
def test_rows_outside_the_values_are_refused(splits, code, outputs, options) -> None:
    interpreter = ready(code, [TEXTS[0], np.array(splits, np.int64)], outputs, options)
    with pytest.raises(InvokeError, match=f"{code}: input 1 must rise"):
        interpreter.invoke()
