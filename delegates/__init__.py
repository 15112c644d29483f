"""What authors of delegates use, and the delegates that come with numlite."""

from ..lite.delegate import (
    Delegate,
    DelegateContext,
    DelegateFlags,
    DelegateParams,
    delegate_registration,
)
from ..lite.operator_profiler import profile_operator
from ..lite.partition import PartitionMode
from .graph_partition import FP16GraphPartitionHelper, GraphPartitionHelper, replace_groups
from .loading import load_delegate
from .replaced_node import prepare_replaced
from .serialization import Serialization, SerializationEntry, SerializationParams, options_key
from .simple import SimpleDelegate, SimpleDelegateKernel, SimpleDelegateOptions

__all__ = [
    "Delegate",
    "DelegateContext",
    "DelegateFlags",
    "DelegateParams",
    "FP16GraphPartitionHelper",
    "GraphPartitionHelper",
    "PartitionMode",
    "Serialization",
    "SerializationEntry",
    "SerializationParams",
    "SimpleDelegate",
    "SimpleDelegateKernel",
    "SimpleDelegateOptions",
    "delegate_registration",
    "load_delegate",
    "options_key",
    "prepare_replaced",
    "profile_operator",
    "replace_groups",
]
