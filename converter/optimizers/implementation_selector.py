"""implementation_selector: of functions that do the same, the one that was written for the device."""

from __future__ import annotations

import numpy as np

from ..graph.rule import rule
from ..ir.attributes import Attributes, FuncAttr
from ..ir.module import Function
from ..ir.node import Node
from ..ir.types import ElementType
from ..transforms.folding.tensors import constant_of_array
from ..transforms.inline import CALLS
from .arithmetic.nodes import device
from .finish import implemented
from .item import device_type
from .rewriter import OptimizingRewriter
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/implementation_selector.cc"
_CASES = ("Case", "StatelessCase")


def select_implementations(turn: Turn) -> None:
    """Let a Case by the device's number and calls of interchangeable functions take what fits their device.

    Nodes without a device stay as they are.
    """
    if turn.item.module.functions:
        turn.rewrite((index_of_device, preferred_function), shapes=False)


@rule("DeviceIndex", needs=("devices",), source=_SOURCE)
def index_of_device(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The number of the device of the Case that asks for it, among names; behind the last if it has none.

    Given:  i = DeviceIndex {device_names = ["CPU", "GPU"]}; y = Case(i, ..) on the GPU
    Result: i = Const 1; y = Case(i, ..)
    """
    users = list(dict.fromkeys(node.results[0].users))
    devices = {device_type(device(user)) for user in users if user.op in _CASES}
    if len(devices) != 1 or "" in devices or any(user.op not in _CASES for user in users):
        return False
    names = [name.decode(errors="replace").upper() for name in _names(node)]
    chosen = devices.pop()
    place = names.index(chosen) if chosen in names else len(names)
    held = constant_of_array(np.array(place, np.int32), ElementType("i32"))
    if held is None or rewriter.is_kept(node):
        return False
    attributes: Attributes = {"dtype": held.type.element, "value": held}
    rewriter.replace(node, rewriter.node(node, "Const", (), attributes))
    return True


@rule(needs=("devices",), source=_SOURCE)
def preferred_function(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A call of the function of the same api_implements whose api_preferred_device is the call's.

    Given:  y = PartitionedCall(x) {f = @cpu_lstm} on the GPU
    Result: y = PartitionedCall(x) {f = @gpu_lstm}

    Only one that takes and gives the same types.
    """
    functions = rewriter.item.module.functions
    held = node.attributes.get("f") if node.op in CALLS else None
    name = held.name if isinstance(held, FuncAttr) else node.op
    called = functions.get(name)
    wanted = device_type(device(node))
    if called is None or not wanted or not implemented(called) or _preferred(called) == wanted:
        return False
    for other in functions.values():
        if implemented(other) != implemented(called) or _preferred(other) != wanted:
            continue
        if _types(other) == _types(called):
            if isinstance(held, FuncAttr):
                node.attributes["f"] = FuncAttr(other.name, held.attributes)
            else:
                node.op = other.name
            rewriter.changed(node)
            return True
    return False


def _names(node: Node) -> list[bytes]:
    held = node.attributes.get("device_names")
    return [name for name in held if isinstance(name, bytes)] if isinstance(held, tuple) else []


def _preferred(function: Function) -> str:
    """The type of device that the function is for, "" when it does not say."""
    held = function.attributes.get("tf.api_preferred_device", function.attributes.get("api_preferred_device"))
    return held.decode(errors="replace").upper() if isinstance(held, bytes) else ""


def _types(function: Function) -> tuple[list[str], list[str]]:
    """Element types of the arguments and results."""
    given = [str(getattr(value.type, "element", value.type)) for value in function.arguments]
    results = [str(getattr(type, "element", type)) for type in function.result_types]
    return given, results
