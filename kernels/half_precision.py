"""float16 and bfloat16 tensors of operators whose kernels take float32: widened before, rounded behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import OVERREAD_BYTES, AllocationType, Shape, Tensor, TensorType

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


class _Float32Context:
    """A context in which some tensors of a node are float32, with memory of their own."""

    def __init__(self, context: Context, node: Node, types: Sequence[TensorType]) -> None:
        self._context = context
        self._node = node
        self.inputs_by_index = self._widened(node.inputs, types)
        self.outputs_by_index = self._widened(node.outputs, types)
        for t, wide in self.inputs_by_index.items():
            _place(wide)
            x = context.tensor(t)
            if x.is_constant:
                _widen(x, wide)
                wide.allocation_type = AllocationType.PERSISTENT_RO

    def _widened(self, indices: Sequence[int], types: Sequence[TensorType]) -> dict[int, Tensor]:
        tensors = {t: self._context.tensor(t) for t in indices if t >= 0}
        return {t: _like(x) for t, x in tensors.items() if x.type in types}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def tensor(self, index: int) -> Tensor:
        wide = self.outputs_by_index.get(index) or self.inputs_by_index.get(index)
        return wide or self._context.tensor(index)

    def optional_input(self, node: Node, i: int) -> Tensor | None:
        x = self._context.optional_input(node, i)
        return None if x is None else self.inputs_by_index.get(x.index, x)

    def input(self, node: Node, i: int) -> Tensor:
        x = self._context.input(node, i)
        return self.inputs_by_index.get(x.index, x)

    def output(self, node: Node, i: int) -> Tensor:
        y = self._context.output(node, i)
        return self.outputs_by_index.get(y.index, y)

    def resize_tensor(self, tensor: Tensor, shape: Shape) -> None:
        if self.outputs_by_index.get(tensor.index) is tensor:
            y = self._context.tensor(tensor.index)
            self._context.resize_tensor(y, shape)
            tensor.shape = y.shape
            if y.is_dynamic:
                _place(tensor)
        else:
            self._context.resize_tensor(tensor, shape)

    def set_dynamic(self, tensor: Tensor) -> None:
        if self.outputs_by_index.get(tensor.index) is tensor:
            tensor.allocation_type = AllocationType.DYNAMIC
            tensor = self._context.tensor(tensor.index)
        self._context.set_dynamic(tensor)


def _like(x: Tensor) -> Tensor:
    wide = Tensor(x.index, x.name, TensorType.FLOAT32, x.shape, x.quantization, False, x.signature)
    wide.allocation_type = AllocationType.ARENA_RW
    return wide


def _place(tensor: Tensor) -> None:
    """Memory for the tensor, where it has none that suffices."""
    if tensor.data is None or len(tensor.data) < tensor.nbytes:
        tensor.bind(np.zeros(tensor.nbytes + OVERREAD_BYTES, np.uint8)[: tensor.nbytes])


def _widen(x: Tensor, wide: Tensor) -> None:
    from .cast import values_of

    if x.size:
        wide.array()[...] = values_of(x)


def _narrow(wide: Tensor, y: Tensor) -> None:
    from .cast import bfloat16_bits

    if not y.size or y.data is None:
        return
    if y.type == TensorType.BFLOAT16:
        y.data[: y.nbytes] = bfloat16_bits(wide.array()).reshape(-1).view(np.uint8)
    else:
        with np.errstate(all="ignore"):
            y.array()[...] = wide.array()


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
    types = _HALVES[1:] if registration.name in _OWN_FLOAT16 else _HALVES

    def is_half(context: Context, node: Node) -> bool:
        return any(t >= 0 and context.tensor(t).type in types for t in (*node.inputs, *node.outputs))

    def wide_context(context: Context, node: Node) -> Any:
        return _Float32Context(context, node, types)

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        if not is_half(context, node):
            return registration.prepare(context, node)
        wide = wide_context(context, node)
        calls = registration.prepare(wide, node)
        if calls is None:
            return None
        inputs = [(context.tensor(t), x) for t, x in wide.inputs_by_index.items() if not x.is_constant]
        outputs = [(y, context.tensor(t)) for t, y in wide.outputs_by_index.items()]
        for y, _ in outputs:
            _place(y)
        return [*_casts(context, inputs), *calls, *_casts(context, outputs)]

    def invoke(context: Context, node: Node) -> None:
        assert registration.invoke is not None
        if not is_half(context, node):
            registration.invoke(context, node)
            return
        wide = wide_context(context, node)
        for t, x in wide.inputs_by_index.items():
            if not x.is_constant:
                _widen(context.tensor(t), x)
        for y in wide.outputs_by_index.values():
            _place(y)
        registration.invoke(wide, node)
        for t, y in wide.outputs_by_index.items():
            _narrow(y, context.tensor(t))

    return Registration(
        registration.name,
        prepare,
        None if registration.invoke is None else invoke,
        builtin_code=registration.builtin_code,
        min_version=registration.min_version,
        max_version=registration.max_version,
        inplace_operator=registration.inplace_operator,
        side_effects=registration.side_effects,
        init=registration.init,
        free=registration.free,
    )
