"""Speed of single CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED layers in float32, against LiteRT.

    python benchmarks/kernels_conv.py                     # the layers listed here
    python benchmarks/kernels_conv.py a.tflite b.tflite   # every distinct float layer of models

Each layer is a model of its own, run by both interpreters in turns in one process, on one thread
and one CPU. The ratio is LiteRT's time by ours, of the quickest runs and of the 25th percentile.
Needs ai-edge-litert.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import ai_edge_litert.interpreter as litert
import numpy as np
from numlite import interpreter as numlite
from numlite.schema import tflite
from numlite.schema.operator_code import builtin_code, operator_code

CONV, DEPTHWISE, DENSE = (
    tflite.BuiltinOperator.CONV_2D,
    tflite.BuiltinOperator.DEPTHWISE_CONV_2D,
    tflite.BuiltinOperator.FULLY_CONNECTED,
)


class Layer(NamedTuple):
    """One layer: shapes as in the file; stride and dilation are (vertical, horizontal)."""

    code: int
    x: tuple[int, ...]
    w: tuple[int, ...]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: int = 0
    fused: int = 3

    def __str__(self) -> str:
        name = {CONV: "conv", DEPTHWISE: "depthwise", DENSE: "dense"}[self.code]
        x, w = "x".join(map(str, self.x)), "x".join(map(str, self.w))
        return f"{name} {x} by {w} stride {self.stride[0]}"

    @property
    def out_depth(self) -> int:
        return self.w[3] if self.code == DEPTHWISE else self.w[0]

    def multiplies(self, y_size: int) -> int:
        return y_size * int(np.prod(self.w[1:3] if self.code == DEPTHWISE else self.w[1:]))


LAYERS = [
    Layer(CONV, (1, 112, 112, 32), (64, 1, 1, 32)),
    Layer(CONV, (1, 56, 56, 24), (144, 1, 1, 24)),
    Layer(CONV, (1, 56, 56, 144), (24, 1, 1, 144), fused=0),
    Layer(CONV, (1, 14, 14, 512), (512, 1, 1, 512)),
    Layer(CONV, (1, 7, 7, 320), (1280, 1, 1, 320)),
    Layer(CONV, (1, 56, 56, 64), (64, 3, 3, 64)),
    Layer(CONV, (1, 32, 32, 16), (16, 3, 3, 16)),
    Layer(CONV, (1, 28, 28, 128), (256, 3, 3, 128), (2, 2)),
    Layer(CONV, (1, 224, 224, 3), (32, 3, 3, 3), (2, 2)),
    Layer(CONV, (1, 32, 32, 3), (16, 3, 3, 3)),
    Layer(DEPTHWISE, (1, 112, 112, 32), (1, 3, 3, 32)),
    Layer(DEPTHWISE, (1, 14, 14, 512), (1, 3, 3, 512)),
    Layer(DEPTHWISE, (1, 112, 112, 64), (1, 3, 3, 64), (2, 2)),
    Layer(DEPTHWISE, (1, 14, 14, 672), (1, 5, 5, 672)),
    Layer(DEPTHWISE, (1, 28, 28, 64), (1, 3, 3, 64), dilation=(2, 2)),
    Layer(DEPTHWISE, (1, 28, 28, 16), (1, 3, 3, 64)),
    Layer(DENSE, (1, 1280), (1000, 1280), fused=0),
    Layer(DENSE, (1, 640), (128, 640)),
    Layer(DENSE, (32, 640), (128, 640)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="*", help="take the layers of these models")
    parser.add_argument("--seconds", type=float, default=0.5, help="measuring time for each layer")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    counts = Counter(layer for path in arguments.models for layer in model_layers(path)) or Counter(LAYERS)
    total = np.zeros(2)
    print("| layer | times | LiteRT us | numlite us | ratio | 25 % | GFLOP/s | largest error |")
    print("|---|---|---|---|---|---|---|---|")
    for layer, times in sorted(counts.items()):
        theirs, ours, error, multiplies = measure(layer, arguments.seconds)
        total += times * np.array([theirs.min(), ours.min()])
        ratio, quarter = theirs.min() / ours.min(), np.quantile(theirs, 0.25) / np.quantile(ours, 0.25)
        print(
            f"| {layer} | {times} | {theirs.min():.1f} | {ours.min():.1f} | {ratio:.2f} | {quarter:.2f} "
            f"| {2e-3 * multiplies / ours.min():.0f} | {error:.0e} |",
            flush=True,
        )
    print(f"\nall: LiteRT {total[0]:.0f} us, numlite {total[1]:.0f} us, ratio {total[0] / total[1]:.3f}")


def model_layers(path: str) -> list[Layer]:
    """The float layers of a model, in order."""
    with open(path, "rb") as file:
        model = tflite.read(file.read())
    found = []
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            builtin = builtin_code(model.operator_codes[operator.opcode_index])
            if builtin not in (CONV, DEPTHWISE, DENSE):
                continue
            x, w = (subgraph.tensors[operator.inputs[i]] for i in (0, 1))
            if x.type != tflite.TensorType.FLOAT32 or w.type != tflite.TensorType.FLOAT32:
                continue
            shapes = tuple(max(1, int(n)) for n in x.shape), tuple(map(int, w.shape))
            options = operator.builtin_options
            fused = options.fused_activation_function
            if builtin == DENSE:
                found.append(Layer(builtin, *shapes, fused=fused))
                continue
            stride = options.stride_h, options.stride_w
            dilation = options.dilation_h_factor, options.dilation_w_factor
            found.append(Layer(builtin, *shapes, stride, dilation, options.padding, fused))
    return found


def layer_model(layer: Layer) -> bytes:
    """A .tflite file of one layer with random weights."""
    random = np.random.default_rng(0)
    fan = np.prod(layer.w[1:3] if layer.code == DEPTHWISE else layer.w[1:])
    w = (random.standard_normal(layer.w) / np.sqrt(fan)).astype(np.float32)
    bias = random.standard_normal(layer.out_depth).astype(np.float32)
    options: Any
    if layer.code == DENSE:
        options = tflite.FullyConnectedOptionsT(fused_activation_function=layer.fused)
        y_shape: tuple[int, ...] = (int(np.prod(layer.x)) // layer.w[1], layer.w[0])
    else:
        window = {
            "padding": layer.padding,
            "stride_h": layer.stride[0],
            "stride_w": layer.stride[1],
            "dilation_h_factor": layer.dilation[0],
            "dilation_w_factor": layer.dilation[1],
            "fused_activation_function": layer.fused,
        }
        if layer.code == CONV:
            options = tflite.Conv2DOptionsT(**window)
        else:
            options = tflite.DepthwiseConv2DOptionsT(depth_multiplier=layer.w[3] // layer.x[3], **window)
        y_shape = (layer.x[0], 1, 1, layer.out_depth)  # both interpreters work the size out
    float32 = tflite.TensorType.FLOAT32
    tensors = [
        tflite.TensorT(name=name, shape=list(shape), type=float32, buffer=buffer)
        for name, shape, buffer in (
            ("x", layer.x, 0),
            ("w", layer.w, 1),
            ("bias", bias.shape, 2),
            ("y", y_shape, 0),
        )
    ]
    model = tflite.ModelT(
        version=3,
        operator_codes=[operator_code(layer.code, version=2)],
        buffers=[tflite.BufferT(), tflite.BufferT(data=w.tobytes()), tflite.BufferT(data=bias.tobytes())],
        subgraphs=[
            tflite.SubGraphT(
                tensors=tensors,
                inputs=[0],
                outputs=[3],
                operators=[
                    tflite.OperatorT(opcode_index=0, inputs=[0, 1, 2], outputs=[3], builtin_options=options)
                ],
            )
        ],
    )
    return tflite.pack(model)


def measure(layer: Layer, seconds: float) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Times of LiteRT and of numlite in us, the largest relative error, and how many multiplies there are."""
    model = layer_model(layer)
    x = np.random.default_rng(1).standard_normal(layer.x).astype(np.float32)
    outputs, runs = [], []
    for api in (litert, numlite):
        interpreter: Any = api.Interpreter(model_content=model, num_threads=1)
        interpreter.allocate_tensors()
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
        runs.append(interpreter.invoke)
    times: list[list[float]] = [[], []]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 10:
        for run, into in zip(runs, times, strict=True):
            into.append(shortest(run))
    error = np.abs(outputs[1] - outputs[0]).max() / np.abs(outputs[0]).max()
    return np.array(times[0]), np.array(times[1]), float(error), layer.multiplies(outputs[0].size)


def shortest(run: Callable[[], None]) -> float:
    """The shorter of two runs, in us."""
    first = time.perf_counter_ns()
    run()
    second = time.perf_counter_ns()
    run()
    return min(second - first, time.perf_counter_ns() - second) / 1e3


if __name__ == "__main__":
    main()
