"""What a row of the table of messages is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """A mistake, which is given an empty folder, the type of error that it raises, and what that says.

    Where text has `...` anything may stand; it is compared with the message and the error's notes.
    """

    cause: Callable[[Path], object]
    kind: type[Exception]
    text: str
