"""Types of CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV and FULLY_CONNECTED, and which kernels serve them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType

_FILTER_TYPES = {
    TensorType.FLOAT32: (TensorType.FLOAT32, TensorType.INT8),
    TensorType.INT8: (TensorType.INT8,),
    TensorType.UINT8: (TensorType.UINT8,),
    TensorType.INT16: (TensorType.INT8,),
}
_BIAS_TYPES = {
    TensorType.FLOAT32: (TensorType.FLOAT32,),
    TensorType.INT8: (TensorType.INT32,),
    TensorType.UINT8: (TensorType.INT32,),
    TensorType.INT16: (TensorType.INT64, TensorType.INT32),
}


def check_types(operator: str, x: Tensor, w: Tensor, bias: Tensor | None, y: Tensor) -> None:
    """Raise unless the types of input, filter, bias and output fit together and are built."""
    filters = _FILTER_TYPES.get(TensorType(x.type))
    int16_product = operator == "FULLY_CONNECTED" and x.type == w.type == TensorType.INT16
    if filters is None or not (w.type in filters or int16_product):
        raise UnsupportedError(
            f"{operator}: built for float32 (filter float32 or int8), int8, uint8 and int16 (filter int8), "
            f"got input {x.type_name} and filter {w.type_name}"
        )
    if y.type != x.type:
        raise PrepareError(
            f"{operator}: output must have the input's type, got {y.type_name} and {x.type_name}"
        )
    wanted = _BIAS_TYPES[TensorType(x.type)]
    if bias is not None and bias.type not in wanted:
        names = " or ".join(type_.name.lower() for type_ in wanted)
        raise PrepareError(f"{operator}: bias must be {names}, got {bias.type_name}")


def check_bias(operator: str, bias: Tensor | None, out_depth: int) -> None:
    """Raise unless the bias, where there is one, has one element for each output channel."""
    if bias is not None and bias.size != out_depth:
        raise PrepareError(
            f"{operator}: bias must have one element per output channel, "
            f"got {bias.size} ({bias!r}) and {out_depth}"
        )


def calls_by_type(family: str, context: Context, node: Node, geometry: object) -> Sequence[KernelCall]:
    """The compiled calls of a checked node with its input first and its filter second.

    They are those of kernels/<family>_f32.py, _hybrid.py, _q16.py or _q8.py, whose `calls` take the
    family's geometry.
    """
    x, w = context.input(node, 0), context.input(node, 1)
    if x.type == TensorType.FLOAT32:
        types = "f32" if w.type == TensorType.FLOAT32 else "hybrid"
    else:
        types = "q16" if x.type == TensorType.INT16 else "q8"
    made: Sequence[KernelCall] = import_module(f".{family}_{types}", __package__).calls(
        context, node, geometry
    )
    return made
