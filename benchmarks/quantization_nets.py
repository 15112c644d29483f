"""Ten nets of random weights to measure quantization on, beside those of ../shared.

    python benchmarks/quantization_nets.py OUT --tensorflow PYTHON
    python benchmarks/quantization.py --held OUT

Each becomes a folder as quantization.py reads it: float.pb, data.npz with smooth random images, and by the
TensorFlow of PYTHON float.tflite, its files of schemes, and outputs.npz.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numlite.converter.graph_builder import GraphBuilder

SAMPLES, TESTS = 100, 60
TENSORFLOW = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np, tensorflow as tf
lite, sets = tf.compat.v1.lite.TFLiteConverter, tf.lite.OpsSet
INT16 = sets.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
for folder in sys.argv[1:]:
    data = np.load(f"{folder}/data.npz")
    def convert(name):
        made = lite.from_frozen_graph(f"{folder}/float.pb", ["x"], ["y"])
        if name != "float":
            made.optimizations = [tf.lite.Optimize.DEFAULT]
        if name.startswith("int"):
            made.representative_dataset = lambda: ([x[None]] for x in data["rep"])
        if name in ("int8", "int8_pertensor"):
            made.target_spec.supported_ops = [sets.TFLITE_BUILTINS_INT8]
            made.inference_input_type = made.inference_output_type = tf.int8
        if name == "int8_pertensor":
            made._experimental_disable_per_channel = True
        if name == "int16x8":
            made.target_spec.supported_ops = [INT16]
        if name == "float16":
            made.target_spec.supported_types = [tf.float16]
        return made.convert()
    for name in ("float", "dynamic", "float16", "int8", "int8_floatio", "int8_pertensor", "int16x8"):
        try:
            content = convert(name)
        except Exception as error:
            print(folder, name, "is not converted:", str(error).splitlines()[0][:100], flush=True)
            continue
        open(f"{folder}/{name}.tflite", "wb").write(content)
        if name == "float":
            made = tf.lite.Interpreter(model_content=content)
            made.allocate_tensors()
            given, taken = made.get_input_details()[0]["index"], made.get_output_details()[0]["index"]
            found = []
            for x in data["x"]:
                made.set_tensor(given, x[None])
                made.invoke()
                found.append(made.get_tensor(taken)[0])
            np.savez(f"{folder}/outputs.npz", float=np.array(found))
"""


class Net:
    """A graph from x on, whose weights are random and keep the size of values."""

    def __init__(self, seed: int, size: int = 16, channels: int = 3) -> None:
        self.graph, self.random = GraphBuilder(), np.random.default_rng(seed)
        self.shape = (size, size, channels)
        self.depths = {"x": channels}
        self.graph.placeholder("x", [1, *self.shape])
        self._count = 0

    def name(self, op: str) -> str:
        self._count += 1
        return f"{op}_{self._count}"

    def constant(self, values: np.ndarray) -> str:
        return self.graph.constant(self.name("Const"), values.astype(np.float32))

    def integers(self, *values: int) -> str:
        return self.graph.constant(self.name("Const"), np.array(values, np.int32))

    def node(self, op: str, *inputs: str, depth: int = 0, **attributes: object) -> str:
        """A node; depth is of its channels, those of the first operand unless told."""
        made = self.graph.node(op, self.name(op), *inputs, **attributes)  # type: ignore[arg-type]
        self.depths[made] = depth or self.depths.get(inputs[0], 0)
        return made

    def uneven(self, shape: tuple[int, ...], inputs: int) -> np.ndarray:
        """Weights whose output channels (the last axis) differ in size, as trained ones do."""
        sizes = np.exp(self.random.normal(0, 0.5, shape[-1]))
        return self.random.normal(0, np.sqrt(2 / inputs), shape) * sizes

    def bias(self, x: str, depth: int, spread: float = 0.1) -> str:
        return self.node("BiasAdd", x, self.constant(self.random.normal(0, spread, depth)))

    def conv(self, x: str, depth: int, size: int = 3, stride: int = 1, act: str = "Relu") -> str:
        inputs = self.depths[x]
        w = self.constant(self.uneven((size, size, inputs, depth), size * size * inputs))
        strides = [1, stride, stride, 1]
        y = self.bias(self.node("Conv2D", x, w, depth=depth, strides=strides, padding="SAME"), depth)
        return self.node(act, y) if act else y

    def depthwise(self, x: str, stride: int = 1, act: str = "Relu6") -> str:
        depth = self.depths[x]
        w = self.constant(self.uneven((3, 3, 1, depth), 9).transpose(0, 1, 3, 2))
        strides = [1, stride, stride, 1]
        y = self.node("DepthwiseConv2dNative", x, w, strides=strides, padding="SAME")
        y = self.bias(y, depth)
        return self.node(act, y) if act else y

    def dense(self, x: str, depth: int, act: str = "Relu") -> str:
        w = self.constant(self.uneven((self.depths[x], depth), self.depths[x]))
        y = self.bias(self.node("MatMul", x, w, depth=depth), depth)
        return self.node(act, y) if act else y

    def mean(self, x: str, *axes: int, keep: bool = False) -> str:
        return self.node("Mean", x, self.integers(*(axes or (1, 2))), keep_dims=keep)

    def hard_swish(self, x: str) -> str:
        inner = self.node("Relu6", self.node("AddV2", x, self.constant(np.float32(3))))
        return self.node("Mul", self.node("Mul", x, inner), self.constant(np.float32(1 / 6)))

    def squeezed(self, x: str) -> str:
        """x times a gate for each of its channels."""
        depth = self.depths[x]
        gate = self.conv(self.mean(x, 1, 2, keep=True), depth // 4, 1)
        return self.node("Mul", x, self.node("Sigmoid", self.conv(gate, depth, 1, act="")))

    def normalized(self, x: str) -> str:
        """Layer normalization over the last axis."""
        depth, last = self.depths[x], -1
        mean = self.mean(x, last, keep=True)
        variance = self.mean(self.node("SquaredDifference", x, mean), last, keep=True)
        inverse = self.node("Rsqrt", self.node("AddV2", variance, self.constant(np.float32(1e-3))))
        y = self.node("Mul", self.node("Sub", x, mean), inverse)
        y = self.node("Mul", y, self.constant(self.random.uniform(0.5, 2, depth)))
        return self.node("AddV2", y, self.constant(self.random.normal(0, 0.2, depth)))

    def joined(self, *parts: str) -> str:
        depth = sum(self.depths[part] for part in parts)
        made = self.graph.node("ConcatV2", self.name("ConcatV2"), *parts, self.integers_scalar(3))
        self.depths[made] = depth
        return made

    def integers_scalar(self, value: int) -> str:
        return self.graph.constant(self.name("Const"), np.array(value, np.int32))

    def classes(self, x: str, count: int = 10) -> None:
        """The last layer: classes of x, which has one value a channel."""
        logits = self.node("Mul", self.dense(x, count, act=""), self.constant(np.float32(2)))
        self.graph.node("Softmax", "y", logits)

    def result(self, x: str) -> None:
        self.graph.node("Identity", "y", x)


def plain(net: Net) -> None:
    x = net.conv(net.conv(net.conv("x", 16), 24, stride=2), 32, stride=2)
    net.classes(net.mean(x))


def residual(net: Net) -> None:
    x = net.conv("x", 16)
    for _ in range(3):
        y = net.conv(net.conv(x, 16), 16, act="")
        x = net.node("Relu", net.node("AddV2", x, y))
    net.classes(net.mean(x))


def separable(net: Net) -> None:
    x = net.conv("x", 16, stride=2, act="Relu6")
    for depth in (24, 32, 48):
        x = net.conv(net.depthwise(x), depth, 1, act="Relu6")
    net.classes(net.mean(x))


def inverted(net: Net) -> None:
    x = net.hard_swish(net.conv("x", 16, stride=2, act=""))
    for _ in range(2):
        y = net.hard_swish(net.conv(x, 48, 1, act=""))
        y = net.squeezed(net.depthwise(y, act="Relu"))
        x = net.node("AddV2", x, net.conv(y, 16, 1, act=""))
    net.classes(net.mean(x))


def perceptron(net: Net) -> None:
    x = net.node("Reshape", "x", net.integers(1, 16 * 16 * 3), depth=16 * 16 * 3)
    for depth in (96, 64, 48):
        x = net.dense(x, depth, act="Tanh")
    net.classes(x)


def coder(net: Net) -> None:
    """Down to 4 x 4 and up again, by nearest neighbours."""
    x = net.conv(net.conv("x", 16, stride=2), 8, stride=2)
    for size, depth in ((8, 16), (16, 12)):
        x = net.node("ResizeNearestNeighbor", x, net.integers(size, size), half_pixel_centers=True)
        x = net.conv(x, depth)
    net.result(net.conv(x, 3, act=""))


def dense_blocks(net: Net) -> None:
    x = net.conv("x", 16)
    for _ in range(4):
        x = net.joined(x, net.conv(net.conv(x, 16, 1), 8))
    net.classes(net.mean(net.conv(x, 24, 1)))


def branches(net: Net) -> None:
    x = net.conv("x", 16)
    for depth in (8, 12):
        window = {"ksize": [1, 3, 3, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
        pooled = net.conv(net.node("AvgPool", x, **window), depth, 1)
        most = net.node("MaxPool", x, **window)
        x = net.joined(net.conv(x, depth, 1), net.conv(net.conv(x, depth, 1), depth), pooled, most)
    net.classes(net.mean(x))


def segments(net: Net) -> None:
    """A U-net with leaky activations and a mask as its result."""

    def leaky(x: str) -> str:
        return net.node("LeakyRelu", x, alpha=0.1)

    first = leaky(net.conv("x", 12, act=""))
    second = leaky(net.conv(first, 16, stride=2, act=""))
    third = leaky(net.conv(second, 24, stride=2, act=""))
    up = net.node("ResizeBilinear", third, net.integers(8, 8), half_pixel_centers=True)
    up = leaky(net.conv(net.joined(up, second), 16, act=""))
    up = net.node("ResizeBilinear", up, net.integers(16, 16), half_pixel_centers=True)
    net.result(net.node("Sigmoid", net.conv(net.joined(up, first), 1, 1, act="")))


def mixed_tokens(net: Net) -> None:
    """Patches, layer normalization and two-layer perceptrons, added up."""
    x = net.conv("x", 32, 4, stride=4, act="")
    for _ in range(3):
        y = net.depthwise(net.normalized(x), act="")
        x = net.node("AddV2", x, y)
        y = net.conv(net.conv(net.normalized(x), 64, 1), 32, 1, act="")
        x = net.node("AddV2", x, y)
    net.classes(net.mean(net.normalized(x)))


NETS: dict[str, Callable[[Net], None]] = {
    each.__name__: each
    for each in (
        *(plain, residual, separable, inverted, perceptron, coder, dense_blocks, branches, segments),
        mixed_tokens,
    )
}


def images(random: np.random.Generator, count: int, shape: tuple[int, ...]) -> np.ndarray:
    """float32 in -1 to 1: smooth ones, of few waves, with a little noise."""
    size = shape[0]
    grid = np.arange(size) / size
    found = []
    for _ in range(count):
        x, y = np.meshgrid(grid, grid)
        waves = [
            np.sin(2 * np.pi * (a * x + b * y + c)) for a, b, c in random.uniform(-2, 2, (3 * shape[2], 3))
        ]
        image = np.array(waves).reshape(shape[2], 3, size, size).mean(axis=1).transpose(1, 2, 0)
        found.append(image * random.uniform(0.3, 1) + random.normal(0, 0.05, shape))
    return np.clip(np.array(found), -1, 1).astype(np.float32)


def make(folder: Path, seed: int, build: Callable[[Net], None]) -> None:
    """The folder of one net, without what TensorFlow makes of it."""
    net = Net(seed)
    build(net)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "float.pb").write_bytes(net.graph.graph_def.SerializeToString())
    random = np.random.default_rng(seed + 1000)
    np.savez(folder / "data.npz", x=images(random, TESTS, net.shape), rep=images(random, SAMPLES, net.shape))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="a folder for the nets")
    parser.add_argument("--tensorflow", required=True, metavar="PYTHON", help="a Python with TensorFlow")
    arguments = parser.parse_args()
    folders = [arguments.out / f"own_{name}" for name in NETS]
    for seed, (folder, build) in enumerate(zip(folders, NETS.values(), strict=True)):
        make(folder, seed, build)
    subprocess.run([arguments.tensorflow, "-c", TENSORFLOW, *map(str, folders)], check=True)


if __name__ == "__main__":
    main()
