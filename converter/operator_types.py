"""The element types that each builtin operator is converted for.

Source: TensorFlow compiler/mlir/lite/ir/tfl_ops.td. Half floats are left out where runtimes are only
beginning to take them.
"""

from __future__ import annotations

from ..lite.tensor import TensorType
from ..schema.tflite import BuiltinOperator
from .lite_graph import LiteOperator, LiteTensor

_NAMES = {
    "bf16": TensorType.BFLOAT16,
    "f16": TensorType.FLOAT16,
    "f32": TensorType.FLOAT32,
    "f64": TensorType.FLOAT64,
    "i8": TensorType.INT8,
    "i16": TensorType.INT16,
    "i32": TensorType.INT32,
    "i64": TensorType.INT64,
    "u8": TensorType.UINT8,
    "u16": TensorType.UINT16,
    "u32": TensorType.UINT32,
    "bool": TensorType.BOOL,
    "str": TensorType.STRING,
    "c64": TensorType.COMPLEX64,
    "c128": TensorType.COMPLEX128,
}
# Operator: the types, and the place of the operand that they are about where it is not the first.
_TYPES: dict[str, tuple[str, int]] = {
    "ABS": ("f32 i16 i32", 0),
    "ADD": ("f32 i16 i32 i64", 0),
    "ADD_N": ("f32 i32", 0),
    "ARG_MAX": ("bool f32 i32 i8 u8", 0),
    "ARG_MIN": ("bool f32 i32 i8 u8", 0),
    "ATAN2": ("f32 f64", 0),
    "AVERAGE_POOL_2D": ("f32", 0),
    "BATCH_MATMUL": ("f32 i8", 0),
    "BATCH_TO_SPACE_ND": ("f32 i8 i32 i64 u8", 0),
    "BITWISE_XOR": ("i8 u8 i16 u16 i32 u32", 0),
    "BROADCAST_ARGS": ("i32 i64", 0),
    "BROADCAST_TO": ("f32 i32 bool i8 u8 u32 i16 i64 c64", 0),
    "BUCKETIZE": ("f32 f64 i32 i64", 0),
    "CAST": ("bf16 f16 f32 f64 bool i16 u16 i32 u32 i64 u8 i8 c64", 0),
    "CEIL": ("f32", 0),
    "COMPLEX_ABS": ("c64 c128", 0),
    "CONCATENATION": ("f32 i64 i32 i16 i8 u8 u32 bool", 0),
    "CONV_2D": ("f32", 0),
    "CONV_3D": ("f32", 0),
    "CONV_3D_TRANSPOSE": ("f32", 1),
    "COS": ("f32", 0),
    "CUMSUM": ("f32 i32 i64", 0),
    "DEPTHWISE_CONV_2D": ("f32", 0),
    "DEPTH_TO_SPACE": ("f32 i8 i32 i64 u8", 0),
    "DIV": ("f32 i32", 0),
    "DYNAMIC_UPDATE_SLICE": ("bool i8 i16 i32 i64 f32 f16", 0),
    "ELU": ("f32", 0),
    "EMBEDDING_LOOKUP": ("f32 i8 u8", 1),
    "EQUAL": ("bool f32 i16 i32 i64 u8 str", 0),
    "EXP": ("f32", 0),
    "FILL": ("f32 f16 i32 i64 bool str", 1),
    "FLOOR": ("f32", 0),
    "FLOOR_DIV": ("f32 i8 i16 i32", 0),
    "FLOOR_MOD": ("i8 i16 i32 i64 f32", 0),
    "FULLY_CONNECTED": ("f32", 0),
    "GATHER": ("f32 bool i8 i16 i32 i64 str u8", 0),
    "GATHER_ND": ("f32 bool i8 i16 i64 i32 u8 str", 0),
    "GELU": ("f32", 0),
    "GREATER": ("f32 i32 i64", 0),
    "GREATER_EQUAL": ("f32 i16 i32 i64", 0),
    "HARD_SWISH": ("f32", 0),
    "IMAG": ("c64 c128", 0),
    "L2_NORMALIZATION": ("f32", 0),
    "LEAKY_RELU": ("f32", 0),
    "LESS": ("f32 i16 i32 i64", 0),
    "LESS_EQUAL": ("f32 i32 i64", 0),
    "LOCAL_RESPONSE_NORMALIZATION": ("f32", 0),
    "LOG": ("f32", 0),
    "LOGICAL_AND": ("bool", 0),
    "LOGICAL_NOT": ("bool", 0),
    "LOGICAL_OR": ("bool", 0),
    "LOGISTIC": ("f32", 0),
    "LOG_SOFTMAX": ("f32", 0),
    "MATRIX_DIAG": ("f32 i8 i16 i32 i64 u8", 0),
    "MATRIX_SET_DIAG": ("f32 i8 i16 i32 i64 u8", 0),
    "MAXIMUM": ("f32 i32 i64", 0),
    "MAX_POOL_2D": ("f32", 0),
    "MEAN": ("f32 i32 i64 u8", 0),
    "MINIMUM": ("f32 i32 i64", 0),
    "MIRROR_PAD": ("f32 i32 i64 i8 u8", 0),
    "MUL": ("f32 i32 u32 i64 i16 c64", 0),
    "MULTINOMIAL": ("f32", 0),
    "NEG": ("f32 i32 i64", 0),
    "NON_MAX_SUPPRESSION_V4": ("f32", 0),
    "NON_MAX_SUPPRESSION_V5": ("f32", 0),
    "NOT_EQUAL": ("bool f32 i32 i64 str", 0),
    "ONE_HOT": ("f32 i32 i64 bool i8 u8", 2),
    "PACK": ("f32 i8 i16 i32 i64 u8 u32", 0),
    "PAD": ("f32 bool i32 i64", 0),
    "PADV2": ("f32 bool i32 i64 u8", 0),
    "POW": ("f32 i32", 0),
    "PRELU": ("f32", 0),
    "QUANTIZE": ("f32", 0),
    "RANGE": ("i32 f32 i64", 0),
    "REAL": ("c64 c128", 0),
    "REDUCE_ALL": ("bool", 0),
    "REDUCE_ANY": ("bool", 0),
    "REDUCE_MAX": ("f32 i32 i64", 0),
    "REDUCE_MIN": ("f32 i32 i64", 0),
    "REDUCE_PROD": ("f32 i32 i64", 0),
    "RELU": ("f32", 0),
    "RELU6": ("f32", 0),
    "RELU_N1_TO_1": ("f32", 0),
    "RESIZE_BILINEAR": ("f32", 0),
    "RESIZE_NEAREST_NEIGHBOR": ("f32", 0),
    "REVERSE_SEQUENCE": ("f32 i32 i64", 0),
    "REVERSE_V2": ("f32 u8 i16 i32 i64 bool", 0),
    "RFFT2D": ("f32", 0),
    "RIGHT_SHIFT": ("i8 u8 i16 u16 i32 u32", 0),
    "ROUND": ("f32", 0),
    "RSQRT": ("f32", 0),
    "SCATTER_ND": ("f32 i8 i64 i32 u8 bool", 1),
    "SEGMENT_SUM": ("f32 i32", 0),
    "SELECT": ("f32 bool i8 i16 i32 i64 u32", 1),
    "SELECT_V2": ("f32 bool i8 i16 i32 i64 u32", 1),
    "SIGN": ("f32 f64 i32", 0),
    "SIN": ("f32", 0),
    "SLICE": ("f32 f16 i32 i64 i8 u8 u32 bool str", 0),
    "SOFTMAX": ("f32", 0),
    "SPACE_TO_BATCH_ND": ("f32 i32 i64", 0),
    "SPACE_TO_DEPTH": ("f32 i32 i64", 0),
    "SPARSE_TO_DENSE": ("i32 i64 i8 u8 f32", 2),
    "SPLIT": ("f32 i16 i32 i8 u8", 1),
    "SPLIT_V": ("f32 i16 i32 i64 i8 u8", 0),
    "SQRT": ("f32", 0),
    "SQUARE": ("f32", 0),
    "SQUARED_DIFFERENCE": ("f32 i32", 0),
    "STRIDED_SLICE": ("f32 i32 i64 i8 u8 u32 bool i16 str", 0),
    "SUB": ("f32 i32 i64", 0),
    "SUM": ("f32 i32 i64", 0),
    "TANH": ("f32", 0),
    "TILE": ("f32 bool i32 i64 u8 str", 0),
    "TOPK_V2": ("f32 i8 i16 i32 i64 u8", 0),
    "TRANSPOSE": ("i32 f32 i8 u8 bool i64", 0),
    "TRANSPOSE_CONV": ("f32", 2),
    "UNIQUE": ("i8 u8 i16 i32 i64 f32", 0),
    "UNPACK": ("f32 bool i8 u8 i32 i16", 0),
    "UNSORTED_SEGMENT_MAX": ("f32 i32", 0),
    "UNSORTED_SEGMENT_MIN": ("f32 i32", 0),
    "UNSORTED_SEGMENT_PROD": ("f32 i32", 0),
    "UNSORTED_SEGMENT_SUM": ("f32 i32", 0),
    "WHERE": ("bool f32 i32 i64 i8 u8 u32", 0),
    "ZEROS_LIKE": ("i64 i32 f32", 0),
}
_OF_CODES = {
    BuiltinOperator[name]: (frozenset(_NAMES[each] for each in types.split()), place)
    for name, (types, place) in _TYPES.items()
}


def refused_operand(operator: LiteOperator) -> LiteTensor | None:
    """The operand whose type the operator is not converted for, None when all is well.

    A quantized operand is well: who quantizes a model knows the operators' quantized types.
    """
    if operator.code not in _OF_CODES:
        return None
    types, place = _OF_CODES[operator.code]
    operand = operator.inputs[place]
    if operand is None or operand.type in types or operand.quantization is not None:
        return None
    return operand
