"""Where the commands print: tables that are whole in a file, too, and names shown as they are."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ..schema.shown import shown, shown_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

# A pipe or a file has no width; tables must not be cut there.
UNBOUNDED_COLUMNS = 1 << 16


def echo(text: str, err: bool = False) -> None:
    """A text of our lines, in which names from files show as they are."""
    import click

    click.echo(shown_lines(text), err=err)


def counted(number: int, noun: str) -> str:
    """As in "1 node" and "2 nodes"."""
    return f"{number} {noun}{'s' if number != 1 else ''}"


def make_console() -> Console:
    """stdout. Names from files show as they are: escaped, and brackets and colons no markup."""
    from rich.console import Console as RichConsole

    class Console(RichConsole):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(shown_lines(text), **options)

    bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if bounded else UNBOUNDED_COLUMNS
    return Console(width=width, soft_wrap=True, markup=False, emoji=False, highlight=False)


def make_progress_console() -> Console:
    """stderr, so that a redirected result stays clean."""
    from rich.console import Console

    return Console(stderr=True)


def make_table(*columns: str) -> Table:
    """A table whose rows are text, in which names from files show as they are."""
    from rich.table import Table as RichTable

    class Table(RichTable):
        def add_row(self, *cells: str) -> None:  # type: ignore[override]
            super().add_row(*map(shown, cells))

    return Table(*columns)
