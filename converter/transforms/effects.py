"""Which nodes change state that others see, which only look at it, and which do neither."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from ..ir.attributes import Attribute, FuncAttr
from ..ir.module import Function
from ..ir.node import Node
from .purity import is_stateless


class Effect(IntEnum):
    """What a node has to do with state, from least to most."""

    NONE = 0
    READS = 1
    WRITES = 2


# They make a handle, and nobody sees when.
HANDLES = frozenset(
    (
        *("VarHandleOp", "VariableV2", "Variable", "_VarHandlesOp"),
        *("HashTableV2", "HashTable", "MutableHashTableV2", "MutableHashTable"),
        *("MutableDenseHashTableV2", "MutableDenseHashTable"),
        *("MutableHashTableOfTensorsV2", "MutableHashTableOfTensors"),
    )
)
# TensorFlow says that they have state; it is only looked at. Of random numbers it is the next one.
_READERS = frozenset(
    (
        *("ReadVariableOp", "_ReadVariablesOp", "ResourceGather", "ResourceGatherNd", "VariableShape"),
        *("VarIsInitializedOp", "IsVariableInitialized", "ResourceStridedSlice"),
        *("LookupTableFindV2", "LookupTableFind", "LookupTableSizeV2", "LookupTableSize"),
        *("LookupTableExportV2", "LookupTableExport", "TensorArraySizeV3"),
        *("RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal", "RandomShuffle"),
        *("RandomGammaGrad", "RandomGamma", "RandomPoissonV2", "RandomPoisson", "Multinomial"),
        *("ParameterizedTruncatedNormal", "StatefulRandomBinomial", "RandomCrop"),
    )
)
# Functions in functions are looked at so far; what is further down may do anything.
_DEEPEST = 100
# Handles, and what only tells a variable how to be saved.
_WITHOUT_EFFECT = HANDLES | {"DisableCopyOnRead"}


class Effects:
    """What nodes do, looked up through the functions that they call."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self.functions = functions
        # Of a function that is being looked at: nothing yet, so that recursion ends.
        self._of_functions: dict[str, Effect] = {}
        self._depth = 0

    def of(self, node: Node) -> Effect:
        """The most that the node does; ops that nobody knows may do anything."""
        if node.op in _WITHOUT_EFFECT:
            return Effect.NONE
        if node.op in _READERS:
            return Effect.READS
        called = called_names(node, self.functions)
        if called:
            return max(self.of_function(name) for name in called)
        if node.regions:
            return max((self.of(inner) for region in node.regions for inner in region), default=Effect.NONE)
        return Effect.NONE if is_stateless(node.op) or not node.has_control else Effect.WRITES

    def of_function(self, name: str) -> Effect:
        """The most that a node of the function does; a function that is not there may do anything."""
        if name in self._of_functions:
            return self._of_functions[name]
        function = self.functions.get(name)
        if function is None or self._depth > _DEEPEST:
            return Effect.WRITES
        self._of_functions[name] = Effect.NONE
        self._depth += 1
        found = max((self.of(node) for node in function.body), default=Effect.NONE)
        self._depth -= 1
        self._of_functions[name] = found
        return found


def called_names(node: Node, functions: Mapping[str, Function]) -> list[str]:
    """Names of the functions in a node's attributes, or its op where that is one that is there."""
    found: list[str] = []
    stack: list[Attribute] = list(node.attributes.values())
    while stack:
        attribute = stack.pop()
        if isinstance(attribute, FuncAttr):
            found.append(attribute.name)
        elif isinstance(attribute, tuple):
            stack += attribute
    if not found and node.op in functions and not is_stateless(node.op):
        found.append(node.op)
    return found
