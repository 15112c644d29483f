"""A page that tells what optimizers made of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from .. import __version__
from ..lite.errors import UnsupportedError
from ..schema.shown import shown
from .graph_svg import svg

if TYPE_CHECKING:
    from ..converter.ir.module import Module
    from ..converter.optimizers.item import GrapplerItem
    from ..converter.optimizers.result import OptimizationResult

_STYLE = (
    "body{font:14px/1.4 sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}"
    "td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}td.n{text-align:right}"
    ".both{display:flex;gap:1em}.both>div{flex:1;overflow:auto;max-height:80vh;border:1px solid #ccc}"
)
_SIZES = ("nodes", "after", "edges", "after", "bytes of constants", "after")
_PASSES = ("pass", "function", "iteration", *_SIZES, "ms", "status")


def report(title: str, before: GrapplerItem, result: OptimizationResult, after: GrapplerItem) -> str:
    """The page: passes, ops and memory before and after, rewrites with their nodes, and both graphs.

    before and after are the items of the graph as it was given and as it is in the result.
    """
    parts = [
        f"<!doctype html><meta charset=utf-8><title>{_text(title)}</title><style>{_STYLE}</style>",
        f"<h1>{_text(title)}</h1><p>numlite {escape(__version__)}</p>",
        "<h2>Passes</h2>",
        _table("passes", _PASSES, _passes(result)),
        "<h2>Ops</h2>",
        _table("ops", ("op", "before", "after"), _ops(before.module, after.module)),
        "<h2>Memory</h2><p>The most bytes of tensors at once, in topological order, by declared shapes.</p>",
        _table(
            "memory", ("device", "bytes before", "bytes after", "sizes not known"), _memory(before, after)
        ),
        "<h2>Rewrites</h2>",
        _table("rewrites", ("pass", "iteration", "rule", "times", "nodes"), _rewrites(result)),
        "<h2>Warnings</h2><ul>" + "".join(f"<li>{_text(each)}</li>" for each in result.warnings) + "</ul>",
        "<h2>Graphs</h2>",
        f'<div class="both"><div>{_picture(before.module)}</div><div>{_picture(after.module)}</div></div>',
    ]
    return "\n".join(parts) + "\n"


def _passes(result: OptimizationResult) -> Iterable[tuple[object, ...]]:
    for each in result.passes:
        status = f"{each.status}: {each.reason}" if each.reason else each.status
        yield each.optimizer, each.function, each.iteration, *each.sizes, f"{each.ms:.1f}", status


def _ops(before: Module, after: Module) -> Iterable[tuple[object, ...]]:
    counts = [Counter(node.op for node in module.graph.body) for module in (before, after) if module.graph]
    for op in sorted(set().union(*counts)):
        yield op, *(count[op] for count in counts)


def _rewrites(result: OptimizationResult) -> Iterable[tuple[object, ...]]:
    for each in result.passes:
        for rule, fired in each.rules.items():
            more = fired.count - len(fired.nodes)
            nodes = ", ".join(fired.nodes) + (f" and {more} more" if more > 0 else "")
            yield f"{each.optimizer} {each.function}".strip(), each.iteration, rule, fired.count, nodes


def _memory(before: GrapplerItem, after: GrapplerItem) -> Iterable[tuple[object, ...]]:
    from ..converter.optimizers.memory.estimate import memory_estimate
    from ..converter.optimizers.properties import GraphProperties

    found = []
    for item in (before, after):
        properties = GraphProperties(item)
        properties.infer_statically(assume_valid_feeds=True)
        found.append({each.device: each for each in memory_estimate(item, properties)})
    for device in sorted(set(found[0]) | set(found[1])):
        pair = [side.get(device) for side in found]
        sizes = [0 if each is None else each.peak_bytes for each in pair]
        unknown = sum(each.unknown for each in pair if each is not None)
        yield device or "(none)", *sizes, unknown


def _picture(module: Module) -> str:
    if module.graph is None:
        return ""
    try:
        return svg(module.graph)
    except UnsupportedError as error:
        return f"<p>{_text(str(error))}</p>"


def _table(name: str, head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    def cell(value: object) -> str:
        number = ' class="n"' if isinstance(value, int) else ""
        return f"<td{number}>{_text(str(value))}</td>"

    lines = [f'<table id="{name}"><tr>{"".join(f"<th>{each}</th>" for each in head)}</tr>']
    lines += [f"<tr>{''.join(map(cell, row))}</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])


def _text(text: str) -> str:
    return escape(shown(text))
