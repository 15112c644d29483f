"""CAST, by the rules of kernels/cast.py: also for pairs of types that the CPU casts in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...lite.tensor import TensorType
from .launch import Argument, Constant
from .tiling import elements_of, stays_even

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_HALVES = (TensorType.FLOAT16, TensorType.BFLOAT16)
_FLOATS = (*_HALVES, TensorType.FLOAT32, TensorType.FLOAT64)


def lower(b: Lowering, step: Step) -> None:
    """One launch: floats saturate as integers, integers wrap."""
    node = step.node
    node.registration.prepare(b.graph, node)  # its checks, and the shape
    x, y = b.graph.input(node, 0), b.graph.output(node, 0)
    args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y)}
    if x.size == 0:
        return
    if x.type == y.type:
        b.convert(b.pointer(x), b.pointer(y), x.size)
        return
    block = elements_of(args.values())
    limits = np.iinfo(y.dtype) if y.type not in (*_FLOATS, TensorType.BOOL) else None
    args |= {"size": x.size}
    kind = "saturate" if limits is not None and x.type in _FLOATS else "plain"
    if y.type in _HALVES:
        kind = "half"
    constants: dict[str, Constant] = {
        "KIND": "bool" if y.type == TensorType.BOOL else kind,
        "LOW": int(limits.min) if limits else 0,
        "HIGH": int(limits.max) if limits else 0,
        "BLOCK": block,
    }
    even = ("size",) if stays_even(x.shape) else ()
    b.launch("elementwise", "cast", (-(-x.size // block),), args, constants, divisible=even)
