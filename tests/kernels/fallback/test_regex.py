"""Regular expressions: RE2's results, in linear time."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.kernels.fallback import regex_machine
from numlite.kernels.fallback.regex import Expression, compiled
from numlite.kernels.fallback.regex_machine import Slots, Text, match_at
from numlite.kernels.fallback.status import InvalidArgumentError

from ...conftest import SHARED_MODELS

_PIECES = [
    *"aabbc.0é",
    *(r"\d", r"\w", r"\s", r"\b", r"\B", "^", "$", "[ab]", "[^a]", r"\W", "[a-c]", r"\D", r"\n"),
    *("[[:alpha:]]", r"\A", r"\z", r"[^\n]", r"[^\W_]", "[é-ü]"),
]
_REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0,2}?", "{0}"]


def random_pattern(chance: random.Random, depth: int = 0) -> str:
    kind = chance.random()
    if depth > 4 or kind < 0.3:
        return chance.choice(_PIECES)
    one = random_pattern(chance, depth + 1)
    if kind < 0.5:
        return one + random_pattern(chance, depth + 1)
    if kind < 0.6:
        return f"({one})"
    if kind < 0.72:
        opening, closing = chance.choice(["(", "(?:"]), chance.choice([")", "|)"])
        return f"{opening}{one}|{random_pattern(chance, depth + 1)}{closing}"
    if kind < 0.92:
        return f"(?:{one}){chance.choice(_REPEATS)}"
    return f"(?{chance.choice('ism')}:{one})"


def random_text(chance: random.Random) -> bytes:
    text = "".join(chance.choice("aabbcé\n 0AB_") for _ in range(chance.randrange(9))).encode()
    return text[1:] + b"\xc3" if chance.random() < 0.1 else text


@pytest.mark.parametrize("seed", range(20))
def test_random_patterns_as_by_re2(seed: int) -> None:
    re2 = pytest.importorskip("re2", reason="google-re2 is not installed")
    options = re2.Options()
    options.log_errors = False
    chance = random.Random(seed)
    for _ in range(60):
        pattern, text = random_pattern(chance), random_text(chance)
        theirs = re2.compile(pattern.encode(), options)
        expression = compiled(pattern.encode())
        for start in (0, min(1, len(text))):
            found = theirs.search(text, start)
            wanted = found and tuple(at for group in range(theirs.groups + 1) for at in found.span(group))
            assert match_at(expression.program, Text(text), start) == wanted, (pattern, text, start)
        assert expression.matches_all(text) == (theirs.fullmatch(text) is not None), (pattern, text)


@pytest.mark.parametrize(
    "pattern", ["a", "[^a-c]+", "(b|é)", "a*", "c.", "(a|bc)[ab]*", "(?i)A", "[é-ü]{2,}"]
)
def test_both_machines_find_the_same(pattern: str) -> None:
    fast = compiled(pattern.encode())
    assert fast.python is not None
    slow, chance = Expression(fast.program, None), random.Random(0)
    for _ in range(100):
        text = random_text(chance)
        assert fast.matches_all(text) == slow.matches_all(text)
        for many in (False, True):
            assert fast.replaced(text, rb"<\0\\>", many) == slow.replaced(text, rb"<\0\\>", many)


SLOW_IN_PYTHON = [
    rb"(a*)*b",
    rb"(a|a)*b",
    rb"(a|aa)+$",
    rb"a*a*a*a*b",
    rb".*.*=.*",
    rb"(?:a?){40}a{40}",
    rb"\s+$",
]


@pytest.mark.parametrize("pattern", SLOW_IN_PYTHON, ids=str)
def test_no_pattern_takes_more_than_linear_time(pattern: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: each step of the program is looked at once for each place in the text."""
    expression = compiled(pattern)
    assert expression.python is None
    visits, go_on = 0, regex_machine._Run.go_on

    def counting(run: regex_machine._Run, step: int, slots: Slots, arrives: int, at: int) -> None:
        nonlocal visits
        visits += 1
        go_on(run, step, slots, arrives, at)

    monkeypatch.setattr(regex_machine._Run, "go_on", counting)
    text = b"a " * 100 if b"s" in pattern else b"a" * 200
    assert not expression.matches_all(text + b"!")
    expression.replaced(text + b"!", b"x", False)
    assert visits <= 2 * len(expression.program.steps) * (len(text) + 2)


def test_rows_alone_run_by_python() -> None:
    for pattern in (rb"a+b", rb"(ab|c)+", rb"a+$", rb"(a|b)(c|dd)(ee|f)", rb"(a+)+", rb"a??", rb"\bx"):
        assert compiled(pattern).python is None, pattern
    for pattern in (rb"[[:punct:]]", rb"<br />", rb"\s+", rb"(\d+)", rb"(ab|cd)e*", rb"[^a-z0-9 ]"):
        assert compiled(pattern).python is not None, pattern


def test_bytes_that_are_no_utf8_match_nothing() -> None:
    assert not compiled(b".").matches_all(b"\xff")
    assert compiled(b"[^a]").replaced(b"b\xffa\xc3\xa9", b"-", True) == b"-\xffa-"


@pytest.mark.parametrize("pattern", [b"((a{100}){100}){100}", b"(" * 5000 + b")" * 5000, b"a{1001}"])
def test_patterns_that_are_too_large(pattern: bytes) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid pattern"):
        compiled(pattern)


def test_a_model_with_an_exponential_pattern() -> None:
    path = SHARED_MODELS.parent / "hostile" / "other" / "regex.tflite"
    if not path.exists():
        pytest.skip("no ../shared/hostile beside the repository")
    interpreter = Interpreter(path)
    interpreter.allocate_tensors()
    (given,) = interpreter.get_input_details()
    value = np.empty(given["shape"], object)
    value[...] = b"a" * 2000
    interpreter.set_tensor(given["index"], value)
    interpreter.invoke()
    (made,) = interpreter.get_output_details()
    assert not interpreter.get_tensor(made["index"]).any()
