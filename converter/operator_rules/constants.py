"""Constants: results that are known beforehand, and constants that are stored in less."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import FillOptionsT, SelectV2OptionsT
from ..element_types import numpy_dtype_of
from ..graph.algebra import fold_rule, settling_operand
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor, has_effects
from ..operator_types import is_converted_for
from ..partial_shape import PartialShape, broadcast
from ..same_content import SameContent
from .equal_operators import constant_key
from .pattern import ARITHMETIC, activation_of
from .rewriter import OperatorRewriter

_FUNCTIONS: dict[Op, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.MUL: np.multiply,
    Op.RESHAPE: lambda x, shape: x.reshape(shape),
}


def _known(_: OperatorRewriter, operator: LiteOperator) -> list[np.ndarray] | None:
    values = [data for i in range(len(operator.operands)) if (data := operator.constant(i)) is not None]
    return None if len(values) != 2 or activation_of(operator) else values


def _computed(operator: LiteOperator, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [_FUNCTIONS[operator.code](*values)]


def _given(rewriter: OperatorRewriter, operator: LiteOperator, constants: Sequence[np.ndarray]) -> bool:
    """The results are the constants."""
    for y, data in zip(operator.results, constants, strict=True):
        y.data, y.shape = data, data.shape
    return rewriter.fold(operator)


# Most is folded before it is lowered; this is what the other rules leave.
fold_constants = fold_rule("fold_constants", _known, _computed, _given, _FUNCTIONS)


@rule(Op.MUL)
def skip_zero_products(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Leaves out a product with zeros of the result's own shape.

    Given:  y = MUL(x, zeros)
    Result: y is the constant zeros

    As in TensorFlow's converter, x counts as finite: the state that a recurrent cell starts with is such
    a constant. A single zero that is stretched stays a product, as there.
    """

    def is_all(place: int, number: int) -> bool:
        data = operator.constant(place)
        if data is None or data.dtype.kind not in "fiu" or data.shape != operator.result.shape:
            return False
        return data.size > 0 and bool(np.all(data == number))

    place = settling_operand("multiply", is_all)
    if place is None or activation_of(operator):
        return False
    settled = operator.constant(place)
    assert settled is not None
    return _given(rewriter, operator, [settled])


# Their constants are more than their elements.
_NO_CONSTANTS = (TensorType.STRING, TensorType.RESOURCE, TensorType.VARIANT)


@rule()
def skip_empty_results(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes constants of results that have no elements.

    Given:  y = SLICE(x, [0, 0], [2, 0])      y is [2, 0]
    Result: y is an empty constant
    """
    if not operator.results or not all(_is_empty(y) for y in operator.results):
        return False
    if operator.callees or operator.custom_code or has_effects(operator):
        return False
    return _given(
        rewriter, operator, [np.empty(y.shape or (), numpy_dtype_of(y.type)) for y in operator.results]
    )


def _is_empty(y: LiteTensor) -> bool:
    return y.shape is not None and 0 in y.shape and -1 not in y.shape and y.type not in _NO_CONSTANTS


@rule()
def share_constants(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Keeps one constant of those with equal type, shape, scales and bytes.

    Given:  p = MUL(x, a); q = MUL(z, b)      a and b equal constants
    Result: p = MUL(x, a); q = MUL(z, a)
    """
    known = rewriter.notes.setdefault(share_constants, _FirstOfEqual())
    shared = [tensor if tensor is None else known.of(tensor) for tensor in operator.operands]
    if all(one is other for one, other in zip(shared, operator.operands, strict=True)):
        return False
    rewriter.set_operands(operator, shared)
    return True


class _FirstOfEqual:
    """The first constant of those that are equal."""

    def __init__(self) -> None:
        self._numbers = SameContent()
        self._first: list[LiteTensor] = []
        self._found: dict[LiteTensor, LiteTensor] = {}

    def of(self, tensor: LiteTensor) -> LiteTensor:
        if tensor.data is None or tensor.data.dtype.kind == "O":
            return tensor
        if tensor not in self._found:
            number = self._numbers.number(tensor.data, constant_key(tensor))
            if number == len(self._first):
                self._first.append(tensor)
            self._found[tensor] = self._first[number]
        return self._found[tensor]


_SELECTS = frozenset((Op.SELECT, Op.SELECT_V2))
_STRETCHING = (
    _SELECTS
    | ARITHMETIC
    | {
        *(Op.MAXIMUM, Op.MINIMUM, Op.EQUAL, Op.NOT_EQUAL, Op.LESS, Op.LESS_EQUAL),
        *(Op.GREATER, Op.GREATER_EQUAL, Op.SQUARED_DIFFERENCE),
    }
)
# LiteRT stretches operands of up to so many axes with every one of these operators.
_MOST_AXES = 4


@rule(*_STRETCHING, needs=("shapes",))
def store_numbers_once(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Stores a number once where the operator stretches it as well.

    Given:  y = MAXIMUM(x, [[3, 3, 3], [3, 3, 3]])      x is [2, 3]
    Result: y = MAXIMUM(x, 3)

    SELECT becomes SELECT_V2, which stretches.
    """
    y = operator.result
    if y.shape is None or -1 in y.shape or not 0 < len(y.shape) <= _MOST_AXES:
        return False
    if operator.code == Op.SELECT and operator.operand(0).shape != y.shape:
        return False  # a vector, with an element for each row
    operands = list(operator.operands)
    for i, tensor in enumerate(operands):
        others = [each for j, each in enumerate(operands) if j != i]
        if tensor is None or not _is_one_number(tensor) or _stretched(operator, others) != y.shape:
            continue
        assert tensor.data is not None
        operands[i] = LiteTensor(tensor.name, tensor.type, (), tensor.data.reshape(-1)[:1].reshape(()))
    if all(one is other for one, other in zip(operands, operator.operands, strict=True)):
        return False
    if operator.code == Op.SELECT:
        operator.code, operator.options = Op.SELECT_V2, SelectV2OptionsT()
    rewriter.set_operands(operator, operands)
    return True


def _is_one_number(tensor: LiteTensor) -> bool:
    """Whether the tensor is a constant of several numbers, all the same."""
    data = tensor.data
    if data is None or data.dtype.kind not in "fiub" or data.size < 2 or tensor.quantization is not None:
        return False
    elements = data.reshape(-1)
    return bool(elements[0] == elements[-1]) and bool(np.all(elements == elements[0]))


# A loop's constants of so many bytes are filled: an operator takes some 250.
_FEW_BYTES = 1024


@rule(Op.WHILE)
def fill_uniform_operands(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Lets a loop begin with what is filled, where that is a large constant of one number.

    Given:  y = WHILE(zeros, ...)              the lists and states that loops begin with are such
    Result: a = FILL([9, 99, 9], 0); y = WHILE(a, ...)
    """
    operands = list(operator.operands)
    for i, tensor in enumerate(operands):
        if tensor is None or tensor.data is None or tensor.data.nbytes <= _FEW_BYTES:
            continue
        if _is_one_number(tensor) and is_converted_for(Op.FILL, tensor.type):
            operands[i] = _fill(rewriter, operator, tensor).result
    if operands == list(operator.operands):
        return False
    rewriter.set_operands(operator, operands)
    return True


def _fill(rewriter: OperatorRewriter, operator: LiteOperator, tensor: LiteTensor) -> LiteOperator:
    """The FILL that gives what the tensor is; one for all loops behind it."""
    assert tensor.data is not None
    number = tensor.data.reshape(-1)[:1].reshape(())
    key = "FILL", tensor.type, tensor.data.shape, number.tobytes()
    made: LiteOperator | None = rewriter.notes.get(key)
    if made is None or made.block is None or not rewriter.block.comes_before(made, operator):
        sizes = np.array(tensor.data.shape, np.int32)
        operands = [
            LiteTensor(f"{tensor.name}/sizes", TensorType.INT32, sizes.shape, sizes),
            LiteTensor(f"{tensor.name}/number", tensor.type, (), number),
        ]
        y = LiteTensor(tensor.name, tensor.type, tensor.shape)
        made = LiteOperator(Op.FILL, operands, [y], FillOptionsT(), operator.sources[:1])
        rewriter.insert_before(operator, made)
        rewriter.notes[key] = made
    return made


def _stretched(operator: LiteOperator, tensors: Iterable[LiteTensor | None]) -> PartialShape:
    shape: PartialShape = ()
    for tensor in tensors:
        shape = broadcast(operator.code.name, shape, None if tensor is None else tensor.shape)
    return shape
