"""Running a regular expression's program: time in the text's length times the program's, whatever they are.

All ways through the program go over the text together, in the order of preference (a Pike machine).
"""

from __future__ import annotations

from .regex_program import Characters, Done, Look, Program, Save, Split

Slots = tuple[int, ...]  # starts and ends of the match and of the groups, -1 for none


class Text:
    """Bytes, and the characters of UTF-8 in them by the place of their first byte.

    Places are those of bytes, as in RE2: a match that takes no character may lie within one.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._letters: list[str] = [""] * (len(content) + 1)
        at = 0
        for letter in content.decode(errors="surrogateescape"):
            self._letters[at] = letter
            at += length_of(letter)

    def __len__(self) -> int:
        return len(self.content)

    def letter(self, at: int) -> str:
        """The character that begins there, "" where none does."""
        return self._letters[at]

    def is_word(self, at: int) -> bool:
        """Whether an ASCII letter, digit or underscore is there."""
        byte = self.content[at : at + 1] if at >= 0 else b""
        return byte.isalnum() or byte == b"_"


def length_of(letter: str) -> int:
    """Bytes of a character; of one that stands for a byte that is no UTF-8 it is that one."""
    code = ord(letter)
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:
        return 1
    return 2 if code < 0x800 else 3 if code < 0x10000 else 4


def match_at(program: Program, text: Text, start: int, whole: bool = False) -> Slots | None:
    """The leftmost match at or after start, of those the preferred; with whole only one of all the text."""
    run = _Run(program, text)
    nothing = (-1,) * (2 * program.groups + 1)
    found: Slots | None = None
    for at in range(start, len(text) + 1):
        if found is None and (at == start or not whole):
            run.follow(0, (at, *nothing), at)
        ways = run.next_place()
        if not ways and (found is not None or whole):
            break
        letter = text.letter(at)
        for step, slots, arrives in ways:
            here = program.steps[step]
            if isinstance(here, Done):
                if not whole or at == len(text):
                    found = (slots[0], at, *slots[2:])
                    break
            elif arrives:
                run.go_on(step, slots, arrives, at + 1)
            elif isinstance(here, Characters) and letter and here.takes(letter):
                run.go_on(step, slots, at + length_of(letter), at + 1)
    return found


class _Run:
    """The steps at one place, each once, the preferred first: those that wait for a character, and those
    that are within one, with the place where it ends."""

    def __init__(self, program: Program, text: Text) -> None:
        self._steps, self._text = program.steps, text
        self._seen: set[int] = set()
        self._ways: list[tuple[int, Slots, int]] = []

    def next_place(self) -> list[tuple[int, Slots, int]]:
        ways, self._ways, self._seen = self._ways, [], set()
        return ways

    def go_on(self, step: int, slots: Slots, arrives: int, at: int) -> None:
        """Behind a step's character where that ends at this place, else further within it."""
        if arrives == at:
            self.follow(step + 1, slots, at)
        else:
            self._ways.append((step, slots, arrives))

    def follow(self, step: int, slots: Slots, at: int) -> None:
        """Add what can be reached from a step without taking a character."""
        waiting = [(step, slots)]
        while waiting:
            step, slots = waiting.pop()
            if step in self._seen:
                continue
            self._seen.add(step)
            here = self._steps[step]
            if isinstance(here, Characters | Done):
                self._ways.append((step, slots, 0))
            elif isinstance(here, Split):
                waiting += [(here.second, slots), (here.first, slots)]
            elif isinstance(here, Save):
                waiting.append((step + 1, (*slots[: here.slot], at, *slots[here.slot + 1 :])))
            elif self._looks(here, at):
                waiting.append((step + 1, slots))

    def _looks(self, look: Look, at: int) -> bool:
        text, kind = self._text, look.kind
        if kind == "AT_BEGINNING":
            return at == 0
        if kind == "AT_END":
            return at == len(text)
        if kind == "AT_BEGINNING_LINE":
            return at == 0 or text.content[at - 1] == 10
        if kind == "AT_END_LINE":
            return at == len(text) or text.content[at] == 10
        return (text.is_word(at - 1) != text.is_word(at)) == (kind == "AT_BOUNDARY")
