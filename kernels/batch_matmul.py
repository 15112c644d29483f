"""BATCH_MATMUL: the shape rule, the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence

from ..lite.context import Context, Numerics
from ..lite.errors import UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import TensorType
from .batch_matmul_depth_scales import check_output, has_depth_scales, run
from .batch_matmul_operands import adjoints, batch_matmul_geometry
from .operators import registration

_F32, _I8, _I16, _I32 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.INT32
_TYPES = {
    (_F32, _F32, _F32),
    (_F32, _I8, _F32),
    (_I8, _I8, _I8),
    (_I8, _I8, _I32),
    (_I16, _I16, _I16),
    (_I16, _I8, _I16),
}


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if (x.type, w.type, y.type) not in _TYPES:
        raise UnsupportedError(
            "BATCH_MATMUL: built for float32, float32 x int8, int8 (to int8 or int32), int16, int16 x int8, "
            f"got {x.type_name} x {w.type_name} to {y.type_name}"
        )
    geometry = batch_matmul_geometry(*adjoints(node), x.shape, w.shape)
    context.resize_tensor(y, geometry.output_shape)
    if y.size == 0:
        return []
    if geometry.depth == 0:
        return None
    if has_depth_scales(node, x, w):
        check_output(y)
        return None
    if w.type == _F32:
        from . import batch_matmul_f32

        return batch_matmul_f32.calls(context, node, geometry)
    default = context.numerics is Numerics.DEFAULT
    if x.type == _F32 and default and w.is_constant:
        from . import batch_matmul_hybrid

        return batch_matmul_hybrid.calls(context, node, geometry)
    if x.type == _I8 and y.type == _I8 and default:
        from . import batch_matmul_q8

        fast = batch_matmul_q8.calls(context, node, geometry)
        if fast is not None:
            return fast
    from . import batch_matmul_plain

    return batch_matmul_plain.calls(context, node, geometry)


def invoke(context: Context, node: Node) -> None:
    """What no kernel takes: an empty sum, which is zeros, and scales along the dimension summed over."""
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if x.size and w.size:
        run(context, node)
        return
    quantization = y.quantization
    y.array()[...] = 0 if quantization is None or y.type not in (_I8, _I16) else quantization.zero_point


REGISTRATIONS = (registration("BATCH_MATMUL", prepare, invoke),)
