"""Which functions a node calls for its results."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.attributes import Attribute, FuncAttr
from ..ir.module import Function
from ..ir.node import Node
from ..ir.signature import registered
from ..transforms.inline import CALLS

_CHOICES = ("If", "StatelessIf", "Case", "StatelessCase")


def called_name(node: Node, functions: Mapping[str, Function]) -> str:
    """Name of the function that a call names, or is by its op; "" for what is no call of the library's."""
    if node.op in CALLS:
        held = node.attributes.get("f")
        name = held.name if isinstance(held, FuncAttr) else ""
    else:
        name = node.op if node.op in functions and registered(node.op) is None else ""
    return name if name in functions else ""


def called_function(node: Node, functions: Mapping[str, Function]) -> Function | None:
    """The typed function of the library whose results are the node's; None for anything else."""
    function = functions.get(called_name(node, functions))
    return None if function is None or function.generic else function


def branches(node: Node, functions: Mapping[str, Function]) -> list[Function] | None:
    """The typed functions of an If or Case, one of which gives its results."""
    if node.op not in _CHOICES:
        return None
    listed = node.attributes.get("branches")
    held: tuple[Attribute | None, ...] = (
        listed
        if isinstance(listed, tuple)
        else (node.attributes.get("then_branch"), node.attributes.get("else_branch"))
    )
    found = [functions.get(item.name) for item in held if isinstance(item, FuncAttr)]
    typed = [function for function in found if function is not None and not function.generic]
    return typed if typed and len(typed) == len(held) else None
