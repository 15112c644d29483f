"""What benchmarks/batch.py runs: a MobileNetV2 with random weights, and pictures as JPEG files in parquet."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numlite import metadata
from numlite.schema import tflite

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tests.model_builder import ModelBuilder

_Op = tflite.BuiltinOperator
# Expansion, channels, blocks and the first one's stride, of the paper's table 2.
_STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2)]
_STAGES += [(6, 320, 1, 1)]
_FILE_ROWS = 10_000


class _Net:
    """The network as it grows: the last tensor, its size and channels."""

    def __init__(self, size: int) -> None:
        self.model = ModelBuilder()
        self._random = np.random.default_rng(1)
        self.size, self.channels = size, 3
        self.input = self.last = self.tensor([1, size, size, 3], "image")

    def tensor(self, shape: Sequence[int], name: str | None = None) -> int:
        return self.model.tensor(shape, name=name, shape_signature=[-1, *shape[1:]])

    def weights(self, shape: Sequence[int], taken: int) -> int:
        values = self._random.standard_normal(shape) * math.sqrt(2 / taken)
        return self.model.constant(values.astype(np.float32))

    def zeros(self, count: int) -> int:
        return self.model.constant(np.zeros(count, np.float32))

    def conv(self, channels: int, kernel: int = 1, stride: int = 1, relu: bool = True) -> None:
        weights = self.weights([channels, kernel, kernel, self.channels], kernel * kernel * self.channels)
        options = tflite.Conv2DOptionsT(stride_w=stride, stride_h=stride)
        self._step(_Op.CONV_2D, weights, channels, stride, relu, options)

    def depthwise(self, stride: int) -> None:
        options = tflite.DepthwiseConv2DOptionsT(stride_w=stride, stride_h=stride, depth_multiplier=1)
        weights = self.weights([1, 3, 3, self.channels], 9)
        self._step(_Op.DEPTHWISE_CONV_2D, weights, self.channels, stride, True, options)

    def _step(
        self,
        code: tflite.BuiltinOperator,
        weights: int,
        channels: int,
        stride: int,
        relu: bool,
        options: tflite.Conv2DOptionsT | tflite.DepthwiseConv2DOptionsT,
    ) -> None:
        relu6 = tflite.ActivationFunctionType.RELU6
        options.fused_activation_function = relu6 if relu else tflite.ActivationFunctionType.NONE
        self.size, self.channels = -(-self.size // stride), channels
        made = self.tensor([1, self.size, self.size, channels])
        self.model.op(code, [self.last, weights, self.zeros(channels)], [made], options)
        self.last = made

    def block(self, expansion: int, channels: int, stride: int) -> None:
        before, channels_before = self.last, self.channels
        if expansion > 1:
            self.conv(expansion * channels_before)
        self.depthwise(stride)
        self.conv(channels, relu=False)
        if stride == 1 and channels == channels_before:
            made = self.tensor([1, self.size, self.size, channels])
            self.model.op(_Op.ADD, [before, self.last], [made], tflite.AddOptionsT())
            self.last = made

    def scores(self, classes: int) -> int:
        mean = self.tensor([1, self.channels])
        self.model.op(_Op.MEAN, [self.last, self.model.constant([1, 2])], [mean], tflite.ReducerOptionsT())
        logits, scores = self.tensor([1, classes]), self.tensor([1, classes], "scores")
        dense = [mean, self.weights([classes, self.channels], self.channels), self.zeros(classes)]
        self.model.op(_Op.FULLY_CONNECTED, dense, [logits], tflite.FullyConnectedOptionsT())
        self.model.op(_Op.SOFTMAX, [logits], [scores], tflite.SoftmaxOptionsT(beta=1.0))
        return scores


def mobilenet_v2(width: float, size: int, classes: int = 1000) -> bytes:
    """MobileNetV2 (float32, any number of pictures at once), with a normalization in its metadata."""
    net = _Net(size)
    net.conv(_rounded(32 * width), 3, 2)
    for expansion, channels, blocks, stride in _STAGES:
        for number in range(blocks):
            net.block(expansion, _rounded(channels * width), 1 if number else stride)
    net.conv(1280)
    content = net.model.build([net.input], [net.scores(classes)])
    found = metadata.read(content)
    found.set_normalization(127.5, 127.5)
    return metadata.with_metadata(content, found)


def _rounded(channels: float) -> int:
    """To a multiple of 8, and not below nine tenths."""
    found = max(8, int(channels + 4) // 8 * 8)
    return found + 8 if found < 0.9 * channels else found


def write_pictures(folder: Path, count: int, size: int, workers: int) -> None:
    """count pictures in parquet files of the columns id and image; what is there is taken as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    begins = range(0, count, _FILE_ROWS)
    with ProcessPoolExecutor(workers) as pool:
        ends = [min(begin + _FILE_ROWS, count) for begin in begins]
        list(pool.map(_write, [folder] * len(begins), begins, ends, [size] * len(begins)))


def _write(folder: Path, begin: int, end: int, size: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"pictures-{begin:08}.parquet"
    if path.exists():
        return
    table = pa.table({"id": range(begin, end), "image": [_jpeg(n, size) for n in range(begin, end)]})
    temporary = path.with_suffix(".part")
    pq.write_table(table, temporary, compression="none", row_group_size=1024)
    temporary.rename(path)


def _jpeg(seed: int, size: int) -> bytes:
    """Random colours in soft patches, with some noise, as JPEG compresses photographs."""
    from PIL import Image

    random = np.random.default_rng(seed)
    patches = Image.fromarray(random.integers(0, 256, (6, 6, 3), np.uint8)).resize((size, size))
    noisy = np.asarray(patches, np.int16) + random.integers(-8, 9, (size, size, 3))
    content = io.BytesIO()
    Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(content, "JPEG", quality=85)
    return content.getvalue()
