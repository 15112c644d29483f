"""Locally connected layers of Keras 2: convolutions with a kernel of its own at each place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.tensor import Tensor
from .activations import activation_of
from .call import Call, Rule
from .kind import Kind
from .window import Window, window_of


def _locally_connected(rank: int) -> Rule:
    def rule(c: Call) -> Tensor:
        made = {1: _by_places, 2: _by_matrix}.get(c.config.integer("implementation", 1))
        if made is None:
            raise UnsupportedError(
                "implementation=3 keeps a sparse kernel; save the model with implementation 1 or 2"
            )
        window = window_of(c, rank, c.config.sizes("kernel_size", rank), ("valid", "same"))
        x = c.last(c.x)
        if -1 in x.sizes[1:]:
            raise UnsupportedError("the sizes of its input must be known; input_shapes tells those of inputs")
        starts, sizes = _places(x.sizes[1:-1], window)
        y = c.body.reshaped(
            made(c, x, window, starts), [*c.body.sizes_of(x)[:1], *sizes, c.config.positive("filters")]
        )
        bias = c.optional_weight("bias")
        if bias is not None and c.is_channels_first:
            bias = c.body.transposed(bias, [*range(1, bias.rank), 0])
        return activation_of(c)(c.back(y if bias is None else y + bias))

    return rule


def _places(sizes: Sequence[int], window: Window) -> tuple[np.ndarray, list[int]]:
    """Where the window begins at each place, which may be before the start, [places, axes]; and the result's
    sizes."""
    firsts, counts = [], []
    for size, reach, step in zip(sizes, window.kernel, window.strides, strict=True):
        if window.padding == "SAME":
            count = -(-size // step)
            missing = max((count - 1) * step + reach - size, 0)
        else:
            count, missing = max((size - reach) // step + 1, 0), 0
        firsts.append([step * i - missing // 2 for i in range(count)])
        counts.append(count)
    return np.array(list(product(*firsts))), counts


def _by_places(c: Call, x: Tensor, window: Window, starts: np.ndarray) -> Tensor:
    """[n, places, filters], by a kernel [places, elements of the window, filters]."""
    if window.padding == "SAME":
        raise UnsupportedError("implementation=1 has no padding 'same'")
    body, depth, filters = c.body, x.sizes[-1], c.config.positive("filters")
    offsets = np.array(list(product(*map(range, window.kernel))))
    flat = np.ravel_multi_index(tuple(np.moveaxis(starts[:, None] + offsets, -1, 0)), tuple(x.sizes[1:-1]))
    rows = body.reshaped(x, [-1, int(np.prod(x.sizes[1:-1])), depth])
    patches = c.make("GatherV2", rows, body.constant(flat.astype(np.int32)), body.scalar(1, DT_INT32))
    patches = body.reshaped(patches, [-1, len(starts), len(offsets) * depth])
    kernel = c.weight("kernel", [len(starts), len(offsets) * depth, filters])
    if c.is_channels_first:
        by_channel = body.reshaped(kernel, [len(starts), depth, len(offsets), filters])
        kernel = body.reshaped(body.transposed(by_channel, [0, 2, 1, 3]), list(kernel.sizes))
    y = c.make("BatchMatMulV2", body.transposed(patches, [1, 0, 2]), kernel)
    return body.transposed(y, [1, 0, 2])


def _by_matrix(c: Call, x: Tensor, window: Window, starts: np.ndarray) -> Tensor:
    """[n, everything], by one matrix whose elements beyond the windows count for nothing."""
    body, rank = c.body, window.rank
    kernel = c.weight("kernel")
    assert kernel.data is not None
    sizes = np.array(x.sizes[1:-1])
    inside = np.zeros((*sizes, len(starts)), kernel.data.dtype)
    for place, start in enumerate(starts):
        reach = zip(start.tolist(), window.kernel, sizes.tolist(), strict=True)
        covered = tuple(slice(max(a, 0), min(a + k, n)) for a, k, n in reach)
        inside[..., place][covered] = 1
    # Keras has the kernel as [..., channels, ..., filters], or with channels and filters first.
    data = kernel.data
    if c.is_channels_first:
        data = np.moveaxis(np.moveaxis(data, 0, rank), rank + 1, -1)
    depth, filters = data.shape[rank], data.shape[-1]
    matrix = data.reshape(-1, depth, len(starts), filters) * inside.reshape(-1, 1, len(starts), 1)
    flat = body.reshaped(x, [-1, int(np.prod(sizes)) * depth])
    return c.make("MatMul", flat, body.constant(matrix.reshape(flat.sizes[-1], -1)))


REGISTRATIONS: dict[str, Kind] = {
    f"LocallyConnected{rank}D": Kind(_locally_connected(rank), "kernel bias?use_bias") for rank in (1, 2)
}
