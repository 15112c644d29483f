"""What authors of delegates use, and the delegates that come with numlite.

Each name is loaded when it is first used, since start-up time counts where a model brings its delegate.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..lite.delegate import (
        Delegate,
        DelegateContext,
        DelegateFlags,
        DelegateParams,
        PartitionKernel,
        SerializedPartition,
        delegate_registration,
    )
    from ..lite.operator_profiler import profile_operator
    from ..lite.partition import PartitionMode
    from .compile import CompiledModel, compile_model
    from .graph_partition import FP16GraphPartitionHelper, GraphPartitionHelper, replace_groups
    from .loading import load_delegate
    from .replaced_node import prepare_replaced
    from .serialization import Serialization, SerializationEntry, SerializationParams, options_key
    from .simple import SimpleDelegate, SimpleDelegateKernel, SimpleDelegateOptions

__all__ = [
    "CompiledModel",
    "Delegate",
    "DelegateContext",
    "DelegateFlags",
    "DelegateParams",
    "FP16GraphPartitionHelper",
    "GraphPartitionHelper",
    "PartitionKernel",
    "PartitionMode",
    "Serialization",
    "SerializationEntry",
    "SerializationParams",
    "SerializedPartition",
    "SimpleDelegate",
    "SimpleDelegateKernel",
    "SimpleDelegateOptions",
    "compile_model",
    "delegate_registration",
    "load_delegate",
    "options_key",
    "prepare_replaced",
    "profile_operator",
    "replace_groups",
]

_HOMES = {
    "..lite.delegate": (
        "Delegate",
        "DelegateContext",
        "DelegateFlags",
        "DelegateParams",
        "PartitionKernel",
        "SerializedPartition",
        "delegate_registration",
    ),
    "..lite.operator_profiler": ("profile_operator",),
    "..lite.partition": ("PartitionMode",),
    ".compile": (
        "CompiledModel",
        "compile_model",
    ),
    ".graph_partition": (
        "FP16GraphPartitionHelper",
        "GraphPartitionHelper",
        "replace_groups",
    ),
    ".loading": ("load_delegate",),
    ".replaced_node": ("prepare_replaced",),
    ".serialization": (
        "Serialization",
        "SerializationEntry",
        "SerializationParams",
        "options_key",
    ),
    ".simple": (
        "SimpleDelegate",
        "SimpleDelegateKernel",
        "SimpleDelegateOptions",
    ),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module, __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
