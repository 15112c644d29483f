"""The version of each operator: the first one that knows what the operator uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..kernels.operators import OPERATORS
from ..lite.tensor import TensorType
from ..schema.operator_code import operator_name
from ..schema.tflite import BuiltinOperator, FullyConnectedOptionsWeightsFormat
from .lite_graph import LiteOperator, LiteTensor

Condition = Callable[[LiteOperator], bool]

_FLOAT32, _FLOAT16, _BFLOAT16 = TensorType.FLOAT32, TensorType.FLOAT16, TensorType.BFLOAT16
_INT2, _INT4, _UINT4, _INT8, _UINT8 = (
    *(TensorType.INT2, TensorType.INT4, TensorType.UINT4),
    *(TensorType.INT8, TensorType.UINT8),
)
_INT16, _UINT16, _INT32, _UINT32, _INT64 = (
    *(TensorType.INT16, TensorType.UINT16, TensorType.INT32, TensorType.UINT32, TensorType.INT64),
)
_BOOL, _STRING = TensorType.BOOL, TensorType.STRING
_FLOAT64, _COMPLEX64 = TensorType.FLOAT64, TensorType.COMPLEX64


def version_of(operator: LiteOperator) -> int:
    """Version to write for the operator.

    Source: LiteRT tflite/converter/tools/versioning/op_version.cc.
    """
    for version, applies in _VERSIONS.get(operator.code, ()):
        if applies(operator):
            return version
    return _FIRST.get(operator.code, 1)


def _input(operator: LiteOperator, index: int) -> LiteTensor | None:
    return operator.operands[index] if index < len(operator.operands) else None


def _of(index: int, *types: TensorType) -> Condition:
    """Input `index` has one of the types."""

    def applies(operator: LiteOperator) -> bool:
        tensor = _input(operator, index)
        return tensor is not None and tensor.type in types

    return applies


def _result(*types: TensorType) -> Condition:
    return lambda operator: operator.results[0].type in types


def _types(x: TensorType, w: TensorType, y: TensorType) -> Condition:
    """The types of the first two inputs and the first result."""
    return _all(_of(0, x), _of(1, w), _result(y))


def _all(*conditions: Condition) -> Condition:
    return lambda operator: all(applies(operator) for applies in conditions)


def _any(*conditions: Condition) -> Condition:
    return lambda operator: any(applies(operator) for applies in conditions)


def _option(name: str, usual: int = 0) -> Condition:
    """An option has another value than usual."""
    return lambda operator: getattr(operator.options, name, usual) not in (usual, None)


def _rank(tensor: LiteTensor | None) -> int:
    return 0 if tensor is None or tensor.shape is None else len(tensor.shape)


def _rank_above(rank: int, index: int = 0) -> Condition:
    return lambda operator: _rank(_input(operator, index)) > rank


def _stretches(operator: LiteOperator) -> bool:
    """Whether operands of different shapes, one of more than four dimensions, are broadcast."""
    a, b = _input(operator, 0), _input(operator, 1)
    differ = a is not None and b is not None and a.shape != b.shape
    return differ and max(_rank(a), _rank(b)) > 4


def _per_channel(index: int) -> Condition:
    return lambda operator: _has_scales(_input(operator, index))


def _per_channel_result(operator: LiteOperator) -> bool:
    return _has_scales(operator.results[0])


def _has_scales(tensor: LiteTensor | None) -> bool:
    """Whether each channel has a scale of its own."""
    scales = None if tensor is None or tensor.quantization is None else tensor.quantization.scale
    return scales is not None and len(scales) > 1


def _is_grouped(operator: LiteOperator) -> bool:
    x, weights = operator.operands[:2]
    if x is None or weights is None or not x.shape or weights.shape is None:
        return False
    return x.shape[-1] != weights.shape[-1]


def _without_bias(operator: LiteOperator) -> bool:
    return len(operator.operands) == 2


def _quantized(operator: LiteOperator) -> bool:
    x = _input(operator, 0)
    return x is not None and x.quantization is not None


def _is_plain(operator: LiteOperator) -> bool:
    return not _quantized(operator)


def _rescales_up(operator: LiteOperator) -> bool:
    """The product of the operands' scales is at least the result's."""
    scales = []
    for tensor in (_input(operator, 0), _input(operator, 1), operator.results[0]):
        quantization = None if tensor is None else tensor.quantization
        if quantization is None or quantization.scale is None or len(quantization.scale) != 1:
            return False
        scales.append(float(quantization.scale[0]))
    return 0.0 not in scales and scales[0] * scales[1] / scales[2] >= 1.0


_HYBRID = _types(_FLOAT32, _INT8, _FLOAT32)
_ALL_INT8 = _types(_INT8, _INT8, _INT8)
_ALL_INT16 = _types(_INT16, _INT16, _INT16)
_INT16_BY_INT8 = _types(_INT16, _INT8, _INT16)
_BY_INT4 = _types(_INT8, _INT4, _INT8)
_TWO_INT16 = _all(_of(0, _INT16), _result(_INT16))
_INT8_FIRST = ((2, _of(0, _INT8)),)
_INT16_AND_INT8 = ((3, _of(0, _INT16)), (2, _of(0, _INT8)))
_BLOCKS = ((4, _of(0, _INT16)), (3, lambda o: _rank(_input(o, 0)) != 4), (2, _of(0, _INT8)))
_SMALL_INTEGERS = ((2, _of(0, _INT8, _INT16)),)
_PADDED = (
    *((5, _of(0, _BOOL)), (4, _rank_above(4)), (3, _of(0, _INT16))),
    (2, _of(0, _INT8)),
)
_EXTREME = ((4, _TWO_INT16), (3, _stretches), (2, _of(0, _INT8)))
_ARG = ((3, _of(0, _BOOL)), (2, _of(0, _INT8)))
_SHUFFLED = FullyConnectedOptionsWeightsFormat.SHUFFLED4x16INT8
_RNN = (
    (3, _all(_of(1, _INT8), _result(_FLOAT32), _option("asymmetric_quantize_inputs"))),
    (2, _all(_of(1, _INT8), _result(_FLOAT32))),
)

# What asks for which version, the first that applies counts; version 1 where none does.
_VERSIONS: dict[BuiltinOperator, tuple[tuple[int, Condition], ...]] = {
    BuiltinOperator.ABS: (
        *((5, _of(0, _INT32)), (3, _all(_of(0, _INT16), _quantized)), (4, _of(0, _INT16))),
        (2, _of(0, _INT8, _UINT8)),
    ),
    BuiltinOperator.ADD: (
        *((6, _of(0, _FLOAT16)), (5, _all(_of(0, _INT16), _is_plain)), (4, _of(0, _INT64))),
        *((3, _all(_TWO_INT16, lambda o: not _option("pot_scale_int16")(o))), (2, _of(0, _INT8))),
    ),
    BuiltinOperator.ARG_MAX: _ARG,
    BuiltinOperator.ARG_MIN: _ARG,
    BuiltinOperator.AVERAGE_POOL_2D: _INT16_AND_INT8,
    BuiltinOperator.BATCH_MATMUL: (
        *((3, _of(0, _INT16)), (2, _of(0, _INT8))),
        (4, _all(_HYBRID, _option("asymmetric_quantize_inputs"))),
    ),
    BuiltinOperator.BATCH_TO_SPACE_ND: _BLOCKS,
    BuiltinOperator.BIDIRECTIONAL_SEQUENCE_LSTM: (
        (3, _all(_of(0, _FLOAT32), _of(2, _INT8), _option("asymmetric_quantize_inputs"))),
        (2, _all(_of(0, _FLOAT32), _of(2, _INT8))),
    ),
    BuiltinOperator.BIDIRECTIONAL_SEQUENCE_RNN: _RNN,
    BuiltinOperator.BROADCAST_TO: ((3, _of(0, _INT8, _INT16)),),
    BuiltinOperator.CAST: (
        (8, _any(_of(0, _INT2, _UINT4), _result(_INT2, _UINT4))),
        (7, _any(_of(0, _BFLOAT16), _result(_BFLOAT16))),
        (6, _all(_of(0, _INT4), _result(_FLOAT32))),
        (5, _any(_of(0, _FLOAT64, _FLOAT16), _result(_FLOAT64, _FLOAT16))),
        (4, _any(_of(0, _UINT16), _result(_UINT16))),
        (3, _any(_of(0, _INT8), _result(_INT8))),
        (2, _any(_of(0, _UINT32), _result(_UINT32))),
    ),
    BuiltinOperator.CONCATENATION: (
        *((6, _of(0, _FLOAT16)), (5, _of(0, _INT4)), (4, _of(0, _UINT32))),
        *_INT16_AND_INT8,
    ),
    BuiltinOperator.CONV_2D: (
        *((8, _all(_INT16_BY_INT8, _option("quantized_bias_type"))), (6, _is_grouped), (4, _ALL_INT16)),
        *((3, _ALL_INT8), (7, _BY_INT4), (5, _all(_HYBRID, _per_channel(1))), (2, _HYBRID)),
    ),
    BuiltinOperator.COS: ((2, _of(0, _FLOAT16)),),
    BuiltinOperator.DEPTHWISE_CONV_2D: (
        *((5, _ALL_INT16), (6, _all(_HYBRID, _per_channel(1))), (4, _HYBRID), (3, _ALL_INT8), (7, _BY_INT4)),
        (2, _any(_option("dilation_h_factor", 1), _option("dilation_w_factor", 1))),
    ),
    BuiltinOperator.DEPTH_TO_SPACE: _INT8_FIRST,
    BuiltinOperator.DEQUANTIZE: (
        *((8, _of(0, _UINT4)), (7, _of(0, _INT2)), (6, _of(0, _INT4)), (3, _of(0, _INT16, _FLOAT16))),
        *((5, _all(_of(0, _INT8), _per_channel(0))), (2, _of(0, _INT8))),
    ),
    BuiltinOperator.DIV: ((2, _stretches),),
    BuiltinOperator.DYNAMIC_UPDATE_SLICE: (
        *((6, _of(0, _BFLOAT16)), (5, _of(0, _INT4)), (4, _of(0, _INT16)), (3, _of(0, _FLOAT16))),
        (2, _of(2, _INT64)),
    ),
    BuiltinOperator.EMBEDDING_LOOKUP: (
        (4, _any(_of(1, _INT4), _per_channel(1))),
        (5, _of(1, _INT2)),
    ),
    BuiltinOperator.EQUAL: ((5, _of(0, _INT16)), (3, _of(0, _STRING)), (2, _of(0, _INT8))),
    BuiltinOperator.EXP: _SMALL_INTEGERS,
    BuiltinOperator.FAKE_QUANT: ((2, _option("narrow_range")),),
    BuiltinOperator.FILL: ((4, _of(1, _FLOAT16)), (3, _of(1, _INT8, _INT16)), (2, _of(1, _BOOL, _STRING))),
    BuiltinOperator.FLOOR_DIV: ((3, _of(0, _INT16, _INT8)), (2, _of(0, _FLOAT32))),
    BuiltinOperator.FLOOR_MOD: ((2, _of(0, _INT16, _INT8)),),
    BuiltinOperator.FULLY_CONNECTED: (
        *((14, _of(1, _INT2)), (13, _types(_INT16, _INT4, _INT16)), (12, _all(_HYBRID, _per_channel(1)))),
        *((11, _all(_INT16_BY_INT8, _option("quantized_bias_type"))), (7, _ALL_INT16), (6, _without_bias)),
        *((5, _option("keep_num_dims")), (4, _ALL_INT8), (10, _BY_INT4)),
        *((9, _all(_HYBRID, _option("asymmetric_quantize_inputs"))), (3, _HYBRID)),
        (2, lambda o: getattr(o.options, "weights_format", 0) == _SHUFFLED),
    ),
    BuiltinOperator.GATHER: (
        *((7, _of(0, _INT4)), (6, _of(1, _INT16)), (5, _option("batch_dims")), (4, _of(0, _INT16))),
        *((3, _of(0, _BOOL)), (2, _of(0, _INT8))),
    ),
    BuiltinOperator.GATHER_ND: (
        *((5, _of(0, _BOOL)), (4, _of(1, _INT16)), (3, _of(0, _INT16)), (2, _of(0, _STRING))),
    ),
    BuiltinOperator.GELU: ((2, _of(0, _INT8, _UINT8)),),
    BuiltinOperator.GREATER: _INT8_FIRST,
    BuiltinOperator.GREATER_EQUAL: _INT16_AND_INT8,
    BuiltinOperator.L2_NORMALIZATION: ((2, _result(_INT8)),),
    BuiltinOperator.LEAKY_RELU: ((2, _of(0, _INT16)),),
    BuiltinOperator.LESS: _INT16_AND_INT8,
    BuiltinOperator.LESS_EQUAL: _INT8_FIRST,
    BuiltinOperator.LOG: _SMALL_INTEGERS,
    BuiltinOperator.LOGISTIC: ((3, _TWO_INT16), (2, _of(0, _INT8))),
    BuiltinOperator.LOG_SOFTMAX: _INT8_FIRST,
    BuiltinOperator.MAXIMUM: _EXTREME,
    BuiltinOperator.MAX_POOL_2D: _INT16_AND_INT8,
    BuiltinOperator.MEAN: _INT16_AND_INT8,
    BuiltinOperator.MINIMUM: _EXTREME,
    BuiltinOperator.MIRROR_PAD: _INT16_AND_INT8,
    BuiltinOperator.MUL: (
        *((8, _of(0, _FLOAT16)), (7, _any(_all(_of(0, _INT16), _is_plain), _of(0, _UINT32)))),
        *((6, _of(0, _COMPLEX64)), (5, _of(0, _INT64)), (4, _of(0, _INT16)), (3, _rescales_up)),
        (2, _of(0, _INT8)),
    ),
    BuiltinOperator.NOT_EQUAL: ((4, _of(0, _INT16)), (3, _of(0, _STRING)), (2, _of(0, _INT8))),
    BuiltinOperator.PACK: ((2, _of(0, _INT8)), (3, _TWO_INT16), (4, _of(0, _UINT32))),
    BuiltinOperator.PAD: _PADDED,
    BuiltinOperator.PADV2: _PADDED,
    BuiltinOperator.QUANTIZE: (
        *((5, _any(_of(0, _UINT4), _result(_UINT4))), (4, _any(_of(0, _INT4), _result(_INT4)))),
        *((3, _per_channel_result), (2, _result(_INT16))),
    ),
    BuiltinOperator.RANGE: ((2, _of(0, _INT64)),),
    BuiltinOperator.REDUCE_MAX: _INT16_AND_INT8,
    BuiltinOperator.REDUCE_MIN: _INT16_AND_INT8,
    BuiltinOperator.REDUCE_PROD: _SMALL_INTEGERS,
    BuiltinOperator.RELU: ((3, _of(0, _INT16)), (2, _of(0, _INT8, _UINT8))),
    BuiltinOperator.RELU6: _INT16_AND_INT8,
    BuiltinOperator.RESIZE_BILINEAR: (
        *((4, _of(0, _INT16)), (3, _option("half_pixel_centers")), (2, _of(0, _INT8))),
    ),
    BuiltinOperator.RESIZE_NEAREST_NEIGHBOR: (
        (4, _of(0, _INT16)),
        (3, _any(_option("half_pixel_centers"), _option("align_corners"))),
        (2, _of(0, _INT8)),
    ),
    BuiltinOperator.REVERSE_V2: ((3, _of(0, _INT8)), (2, _of(0, _BOOL))),
    BuiltinOperator.RNN: _RNN,
    BuiltinOperator.RSQRT: _INT16_AND_INT8,
    BuiltinOperator.SELECT: (
        (4, _of(0, _UINT32)),
        (3, lambda o: any(_rank(tensor) == 5 for tensor in o.operands)),
        (2, _of(0, _INT8)),
    ),
    BuiltinOperator.SELECT_V2: ((2, _of(0, _UINT32)),),
    BuiltinOperator.SIGN: ((2, _of(0, _INT32)),),
    BuiltinOperator.SIN: ((2, _of(0, _FLOAT16)),),
    BuiltinOperator.SLICE: (
        *((8, _of(0, _FLOAT16)), (7, _of(0, _INT4)), (6, _of(0, _UINT32)), (5, _rank_above(4))),
        *((4, _of(0, _INT16)), (3, _of(0, _STRING)), (2, _of(0, _INT8))),
    ),
    BuiltinOperator.SOFTMAX: ((4, _of(0, _FLOAT16)), *_INT16_AND_INT8),
    BuiltinOperator.SPACE_TO_BATCH_ND: _BLOCKS,
    BuiltinOperator.SPACE_TO_DEPTH: _INT8_FIRST,
    BuiltinOperator.SPARSE_TO_DENSE: ((3, _of(2, _INT8, _UINT8)), (2, _of(2, _INT64))),
    BuiltinOperator.SPLIT: ((4, _of(1, _INT16)), (3, _of(1, _INT32)), (2, _of(1, _INT8))),
    BuiltinOperator.SPLIT_V: _INT8_FIRST,
    BuiltinOperator.SQRT: _SMALL_INTEGERS,
    BuiltinOperator.SQUARED_DIFFERENCE: _INT8_FIRST,
    BuiltinOperator.SQUEEZE: ((2, _of(0, _STRING)),),
    BuiltinOperator.STRIDED_SLICE: (
        *((8, _option("offset")), (7, _of(0, _UINT32))),
        (6, _any(_option("ellipsis_mask"), _option("new_axis_mask"))),
        *((5, _of(0, _STRING)), (4, _rank_above(4)), (3, _of(0, _BOOL)), (2, _of(0, _INT8))),
    ),
    BuiltinOperator.SUB: (
        (5, _all(_TWO_INT16, lambda o: not _option("pot_scale_int16")(o))),
        *((4, _of(0, _INT64)), (3, _stretches), (2, _of(0, _INT8))),
    ),
    BuiltinOperator.SUM: _INT8_FIRST,
    BuiltinOperator.SVDF: (
        *((3, _of(0, _INT8)), (4, _all(_HYBRID, _option("asymmetric_quantize_inputs"))), (2, _HYBRID)),
    ),
    BuiltinOperator.TANH: ((3, _TWO_INT16), (2, _of(0, _INT8))),
    BuiltinOperator.TILE: ((3, _of(0, _INT8)), (2, _of(0, _STRING))),
    BuiltinOperator.TOPK_V2: (
        (3, _any(_of(0, _INT16), _of(1, _INT16), lambda o: o.results[1].type == _INT16)),
        (2, _of(0, _INT8)),
    ),
    BuiltinOperator.TRANSPOSE: (
        *((9, _of(0, _FLOAT16)), (8, _any(_rank_above(6), _of(0, _BFLOAT16))), (7, _of(0, _INT4))),
        *((6, _rank_above(5)), (5, _of(0, _INT16)), (4, _rank_above(4)), (3, _of(0, _BOOL))),
        (2, _of(0, _INT8)),
    ),
    BuiltinOperator.TRANSPOSE_CONV: (
        (5, _all(_of(0, _INT16), _of(1, _INT8), _result(_INT16), _option("quantized_bias_type"))),
        (4, _option("fused_activation_function")),
        *((3, lambda o: _input(o, 3) is not None), (2, _of(1, _INT8))),
    ),
    BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM: (
        (5, _all(_of(0, _INT16), _of(2, _INT8), _result(_INT16))),
        (4, _option("diagonal_recurrent_tensors")),
        (3, _all(_of(0, _FLOAT32), _of(2, _INT8), _option("asymmetric_quantize_inputs"))),
        (2, _all(_of(0, _FLOAT32), _of(2, _INT8))),
    ),
    BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_RNN: _RNN,
    BuiltinOperator.UNPACK: (
        *((2, _of(0, _INT8, _UINT8)), (3, _of(0, _BOOL)), (4, _TWO_INT16), (5, _of(0, _FLOAT16, _BFLOAT16))),
    ),
    BuiltinOperator.WHERE: ((2, lambda o: not _of(0, _BOOL)(o)),),
}
# Operators whose first version is no longer known.
_FIRST = {BuiltinOperator.BROADCAST_TO: 2}


def runtime_version(codes: Iterable[tuple[int, int]]) -> str:
    """The release of TensorFlow that first ran all operators (code, version); "" when none is known."""
    newest = max((_release(code, version) for code, version in codes), default=())
    return ".".join(map(str, newest))


def _release(code: int, version: int) -> tuple[int, ...]:
    """The release that brought the operator's version, as its three numbers; () where none is known."""
    facts = OPERATORS.get(operator_name(code))
    releases = facts.releases.split() if facts is not None else []
    known = releases[version - 1 : version] if version > 0 else []
    numbers = tuple(map(int, known[0].split("."))) if known and known != ["-"] else ()
    return (*numbers, 0) if len(numbers) == 2 else numbers
