"""What a computation of two elements does, as far as it is one that operators know."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ...lite.errors import UnsupportedError
from .program import Block, Dense, Operation, Value, free_values

# In which order operands are given means nothing.
_SYMMETRIC = frozenset(("add", "multiply", "maximum", "minimum", "and", "or", "xor"))
_MIRRORED = {"LT": "GT", "LE": "GE"}
_REDUCTIONS = frozenset(("add", "multiply", "maximum", "minimum", "and", "or"))
# Zeros of both signs made one, and all that is no number, as JAX does before it compares.
_CANONICAL = re.compile(r"select\(NE\((\w),\1\),nan,select\(EQ\(0,\1\),0,\1\)\)")
# Deeper ones are not told apart.
_LONGEST = 2000


def described(block: Block, number_of: Callable[[Value], float | None] = lambda _: None) -> list[str]:
    """Each result as a formula of the arguments a, b, c ...: `maximum(a,b)`. Conversions are left out.

    Symmetric operands stand in the alphabet's order, and < is written as >. number_of tells constants of the
    surroundings. UnsupportedError for long ones.
    """
    if len(block.arguments) > 26:
        raise UnsupportedError("a computation of more than 26 arguments")
    names = {value: chr(ord("a") + place) for place, value in enumerate(block.arguments)}
    for value in free_values(block):
        number = number_of(value)
        # What comes from around the computation is told apart from all else.
        names[value] = f"<{len(names)}>" if number is None else f"{number:g}"
    for operation in block.steps():
        text = _formula(operation, names)
        if len(text) > _LONGEST:
            raise UnsupportedError("its computation is none that operators know")
        for value in operation.results:
            names[value] = text
    return [names[value] for value in block.returned]


def _formula(operation: Operation, names: Mapping[Value, str]) -> str:
    if operation.regions or len(operation.results) != 1:
        raise UnsupportedError("its computation is none that operators know")
    operands = [names[value] for value in operation.operands]
    name = operation.name
    if name in ("convert", "reshape") and len(operands) == 1:
        return operands[0]
    if name == "constant":
        value = operation.attributes.get("value")
        if isinstance(value, Dense) and (value.is_splat or not value.type.shape):
            return f"{float(value.element()):g}"
        raise UnsupportedError("its computation is none that operators know")
    if name == "compare":
        direction = str(getattr(operation.attributes.get("comparison_direction"), "text", ""))
        if direction in _MIRRORED:
            direction, operands = _MIRRORED[direction], operands[::-1]
        if direction in ("EQ", "NE"):
            operands.sort()
        return f"{direction}({','.join(operands)})"
    if name in _SYMMETRIC:
        operands.sort()
    return _CANONICAL.sub(r"\1", f"{name}({','.join(operands)})")


def reduction(block: Block) -> str | None:
    """The operation of two arguments that the computation is: `add`; None where it is none such."""
    found = described(block)
    name = found[0].partition("(")[0] if len(found) == 1 else ""
    return name if name in _REDUCTIONS and found == [f"{name}(a,b)"] else None
