"""MaxPoolWithArgmax, MaxPoolingWithArgmax2D and MaxUnpooling2D: where the largest values were."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError, UnsupportedError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .custom_options import STRUCTURE_PADDING, FlexOptions, raw_integers
from .fused_activation import float_activation_range
from .padding import SAME, VALID, fitting_window

_UNKNOWN = -1
_MOST_TAPS = 1 << 16


class _Pool(NamedTuple):
    """Padding as in the schema; sizes are (height, width), pads come before."""

    padding: int
    strides: tuple[int, int]
    sizes: tuple[int, int]
    activation: int = 0
    pads: tuple[int, int] = (0, 0)


def _structure(node: Node) -> _Pool:
    """The leading fields of TfLitePoolParams."""
    padding, stride_w, stride_h, width, height, activation = raw_integers(node, 6)
    pool = _Pool(STRUCTURE_PADDING.get(padding, _UNKNOWN), (stride_h, stride_w), (height, width), activation)
    return _checked(node, pool)


def _map(node: Node) -> _Pool:
    options = FlexOptions(node)
    if options.flag("include_batch_in_index"):
        raise UnsupportedError(f"{node.registration.name}: include_batch_in_index is not built")
    sizes, strides = options.integers("ksize"), options.integers("strides")
    if [len(sizes), *sizes[::3], len(strides), *strides[::3]] != [4, 1, 1, 4, 1, 1]:
        raise PrepareError(
            f"{node.registration.name}: ksize and strides must be 4 integers, the outer ones 1, "
            f"got {sizes} and {strides}"
        )
    padding = {"SAME": SAME, "VALID": VALID}.get(options.text("padding"), _UNKNOWN)
    return _checked(node, _Pool(padding, (strides[1], strides[2]), (sizes[1], sizes[2])))


def _checked(node: Node, pool: _Pool) -> _Pool:
    name = node.registration.name
    if pool.padding == _UNKNOWN or min(*pool.strides, *pool.sizes) < 1:
        raise PrepareError(
            f"{name}: padding must be SAME or VALID, strides and sizes at least 1, got {tuple(pool)}"
        )
    if pool.sizes[0] * pool.sizes[1] > _MOST_TAPS:
        raise UnsupportedError(
            f"{name}: windows of up to {_MOST_TAPS} elements are built, got {list(pool.sizes)}"
        )
    return pool


def _image(node: Node, tensor: Tensor) -> Tensor:
    if len(tensor.shape) != 4 or tensor.type != TensorType.FLOAT32:
        raise PrepareError(
            f"{node.registration.name}: input must be float32 with 4 dimensions, got {tensor!r}"
        )
    return tensor


def _prepare_pool(context: Context, node: Node, pool: _Pool, *index_types: TensorType) -> None:
    name = node.registration.name
    if len(node.inputs) != 1 or len(node.outputs) != 2:
        raise PrepareError(
            f"{name}: must have 1 input and 2 outputs, got {len(node.inputs)} and {len(node.outputs)}"
        )
    x, y, indices = _image(node, context.input(node, 0)), context.output(node, 0), context.output(node, 1)
    if y.type != TensorType.FLOAT32 or indices.type not in index_types:
        names = " or ".join(type.name.lower() for type in index_types)
        raise PrepareError(f"{name}: outputs must be float32 and {names}, got {y!r} and {indices!r}")
    float_activation_range(name, pool.activation)
    windows = [
        fitting_window(name, pool.padding, x.shape[1 + axis], pool.sizes[axis], pool.strides[axis])
        for axis in (0, 1)
    ]
    shape = (x.shape[0], windows[0].out_size, windows[1].out_size, x.shape[3])
    context.resize_tensor(y, shape)
    context.resize_tensor(indices, shape)
    node.user_data = pool._replace(pads=(windows[0].pad_before, windows[1].pad_before))


def prepare_window_argmax(context: Context, node: Node) -> None:
    """Indices count within the window, row by row, as float32 with 0.1 added."""
    _prepare_pool(context, node, _structure(node), TensorType.FLOAT32)


def prepare_image_argmax(context: Context, node: Node) -> None:
    """Indices (int32, or int64 as TensorFlow has them) are of elements in an image [height, width, channels].

    Source: LiteRT tflite/kernels/perception/max_pool_with_argmax.cc, which has no int64.
    """
    _prepare_pool(context, node, _map(node), TensorType.INT32, TensorType.INT64)


def _largest(x: np.ndarray, pool: _Pool, out: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(values, row in the window, column in the window) [batch, *out, channels]; the first largest wins."""
    extents = [(n - 1) * s + k for n, s, k in zip(out, pool.strides, pool.sizes, strict=True)]
    wide = np.full((x.shape[0], *extents, x.shape[3]), np.nan, np.float32)
    height, width = (
        min(size, extent - pad) for size, extent, pad in zip(x.shape[1:3], extents, pool.pads, strict=True)
    )
    top, left = pool.pads
    wide[:, top : top + height, left : left + width] = x[:, :height, :width]
    shape = (x.shape[0], *out, x.shape[3])
    values = np.full(shape, np.finfo(np.float32).min, np.float32)
    rows, columns = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for row in range(pool.sizes[0]):
        for column in range(pool.sizes[1]):
            seen = wide[:, row :: pool.strides[0], column :: pool.strides[1]][:, : out[0], : out[1]]
            # A NaN, as outside the image, is never larger.
            larger = seen > values
            np.copyto(values, seen, where=larger)
            rows[larger], columns[larger] = row, column
    return values, rows, columns


def _pool_values(context: Context, node: Node) -> tuple[_Pool, np.ndarray, np.ndarray]:
    """Write the values; give the rows and columns of the windows they came from."""
    pool, y = node.user_data, context.output(node, 0)
    assert isinstance(pool, _Pool)
    values, rows, columns = _largest(context.input(node, 0).array(), pool, (y.shape[1], y.shape[2]))
    low, high = float_activation_range(node.registration.name, pool.activation)
    y.array()[...] = np.clip(values, np.float32(low), np.float32(high))
    return pool, rows, columns


def invoke_window_argmax(context: Context, node: Node) -> None:
    if context.output(node, 0).size:
        pool, rows, columns = _pool_values(context, node)
        places = (rows * pool.sizes[1] + columns).astype(np.float32)
        context.output(node, 1).array()[...] = places + np.float32(0.1)


def invoke_image_argmax(context: Context, node: Node) -> None:
    x, y = context.input(node, 0), context.output(node, 0)
    if not y.size:
        return
    pool, rows, columns = _pool_values(context, node)
    found = np.zeros(y.shape, bool)
    found[...] = y.array() > np.finfo(np.float32).min
    tops = (np.arange(y.shape[1]) * pool.strides[0] - pool.pads[0])[:, np.newaxis, np.newaxis]
    lefts = (np.arange(y.shape[2]) * pool.strides[1] - pool.pads[1])[:, np.newaxis]
    channels = np.arange(x.shape[3])
    places = ((tops + rows) * x.shape[2] + lefts + columns) * x.shape[3] + channels
    # Where nothing was larger than the least float, LiteRT's place is the image's first.
    context.output(node, 1).array()[...] = np.where(found, places, channels)


def prepare_unpool(context: Context, node: Node) -> None:
    """y is zeros but where an index puts an element of x.

    int32 indices are MaxPoolWithArgmax's, float32 ones MaxPoolingWithArgmax2D's.
    Source: LiteRT tflite/kernels/perception/max_unpooling_2d.cc for int32.
    """
    name = node.registration.name
    if len(node.inputs) != 2 or len(node.outputs) != 1:
        raise PrepareError(
            f"{name}: must have 2 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    x, indices, y = _image(node, context.input(node, 0)), context.input(node, 1), context.output(node, 0)
    if (
        indices.type not in (TensorType.INT32, TensorType.FLOAT32)
        or indices.shape != x.shape
        or y.type != TensorType.FLOAT32
    ):
        raise PrepareError(
            f"{name}: indices must be int32 or float32 of the input's shape and output float32, "
            f"got {indices!r} for {x!r}, and {y!r}"
        )
    pool = _structure(node)
    batch, height, width, channels = x.shape
    if indices.type == TensorType.FLOAT32:
        sizes = (height * pool.sizes[0], width * pool.sizes[1])
        pads = tuple(
            max(0, (n - 1) * stride + k - size) // 2
            for n, stride, k, size in zip((height, width), pool.strides, pool.sizes, sizes, strict=True)
        )
        pool = pool._replace(pads=(pads[0], pads[1]))
    elif pool.padding == SAME:
        sizes = (height * pool.strides[0], width * pool.strides[1])
    else:
        sizes = tuple(  # type: ignore[assignment]
            (n - 1) * stride + k if n else 0
            for n, stride, k in zip((height, width), pool.strides, pool.sizes, strict=True)
        )
    context.resize_tensor(y, (batch, *sizes, channels))
    node.user_data = pool


def invoke_unpool(context: Context, node: Node) -> None:
    x, indices, y = context.input(node, 0), context.input(node, 1).array(), context.output(node, 0)
    pool = node.user_data
    assert isinstance(pool, _Pool)
    target = y.array()
    target[...] = 0
    if not x.size:
        return
    images = target.reshape(x.shape[0], -1)
    batch = np.arange(x.shape[0])[:, np.newaxis, np.newaxis, np.newaxis]
    if indices.dtype == np.int32:
        if indices.min() < 0 or indices.max() >= images.shape[1]:
            raise InvokeError(
                f"{node.registration.name}: indices must be in [0, {images.shape[1]}), "
                f"got {indices.min()} to {indices.max()}"
            )
        images[batch, indices] = x.array()
        return
    _, out_height, out_width, channels = y.shape
    known = np.where(np.abs(indices) < 2.0**31, indices, -1).astype(np.int64)
    rows = np.arange(x.shape[1])[:, np.newaxis, np.newaxis] * pool.strides[0] - pool.pads[0]
    columns = np.arange(x.shape[2])[:, np.newaxis] * pool.strides[1] - pool.pads[1]
    rows, columns = rows + known // pool.sizes[1], columns + known % pool.sizes[1]
    # What points outside the output is left out, as MediaPipe does.
    inside = (known >= 0) & (rows >= 0) & (rows < out_height) & (columns >= 0) & (columns < out_width)
    places = (rows * out_width + columns) * channels + np.arange(channels)
    images[np.broadcast_to(batch, x.shape)[inside], places[inside]] = x.array()[inside]


REGISTRATIONS = (
    Registration("MaxPoolingWithArgmax2D", prepare_window_argmax, invoke_window_argmax),
    Registration("MaxPoolWithArgmax", prepare_image_argmax, invoke_image_argmax),
    Registration("MaxUnpooling2D", prepare_unpool, invoke_unpool),
)
