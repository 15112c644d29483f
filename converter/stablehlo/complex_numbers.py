"""Complex numbers: real and imaginary parts beside each other, as operators have floats only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_COMPLEX64, DT_DOUBLE, DT_FLOAT
from ..building import complex_functions as functions
from ..building.elementwise import complex_quotient, hypotenuse
from ..building.tensor import Tensor
from ..ir.node import Node
from ..ir.types import ElementType, TensorType, element_type
from .computation import described, reduction
from .elementwise import fitting
from .held import Complex, Held, joined, known_shape
from .program import ArrayType, Dense, Operation, Type, Value
from .step import Result, Step

# What does to both parts the same, each by itself.
_BY_PARTS = frozenset(
    (
        *("add", "broadcast", "broadcast_in_dim", "concatenate", "dynamic_broadcast_in_dim"),
        *("dynamic_gather", "dynamic_reshape", "dynamic_slice", "dynamic_update_slice", "gather", "negate"),
        *("pad", "real_dynamic_slice", "reshape", "reverse", "select", "slice", "subtract", "transpose"),
        *("torch_index_select",),
    )
)
_PRODUCTS = frozenset(("convolution", "dot", "dot_general", "multiply"))
ComplexRule = Callable[[Step], Result]


def is_complex(type: Type) -> bool:
    return isinstance(type, ArrayType) and type.element.startswith("complex<")


def complex_rule_of(name: str) -> ComplexRule | None:
    """The rule of an operation that takes or gives complex numbers; None where there is none."""
    if name in _BY_PARTS:
        return _by_parts
    return _product if name in _PRODUCTS else _RULES.get(name)


def applied(step: Step, name: str, *operands: Held) -> Held:
    """What an operation of floats of the same shapes and attributes gives."""
    from .register import rule_of

    rule = rule_of(name)
    assert rule is not None
    own = step.operation
    results = [Value(_of_floats(each.type), each.name) for each in own.results]
    plain = Operation(own.name, own.operands, results, own.attributes, own.regions)
    made = rule(Step(step.importer, plain, operands))
    one = made if not isinstance(made, Sequence) else made[0]
    return one if isinstance(one, Held) else Held(known_shape(one, step.shape), step.shape)


def _of_floats(type: Type) -> Type:
    return ArrayType(type.shape, "f32") if isinstance(type, ArrayType) and is_complex(type) else type


def parts(held: Held) -> tuple[Held, Held]:
    """Real and imaginary part; of a float the imaginary part is 0."""
    if isinstance(held, Complex):
        return held.real, held.imaginary
    return held, Held(held.tensor.apply("ZerosLike"), held.shape, held.stretched, held.sizes)


def _by_parts(step: Step) -> Complex:
    name = step.operation.name
    each = [
        [parts(held)[part] if isinstance(held, Complex) else held for held in step.operands]
        for part in range(2)
    ]
    return Complex(applied(step, name, *each[0]), applied(step, name, *each[1]))


def _product(step: Step) -> Complex:
    """(a + bi)(c + di), for any product that is linear in both."""
    name, ((a, b), (c, d)) = step.operation.name, (parts(step.held(0)), parts(step.held(1)))
    real = applied(step, "subtract", applied(step, name, a, c), applied(step, name, b, d))
    return Complex(real, applied(step, "add", applied(step, name, a, d), applied(step, name, b, c)))


def _function(compute: Callable[..., functions.Parts]) -> ComplexRule:
    """A rule of a function of parts."""

    def rule(step: Step) -> Complex:
        given = [part for held in step.operands for part in parts(held)]
        wanted = len(signature(compute).parameters)
        if len(given) != wanted:
            raise ModelError(f"operands must be {wanted // 2}, got {len(step.operands)}")
        made = compute(*fitting(given, len(step.shape)))
        return Complex(*(joined(part, given, step.shape) for part in made))

    return rule


def _compared(step: Step) -> Held:
    """Whether both parts are equal, or one is not."""
    (a, b), (c, d) = parts(step.held(0)), parts(step.held(1))
    direction = step.text("comparison_direction")
    if direction not in ("EQ", "NE"):
        raise ModelError(f"complex numbers must be compared by EQ or NE, got {direction}")
    each = [applied(step, "compare", *pair) for pair in ((a, c), (b, d))]
    return applied(step, "and" if direction == "EQ" else "or", *each)


def _is_finite(step: Step) -> Held:
    return applied(step, "and", *(applied(step, "is_finite", part) for part in parts(step.held(0))))


def as_one(held: Complex, type: int) -> Tensor:
    """The numbers as one tensor of TensorFlow's type for them."""
    whole = _split(held)
    if whole is not None and whole.type == type:
        return whole
    body = held.real.tensor.body
    part = DT_FLOAT if type == DT_COMPLEX64 else DT_DOUBLE
    pairs = body.cast(body.op("Pack", held.real.whole, held.imaginary.whole, axis=-1), part)
    return body.op("Bitcast", pairs, type=element_type(type))


def _split(held: Complex) -> Tensor | None:
    """The tensor that the parts were taken from, None where they are of no one."""
    made = [part.tensor.made for part in (held.real, held.imaginary)]
    nodes = [value.owner for value in made if value is not None and isinstance(value.owner, Node)]
    if held.real.stretched or held.imaginary.stretched or [node.op for node in nodes] != ["Real", "Imag"]:
        return None
    first, second = (node.operands[0] for node in nodes)
    if first is not second or not isinstance(first.type, TensorType):
        return None
    assert isinstance(first.type.element, ElementType)
    return Tensor(held.real.tensor.body, first.type.element.number, held.real.tensor.shape, first)


def _made(step: Step) -> Complex:
    return Complex(step.held(0), step.held(1))


def _real(step: Step) -> Held:
    return parts(step.held(0))[0]


def _imaginary(step: Step) -> Held:
    return parts(step.held(0))[1]


def _absolute(step: Step) -> Held:
    sides = parts(step.held(0))
    return joined(hypotenuse(*fitting(sides, len(step.shape))), sides, step.shape)


def _converted(step: Step) -> Result:
    """Of any numbers: all are computed in 32 bits."""
    if not is_complex(step.result_type()):
        raise UnsupportedError("a conversion of complex numbers to floats")
    given = step.held(0)
    return Complex(*parts(given if isinstance(given, Complex) else applied(step, "convert", given)))


def _same(step: Step) -> Sequence[Held]:
    return list(step.operands)


def _sum(step: Step) -> Complex:
    if reduction(step.region(0)) != "add" or len(step.operands) != 2:
        raise UnsupportedError("reductions of complex numbers other than sums")
    return _by_parts(step)


def _scattered(step: Step) -> Complex:
    """Numbers put to places or added there."""
    if described(step.region(0)) not in (["b"], ["add(a,b)"]):
        raise UnsupportedError("scatter of complex numbers other than to set or add them")
    return _by_parts(step)


def _constant(step: Step) -> Complex:
    found = step.operation.attributes.get("value")
    if not isinstance(found, Dense):
        raise UnsupportedError(f"a complex constant that is given as {found}")
    shape = found.type.shape
    stored = "<c8" if found.type.element == "complex<f32>" else "<c16"
    numbers = np.frombuffer(found.data, stored)
    whole = np.broadcast_to(numbers.reshape(shape if numbers.size != 1 else ()), shape)
    made = (np.array(each, np.float32) for each in (whole.real, whole.imag))
    return Complex(*(Held(step.body.constant(each), shape) for each in made))


_RULES: dict[str, ComplexRule] = {
    "abs": _absolute,
    "complex": _made,
    "constant": _constant,
    "compare": _compared,
    "convert": _converted,
    "cosine": _function(functions.cosine),
    "divide": _function(complex_quotient),
    "exponential": _function(functions.exp),
    "exponential_minus_one": _function(functions.expm1),
    "imag": _imaginary,
    "is_finite": _is_finite,
    "log": _function(functions.log),
    "log_plus_one": _function(functions.log1p),
    "logistic": _function(functions.logistic),
    "optimization_barrier": _same,
    "power": _function(functions.power),
    "real": _real,
    "reduce": _sum,
    "reduce_window": _sum,
    "rsqrt": _function(functions.rsqrt),
    "scatter": _scattered,
    "sign": _function(functions.sign),
    "sine": _function(functions.sine),
    "sqrt": _function(functions.sqrt),
    "tan": _function(functions.tan),
    "tanh": _function(functions.tanh),
}
