"""Text from files as people may see it: on terminals, in logs, in errors, in pictures and pages."""

from __future__ import annotations

_LAYOUT = "\n\t"
_LONGEST = 80  # letters of a name
_HEAD, _TAIL = 48, 28


def shown(text: object) -> str:
    r"""The text in one line, with all that is no plain letter, sign or space escaped: \x1b, \n, \u202e.

    No name then moves a cursor, ends a line, turns the direction of writing, or hides.
    """
    plain = str(text)
    return plain if plain.isprintable() else "".join(map(_escaped, plain))


def shown_lines(text: object) -> str:
    """The same for text of several lines, whose line breaks and tabs are meant."""
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(letter if letter in _LAYOUT else _escaped(letter) for letter in plain)


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def shown_name(name: str) -> str:
    """The name in quotes, on one line; the middle of a long one is left out."""
    return repr(short_name(name))


def short_name(name: str) -> str:
    """The name; of a long one (of fused operators, say) the start and the end."""
    return name if len(name) <= _LONGEST else f"{name[:_HEAD]}...{name[-_TAIL:]}"
