"""Control flow by functions: the ops, their attributes and the region ops that they correspond to."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.attributes import Attribute, FuncAttr
from ..ir.node import Node

IF_OPS = ("If", "StatelessIf", "StatefulIf")
CASE_OPS = ("Case", "StatelessCase", "StatefulCase")
WHILE_OPS = ("While", "StatelessWhile", "StatefulWhile")
FOR_OPS = ("For",)
FUNCTIONAL_OPS = frozenset((*IF_OPS, *CASE_OPS, *WHILE_OPS, *FOR_OPS))
# Attributes of the functional ops that follow from the types of operands and results.
TYPE_ATTRIBUTES = frozenset(("Tcond", "Tin", "Tout", "T", "output_shapes"))


@dataclass(frozen=True)
class Branch:
    """A function of a functional op and the region that it corresponds to.

    function is the functional op's attribute, attrs and region_attrs those of the region op; default is
    what the region's function is called when nothing else names it.
    """

    function: str
    attrs: str
    region_attrs: str
    default: str


_IF_BRANCHES = (
    Branch("then_branch", "then_attrs", "then_region_attrs", "if_then_function"),
    Branch("else_branch", "else_attrs", "else_region_attrs", "if_else_function"),
)
_WHILE_BRANCHES = (
    Branch("cond", "cond_attrs", "cond_region_attrs", "while_cond_function"),
    Branch("body", "body_attrs", "body_region_attrs", "while_body_function"),
)
_FOR_BRANCHES = (Branch("body", "body_attrs", "region_attrs", "for_body_function"),)


def branch_forms(op: str) -> tuple[Branch, ...]:
    """Of a functional op or region op that is no Case, in the order of the regions."""
    op = functional_op(op)
    return _IF_BRANCHES if op in IF_OPS else _WHILE_BRANCHES if op in WHILE_OPS else _FOR_BRANCHES


def region_op(op: str) -> str:
    """The region op of a functional op."""
    return f"{op}Region"


def functional_op(op: str) -> str:
    """The functional op of a region op."""
    return op.removesuffix("Region")


def branches_of(node: Node) -> list[FuncAttr] | None:
    """The functions of a functional op in the order of the regions; None when it lacks one."""
    found: tuple[Attribute | None, ...]
    if node.op in CASE_OPS:
        held = node.attributes.get("branches")
        found = held if isinstance(held, tuple) else ()
    else:
        found = tuple(node.attributes.get(form.function) for form in branch_forms(node.op))
    functions = [func for func in found if isinstance(func, FuncAttr)]
    return functions if functions and len(functions) == len(found) else None
