"""What authors of delegates use, and the delegates that come with numlite.

Each name is loaded when it is first used, since start-up time counts where a model brings its delegate.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..lite.context import Context, Numerics
    from ..lite.delegate import (
        Delegate,
        DelegateContext,
        DelegateFlags,
        DelegateParams,
        PartitionKernel,
        SerializedPartition,
        delegate_registration,
    )
    from ..lite.errors import DelegateError, ModelError, PrepareError, StateError, UnsupportedError
    from ..lite.kernel_call import KernelCall
    from ..lite.node import Node
    from ..lite.operator_profiler import profile_operator
    from ..lite.partition import PartitionMode
    from ..lite.registration import InplaceOperator, Registration
    from ..lite.tensor import Tensor, TensorType
    from .compile import CompiledModel, compile_model
    from .graph_partition import FP16GraphPartitionHelper, GraphPartitionHelper, replace_groups
    from .loading import load_delegate
    from .replaced_node import prepare_replaced
    from .serialization import Serialization, SerializationEntry, SerializationParams, options_key
    from .simple import SimpleDelegate, SimpleDelegateKernel, SimpleDelegateOptions

__all__ = [
    "CompiledModel",
    "Context",
    "Delegate",
    "DelegateContext",
    "DelegateError",
    "DelegateFlags",
    "DelegateParams",
    "FP16GraphPartitionHelper",
    "GraphPartitionHelper",
    "InplaceOperator",
    "KernelCall",
    "ModelError",
    "Node",
    "Numerics",
    "PartitionKernel",
    "PartitionMode",
    "PrepareError",
    "Registration",
    "Serialization",
    "SerializationEntry",
    "SerializationParams",
    "SerializedPartition",
    "SimpleDelegate",
    "SimpleDelegateKernel",
    "SimpleDelegateOptions",
    "StateError",
    "Tensor",
    "TensorType",
    "UnsupportedError",
    "compile_model",
    "delegate_registration",
    "load_delegate",
    "options_key",
    "prepare_replaced",
    "profile_operator",
    "replace_groups",
]

_HOMES = {
    "..lite.context": ("Context", "Numerics"),
    "..lite.delegate": (
        "Delegate",
        "DelegateContext",
        "DelegateFlags",
        "DelegateParams",
        "PartitionKernel",
        "SerializedPartition",
        "delegate_registration",
    ),
    "..lite.errors": ("DelegateError", "ModelError", "PrepareError", "StateError", "UnsupportedError"),
    "..lite.kernel_call": ("KernelCall",),
    "..lite.node": ("Node",),
    "..lite.operator_profiler": ("profile_operator",),
    "..lite.partition": ("PartitionMode",),
    "..lite.registration": ("InplaceOperator", "Registration"),
    "..lite.tensor": ("Tensor", "TensorType"),
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
