"""Whether a node has the operands and results that its op must have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from .attributes import Attribute
from .node import Node
from .signature import Argument, registered


def has_arity(node: Node) -> bool:
    """Whether TensorFlow has the op, and the node as many operands and results as that takes and gives."""
    if registered(node.op) is None:
        return False
    return fits_arity(node.op, node.attributes, len(node.operands), len(node.results))


def fits_arity(op: str, attributes: Mapping[str, Attribute], operands: int, results: int) -> bool:
    """Whether the op may have as many; lists whose length no attribute says may have any, unknown ops too."""
    plain = _plain_counts(op)
    if plain is not None:
        return plain == (operands, results)
    signature = registered(op)
    if signature is None:
        return True
    held = {**signature.defaults, **attributes}
    return _fits(signature.inputs, operands, held) and _fits(signature.outputs, results, held)


@lru_cache(4096)
def _plain_counts(op: str) -> tuple[int, int] | None:
    """Operands and results of an op none of which is a list; None for others, and unknown ones."""
    signature = registered(op)
    if signature is None:
        return None
    both = (*signature.inputs, *signature.outputs)
    if any(argument.type_list_attr or argument.number_attr for argument in both):
        return None
    return len(signature.inputs), len(signature.outputs)


def _fits(arguments: Sequence[Argument], count: int, attributes: Mapping[str, Attribute]) -> bool:
    counts = [_count(argument, attributes) for argument in arguments]
    known = sum(number for number in counts if number is not None)
    return known == count or (None in counts and known <= count)


def _count(argument: Argument, attributes: Mapping[str, Attribute]) -> int | None:
    if argument.type_list_attr:
        held = attributes.get(argument.type_list_attr)
        return len(held) if isinstance(held, tuple) else None
    if argument.number_attr:
        number = attributes.get(argument.number_attr)
        return number if isinstance(number, int) and number >= 0 else None
    return 1
