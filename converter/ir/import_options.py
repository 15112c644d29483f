"""How strictly a GraphDef is imported, and where its ops' signatures come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...schema.graph_def import FunctionDef, OpDef
from .signature import Signature, registered


@dataclass(frozen=True)
class ImportOptions:
    """What the import adds, allows and checks.

    The defaults keep a graph as it is: nothing is added, ops that TensorFlow does not know are
    opaque, and nodes that break their op's rules are refused. `TENSORFLOW` is what TensorFlow's own
    importer does.
    """

    # Attributes that a node lacks are set to its op's defaults.
    add_defaults: bool = False
    # Nodes get the full types that their op's definition gives.
    construct_full_types: bool = False
    # Ops that are neither TensorFlow's nor functions have opaque results.
    allow_unknown_ops: bool = True
    # Inputs, attributes and cycles are checked against the ops' definitions.
    check_nodes: bool = True
    # Definitions of ops that TensorFlow does not have; those that it has go first.
    op_defs: tuple[OpDef, ...] = ()


TENSORFLOW = ImportOptions(True, True, False, False)


class Signatures:
    """Signatures by op: TensorFlow's ops, then the functions of the library, then others' ops."""

    def __init__(self, functions: Iterable[FunctionDef], op_defs: Iterable[OpDef] = ()) -> None:
        self.functions: dict[str, FunctionDef] = {}
        for function in functions:
            self.functions.setdefault(function.signature.name, function)
        self._defined = {op_def.name: op_def for op_def in op_defs}
        self._known: dict[str, Signature] = {}

    def find(self, op: str) -> Signature | None:
        found = registered(op)
        if found is not None:
            return found
        if op not in self._known:
            op_def = self.functions[op].signature if op in self.functions else self._defined.get(op)
            if op_def is None:
                return None
            self._known[op] = Signature.of(op_def)
        return self._known[op]
