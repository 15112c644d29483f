"""What authors of plugins derive from: an optimizer for the graphs of one type of device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import ClassVar

from ...kernels.fallback.registry import KernelRegistration
from ...kernels.fallback.status import NotFoundError
from ...schema.graph_def import GraphDef, OpDef
from ...schema.op_defs import op_defs
from ..ir.export_function import signature_of
from ..ir.module import Module
from ..optimizers.item import GrapplerItem
from ..optimizers.properties import GraphProperties

# The interface's version here. MAJOR must be equal, what a newer MINOR adds is left out, PATCH means nothing.
API_VERSION = (0, 0, 1)


class TriState(IntEnum):
    """What a plugin wants of one of the optimizers before it.

    Only OFF changes anything: it turns off what the user has on. Of disable_model_pruning, which is named
    the other way round, it is ON that does.
    """

    DEFAULT = 0
    OFF = 1
    ON = 2


# By TP_OptimizerConfigs' names, in its order; the first says that pruning is off.
STATES = (
    *("disable_model_pruning", "implementation_selector", "function_optimization"),
    *("common_subgraph_elimination", "arithmetic_optimization", "debug_stripper", "constant_folding"),
    *("shape_optimization", "auto_mixed_precision", "auto_mixed_precision_onednn_bfloat16"),
    *("auto_mixed_precision_mkl", "pin_to_host_optimization", "layout_optimizer", "remapping"),
    *("loop_optimization", "dependency_optimization", "auto_parallel", "memory_optimization"),
    "scoped_allocator_optimization",
)


class OptimizerPlugin:
    """An optimizer that runs after all others, on graphs that have a node on its type of device.

    It is made once for each run of the meta-optimizer, without arguments, and closed at the end of it.
    """

    # Of the interface that it was written for.
    api_version: ClassVar[tuple[int, int, int]] = API_VERSION
    # "CPU", "GPU" or any other; one for each type. A node without a device is on the CPU.
    device_type: ClassVar[str] = ""
    # What it wants of other optimizers, by the names of STATES.
    configs: ClassVar[Mapping[str, TriState]] = {}

    def optimize(
        self, item: GrapplerItem, properties: GraphProperties, library: FunctionLibrary
    ) -> Module | GraphDef | None:
        """A better graph of the same meaning, or None for: did nothing.

        The item is a clone, whose module may be changed and given back. Nodes that item.nodes_to_preserve()
        names keep their names and meaning. properties are inferred when they are first asked for. Any
        exception leaves the graph as it was.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Give back what the instance holds."""

    @classmethod
    def ops(cls) -> Iterable[OpDef]:
        """Definitions of the ops that it makes and TensorFlow does not have (OpMetadata.parse(..).op_def)."""
        return ()

    @classmethod
    def kernels(cls) -> Iterable[KernelRegistration]:
        """Kernels that run those ops (kernels.fallback.registry.kernel)."""
        return ()


class FunctionLibrary:
    """Definitions of what nodes can call, by name.

    The graph's functions come first, then ops that plugins have registered, then TensorFlow's.
    """

    def __init__(self, functions: Mapping[str, OpDef], ops: Mapping[str, OpDef]) -> None:
        self._functions = functions
        self._ops = ops

    @classmethod
    def of_module(cls, module: Module, ops: Mapping[str, OpDef]) -> FunctionLibrary:
        """Of a module's functions, and ops that plugins have registered."""
        return cls({name: signature_of(function) for name, function in module.functions.items()}, ops)

    @classmethod
    def of_graph_def(cls, graph_def: GraphDef, ops: Mapping[str, OpDef]) -> FunctionLibrary:
        """The same of a GraphDef."""
        return cls({each.signature.name: each.signature for each in graph_def.library.function}, ops)

    def look_up_op_def(self, name: str) -> OpDef:
        """The definition of an op or function; NotFoundError with TensorFlow's text."""
        found = self._functions.get(name) or self._ops.get(name) or op_defs().find(name)
        if found is None:
            raise NotFoundError(
                f"Op type not registered '{name}' in binary running on numlite: it is none of TensorFlow's "
                "ops, and neither a function of the graph nor an op that a plugin has registered."
            )
        return found
