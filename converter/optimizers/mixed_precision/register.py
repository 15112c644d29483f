"""auto_mixed_precision: the modes, and how painted types become narrow."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...ir.attributes import Attributes
from ...ir.node import Block, Node, Value
from ...ir.types import ElementType, TensorType
from ...transforms.toposort import topological_order
from ..arithmetic.nodes import device
from ..item import device_type
from ..turn import Turn
from .op_lists import OpLists, bfloat16_lists, half_lists, ignores_performance, rewrite_level
from .painting import Painter
from .type_graph import TypeId, is_float

_HALF, _BFLOAT16, _FLOAT = ElementType("f16"), ElementType("bf16"), ElementType("f32")
# Tensor cores came with this compute capability.
_TENSOR_CORES = 7.0
_NAMES = {"f16": "Fp16", "bf16": "Bf16", "f32": "Fp32"}


def narrow_for_cuda(turn: Turn) -> None:
    """Compute in float16 on GPUs from compute capability 7 on."""
    if turn.config.compute_capability >= _TENSOR_CORES or ignores_performance():
        _narrow(turn, half_lists(on_cpu=False), _HALF, "GPU")


def narrow_for_onednn(turn: Turn) -> None:
    """Compute in bfloat16 on the CPU, where oneDNN does."""
    if turn.config.onednn:
        _narrow(turn, bfloat16_lists(), _BFLOAT16, "CPU")


def emulate_half(turn: Turn) -> None:
    """Round what would be computed in float16 on a GPU to float16, and compute in float32."""
    _narrow(turn, half_lists(on_cpu=True), _HALF, "CPU", emulates=True)


def _narrow(turn: Turn, lists: OpLists, narrow: ElementType, target: str, emulates: bool = False) -> None:
    block = turn.item.body.body
    preserved = turn.item.nodes_to_preserve()

    def chosen(node: Node) -> bool:
        return device_type(device(node)) == target and node.name not in preserved and not node.regions

    painter = Painter(topological_order(block), leveled(lists.changed_by(os.environ), narrow), narrow, chosen)
    painted = painter.paint()
    if not painted:
        return
    casts = _Casts(block, painter, painted)
    if emulates:
        casts.round_at_borders(narrow)
    else:
        casts.cast_where_types_meet(narrow)
    for name in dict.fromkeys(each.node.name for each in painter.graph.ids if each in painted):
        turn.count("narrow_types", name)
    turn.inferred.forget()


def leveled(lists: OpLists, narrow: ElementType) -> OpLists:
    """The lists at the level that TensorFlow's variable asks for."""
    none: frozenset[str] = frozenset()
    level = rewrite_level()
    if level == "TENSOR_CORES_ONLY" and narrow == _HALF:
        return OpLists(lists.allow, none, none, none)
    if level == "TREAT_INFER_AS_DENY":
        return OpLists(lists.allow, none, lists.deny | lists.infer, lists.clear)
    if level == "UNSAFE_FORCE_ALL" and narrow == _HALF:
        return OpLists(lists.allow | lists.infer | lists.clear | lists.deny, none, none, none)
    return lists


class _Casts:
    """Puts Casts where painted and other types meet."""

    def __init__(self, block: Block, painter: Painter, painted: set[TypeId]) -> None:
        self.block = block
        self.painted = painted
        self.of_input = painter.graph.of_input
        self.of_value = painter.graph.of_value

    def cast_where_types_meet(self, narrow: ElementType) -> None:
        """Change the types, and cast a value once for all users of another type, in each direction."""
        for value in list(self._floats()):
            is_narrow = self._is_painted(value)
            if is_narrow:
                assert isinstance(value.type, TensorType)
                value.type = TensorType(narrow, value.type.shape)
            crossing = [use for use in _uses(value) if (self.of_input.get(use) in self.painted) != is_narrow]
            if crossing:
                made = self._cast(value, _FLOAT if is_narrow else narrow)
                for node, place in crossing:
                    node.set_operand(place, made)
        for each in self.painted:
            each.change(narrow)

    def round_at_borders(self, narrow: ElementType) -> None:
        """Round what painted nodes take and give by a Cast there and back."""
        for value in list(self._floats()):
            rounds = self._is_painted(value)
            uses = [use for use in _uses(value) if rounds or self.of_input.get(use) in self.painted]
            if uses:
                made = self._cast(self._cast(value, narrow), _FLOAT)
                for node, place in uses:
                    node.set_operand(place, made)

    def _floats(self) -> Iterable[Value]:
        values = [*self.block.arguments, *(value for node in self.block for value in node.results)]
        return (value for value in values if is_float(value))

    def _is_painted(self, value: Value) -> bool:
        return self.of_value.get(value) in self.painted

    def _cast(self, value: Value, type: ElementType) -> Value:
        owner = value.owner
        assert isinstance(value.type, TensorType)
        before = value.type.element
        assert isinstance(before, ElementType)
        attributes: Attributes = {"SrcT": before, "DstT": type, "Truncate": False}
        like = owner if isinstance(owner, Node) else next(iter(value.users))
        scope, slash, name = like.name.rpartition("/")
        label = f"{scope}{slash}AutoMixedPrecision/CastTo{_NAMES[type.name]}_{name}"
        results = [TensorType(type, value.type.shape)]
        made = Node("Cast", label, results, attributes, like.device, like.assigned_device)
        if isinstance(owner, Node):
            self.block.insert_after(owner, made)
        else:
            self.block.prepend(made)
        made.operands = (value,)
        return made.results[0]


def _uses(value: Value) -> list[tuple[Node, int]]:
    """The users of a value with the places where they have it."""
    return [
        (user, place)
        for user in dict.fromkeys(value.users)
        for place, operand in enumerate(user.operands)
        if operand is value
    ]
