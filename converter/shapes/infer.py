"""Types and values of a node's results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...lite.errors import ModelError
from ..ir.arity import fits_arity
from ..ir.attributes import Attribute
from ..ir.types import ElementType, TensorType
from .binary import first_operand, select
from .constant import switch
from .context import Demands, ShapeContext, ShapeFunction
from .dimensions import ANY, PartialShape
from .elementwise import all_equal, each_unchanged, unchanged
from .register import shape_functions
from .resource import HANDLES
from .values import known_values

# Functions whose results have an input's shape, even where nothing is known of it: which input.
_PASSING: dict[ShapeFunction, int] = {
    **dict.fromkeys((unchanged, all_equal, first_operand, switch), 0),
    select: 1,
}


@dataclass(frozen=True)
class Inferred:
    """Types of a node's results, and their elements where known (see ShapeContext.values).

    demands is what the op asks of its inputs; passed_on says for each result of unknown rank the input
    whose shape it has, None where it is none of them; it is empty where it would be None for all.
    """

    types: list[TensorType]
    values: list[np.ndarray | None]
    demands: Demands = field(default_factory=Demands)
    passed_on: list[int | None] = field(default_factory=list)


def infer(
    op: str,
    attributes: Mapping[str, Attribute],
    inputs: Sequence[TensorType],
    results: Sequence[TensorType],
    values: Sequence[np.ndarray | None] = (),
    unknown: Callable[[], int] = lambda: ANY,
) -> Inferred:
    """What follows of an op's results from its inputs' types and, as far as given, elements.

    results are the types so far, whose element types stay. An op that no function knows gives results
    of any rank. unknown makes the sizes of inputs whose rank only the op says. Raises ModelError when the
    inputs do not fit the op.
    """
    c = ShapeContext(op, attributes, inputs, values, results, unknown)
    if not fits_arity(op, attributes, len(inputs), len(results)):
        raise c.fault(
            f"inputs and results must be as many as the op has, got {len(inputs)} and {len(results)}"
        )
    function = shape_functions().get(op)
    shapes: Sequence[PartialShape] = [None] * len(results)
    if function is not None:
        try:
            shapes = function(c)
        except IndexError as error:
            raise c.fault("a list among the attributes or inputs is too short") from error
        except ModelError:
            raise
        except ValueError as error:
            # What the arithmetic of sizes refuses.
            raise c.fault(str(error)) from error
    shapes = [*shapes, *[None] * (len(results) - len(shapes))][: len(results)]
    types = [TensorType(type.element, shape) for type, shape in zip(results, shapes, strict=True)]
    if op in HANDLES and types:
        types[0] = _with_handle(types[0], HANDLES[op](c))
    found = list(known_values(c, shapes))
    passed_on = _passed_on(function, c, len(results)) if None in c.inputs else []
    return Inferred(types, [*found, *[None] * (len(results) - len(found))], c.demands, passed_on)


def _passed_on(function: ShapeFunction | None, c: ShapeContext, count: int) -> list[int | None]:
    if function is each_unchanged:
        return [i if shape is None else None for i, shape in enumerate(c.inputs)]
    place = None if function is None else _PASSING.get(function)
    return [None if place is None or c.inputs[place] is not None else place] * count


def _with_handle(type: TensorType, held: tuple[TensorType, ...]) -> TensorType:
    element = type.element
    if not held or not isinstance(element, ElementType) or element.name not in ("resource", "variant"):
        return type
    return TensorType(ElementType(element.name, held), type.shape)
