"""FilterNode: a node of a filter operator as its prepare functions see it, resolved and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np

from ...lite.context import Context, Numerics
from ...lite.errors import PrepareError, UnsupportedError
from ...lite.kernel_call import chunk_count
from ...lite.node import Node
from ...lite.quantization import Quantization
from ...lite.tensor import Tensor, TensorType
from ...schema.named_tuple import NamedTuple
from ..fused_activation import NONE, float_activation_range
from ..packed import decoded
from ..xnnpack_nodes import takes_activation, takes_images
from .geometry import ConvGeometry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_F32, _I8, _I16, _U8 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.UINT8
_FILTER_TYPES = {_F32: (_F32, _I8), _I8: (_I8,), _U8: (_U8,), _I16: (_I8,)}
_BIAS_TYPES = {
    _F32: (_F32,),
    _I8: (TensorType.INT32,),
    _U8: (TensorType.INT32,),
    _I16: (TensorType.INT64, TensorType.INT32),
}
_T = TypeVar("_T")
_OF_IMAGES = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")
_UNKNOWN = ConvGeometry(*[0] * 10)


class _Packed(NamedTuple):
    of: tuple[np.ndarray | None, ...]  # the constants' memory
    value: Any


class FilterNode(NamedTuple):
    """Operands that kernels can read, sizes, and which arithmetic the node has.

    numerics are the context's, or the reference's where LiteRT's default leaves nodes with such weights to
    its reference kernels. may_use_xnnpack: whether XNNPACK's delegate takes nodes of this activation and
    these shapes whose weights are stored as this one's are, so that its arithmetic is the default.
    """

    context: Context
    node: Node
    x: Tensor
    w: Tensor
    bias: Tensor | None
    y: Tensor
    numerics: Numerics
    may_use_xnnpack: bool
    geometry: ConvGeometry = _UNKNOWN

    @property
    def operator(self) -> str:
        return self.node.registration.name

    @property
    def is_constant(self) -> bool:
        """Whether weights and bias are known when the node is prepared."""
        return self.w.is_constant and (self.bias is None or self.bias.is_constant)

    @property
    def is_hybrid(self) -> bool:
        """Whether the input is float32 and the weights are not."""
        return self.x.type == _F32 != self.w.type

    @property
    def is_sparse(self) -> bool:
        """Whether the model has the weights without their zeros."""
        return self.context.input(self.node, 1).sparsity is not None

    @property
    def fused(self) -> int:
        """The activation of the node's options, NONE where they have none."""
        return int(getattr(self.node.options, "fused_activation_function", NONE))

    @property
    def float_range(self) -> tuple[float, float]:
        """Lowest and highest float result under the activation."""
        return float_activation_range(self.operator, self.fused, bounded=not self.may_use_xnnpack)

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """The operands by the names that plain kernels have for them."""
        named = {"x": self.x, "w": self.w, "y": self.y}
        return named if self.bias is None else {**named, "bias": self.bias}

    def biases(self, *shape: int) -> np.ndarray | None:
        """The values of a constant bias in a shape."""
        return None if self.bias is None else self.bias.array().reshape(shape)

    def packed_once(self, name: str, pack: Callable[[], _T], shared: bool = False) -> _T:
        """What pack makes of the constant weights and bias, made anew only where these are others.

        name tells packings of one node apart; whatever else pack looks at must not change with shapes.
        Shared, name tells packings of these weights and this bias apart, whichever node asks: pack looks at
        nothing else. Loops that a converter has unrolled have many nodes with the same weights, which a
        cache should hold once.
        """
        bias = None if self.bias is None else self.bias.data
        constants, of_all = (self.w.data, bias), (name, id(bias))
        known = self.node.packed.get(name)
        if not _is_of(known, constants) and shared:
            known = self.w.packed.get(of_all)
        if not _is_of(known, constants):
            known = _Packed(constants, pack())
        self.node.packed[name] = known
        if shared:
            self.w.packed[of_all] = known
        return known.value

    def scratch(self, nbytes: int) -> Tensor:
        """Memory of the node's own, while it runs."""
        return self.context.add_temporary(self.node, nbytes)

    def chunks(self, work_ns: float, most: int = 1 << 20) -> int:
        """Into how many chunks so much work is cut."""
        return chunk_count(self.context, work_ns, most)


def _is_of(known: object, constants: tuple[np.ndarray | None, ...]) -> TypeGuard[_Packed]:
    """Whether a packing is known, and made of just these arrays."""
    return isinstance(known, _Packed) and all(a is b for a, b in zip(known.of, constants, strict=True))


def resolve(context: Context, node: Node, places: tuple[int, int, int] = (0, 1, 2)) -> FilterNode:
    """The node's operands as the model has them, not checked yet; places: of input, weights and bias."""
    x, w = context.input(node, places[0]), context.input(node, places[1])
    bias, y = context.optional_input(node, places[2]), context.output(node, 0)
    n = FilterNode(context, node, x, w, bias, y, context.numerics, may_use_xnnpack=False)
    takes = n.operator not in _OF_IMAGES or takes_images(x, y)
    takes = takes and n.numerics is Numerics.DEFAULT and takes_activation(n.fused)
    return n._replace(may_use_xnnpack=takes)


def with_decoded_weights(n: FilterNode, by_xnnpack: bool = False, by_reference: bool = False) -> FilterNode:
    """The node, or for weights that are packed or sparse one that has them dense.

    XNNPACK's delegate takes few nodes with such weights: those with by_xnnpack. With by_reference LiteRT
    runs them by its reference kernels in any case. UnsupportedError where they are not constant.
    """
    w = decoded(n.w)
    if w is n.w:
        return n
    numerics = Numerics.REFERENCE if by_reference else n.numerics
    takes = n.may_use_xnnpack and by_xnnpack and numerics is Numerics.DEFAULT
    return n._replace(w=w, numerics=numerics, may_use_xnnpack=takes)


def with_signed_weights(n: FilterNode) -> FilterNode:
    """The node, or for float32 inputs and uint8 weights one in which the weights are int8.

    Old converters called int8 weights of such nodes uint8; their zero point means nothing. XNNPACK's
    delegate does not take them.
    Source: LiteRT tflite/kernels/fully_connected.cc, EvalHybrid.
    """
    w, old = n.w, n.w.quantization
    if n.x.type != _F32 or w.type != _U8 or not w.is_constant or old is None:
        return n
    quantization = Quantization(old.scales, np.zeros(1, np.int64), old.quantized_dimension)
    signed = Tensor(w.index, w.name, _I8, w.shape, quantization)
    signed.bind(w.data)
    signed.allocation_type = w.allocation_type
    return n._replace(w=signed, may_use_xnnpack=False)


def check_types(n: FilterNode) -> None:
    """Raise unless the types of input, filter, bias and output fit together and are built."""
    operator, x, w, y = n.operator, n.x, n.w, n.y
    filters = _FILTER_TYPES.get(TensorType(x.type))
    int16_product = operator == "FULLY_CONNECTED" and x.type == w.type == _I16
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
    if n.bias is not None and n.bias.type not in wanted:
        names = " or ".join(type_.name.lower() for type_ in wanted)
        raise PrepareError(f"{operator}: bias must be {names}, got {n.bias.type_name}")


def check_bias(n: FilterNode, out_depth: int) -> None:
    """Raise unless the bias, where there is one, has one element for each output channel."""
    if n.bias is not None and n.bias.size != out_depth:
        raise PrepareError(
            f"{n.operator}: bias must have one element per output channel, "
            f"got {n.bias.size} ({n.bias!r}) and {out_depth}"
        )


def sized(n: FilterNode, geometry: ConvGeometry) -> FilterNode:
    """The node with its sizes; its bias is checked, and the output gets its shape."""
    check_bias(n, geometry.out_depth)
    n.context.resize_tensor(n.y, geometry.output_shape)
    return n._replace(geometry=geometry)
