"""Whether the types that a program tells of its results are those that its operations give."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lite.errors import ModelError
from ..building.tensor import Tensor
from .element_types import element_name, inner_type
from .held import Complex, Held, Words
from .program import UNKNOWN, ArrayType, Operation, Type
from .register import OF_ELEMENTS

# Operations on elements whose operand at a place may be one number for all.
_ONE_FOR_ALL = {"clamp": (0, 2), "select": (0,)}
# Those whose result has elements of another type than an operand's.
_CHANGES = frozenset(("bitcast_convert", "compare", "convert", "is_finite"))
# What gives elements of its first operand's type, whatever it does to the shape.
_KEEPS = frozenset(
    (
        *("broadcast", "broadcast_in_dim", "cholesky", "concatenate", "dynamic_broadcast_in_dim"),
        *("dynamic_gather", "dynamic_pad", "dynamic_reshape", "dynamic_slice", "dynamic_update_slice"),
        *("gather", "pad", "real_dynamic_slice", "reshape", "reverse", "scatter", "slice", "sort"),
        *("torch_index_select", "transpose", "triangular_solve"),
    )
)
# What computes nothing of the elements.
MOVES = (_KEEPS - {"cholesky", "scatter", "sort", "triangular_solve"}) | {
    *("call", "case", "constant", "if", "optimization_barrier", "while")
}
_ALL_THE_SAME = frozenset(("concatenate",))
# Which computations of an operation give its results.
_GIVE_RESULTS = {"case": slice(None), "if": slice(None), "while": slice(1, None)}
_NONE = slice(0)
Shape = Sequence[int]


def check_operands(operation: Operation) -> None:
    """ModelError where operands and results are told to have types that the operation does not go with."""
    operands = [value.type for value in operation.operands]
    results = [value.type for value in operation.results]
    for region in operation.regions[_GIVE_RESULTS.get(operation.name, _NONE)]:
        check_passed("what its computation gives", results, [value.type for value in region.returned])
    arrays = [type for type in (*operands, *results) if isinstance(type, ArrayType)]
    if not operands or not results or len(arrays) < len(operands) + len(results):
        return
    name = operation.name
    if name in OF_ELEMENTS and name != "bitcast_convert":
        singles = _ONE_FOR_ALL.get(name, ())
        for place, type in enumerate(arrays[: len(operands)]):
            if not fits(type.shape, arrays[-1].shape) and not (place in singles and not type.shape):
                raise _differs(f"operand {place} must have the result's shape", operands, results)
    if (name in OF_ELEMENTS and name not in _CHANGES) or name in _ALL_THE_SAME:
        _check_same(operands[name == "select" :], results)
    elif name in _KEEPS:
        _check_same(operands[:1], results[:1])
    elif name == "compare" and arrays[-1].element != "i1":
        raise _differs("the result must be of i1", operands, results)
    elif name == "compare":
        _check_same(operands[:1], operands[1:])
    _check_sizes(operation, arrays[0].shape, arrays[-1].shape)


def _check_same(operands: Sequence[Type], results: Sequence[Type]) -> None:
    """All elements of one type, of complex numbers perhaps their parts, of quantized ones their floats."""
    elements = {_part(type) for type in (*operands, *results)}
    if len(elements) > 1:
        raise _differs("elements must be of one type", operands, results)


def _part(type: Type) -> str:
    if not isinstance(type, ArrayType):
        return ""
    if type.grid is not None:
        return type.grid.expressed
    return type.element.removeprefix("complex<").removesuffix(">")


def _check_sizes(operation: Operation, given: Shape, told: Shape) -> None:
    """The shapes that the told type alone says, which must hold what is given."""
    if operation.name == "reshape" and UNKNOWN not in (*given, *told) and math.prod(given) != math.prod(told):
        raise ModelError(
            f"the result must have the operand's {math.prod(given)} elements, got {math.prod(told)}"
        )
    places = operation.attributes.get("broadcast_dimensions")
    if operation.name != "broadcast_in_dim" or not isinstance(places, list) or len(places) != len(given):
        return
    for size, place in zip(given, places, strict=True):
        if isinstance(place, int) and place < len(told) and size != 1 and not fits([size], [told[place]]):
            raise ModelError(f"axis {place} of the result must have {size} elements, got {told[place]}")


def _differs(what: str, operands: Sequence[Type], results: Sequence[Type]) -> ModelError:
    given, told = (", ".join(map(str, types)) for types in (operands, results))
    return ModelError(f"{what}, got ({given}) -> ({told})")


def check_result(place: int, made: Held | Tensor, type: Type) -> None:
    """ModelError where the result is told to be of another shape or type than the operands give."""
    if not isinstance(type, ArrayType) or isinstance(made, Words):
        return
    tensor = made.tensor if isinstance(made, Held) else made
    shapes = [made.shape] if isinstance(made, Held) and made.stretched else [made.shape, tensor.shape]
    for shape in shapes:
        if shape is not None and not fits(shape, type.shape):
            raise _told(place, type, ArrayType(tuple(int(size) for size in shape), type.element))
    is_complex = type.element.startswith("complex<")
    if is_complex != isinstance(made, Complex):
        wanted = "complex<f32>" if isinstance(made, Complex) else element_name(tensor.type)
        raise _told(place, type, ArrayType(type.shape, wanted))
    if not is_complex and inner_type(type) != tensor.type:
        raise _told(place, type, ArrayType(type.shape, element_name(tensor.type)))


def _told(place: int, told: ArrayType, given: ArrayType) -> ModelError:
    return ModelError(f"result {place} is told to be {told}, its operands give {given}")


def check_arguments(arguments: Sequence[Held], types: Sequence[Type]) -> None:
    """ModelError where a function or computation is given what it is not told to take."""
    for place, (held, type) in enumerate(zip(arguments, types, strict=True)):
        if isinstance(type, ArrayType) and not isinstance(held, Words) and not fits(held.shape, type.shape):
            given = ArrayType(held.shape, type.element)
            raise ModelError(f"argument {place} is told to be {type}, got {given}")


def check_passed(what: str, told: Sequence[Type], given: Sequence[Type]) -> None:
    """ModelError where types differ between a call and its function; sizes may be known in one of them."""
    same = len(told) == len(given) and all(_same(a, b) for a, b in zip(told, given, strict=True))
    if not same:
        wanted, got = (", ".join(map(str, types)) for types in (told, given))
        raise ModelError(f"{what} must be of types ({wanted}), got ({got})")


def _same(one: Type, other: Type) -> bool:
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return one.element == other.element and fits(one.shape, other.shape)
    return one == other


def fits(one: Shape, other: Shape) -> bool:
    """Whether shapes are the same, as far as they are known."""
    return len(one) == len(other) and all(
        a == b or UNKNOWN in (a, b) for a, b in zip(one, other, strict=True)
    )
