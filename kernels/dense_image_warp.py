"""DenseImageWarp: pixels of an image from where a flow says, by NumPy."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import TensorType

_NAME = "DenseImageWarp"


def prepare(context: Context, node: Node) -> None:
    """y [n, h, w, c] = x at (row, column) - flow, between pixels linearly; all float32, flow [n, h, w, 2].

    Places outside count as the nearest inside; h and w are 2 or more.
    Source: LiteRT tflite/kernels/perception/dense_image_warp.cc.
    """
    if len(node.inputs) != 2 or len(node.outputs) != 1:
        raise PrepareError(
            f"{_NAME}: must have 2 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    x, flow, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if any(tensor.type != TensorType.FLOAT32 for tensor in (x, flow, y)):
        raise PrepareError(f"{_NAME}: all must be float32, got {x!r}, {flow!r} and {y!r}")
    if len(x.shape) != 4 or min(x.shape[1:3]) < 2 or flow.shape != (*x.shape[:3], 2):
        raise PrepareError(
            f"{_NAME}: input must be [n, h, w, c] with h and w of 2 or more, and flow [n, h, w, 2], "
            f"got {x!r} and {flow!r}"
        )
    context.resize_tensor(y, x.shape)


def invoke(context: Context, node: Node) -> None:
    x, flow = context.input(node, 0).array(), context.input(node, 1).array()
    batch, height, width, _ = x.shape
    rows, down = _between(np.arange(height, dtype=np.float32)[:, np.newaxis] - flow[..., 0], height)
    columns, right = _between(np.arange(width, dtype=np.float32) - flow[..., 1], width)
    images = np.arange(batch)[:, np.newaxis, np.newaxis]
    upper, lower = (
        right * (x[images, line, columns + 1] - x[images, line, columns]) + x[images, line, columns]
        for line in (rows, rows + 1)
    )
    context.output(node, 0).array()[...] = down * (lower - upper) + upper


def _between(places: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each place the pixel before it (never the last), and the part of the way to the next [.., 1]."""
    # NaN is a place, too: the first pixel.
    before = np.fmin(np.fmax(np.floor(places), 0), size - 2)
    before = np.nan_to_num(before, nan=0.0)
    part = np.clip(np.nan_to_num(places - before, nan=0.0), 0, 1).astype(np.float32)
    return before.astype(np.intp), part[..., np.newaxis]


REGISTRATIONS = (Registration(_NAME, prepare, invoke),)
