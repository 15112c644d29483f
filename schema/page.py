"""Pages of one file, which need no network: their head, tables, and text from files as they may show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .shown import shown

_STYLE = (
    "body{font:14px/1.4 sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0;font-size:13px}"
    "td,th{border:1px solid #ccc;padding:.2em .4em;text-align:left}td.n{text-align:right}"
    "td.t,span.t{overflow-wrap:anywhere}td.t{min-width:7em}"
)


# Longer texts may break anywhere.
_LONG = 40


class Markup(str):
    """HTML that stands in a cell as it is."""

    __slots__ = ()


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
    if isinstance(value, Markup):
        return f"<td>{value}"
    if isinstance(value, int):
        return f"<td class=n>{value:,}"
    if isinstance(value, float):
        return f"<td class=n>{value:.3g}"
    is_long = len(str(value)) > _LONG
    return f"<td{' class=t' * is_long}>{text(value)}"


def text(value: object) -> str:
    """What is shown of a value, as HTML."""
    return escape(shown(value))
