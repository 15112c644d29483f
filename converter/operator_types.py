"""The element types that each builtin operator is converted for.

Source: TensorFlow compiler/mlir/lite/ir/tfl_ops.td. Half floats are left out where runtimes are only
beginning to take them.
"""

from __future__ import annotations

from ..kernels.operator_facts import NAMED_TYPES
from ..kernels.operators import OPERATORS
from ..lite.tensor import TensorType
from ..schema.tflite import BuiltinOperator
from .lite_graph import LiteOperator, LiteTensor

_OF_CODES = {
    BuiltinOperator[name]: (
        frozenset(NAMED_TYPES[each] for each in facts.converts.split()),
        facts.typed_operand,
    )
    for name, facts in OPERATORS.items()
    if facts.converts
}


def is_converted_for(code: BuiltinOperator, type: TensorType) -> bool:
    """Whether the operator is converted for the element type of the operand that tells."""
    return code not in _OF_CODES or type in _OF_CODES[code][0]


def refused_operand(operator: LiteOperator) -> LiteTensor | None:
    """The operand whose type the operator is not converted for, None when all is well.

    A quantized operand is well: who quantizes a model knows the operators' quantized types.
    """
    if operator.code not in _OF_CODES:
        return None
    types, place = _OF_CODES[operator.code]
    operand = operator.operands[place]
    if operand is None or operand.type in types or operand.quantization is not None:
        return None
    return operand
