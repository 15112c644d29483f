"""Graph, Function and Module: what a GraphDef becomes."""

from __future__ import annotations

from collections.abc import Iterable

from ...schema.graph_def import OpDef
from .attributes import Attribute, Attributes, VersionAttr
from .node import Block, Node, Value
from .types import CONTROL, Type


class Graph:
    """A bag of nodes, and the versions they were written for."""

    def __init__(self, version: VersionAttr | None = None, attributes: Attributes | None = None) -> None:
        self.version = version or VersionAttr()
        self.attributes: Attributes = {} if attributes is None else attributes
        self.body = Block(self)
        self.line = 0


class Function:
    """A function of the library.

    A generic one is as FunctionDef writes it: values are opaque and results are read by name. Each
    argument is a value and a control token; the body ends in a return.
    """

    def __init__(self, name: str, generic: bool = False, visibility: str = "") -> None:
        self.name = name
        self.generic = generic
        self.visibility = visibility
        self.attributes: Attributes = {}
        self.argument_attributes: list[Attributes] = []
        self.result_types: list[Type] = []
        self.result_attributes: list[Attributes] = []
        self.body = Block(self)
        self.line = 0

    def add_argument(self, type: Type, attributes: Attributes | None = None) -> Value:
        """A new last argument, with its control token."""
        value = self.body.add_argument(type)
        self.body.add_argument(CONTROL)
        self.argument_attributes.append({} if attributes is None else attributes)
        return value

    def add_result(self, type: Type, attributes: Attributes | None = None) -> None:
        self.result_types.append(type)
        self.result_attributes.append({} if attributes is None else attributes)

    @property
    def arguments(self) -> list[Value]:
        return self.body.arguments[::2]

    def control_of(self, argument: Value) -> Value:
        """The control token of an argument."""
        return self.body.arguments[argument.index + 1]

    @property
    def terminator(self) -> Node | None:
        return self.body.terminator

    def argument_name(self, value: Value) -> str:
        """Name of the argument that a value or token is, "" when it has none."""
        return text_attribute(self.argument_attributes[value.index // 2].get("tfg.name"))

    def result_name(self, index: int) -> str:
        return text_attribute(self.result_attributes[index].get("tfg.name"))


class Module:
    """A graph and its library of functions, in order."""

    def __init__(self, ops: Iterable[Graph | Function | Module] = ()) -> None:
        self.attributes: Attributes = {}
        self.ops: list[Graph | Function | Module] = list(ops)
        # Definitions of ops that TensorFlow does not have. The text has no place for them.
        self.op_defs: tuple[OpDef, ...] = ()
        self.line = 0

    @property
    def graph(self) -> Graph | None:
        """The first graph."""
        return next((op for op in self.ops if isinstance(op, Graph)), None)

    @property
    def functions(self) -> dict[str, Function]:
        """The functions by name; of two with one name, the first."""
        found: dict[str, Function] = {}
        for op in self.ops:
            if isinstance(op, Function):
                found.setdefault(op.name, op)
        return found


def text_attribute(value: Attribute | None) -> str:
    """A string attribute as text, "" for anything else."""
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else ""
