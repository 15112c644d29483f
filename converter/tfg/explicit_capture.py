"""Values that regions use from around them, made arguments."""

from __future__ import annotations

from ..ir.attributes import DenseAttr
from ..ir.node import FOR_REGIONS, Block, Node, Value
from ..ir.types import CONTROL, ElementType, TensorType
from ..transforms.bodies import data_of, token_of

_I32 = ElementType("i32")
_SCALAR = TensorType(_I32, ())


class _Captures:
    """What the regions of a node use from around it, in the order of the uses."""

    def __init__(self, node: Node) -> None:
        self.data: dict[Value, None] = {}
        self.tokens: dict[Value, None] = {}
        for region in node.regions:
            self._visit(region, {region})

    def _visit(self, block: Block, inside: set[Block]) -> None:
        for node in block:
            for region in node.regions:
                self._visit(region, inside | {region})
            for value in (*node.operands, *node.controls):
                home = value.owner.block if isinstance(value.owner, Node) else value.owner
                if home not in inside:
                    self._add(value)

    def _add(self, value: Value) -> None:
        if not value.is_control:
            self.data[value] = None
            return
        data = data_of(value)
        if data is None:
            self.tokens[value] = None
        else:
            self.data[data] = None


def capture_explicitly(node: Node, force: bool) -> list[Value] | None:
    """Give every region arguments for all values that any of them uses from around, and return those.

    Given:  If c then { y = Neg(x); yield(y) } else { yield(z) }
    Result: If c then { (x', z'): y = Neg(x'); yield(y) } else { (x', z'): yield(z') }, and [x, z]

    A token comes in with its value. One of a node without results can only come in through a constant
    that waits for it: that is made if force, else the answer is None and nothing has changed.
    """
    captures = _Captures(node)
    if captures.tokens and not force:
        return None
    values = list(captures.data)
    through = {token: _chain_constant(node, token, i) for i, token in enumerate(captures.tokens)}
    values += [constant.results[0] for constant in through.values()]
    for region in node.regions:
        stand_ins = _add_arguments(region, values)
        for token, constant in through.items():
            stand_ins[token] = stand_ins[constant.control]
        _exchange(region, stand_ins)
    return values


def _chain_constant(node: Node, token: Value, index: int) -> Node:
    name = f"{node.name}_mlir_const_capture_{index}" if node.name else ""
    constant = Node("Const", name, [_SCALAR], device=node.device, assigned_device=node.assigned_device)
    constant.attributes = {"dtype": _I32, "value": DenseAttr(_SCALAR, bytes(4))}
    if "_tpu_replicate" in node.attributes:
        constant.attributes["_tpu_replicate"] = node.attributes["_tpu_replicate"]
    assert node.block is not None
    node.block.insert_before(node, constant)
    constant.controls = [token]
    return constant


def _add_arguments(region: Block, values: list[Value]) -> dict[Value, Value]:
    """New last arguments, data behind data and tokens behind tokens; what they stand for."""
    half = len(region.arguments) // 2
    data = [Value(region, 0, value.type) for value in values]
    tokens = [Value(region, 0, CONTROL) for _ in values]
    region.set_arguments([*region.arguments[:half], *data, *region.arguments[half:], *tokens])
    stand_ins = dict(zip(values, data, strict=True))
    for value, token in zip(values, tokens, strict=True):
        stand_ins.setdefault(token_of(value), token)
    return stand_ins


def _exchange(block: Block, stand_ins: dict[Value, Value]) -> None:
    for node in block.walk():
        if any(value in stand_ins for value in (*node.operands, *node.controls)):
            node.operands = [stand_ins.get(value, value) for value in node.operands]
            node.controls = [stand_ins.get(value, value) for value in node.controls]


def loop_inputs(node: Node) -> tuple[Value, ...]:
    """What the first iteration's arguments are, for a loop."""
    return (node.operands[0], *node.operands[3:]) if node.op in FOR_REGIONS else node.operands
