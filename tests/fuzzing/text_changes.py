"""Damage to texts: letters, numbers, lines and nested pieces."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.fuzzing.messages import NUMBERS

_WORD = re.compile(r"%?[\w.]+|\"[^\"\n]*\"")
_MOST_LETTERS = 1 << 17


def damaged_text(text: str, draw: random.Random, letters: str = '%#<>{}[]()"@!,:=x0-9fte? \n\\^') -> str:
    """Letters, numbers, lines and nested pieces of a text changed."""
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        if not text:
            return draw.choice(letters)
        if len(text) > _MOST_LETTERS:
            break
        text = draw.choice(_TEXT_CHANGES)(text, draw, letters)
    return text


def _letter(text: str, draw: random.Random, letters: str) -> str:
    at = draw.randrange(len(text))
    return text[:at] + draw.choice(letters) * draw.choice((0, 1, 1, 3)) + text[at + draw.choice((0, 1)) :]


def _piece(text: str, draw: random.Random, letters: str) -> str:
    at, other = draw.randrange(len(text)), draw.randrange(len(text))
    piece = text[at : at + draw.choice((1, 4, 16, 80, 400))]
    if draw.random() < 0.5:
        return text[:other] + piece + text[other:]
    return text.replace(piece, "", 1)


def _word(text: str, draw: random.Random, letters: str) -> str:
    """A name, number or type becomes another one of the text, so that it may still be well formed."""
    words = list(_WORD.finditer(text))
    if not words:
        return text
    kind = draw.choice(words)
    alike = [word for word in words if word[0][0] == kind[0][0]] if draw.random() < 0.7 else words
    return text[: kind.start()] + draw.choice(alike)[0] + text[kind.end() :]


def _line(text: str, draw: random.Random, letters: str) -> str:
    lines = text.splitlines(keepends=True)
    a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
    how = draw.randrange(4)
    if how == 0:
        del lines[a]
    elif how == 1:
        lines.insert(b, lines[a])
    elif how == 2:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        lines[a:a] = lines[min(a, b) : max(a, b)][:20]
    return "".join(lines)


def _number(text: str, draw: random.Random, letters: str) -> str:
    digits = [at for at, letter in enumerate(text) if letter.isdigit()]
    if not digits:
        return text
    at = end = draw.choice(digits)
    while end < len(text) and text[end].isdigit():
        end += 1
    return text[:at] + str(draw.choice((*NUMBERS, 10**30, draw.randrange(10)))) + text[end:]


def _cut(text: str, draw: random.Random, letters: str) -> str:
    return text[: draw.randrange(len(text))]


def _deep(text: str, draw: random.Random, letters: str) -> str:
    """A piece between brackets, many times around itself."""
    opening = [at for at, letter in enumerate(text) if letter in "{[<("]
    if not opening:
        return text
    at = draw.choice(opening)
    line = text[text.rfind("\n", 0, at) + 1 : at + 1] if draw.random() < 0.5 else text[at]
    return text[:at] + line * draw.choice((3, 90, 3000)) + text[at:]


TextChange = Callable[[str, random.Random, str], str]
_TEXT_CHANGES: tuple[TextChange, ...] = (
    *(_word, _word, _word, _word, _word, _word),
    *(_letter, _letter, _letter, _piece, _piece, _line, _line, _number, _number, _cut, _deep),
)
