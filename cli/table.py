"""Tables of names that come from files."""

from __future__ import annotations

from rich.table import Table as RichTable

from ..schema.shown import shown


class Table(RichTable):
    """Rows of text, in which names show as they are."""

    def add_row(self, *cells: str) -> None:  # type: ignore[override]
        super().add_row(*map(shown, cells))
