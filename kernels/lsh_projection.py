"""LSH_PROJECTION: bits of hashes of the input's items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .fingerprint import fingerprint64
from .index_vector import check_index_type
from .operators import registration
from .strided_copy import element_bytes

# The schema's LSHProjectionType.
_SPARSE, _DENSE = 1, 2
_NAME = "LSH_PROJECTION"


def _operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor | None, int]:
    """(seeds, items, weights, type of projection) of a node, checked."""
    if len(node.inputs) not in (2, 3) or len(node.outputs) != 1:
        raise PrepareError(
            f"{_NAME}: must have 2 or 3 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    seeds, items, weights = context.input(node, 0), context.input(node, 1), context.optional_input(node, 2)
    check_index_type(_NAME, "seeds", seeds, (TensorType.FLOAT32,))
    if len(seeds.shape) != 2 or seeds.shape[1] > 32:
        raise PrepareError(f"{_NAME}: seeds must be [hashes, at most 32 bits], got {seeds!r}")
    if not items.shape or items.shape[0] < 1:
        raise PrepareError(f"{_NAME}: there must be an item at least, got {items!r}")
    element_bytes(items, _NAME)
    if weights is not None:
        check_index_type(_NAME, "weights", weights, (TensorType.FLOAT32,))
        if weights.shape != items.shape[:1]:
            raise PrepareError(f"{_NAME}: there must be one weight an item, got {weights!r} for {items!r}")
    kind = int(getattr(node.options, "type", 0))
    if kind not in (_SPARSE, _DENSE):
        raise PrepareError(f"{_NAME}: the type must be SPARSE or DENSE, got {kind}")
    return seeds, items, weights, kind


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    seeds, _, _, kind = _operands(context, node)
    y = context.output(node, 0)
    check_index_type(_NAME, "output", y, (TensorType.INT32,))
    context.resize_tensor(y, seeds.shape[:1] if kind == _SPARSE else (seeds.size,))
    return None


def _sign_bit(seed: bytes, items: list[bytes], weights: list[float]) -> int:
    """Whether the weighted sum of the items' hashes, as signed integers, is positive."""
    score = 0.0
    for item, weight in zip(items, weights, strict=True):
        value = fingerprint64(seed + item)
        score += weight * float(value - (1 << 64) if value >> 63 else value)
    return int(score > 0)


def invoke(context: Context, node: Node) -> None:
    seeds, items, weights, kind = _operands(context, node)
    y = context.output(node, 0)
    raw = items.dense_bytes()
    rows = [row.tobytes() for row in raw.reshape(items.shape[0], -1)]
    factors = [1.0] * len(rows) if weights is None else weights.array().tolist()
    bits = []
    for seed in seeds.array().reshape(-1):
        context.cancellation.check()
        bits.append(_sign_bit(seed.tobytes(), rows, factors))
    if kind == _DENSE:
        y.array()[...] = bits
        return
    hashes, width = seeds.shape
    for i in range(hashes):
        signature = int("0" + "".join(map(str, bits[i * width : (i + 1) * width])), 2)
        # Signatures of different hashes do not overlap; shift and sum wrap as on x86.
        y.array()[i] = np.int64(signature + i * (1 << width % 32)).astype(np.int32)


REGISTRATIONS = (registration(_NAME, prepare, invoke),)
