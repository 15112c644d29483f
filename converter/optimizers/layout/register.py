"""layout: which way nodes are converted, and in which order."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.node import Node, Value
from ...transforms.toposort import topological_order
from ..arithmetic.nodes import device, element
from ..config import OptimizerConfig
from ..item import GrapplerItem, device_type
from ..toggle import CpuLayout
from ..turn import Turn
from .conditions import agnostic_form, sensitive_form
from .converter import LayoutConverter
from .data_format import Conversion
from .forms import AGNOSTIC, Form, at
from .pads import pad_inside

_CHANNELS_LAST, _CHANNELS_FIRST = Conversion("NCHW", "NHWC"), Conversion("NHWC", "NCHW")
# Compute capabilities from which on convolutions of 16 bits, and of float32 (as TF32), want channels last.
_HALF_UNITS, _TF32_UNITS = 7.0, 8.0
FormOf = Callable[[Node, Conversion], tuple[Form, int] | None]


def convert_layouts(turn: Turn) -> None:
    """Bring what names a data format into the one that the device wants, then what is behind it and can be
    computed in any.

    Preserved nodes keep theirs. On the GPU the config's compute_capability decides; on the CPU
    cpu_layout_conversion, of which TensorFlow has only NCHW_TO_NHWC.
    Source: TensorFlow core/grappler/optimizers/generic_layout_optimizer.cc.
    """
    found = direction(turn.item, turn.config)
    if found is None:
        return
    conversion, target = found
    turn.properties()
    block = turn.item.body.body
    preserved = turn.item.nodes_to_preserve()
    nodes = [
        node
        for node in topological_order(block)
        if device_type(device(node)) == target
        and node.name not in preserved
        and node.used
        and not node.regions
    ]
    in_loops = any(node.op in ("Enter", "RefEnter") for node in block)
    converter = LayoutConverter(block, conversion, in_loops)
    _convert(turn, converter, "convert_sensitive", nodes, sensitive_form)
    if converter.restored:
        behind = nodes_behind(list(converter.restored))
        chosen = [node for node in nodes if node in behind and _has_every_input(node, behind, converter)]
        _convert(turn, converter, "convert_agnostic", chosen, agnostic_form)
        converter.finish()
    if converter.restored or turn.is_aggressive:
        for node in nodes:
            if pad_inside(node, preserved):
                turn.count("pad_inside", node.name)
    if turn.record.rules:
        turn.inferred.forget()


def direction(item: GrapplerItem, config: OptimizerConfig) -> tuple[Conversion, str] | None:
    """From which format to which, and on which type of device; None where nothing is converted."""
    named = {device_type(name) for name in item.devices} | item.device_types()
    if "GPU" not in named:
        wanted = config.cpu_layout_conversion == CpuLayout.NCHW_TO_NHWC
        return (_CHANNELS_LAST, "CPU") if wanted else None
    convs = [
        element(node.operands[0])
        for node in item.nodes()
        if node.op in ("Conv2D", "Conv3D") and device_type(device(node)) == "GPU"
    ]
    small = ("f16", "bf16", "f32") if config.compute_capability >= _TF32_UNITS else ("f16", "bf16")
    wants_last = 2 * sum(each in small for each in convs) >= len(convs) > 0
    if config.compute_capability >= _HALF_UNITS and wants_last:
        return _CHANNELS_LAST, "GPU"
    return _CHANNELS_FIRST, "GPU"


def nodes_behind(values: list[Value]) -> set[Node]:
    """The nodes whose tensors come from any of the values, through ops of any order of axes alone."""
    found: set[Node] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        for user in dict.fromkeys(value.users):
            form = AGNOSTIC.get(user.op)
            if form is not None and user not in found and value in _tensors(user, form):
                found.add(user)
                waiting += user.results
    return found


def _tensors(node: Node, form: Form) -> list[Value]:
    return at(node.operands, form.tensors) or at(node.operands, form.vectors)


def _has_every_input(node: Node, behind: set[Node], converter: LayoutConverter) -> bool:
    """Of a Merge all inputs must come from what was converted."""
    return node.op != "Merge" or all(
        value in converter.restored or value.owner in behind for value in node.operands
    )


def _convert(turn: Turn, converter: LayoutConverter, rule: str, nodes: list[Node], form_of: FormOf) -> None:
    for node in nodes:
        if turn.is_late():
            return
        found = form_of(node, converter.conversion)
        if found is not None:
            turn.count(rule, node.name)
            converter.convert(node, *found)
