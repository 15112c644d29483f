"""Strings and regular expressions, case by case."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError
from numlite.lite.errors import UnsupportedError

from .nodes import run, strings


def each(op: str, text: bytes, *others: object, **attributes: str) -> object:
    return run(op, [strings([text]), *others], **attributes)[0].tolist()[0]


@pytest.mark.parametrize(("text", "count"), [(b"", 0), (b"abc", 3), ("é€😀".encode(), 3), (b"\x80a", 1)])
def test_characters(text: bytes, count: int) -> None:
    assert each("StringLength", text, unit="string$UTF8_CHAR") == count
    assert each("StringLength", text) == len(text)


@pytest.mark.parametrize(
    ("unit", "start", "length", "cut"),
    [
        *(
            ("BYTE", 1, 2, b"\xa9t"),
            ("BYTE", -2, 9, "é".encode()),
            ("BYTE", 5, 1, b""),
            ("BYTE", 1, -1, b"\xa9t\xc3\xa9"),
        ),
        *(("UTF8_CHAR", 1, 1, b"t"), ("UTF8_CHAR", -1, 9, "é".encode()), ("UTF8_CHAR", 0, -1, b"")),
    ],
)
def test_substrings(unit: str, start: int, length: int, cut: bytes) -> None:
    at = [np.int32([start]), np.int32([length])]
    assert each("Substr", "été".encode(), *at, T="i32", unit=f"string${unit}") == cut


@pytest.mark.parametrize("start", [6, -6])
def test_substrings_outside(start: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"a string of 5, got {start}"):
        each("Substr", "été".encode(), np.int32([start]), np.int32([1]), T="i32")


@pytest.mark.parametrize(
    ("text", "sep", "most", "parts"),
    [
        (b" a  b ", b"", -1, [b"a", b"b"]),
        (b" a  b ", b"", 0, [b" a  b "]),
        (b" a  b ", b"", 1, [b"a", b"b "]),
        (b"a", b"", 1, [b"a", b""]),
        (b"", b"", 1, []),
        (b"a,b,,c", b",", -1, [b"a", b"b", b"", b"c"]),
        (b"a,b,,c", b",", 1, [b"a", b"b,,c"]),
        (b"", b",", -1, [b""]),
    ],
)
def test_splits(text: bytes, sep: bytes, most: int, parts: list[bytes]) -> None:
    _, values, shape = run("StringSplitV2", [strings([text]), strings(sep)], maxsplit=f"i64${most}")
    assert values.tolist() == parts and shape.tolist() == [1, len(parts)]


@pytest.mark.parametrize(
    ("text", "value"),
    [(b" 12 ", 12), (b"-.5e1", -5), (b"0x1p3", 8), (b"0x10", 16), (b"1e400", np.inf), (b"-inf", -np.inf)],
)
def test_numbers(text: bytes, value: float) -> None:
    assert each("StringToNumber", text, out_type="f64") == value


@pytest.mark.parametrize("text", [b"", b"1_0", b"1 2", b"12abc", b"0x", b"\xff"])
@pytest.mark.parametrize("type", ["f32", "i32"])
def test_what_is_no_number(text: bytes, type: str) -> None:
    with pytest.raises(InvalidArgumentError, match="could not correctly convert"):
        each("StringToNumber", text, out_type=type)


def test_integers_that_do_not_fit() -> None:
    assert each("StringToNumber", b"-2147483648", out_type="i32") == -(2**31)
    for text in (b"2147483648", b"9" * 5000):
        with pytest.raises(InvalidArgumentError):
            each("StringToNumber", text, out_type="i32")


@pytest.mark.parametrize(
    ("pattern", "rewrite", "text", "once", "always"),
    [
        (b"a+", b"<\\0>", b"baaca", b"b<aa>ca", b"b<aa>c<a>"),
        (b"(b)(c)", b"\\2\\1\\\\", b"abcbc", b"acb\\bc", b"acb\\cb\\"),
        (b"x*", b"-", b"xxa", b"-a", b"-a-"),
        (b"", b"-", b"ab", b"-ab", b"-a-b-"),
        (b"[[:digit:][:punct:]]", b".", b"1a!", b".a!", b".a."),
        (b"\\d", b"", "٣3".encode(), "٣".encode(), "٣".encode()),
    ],
)
def test_replacements(pattern: bytes, rewrite: bytes, text: bytes, once: bytes, always: bytes) -> None:
    for wanted, many in ((once, "false"), (always, "true")):
        inputs = [strings([text]), strings(pattern), strings(rewrite)]
        assert run("RegexReplace", inputs, replace_global=f"bool${many}")[0].tolist() == [wanted]


@pytest.mark.parametrize("pattern", [b"(", b"(?=a)", b"(a)\\1", b"a**"])
def test_patterns_that_re2_refuses(pattern: bytes) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid pattern"):
        run("RegexFullMatch", [strings([b"a"]), strings(pattern)])


def test_patterns_that_are_not_built() -> None:
    with pytest.raises(UnsupportedError, match="is not built"):
        run("RegexFullMatch", [strings([b"a"]), strings(b"\\pL")])


def test_rewrites_of_groups_that_are_not_there() -> None:
    with pytest.raises(InvalidArgumentError, match="names group 2 of 1"):
        run("RegexReplace", [strings([b"a"]), strings(b"(a)"), strings(b"\\2")])


def test_texts_of_tensors() -> None:
    for value, text in ((np.zeros(0, np.int32), b"[]"), (np.arange(9, dtype=np.int32), b"[0 1 2 ... 6 7 8]")):
        made = run("StringFormat", [value], T="list(type)$i32", template="string$%s", placeholder="string$%s")
        assert made[0][()] == text


def test_text_in_other_encodings() -> None:
    for name in ("utf8", "UTF-8", "utf-8"):
        splits, codes = run("UnicodeDecode", [strings(["aé".encode()])], input_encoding=f"string${name}")
        assert splits.tolist() == [0, 2] and codes.tolist() == [97, 233]
    with pytest.raises(UnsupportedError, match="encoding 'ebcdic'"):
        run("UnicodeDecode", [strings([b"a"])], input_encoding="string$ebcdic")


def test_nothing_separates_a_string_from_empty_ones_before_it() -> None:
    texts, places = strings([b"", b"foo", b"", b"bar"]), np.array([1, 1, 1, 0])
    [y] = run(
        "UnsortedSegmentJoin",
        [texts, places, np.array(2)],
        separator="string$,",
        Tindices="i64",
        Tnumsegments="i64",
    )
    assert y.tolist() == [b"bar", b"foo,"]


@pytest.mark.parametrize(
    ("data", "splits", "runs"),
    [([], [0, 0], []), (["a", "b"], [], ["", ""]), (["a"], [0, 0, 1], ["L|R", "L|a", "a|R"])],
)
def test_runs_of_nothing_have_no_pads_where_there_is_no_string(
    data: list[str], splits: list[int], runs: list[str]
) -> None:
    """As TensorFlow 2.21 has them: of no splits as many empty strings as there are strings."""
    texts = np.array([text.encode() for text in data], object)
    pads = {"left_pad": "string$L", "right_pad": "string$R", "separator": "string$|"}
    rest = {"ngram_widths": "list(i32)$2", "pad_width": "i32$1", "preserve_short_sequences": "bool$false"}
    found, ends = run("StringNGrams", [texts, np.int64(splits)], Tsplits="i64", **pads, **rest)
    assert found.tolist() == [text.encode() for text in runs]
    assert ends.tolist() == ([0, 1, 3] if len(splits) == 3 else splits)


@pytest.mark.parametrize(
    ("fill", "wanted"),
    [
        ("0", [b"   inf", b"  -inf", b"   nan", b"  -nan", b"1.5000"]),
        ("+", [b"  +inf", b"  -inf", b"  +nan", b"  -nan", b"+1.5000"]),
        ("-", [b"inf   ", b"-inf  ", b"nan   ", b"-nan  ", b"1.5000"]),
    ],
)
def test_what_is_no_finite_number_is_written_as_c_does(fill: str, wanted: list[bytes]) -> None:
    x = np.float64([np.inf, -np.inf, np.nan, -np.nan, 1.5])
    modes = {"fill": f"string${fill}", "width": "i64$6", "precision": "i64$4"}
    assert run("AsString", [x], T="f64", **modes)[0].tolist() == wanted


@pytest.mark.parametrize(("fill", "wanted"), [("+", b"   7"), (" ", b"   7"), ("0", b"0007"), ("-", b"7   ")])
def test_numbers_without_a_sign_have_no_place_for_one(fill: str, wanted: bytes) -> None:
    modes = {"fill": f"string${fill}", "width": "i64$4"}
    assert run("AsString", [np.uint8([7])], T="u8", **modes)[0].tolist() == [wanted]


def test_precision_cuts_texts() -> None:
    modes = {"precision": "i64$1", "width": "i64$3"}
    assert run("AsString", [strings([b"abc"])], T="string", **modes)[0].tolist() == [b"  a"]


def test_numbers_that_are_none_may_have_a_name() -> None:
    texts = strings([b"nan(a_1Z)", b" -NaN() "])
    assert np.isnan(run("StringToNumber", [texts], out_type="f32")[0]).all()
    with pytest.raises(InvalidArgumentError, match="could not correctly convert"):
        run("StringToNumber", [strings([b"nan(a b)"])], out_type="f32")
