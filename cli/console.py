"""Where the commands print: tables that are whole in a file, too, and names shown as they are."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# A pipe or a file has no width; tables must not be cut there.
UNBOUNDED_COLUMNS = 240


def make_console() -> Console:
    """stdout. Square brackets and colons in tensor names are text, not markup."""
    from rich.console import Console

    bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if bounded else UNBOUNDED_COLUMNS
    return Console(width=width, soft_wrap=True, markup=False, emoji=False, highlight=False)


def make_progress_console() -> Console:
    """stderr, so that a redirected result stays clean."""
    from rich.console import Console

    return Console(stderr=True)
