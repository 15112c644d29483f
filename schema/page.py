"""Pages of one file, which need no network: their head, tables, and text from files as they may show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .shown import shown

_STYLE = (
    "body{font:14px/1.4 sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}"
    "td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}td.n{text-align:right}"
    "td:not(.n){overflow-wrap:anywhere;min-width:6em}"
)


def head(title: str) -> str:
    """What stands before all else, with the title as a heading."""
    return (
        f"<!doctype html><meta charset=utf-8><title>{text(title)}</title><style>{_STYLE}</style>\n"
        f"<h1>{text(title)}</h1>"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers stand at the right, floats with three digits, None as nothing."""
    lines = ["<table><tr>" + "".join(f"<th>{text(cell)}" for cell in head)]
    lines += ["<tr>" + "".join(map(_cell, row)) for row in rows]
    return "\n".join([*lines, "</table>"])


def _cell(value: object) -> str:
    if value is None:
        return "<td>"
    if isinstance(value, int):
        return f"<td class=n>{value:,}"
    return f"<td class=n>{value:.3g}" if isinstance(value, float) else f"<td>{text(value)}"


def text(value: object) -> str:
    """What is shown of a value, as HTML."""
    return escape(shown(value))
