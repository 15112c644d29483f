"""FULLY_CONNECTED: the node, checked, and which algorithm computes it in each type."""

from __future__ import annotations

from ...lite.context import Context
from ...lite.errors import PrepareError, UnsupportedError
from ...lite.kernel_call import KernelCall
from ...lite.node import Node
from ...lite.tensor import Shape, TensorType
from ..compiled.language.dot_forms import products_of
from ..fused_activation import SIGN_BIT, TANH
from ..xnnpack_nodes import takes_packed_weights
from . import filter_q8, packed_f32, packed_q8, plain
from .geometry import fully_connected_geometry
from .node import FilterNode, check_bias, check_types, resolve, with_decoded_weights, with_signed_weights
from .sums import hybrid_sums, quantized_sums

FUNCTIONS = {TANH: "tanh", SIGN_BIT: "sign_bit"}


_SPARSE_VERSION = 8


def widens(n: FilterNode) -> bool:
    """Whether uint8 by uint8 gives int16, which no kernel computes."""
    return n.x.type == n.w.type == TensorType.UINT8 and n.y.type == TensorType.INT16


def is_shuffled(node: Node) -> bool:
    """Whether the weights are in blocks of 4 rows by 16 columns."""
    weights_format = 0 if node.options is None else node.options.weights_format
    if weights_format not in (0, 1):
        raise UnsupportedError(
            "FULLY_CONNECTED: weights_format must be DEFAULT (0) or SHUFFLED4x16INT8 (1), "
            f"got {weights_format}; a model converted without it would run"
        )
    return bool(weights_format)


def checked(context: Context, node: Node) -> FilterNode:
    """The node, resolved and checked; the output gets its shape."""
    n, shape = _checked(context, node)
    context.resize_tensor(n.y, shape)
    return n


def _checked(context: Context, node: Node) -> tuple[FilterNode, Shape]:
    """The node and its output's shape.

    XNNPACK's delegate leaves all nodes of the version that brought sparse weights.
    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, VisitNode.
    """
    w, n = context.input(node, 1), resolve(context, node)
    if node.version == _SPARSE_VERSION:
        n = n._replace(may_use_xnnpack=False)
    n = with_decoded_weights(n, takes_packed_weights(w), w.sparsity is not None)
    n = with_signed_weights(n)
    if not widens(n):
        check_types(n)
    keep_num_dims = node.options is not None and bool(node.options.keep_num_dims)
    geometry, shape = fully_connected_geometry(keep_num_dims, n.x.shape, n.w.shape)
    check_bias(n, geometry.out_depth)
    if is_shuffled(node) and not widens(n):
        raise PrepareError(
            "FULLY_CONNECTED: shuffled weights need uint8 inputs and int16 outputs, "
            f"got {n.x.type_name}, {n.w.type_name} and {n.y.type_name}"
        )
    return n._replace(geometry=geometry), shape


def is_blockwise(n: FilterNode) -> bool:
    """Whether the weights have a scale for each block of a row."""
    return n.w.quantization is not None and bool(n.w.quantization.block_size)


def checked_unless_wide(context: Context, node: Node) -> FilterNode | None:
    """The node, None where its results are int16 of uint8: `invoke` gives them in Python."""
    n = checked(context, node)
    if not widens(n):
        return n
    from . import fully_connected_u8_i16

    fully_connected_u8_i16.check(n, is_shuffled(node))
    return None


def invoke(context: Context, node: Node) -> None:
    """uint8 to int16, which no kernel computes."""
    from . import fully_connected_u8_i16

    fully_connected_u8_i16.compute(_checked(context, node)[0], is_shuffled(node))


def float_calls(n: FilterNode) -> list[KernelCall]:
    return packed_f32.product_calls(n, n.geometry.batch)


def byte_calls(n: FilterNode) -> list[KernelCall]:
    """int8 and uint8, with constant weights."""
    f, g = quantized_sums(n), n.geometry
    weights = f.w.array().reshape(1, g.out_depth, 1, g.in_depth)
    products = products_of(g.out_pixels)
    name = f"panels of {products.value}"
    packed = n.packed_once(name, lambda: filter_q8.pack_filter(f, weights, products))
    return plain.byte_calls(n) if packed is None else packed_q8.product_calls(n, f, packed)


def hybrid_calls(n: FilterNode) -> list[KernelCall]:
    """float32 by constant int8; each row is quantized for itself."""
    packed = n.may_use_xnnpack and not is_blockwise(n)
    products = _packed_hybrid_products(n) if packed else _plain_hybrid_products(n)
    return [*products, *_activation(n)]


def _packed_hybrid_products(n: FilterNode) -> list[KernelCall]:
    f = hybrid_sums(n)
    if n.context.input(n.node, 1).type == TensorType.INT4:
        from . import blockwise

        calls = blockwise.channel_calls(n, f)
        if calls is not None:
            return calls
    return packed_q8.hybrid_product_calls(n, f)


def plain_hybrid_calls(n: FilterNode) -> list[KernelCall]:
    """The same with weights or a bias that are given while running."""
    return [*_plain_hybrid_products(n), *_activation(n)]


def _activation(n: FilterNode) -> list[KernelCall]:
    """An activation that is no clamp, which only weights of this kind have.

    Source: LiteRT tflite/kernels/fully_connected.cc, EvalHybridDense, ApplyActivationToVector.
    """
    if n.fused not in FUNCTIONS:
        return []
    from ..broadcast import unary_call  # few models have such a function, and it brings all of them

    return unary_call(n.context, FUNCTIONS[n.fused], "f32", n.y, n.y, 0.3)


def _plain_hybrid_products(n: FilterNode) -> list[KernelCall]:
    if is_blockwise(n):
        from . import blockwise

        return blockwise.calls(n)
    asymmetric = n.node.options is not None and bool(n.node.options.asymmetric_quantize_inputs)
    return plain.hybrid_calls(n, symmetric=not asymmetric, channel_first=False)
