"""The graph of one signature, complete in itself."""

from __future__ import annotations

from dataclasses import dataclass

from ...schema.graph_def import GraphDef
from ..ir.export_graph import export_graph_def
from ..ir.module import Module
from .signature import Signature, SignatureTensor


@dataclass(frozen=True)
class FrozenGraph:
    """A graph whose calls are inlined and whose variables are constants.

    Inputs are Placeholders. If, Case and While name functions of the module; control flow of the first
    version is as it was.

    What cannot be constant keeps its handle: variables that are assigned to, and tables. The nodes
    named by `initializers` give them their first contents; they are part of the graph and run once,
    all together, before any of its results is asked for. They are AssignVariableOp or Assign of a
    Const, LookupTableImportV2 or InitializeTable of Consts (vocabulary files are read and become such),
    or what else the model's own initialization does to these handles.
    """

    module: Module
    signature: Signature
    # Tensors of this graph by the signature's names, in its order.
    inputs: dict[str, SignatureTensor]
    outputs: dict[str, SignatureTensor]
    initializers: tuple[str, ...] = ()

    def graph_def(self) -> GraphDef:
        """The graph as a GraphDef."""
        return export_graph_def(self.module)
