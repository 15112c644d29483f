"""What a caller may have meant by a name that a graph does not have."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from .body import Body

_MOST_NAMED = 5


def nearest(role: str, name: str, known: Mapping[str, str], body: Body) -> str:
    """The rest of a message: names like this one, else those of the signature, or of the graph's own ends.

    role is "feed" or "fetch".
    """
    near = get_close_matches(name.partition(":")[0], [*known, *body.places], 3)
    if near:
        return f"; the nearest are {_listed(near)}"
    if known:
        return f"; the signature has {_listed(list(known))}"
    if role == "feed":
        fed = [node.name for node in body.nodes if node.op.startswith("Placeholder")]
        return f"; the placeholders are {_listed(fed)}" if fed else "; there are no placeholders"
    used = {endpoint.node for node in body.nodes for endpoint in node.inputs}
    unused = [node.name for place, node in enumerate(body.nodes) if place not in used]
    return f"; results that no node uses are {_listed(unused)}" if unused else ""


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:_MOST_NAMED]))
    return shown if len(names) <= _MOST_NAMED else f"{shown} ..."
