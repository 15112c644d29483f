"""A region as a function."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attributes import UNIT, Attribute, Attributes, RegionAttrs
from ..ir.module import Function
from ..ir.node import CONDITION, RETURN, Block, Node, Value
from .consolidate_attrs import REGENERATE_OUTPUTS
from .explicit_capture import loop_inputs


class _Names:
    """Names of arguments and results within one function."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, name: str) -> str:
        found = name
        while found in self._used:
            number = self._next.get(name, 0)
            self._next[name] = number + 1
            found = f"{name}_{number}"
        self._used.add(found)
        return found


def outlined(name: str, region: Block, preserved: RegionAttrs | None, inputs: Sequence[Value]) -> Function:
    """A function of the region, whose arguments stand for the inputs; the region is empty then.

    Given:  { (x', z'): y = Neg(x'); yield(y) } with inputs x and z
    Result: func @name(x, z) -> y { y = Neg(x); return(y) }

    Arguments, results and control results are called as the preserved attributes say, else by the nodes
    that give them. A loop gives back what it captured: the region's last arguments.
    """
    function = Function(name)
    function.attributes = dict(preserved.attributes) if preserved else {}
    function.attributes.pop("sym_name", None)
    end = region.last
    assert end is not None
    names = _Names()
    half = len(region.arguments) // 2
    arguments, tokens = region.arguments[:half], region.arguments[half:]
    results = end.operands[:1] if end.op == CONDITION else end.operands
    for i in range(half):
        kept = _kept(preserved.arguments if preserved else (), i)
        function.argument_attributes.append(_described(kept, inputs[i], inputs, region, names))
    for i, value in enumerate(results):
        kept = _kept(preserved.results if preserved else (), i)
        function.add_result(value.type, _described(kept, value, inputs, region, names))
    controls = end.controls
    described: list[Attribute] = []
    for token in controls:
        found = _name_of(token, inputs, region)
        described.append({"tfg.name": names.unique(found).encode()} if found else {})
    end.erase()
    function.body.set_arguments(value for pair in zip(arguments, tokens, strict=True) for value in pair)
    region.arguments = []
    for node in region:
        region.remove(node)
        function.body.append(node)
    returned = Node(RETURN, attributes={"control_ret_attrs": tuple(described)})
    function.body.append(returned)
    returned.operands, returned.controls = results, controls
    return function


def _kept(described: Sequence[object], index: int) -> Attributes:
    found = described[index] if index < len(described) else None
    return dict(found) if isinstance(found, dict) else {}


def _described(
    kept: Attributes, value: Value, inputs: Sequence[Value], region: Block, names: _Names
) -> Attributes:
    if "tfg.name" not in kept:
        found = _name_of(value, inputs, region)
        if found:
            kept["tfg.name"] = names.unique(found).encode()
    kept[REGENERATE_OUTPUTS] = UNIT
    return kept


def _name_of(value: Value, inputs: Sequence[Value], region: Block) -> str:
    """What the value or token is called: by its node, or by what an argument stands for; "" for nothing."""
    while not isinstance(value.owner, Node):
        owner = value.owner
        if isinstance(owner.owner, Function):
            return owner.owner.argument_name(value)
        place = value.index % (len(owner.arguments) // 2)
        if owner is region:
            value = inputs[place]
            continue
        assert isinstance(owner.owner, Node)
        around = loop_inputs(owner.owner)
        if place >= len(around):
            return ""
        value = around[place]
    return f"{value.owner.name}_tfg_result_{value.index}" if value.owner.name else ""
