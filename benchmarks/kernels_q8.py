"""Speed of single CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED layers in int8 and uint8, against LiteRT.

    python benchmarks/kernels_q8.py                       # the layers listed here, in int8
    python benchmarks/kernels_q8.py --type uint8 --reference
    python benchmarks/kernels_q8.py a.tflite b.tflite     # every distinct 8-bit layer of models

Each layer is a model of its own, run by both interpreters in turns in one process, on one thread
and one CPU; outputs must be equal. The ratio is LiteRT's time by ours, of the quickest runs and
of the 25th percentile. --reference compares both reference resolvers. Needs ai-edge-litert.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from typing import Any

import ai_edge_litert.interpreter as litert
import numpy as np
from kernels_conv import CONV, DENSE, DEPTHWISE, LAYERS, Layer
from numlite import interpreter as numlite
from numlite.cli.timing import time_in_turns
from numlite.schema import tflite
from numlite.schema.operator_code import builtin_code, operator_code

MORE_LAYERS = [
    Layer(CONV, (1, 112, 112, 16), (96, 1, 1, 16)),
    Layer(CONV, (1, 48, 48, 8), (16, 1, 1, 8)),
    Layer(CONV, (1, 7, 7, 960), (160, 1, 1, 960)),
    Layer(CONV, (1, 49, 10, 1), (64, 10, 4, 1), (2, 2)),
    Layer(CONV, (1, 96, 96, 3), (8, 3, 3, 3), (2, 2)),
    Layer(DEPTHWISE, (1, 7, 7, 960), (1, 3, 3, 960)),
    Layer(DEPTHWISE, (1, 48, 48, 8), (1, 3, 3, 8)),
    Layer(DEPTHWISE, (1, 48, 48, 16), (1, 3, 3, 16), (2, 2)),
    Layer(DEPTHWISE, (1, 56, 56, 144), (1, 5, 5, 144), (2, 2)),
    Layer(DEPTHWISE, (1, 24, 1, 128), (1, 10, 1, 128), padding=1),
    Layer(DENSE, (1, 128), (128, 128)),
    Layer(DENSE, (1, 128), (8, 128)),
]
TYPES = {tflite.TensorType.INT8: np.dtype(np.int8), tflite.TensorType.UINT8: np.dtype(np.uint8)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="*", help="take the layers of these models")
    parser.add_argument("--type", choices=("int8", "uint8"), default="int8")
    parser.add_argument("--reference", action="store_true", help="compare the reference kernels")
    parser.add_argument("--seconds", type=float, default=0.5, help="measuring time for each layer")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    counts = Counter(layer for path in arguments.models for layer in model_layers(path))
    dtype = np.dtype(arguments.type)
    counts = counts or Counter((layer, dtype) for layer in [*LAYERS, *MORE_LAYERS])
    total = np.zeros(2)
    print("| layer | times | LiteRT us | numlite us | ratio | 25 % | outputs that differ |")
    print("|---|---|---|---|---|---|---|")
    for (layer, type_), times in counts.items():
        theirs, ours, differing = measure(layer, type_, arguments.reference, arguments.seconds)
        total += times * np.array([theirs.min(), ours.min()])
        ratio, quarter = theirs.min() / ours.min(), np.quantile(theirs, 0.25) / np.quantile(ours, 0.25)
        print(
            f"| {type_} {layer} | {times} | {theirs.min():.2f} | {ours.min():.2f} "
            f"| {ratio:.2f} | {quarter:.2f} | {differing} |",
            flush=True,
        )
    print(f"\nall: LiteRT {total[0]:.0f} us, numlite {total[1]:.0f} us, ratio {total[0] / total[1]:.3f}")


def model_layers(path: str) -> list[tuple[Layer, np.dtype]]:
    """The 8-bit layers of a model, in order."""
    with open(path, "rb") as file:
        model = tflite.read(file.read())
    found = []
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            builtin = builtin_code(model.operator_codes[operator.opcode_index])
            if builtin not in (CONV, DEPTHWISE, DENSE):
                continue
            x, w = (subgraph.tensors[operator.inputs[i]] for i in (0, 1))
            if x.type not in TYPES:
                continue
            shapes = tuple(max(1, int(n)) for n in x.shape), tuple(map(int, w.shape))
            options = operator.builtin_options
            fused = options.fused_activation_function
            layer = Layer(builtin, *shapes, fused=fused)
            if builtin != DENSE:
                stride = options.stride_h, options.stride_w
                dilation = options.dilation_h_factor, options.dilation_w_factor
                layer = Layer(builtin, *shapes, stride, dilation, options.padding, fused)
            found.append((layer, TYPES[x.type]))
    return found


def measure(
    layer: Layer, dtype: np.dtype, reference: bool, seconds: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """Times in us of LiteRT and of numlite, and how many outputs differ."""
    model = layer_model(layer, dtype)
    info = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(info.min, info.max + 1, layer.x).astype(dtype)
    interpreters = []
    for api in (litert, numlite):
        resolver = api.OpResolverType.BUILTIN_REF if reference else api.OpResolverType.AUTO
        interpreter = api.Interpreter(
            model_content=model, num_threads=1, experimental_op_resolver_type=resolver
        )
        interpreter.allocate_tensors()
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        interpreters.append(interpreter)
    y = [i.get_tensor(i.get_output_details()[0]["index"]) for i in interpreters]
    times = time_in_turns([i.invoke for i in interpreters], seconds) / 1e3
    return times[:, 0], times[:, 1], int(np.count_nonzero(y[0] != y[1]))


def layer_model(layer: Layer, dtype: np.dtype) -> bytes:
    """A .tflite file of one layer with random weights, per channel in int8, with zero points in uint8."""
    random = np.random.default_rng(0)
    signed = dtype == np.int8
    axis = 3 if layer.code == DEPTHWISE else 0
    channels = layer.w[axis]
    fan = np.prod(layer.w) // channels
    w = random.integers(-127 if signed else 0, 128 if signed else 256, layer.w).astype(dtype)
    w_scales = (random.uniform(0.5, 1.5, channels if signed else 1) * 0.01 / np.sqrt(fan)).astype(np.float32)
    w_zeros = np.full(len(w_scales), 0 if signed else 121)
    x_zero, y_zero = (-13, -7) if signed else (117, 101)
    x_scale, y_scale = np.float32(0.0235), np.float32(0.031)
    bias = random.integers(-20000, 20000, channels).astype(np.int32)
    tensors = [
        tensor(layer.x, dtype, 0, [x_scale], [x_zero]),
        tensor(layer.w, dtype, 1, w_scales, w_zeros, axis if signed else 0),
        tensor(bias.shape, bias.dtype, 2, x_scale * w_scales, np.zeros(len(w_scales), np.int64)),
        tensor(y_shape(layer), dtype, 0, [y_scale], [y_zero]),
    ]
    subgraph = tflite.SubGraphT(
        tensors=tensors,
        inputs=[0],
        outputs=[3],
        operators=[
            tflite.OperatorT(opcode_index=0, inputs=[0, 1, 2], outputs=[3], builtin_options=options(layer))
        ],
    )
    code = operator_code(layer.code, version=3)
    buffers = [tflite.BufferT(), tflite.BufferT(data=w.tobytes()), tflite.BufferT(data=bias.tobytes())]
    return tflite.pack(tflite.ModelT(version=3, operator_codes=[code], subgraphs=[subgraph], buffers=buffers))


def tensor(
    shape: tuple[int, ...], dtype: np.dtype, buffer: int, scale: Any, zero_point: Any, axis: int = 0
) -> tflite.TensorT:
    types = {**{v: k for k, v in TYPES.items()}, np.dtype(np.int32): tflite.TensorType.INT32}
    quantization = tflite.QuantizationParametersT(
        scale=np.asarray(scale, np.float32),
        zero_point=np.asarray(zero_point, np.int64),
        quantized_dimension=axis,
    )
    return tflite.TensorT(
        shape=list(shape), type=types[np.dtype(dtype)], buffer=buffer, name="", quantization=quantization
    )


def y_shape(layer: Layer) -> tuple[int, ...]:
    if layer.code == DENSE:
        return int(np.prod(layer.x)) // layer.w[1], layer.w[0]
    sizes = []
    for n, k, stride, dilation in zip(layer.x[1:3], layer.w[1:3], layer.stride, layer.dilation, strict=True):
        extent = (k - 1) * dilation + 1
        sizes.append(-(-n // stride) if layer.padding == 0 else (n - extent) // stride + 1)
    return (layer.x[0], *sizes, layer.out_depth)


def options(layer: Layer) -> Any:
    if layer.code == DENSE:
        return tflite.FullyConnectedOptionsT(fused_activation_function=layer.fused)
    window = {
        "padding": layer.padding,
        "stride_h": layer.stride[0],
        "stride_w": layer.stride[1],
        "dilation_h_factor": layer.dilation[0],
        "dilation_w_factor": layer.dilation[1],
        "fused_activation_function": layer.fused,
    }
    if layer.code == CONV:
        return tflite.Conv2DOptionsT(**window)
    return tflite.DepthwiseConv2DOptionsT(depth_multiplier=layer.w[3] // layer.x[3], **window)


if __name__ == "__main__":
    main()
