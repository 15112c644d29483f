"""What comes of a program that was read: its outputs by name, or one error for all that has no form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...lite.errors import UnsupportedError
from ...schema.shown import shown
from ..ir.node import Node
from .tensor import Tensor

# How many names a line of an error lists.
_LISTED = 3


@dataclass(frozen=True)
class Refusal:
    """What has no form: its name or place, what it is (an op, a class of layers), and why."""

    name: str
    kind: str
    reason: str


def refusal_error(what: str, refusals: Sequence[Refusal]) -> UnsupportedError:
    """One error for all refusals, by kind and reason; what names them ("ONNX operators")."""
    groups: dict[tuple[str, str], list[str]] = {}
    for refusal in refusals:
        groups.setdefault((refusal.kind, refusal.reason), []).append(refusal.name)
    lines = []
    for (kind, reason), names in sorted(groups.items()):
        places = list(dict.fromkeys(names))
        more = f" and {len(places) - _LISTED} more" if len(places) > _LISTED else ""
        count = f"{len(names)} times in " if len(names) > len(places) else ""
        lines.append(f"  {shown(kind)} ({count}{', '.join(map(shown, places[:_LISTED]))}{more}): {reason}")
    return UnsupportedError(f"{what} that cannot be converted:\n" + "\n".join(lines))


def named_output(tensor: Tensor, name: str) -> str:
    """The text by which the value is found; its node is called like the output where it can be."""
    value = tensor.value
    assert isinstance(value.owner, Node)
    if value.owner.op not in ("Placeholder", "Const") and len(value.owner.results) == 1:
        value.owner.name = tensor.body.names.new(name)
    return value.owner.name if value.index == 0 else f"{value.owner.name}:{value.index}"
