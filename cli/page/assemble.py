"""One page of all: the data, the programs that draw it, the libraries that these use, and their licenses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..json_output import plain
from .document import Document
from .libraries import Package

_FOLDER = Path(__file__).parent
# In the order in which they run.
_PROGRAMS = (
    "layout",
    "palette",
    "details",
    "graph",
    "minimap",
    "times",
    "arena",
    "values",
    "differences",
    "page",
)


def assembled(document: Document, libraries: Sequence[tuple[Package, str, str]]) -> str:
    """The page's HTML, which asks for nothing else. libraries are their packages, scripts and licenses."""
    scripts = [
        _script(f"{package.name} {package.version}\n{license}", script)
        for package, script, license in libraries
    ]
    scripts += [f"<script>\n{(_FOLDER / f'{name}.js').read_text('utf-8')}</script>" for name in _PROGRAMS]
    parts = {
        "TITLE": escape(document.title),
        "STYLE": (_FOLDER / "page.css").read_text("utf-8"),
        "DOCUMENT": _data(document),
        "SCRIPTS": "\n".join(scripts),
    }
    page = (_FOLDER / "page.html").read_text("utf-8")
    before, *rest = page.split("@")
    # Every second piece is a name; what is put in is not looked at again.
    return before + "".join(parts.get(piece, piece) for piece in rest)


def _script(about: str, script: str) -> str:
    comment, program = about.replace("*/", "* /").strip(), script.replace("</script", "<\\/script")
    return f"<script>\n/* {comment} */\n{program}\n</script>"


def _data(document: Document) -> str:
    """JSON that ends no element: < is escaped."""
    return json.dumps(plain(document), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
