"""map: a computation of elements, done to whole tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import UnsupportedError
from .program import ArrayType, Block, Dense, Operation, Value, free_values
from .register import OF_ELEMENTS
from .step import Result, Rule, Step

_TAKEN = OF_ELEMENTS | {"constant"}


def map_(step: Step) -> Result:
    """The computation's operations, of which each is one of single elements."""
    block = step.region(0)
    takes_whole(block)
    return step.importer.inner(step.body).run(widened(block, step.shape), step.operands)


def takes_whole(block: Block) -> None:
    """UnsupportedError where the computation is not made of operations on its own elements alone."""
    other = [each.name for each in block.steps() if each.name not in _TAKEN]
    if other:
        raise UnsupportedError(f"a computation with {other[0]}: operations on single elements are built")
    if free_values(block):
        raise UnsupportedError("a computation that uses values from around it; give them as operands")


def widened(block: Block, shape: Sequence[int]) -> Block:
    """The computation of elements as one of tensors of the shape."""
    wide: dict[Value, Value] = {}

    def of(value: Value) -> Value:
        if value not in wide:
            type = value.type
            wide[value] = Value(
                ArrayType(tuple(shape), type.element) if isinstance(type, ArrayType) else type
            )
        return wide[value]

    arguments = [of(value) for value in block.arguments]
    operations = []
    for each in block.operations:
        attributes = dict(each.attributes)
        number = attributes.get("value")
        if isinstance(number, Dense):
            # One that stands for all.
            attributes["value"] = Dense(ArrayType(tuple(shape), number.type.element), number.data)
        operands, results = ([of(value) for value in values] for values in (each.operands, each.results))
        operations.append(Operation(each.name, operands, results, attributes))
    return Block(arguments, operations)


REGISTRATIONS: dict[str, Rule] = {"map": map_}
