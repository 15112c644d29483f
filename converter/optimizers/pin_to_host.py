"""pin_to_host: small whole numbers are computed where their operands are, on the host."""

from __future__ import annotations

import math

from ...kernels.fallback.register import fallback_kernels
from ..ir.node import Node, Value
from ..ir.signature import Argument, registered
from ..transforms.toposort import topological_order
from .arithmetic.nodes import device, element
from .host_arguments import ALWAYS, FOR_INTEGERS
from .item import device_type
from .properties import GraphProperties
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/pin_to_host_optimizer.cc"
# A tensor of more elements is worth the way to the device.
_MOST_ELEMENTS = 64
_TYPES = ("i32", "i64")
_STAYS = frozenset(
    (
        *("NoOp", "ControlTrigger", "Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"),
        *("RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSwitch", "_SwitchN"),
    )
)
_PASSES_ON = ("Identity", "IdentityN")


def pin_to_host(turn: Turn) -> None:
    """Give nodes the CPU of their task whose operands are on the host and whose results are few integers.

    Given:  s = Shape(x) on GPU; c = Const 2 on GPU; m = Mul(s, c) on GPU; y = Reshape(x, m) on GPU
    Result: c and m are on the CPU

    A constant goes back when a node that is left behind takes it in the device's memory.
    Source: TensorFlow core/grappler/optimizers/pin_to_host_optimizer.cc.
    """
    devices = turn.item.devices
    if devices and not any(device_type(name) == "CPU" for name in devices):
        return
    fed = turn.item.feed_nodes()
    properties = turn.properties()
    moved: dict[Node, tuple[str, str]] = {}
    for node in topological_order(turn.item.body.body):
        if turn.is_late():
            break
        if node.name not in fed and _may_move(node, properties):
            moved[node] = node.device, node.assigned_device
            node.device = _host_of(device(node))
            node.assigned_device = ""
    for node, (own, assigned) in moved.items():
        if node.op == "Const" and not all(map(_takes_from_host, _uses(node))):
            node.device, node.assigned_device = own, assigned
        else:
            turn.count("pin_to_host", node.name)


def _may_move(node: Node, properties: GraphProperties) -> bool:
    if not device(node) or _is_on_host(node) or node.regions:
        return False
    if node.op in _STAYS or node.op.startswith("Collective") or not fallback_kernels().registrations(node.op):
        return False
    if not all(_is_on_host_side(value, properties) for value in node.operands):
        return False
    return bool(node.results) and all(_is_small(value, properties) for value in node.results)


def _is_on_host_side(value: Value, properties: GraphProperties) -> bool:
    """Whether a value is in the host's memory, whatever device its node is on."""
    node = value.owner
    if not isinstance(node, Node) or node.op in _STAYS or not _is_small(value, properties):
        return False
    if node.op in _PASSES_ON and len(node.operands) == 1:
        return _is_on_host_side(node.operands[0], properties)
    if _is_on_host(node):
        return True
    signature = registered(node.op)
    return signature is not None and _is_host_argument(node, signature.outputs, value.index, value)


def _is_small(value: Value, properties: GraphProperties) -> bool:
    if element(value) == "string":
        return True
    sizes = properties.shape(value)
    known = sizes is not None and all(size >= 0 for size in sizes)
    return element(value) in _TYPES and known and math.prod(sizes or ()) <= _MOST_ELEMENTS


def _is_on_host(node: Node) -> bool:
    return device_type(device(node)) == "CPU"


def _uses(node: Node) -> list[tuple[Node, int]]:
    return [
        (user, place)
        for value in node.results
        for user in dict.fromkeys(value.users)
        for place, operand in enumerate(user.operands)
        if operand is value
    ]


def _takes_from_host(use: tuple[Node, int]) -> bool:
    node, place = use
    signature = registered(node.op)
    if _is_on_host(node):
        return True
    return signature is not None and _is_host_argument(node, signature.inputs, place, node.operands[place])


def _is_host_argument(node: Node, arguments: list[Argument], place: int, value: Value) -> bool:
    """Whether the kernels of devices have an input or output in the host's memory."""
    at = 0
    signature = registered(node.op)
    held = {**(signature.defaults if signature is not None else {}), **node.attributes}
    for argument in arguments:
        at += len(argument.types(held))
        if place < at:
            integers = FOR_INTEGERS.get(node.op, ()) if element(value) == "i32" else ()
            return argument.name in (*ALWAYS.get(node.op, ()), *integers)
    return False


def _host_of(name: str) -> str:
    """The CPU beside a device: of its job and task where the name has them."""
    parts = [part for part in name.split("/") if part.partition(":")[0] in ("job", "replica", "task")]
    return "".join(f"/{part}" for part in (*parts, "device:CPU:0"))
