"""What authors of delegates use, and the delegates that come with numlite."""

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
