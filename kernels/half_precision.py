"""float16 and bfloat16 tensors of operators whose kernels take float32: widened before, rounded behind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .widened import Widened, has_type, place, widened_context

# Operators that have float16 kernels of their own, and so need only bfloat16.
_OWN_FLOAT16 = frozenset(
    (
        "ADD",
        "MUL",
        "MAXIMUM",
        "MINIMUM",
        "ATAN2",
        "STABLEHLO_ADD",
        "STABLEHLO_SUBTRACT",
        "STABLEHLO_MULTIPLY",
        "STABLEHLO_DIVIDE",
        "STABLEHLO_MAXIMUM",
        "STABLEHLO_MINIMUM",
        "STABLEHLO_POWER",
        "STABLEHLO_REMAINDER",
        "STABLEHLO_LOGISTIC",
        "STABLEHLO_TANH",
        "STABLEHLO_COSINE",
        "STABLEHLO_EXPONENTIAL",
        "STABLEHLO_LOG",
        "STABLEHLO_RSQRT",
        "STABLEHLO_CBRT",
        "STABLEHLO_FLOOR",
        "STABLEHLO_NEGATE",
        "STABLEHLO_ABS",
        "STABLEHLO_COMPARE",
        "STABLEHLO_CLAMP",
        "EQUAL",
        "NOT_EQUAL",
        "LESS",
        "LESS_EQUAL",
        "GREATER",
        "GREATER_EQUAL",
    )
)
# Operators whose float16 and bfloat16 results are those of float32, rounded.
IN_FLOAT32 = _OWN_FLOAT16 | frozenset(
    (
        "SUB",
        "DIV",
        "SQUARED_DIFFERENCE",
        "POW",
        "FLOOR_DIV",
        "FLOOR_MOD",
        "PRELU",
        "ABS",
        "NEG",
        "EXP",
        "LOG",
        "SQRT",
        "RSQRT",
        "SIN",
        "COS",
        "SQUARE",
        "FLOOR",
        "CEIL",
        "ROUND",
        "SIGN",
        "RELU",
        "RELU6",
        "RELU_N1_TO_1",
        "RELU_0_TO_1",
        "LEAKY_RELU",
        "LOGISTIC",
        "TANH",
        "ELU",
        "GELU",
        "HARD_SWISH",
        "SOFTMAX",
        "LOG_SOFTMAX",
        "L2_NORMALIZATION",
        "SUM",
        "MEAN",
        "REDUCE_MAX",
        "REDUCE_MIN",
        "REDUCE_PROD",
        "CUMSUM",
        "ADD_N",
        "AVERAGE_POOL_2D",
        "MAX_POOL_2D",
        "RESIZE_BILINEAR",
        "BATCH_MATMUL",
        "FULLY_CONNECTED",
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "TRANSPOSE_CONV",
        "QUANTIZE",
    )
)
_HALVES = (TensorType.FLOAT16, TensorType.BFLOAT16)
_SUFFIXES = {TensorType.FLOAT16: "f16", TensorType.BFLOAT16: "bf16"}


def _casts(context: Context, pairs: Sequence[tuple[Tensor, Tensor]]) -> list[KernelCall]:
    """Calls that convert tensors between float32 and the half types."""
    from .elementwise import UNARY, unary_call

    calls: list[KernelCall] = []
    for x, y in pairs:
        names = [_SUFFIXES.get(TensorType(tensor.type), "f32") for tensor in (x, y)]
        calls += unary_call(context, "cast", f"cast_{names[0]}_{names[1]}", x, y, np.zeros(1, UNARY), 0.3)
    return calls


def in_float32(registration: Registration) -> Registration:
    """The operator with half-precision inputs and outputs, by its own float32 kernels.

    A result is rounded once, to the nearest. XNNPACK rounds within an operator too, so that its
    float16 results may differ in the last bits.
    """
    halves = _HALVES[1:] if registration.name in _OWN_FLOAT16 else _HALVES
    types = dict.fromkeys(halves, TensorType.FLOAT32)

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        if not has_type(context, node, types):
            return registration.prepare(context, node)
        wide = Widened(context, node, types)
        calls = registration.prepare(widened_context(wide), node)
        if calls is None:
            return None
        inputs = [(context.tensor(t), x) for t, x in wide.inputs_by_index.items() if not x.is_constant]
        outputs = [(y, context.tensor(t)) for t, y in wide.outputs_by_index.items()]
        for y, _ in outputs:
            place(y)
        return [*_casts(context, inputs), *calls, *_casts(context, outputs)]

    def invoke(context: Context, node: Node) -> None:
        assert registration.invoke is not None
        if not has_type(context, node, types):
            registration.invoke(context, node)
            return
        wide = Widened(context, node, types)
        wide.read()
        registration.invoke(widened_context(wide), node)
        wide.write()

    return registration.with_hooks(prepare, None if registration.invoke is None else invoke)
