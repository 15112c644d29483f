"""Types and values of a node's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...lite.errors import ModelError
from ..ir.arity import fits_arity
from ..ir.attributes import Attribute
from ..ir.types import ElementType, TensorType
from .context import ShapeContext
from .dimensions import PartialShape
from .register import shape_functions
from .resource import HANDLES
from .values import known_values


@dataclass(frozen=True)
class Inferred:
    """Types of a node's results, and their elements where known (see ShapeContext.values)."""

    types: list[TensorType]
    values: list[np.ndarray | None]


def infer(
    op: str,
    attributes: Mapping[str, Attribute],
    inputs: Sequence[TensorType],
    results: Sequence[TensorType],
    values: Sequence[np.ndarray | None] = (),
) -> Inferred:
    """What follows of an op's results from its inputs' types and, as far as given, elements.

    results are the types so far, whose element types stay. An op that no function knows gives results
    of any rank. Raises ModelError when the inputs do not fit the op.
    """
    c = ShapeContext(op, attributes, inputs, values, results)
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
    return Inferred(types, [*found, *[None] * (len(results) - len(found))])


def _with_handle(type: TensorType, held: tuple[TensorType, ...]) -> TensorType:
    element = type.element
    if not held or not isinstance(element, ElementType) or element.name not in ("resource", "variant"):
        return type
    return TensorType(ElementType(element.name, held), type.shape)
