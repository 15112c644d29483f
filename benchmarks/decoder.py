"""A decoder's step of one token: how fast weights and cache are read, beside a plain sum of as many bytes.

    python benchmarks/decoder.py                       # 120 million parameters, 1 024 past tokens
    python benchmarks/decoder.py --million 20 --seconds 2

Products are a chain of FULLY_CONNECTED of one row. Attention is DYNAMIC_UPDATE_SLICE of both caches, two
BATCH_MATMUL and SOFTMAX; `in place` the caches are outputs, too, and one buffer of a CompiledModel is both,
`in variables` they are resource variables. `counters` are 64 of these that a step adds to, 16 kB each.
All take turns in one process on one CPU; `of sum` is the median over the rounds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import ai_edge_litert.compiled_model as litert_compiled
import ai_edge_litert.interpreter as litert
import numpy as np
from compare import clock_of, machine, pin
from numlite import compiled_model
from numlite import interpreter as numlite
from numlite.cli.comparison import litert_version
from numlite.cli.timing import Spread, in_words, time_in_turns
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tests.cases.packed_weights import packed
from tests.model_builder import ModelBuilder, SubgraphBuilder

WIDTH, HIDDEN = 768, 3072
HEADS, DEPTH = 12, 64
BLOCK = 32
RANDOM = np.random.default_rng(5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--million", type=float, default=120, help="parameters of the products")
    parser.add_argument("--tokens", type=int, default=1024, help="past tokens of the attention")
    parser.add_argument("--seconds", type=float, default=5.0, help="measuring time for each model")
    parser.add_argument("--cpu", type=int, help="CPU to run on (default: the last one allowed)")
    parser.add_argument("--cpu-time", action="store_true", help="CPU time: for a machine that is busy")
    arguments = parser.parse_args()
    kind = ", CPU time" if arguments.cpu_time else ""
    print(f"{machine()}, CPU {pin(arguments.cpu)}, ai-edge-litert {litert_version()}{kind}\n")
    print("| step | bytes | LiteRT | numlite | LiteRT / numlite | numlite | plain sum | of sum |")
    print("|---|---|---|---|---|---|---|---|")
    for name, calls, nbytes in steps(arguments):
        plain = RANDOM.integers(0, 1 << 40, nbytes // 8)
        report(name, nbytes, time_in_turns([*calls, plain.sum], arguments.seconds, clock=clock_of(arguments)))
    return 0


def steps(arguments: argparse.Namespace) -> Iterator[tuple[str, list[Callable[[], Any]], int]]:
    """Name, LiteRT's call and numlite's, and the bytes that they read."""
    layers = max(2, round(arguments.million * 1e6 / (WIDTH * HIDDEN)) // 2 * 2)
    count = layers * WIDTH * HIDDEN
    for name, add, bits in (
        ("float32", float_weights, 32.0),
        ("int8", byte_weights, 8.0),
        ("int4", packed_weights, 4.0),
        (f"int4 blocks of {BLOCK}", blockwise_weights, 4 + 16 / BLOCK),
    ):
        yield f"products, {name}", interpreted(products(layers, add)), int(count * bits / 8)
    for dtype in (np.float32, np.int8):
        nbytes = 2 * HEADS * DEPTH * arguments.tokens * np.dtype(dtype).itemsize
        name = f"attention, {np.dtype(dtype).name}"
        yield name, interpreted(attention(dtype, arguments.tokens)), nbytes
        yield f"{name}, in place", in_place(attention(dtype, arguments.tokens, "outputs")), nbytes
        yield f"{name}, in variables", interpreted(attention(dtype, arguments.tokens, "variables")), nbytes
    yield "counters", interpreted(counters(64, 4096)), 64 * 4096 * 4


def interpreted(content: bytes) -> list[Callable[[], Any]]:
    return [opened(api, content).invoke for api in (litert, numlite)]


def in_place(content: bytes) -> list[Callable[[], Any]]:
    """The last outputs lie where the last inputs do."""
    details = opened(numlite, content).get_input_details()
    calls = []
    for api in (litert_compiled, compiled_model):
        model = api.CompiledModel.from_buffer(content)
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
        for buffer, detail in zip(inputs, details, strict=True):
            buffer.write(random_value(detail))
        calls.append(partial(model.run_by_index, 0, inputs, [outputs[0], *inputs[-2:]]))
    return calls


def report(name: str, nbytes: int, times: np.ndarray) -> None:
    theirs, ours, sums = (Spread.of(times[:, k]).median for k in range(3))
    ratio, share = (Spread.of(times[:, k] / times[:, 1]).median for k in (0, 2))
    cells = [name, f"{nbytes / 1e6:.0f} MB", in_words(theirs), in_words(ours), f"{ratio:.2f}"]
    cells += [f"{nbytes / ours:.1f} GB/s", f"{nbytes / sums:.1f} GB/s", f"{share:.0%}"]
    print(f"| {' | '.join(cells)} |", flush=True)


def opened(api: Any, content: bytes) -> Any:
    interpreter = api.Interpreter(model_content=content, num_threads=1)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], random_value(detail))
    interpreter.invoke()
    return interpreter


def random_value(detail: dict[str, Any]) -> np.ndarray:
    values = RANDOM.uniform(-1, 1, detail["shape"]) * (50 if detail["dtype"] == np.int8 else 1)
    return values.astype(detail["dtype"])


def float_weights(model: ModelBuilder, units: int, depth: int) -> int:
    return model.constant(RANDOM.standard_normal((units, depth), np.float32) * np.float32(depth**-0.5))


def small(low: int, high: int, units: int, depth: int) -> np.ndarray:
    return RANDOM.integers(low, high, (units, depth), np.int8, endpoint=True)


def byte_weights(model: ModelBuilder, units: int, depth: int) -> int:
    values = small(-127, 127, units, depth)
    return model.tensor(values.shape, np.int8, values, scale=[0.014 * depth**-0.5] * units, zero_point=0)


def packed_weights(model: ModelBuilder, units: int, depth: int) -> int:
    kind, values = tflite.TensorType.INT4, small(-7, 7, units, depth)
    scales = [0.23 * depth**-0.5] * units
    return model.tensor(values.shape, kind, packed(values, kind), scale=scales, zero_point=0)


def blockwise_weights(model: ModelBuilder, units: int, depth: int) -> int:
    kind = tflite.TensorType.INT4
    index = model.tensor((units, depth), kind, packed(small(-7, 7, units, depth), kind))
    scales = np.full((units, depth // BLOCK), 0.23 * depth**-0.5, np.float16)
    details = tflite.BlockwiseQuantizationT(scales=model.constant(scales), zero_points=-1, block_size=BLOCK)
    quantization = tflite.QuantizationParametersT(details=details)
    model.model.subgraphs[0].tensors[index].quantization = quantization
    return index


def products(layers: int, add: Callable[[ModelBuilder, int, int], int]) -> bytes:
    model = ModelBuilder()
    first = x = model.tensor((1, WIDTH))
    for layer in range(layers):
        depth, units = (WIDTH, HIDDEN) if layer % 2 == 0 else (HIDDEN, WIDTH)
        y = model.tensor((1, units))
        bias = model.constant(np.zeros(units, np.float32))
        inputs = [x, add(model, units, depth), bias]
        model.op(BuiltinOperator.FULLY_CONNECTED, inputs, [y], tflite.FullyConnectedOptionsT(), 12)
        x = y
    return model.build([first], [x])


def attention(dtype: type, tokens: int, kept_in: str = "") -> bytes:
    """Both caches [1, heads, tokens, depth] are inputs, which may change where they are kept in outputs, or
    variables.
    """
    model = ModelBuilder()
    bytes_ = dtype is np.int8

    def tensor(*shape: int, scale: float = 0.05, zero_point: int = 3) -> int:
        quantization = {"scale": scale, "zero_point": zero_point} if bytes_ else {}
        return model.tensor(shape, dtype, **quantization)

    q, new = tensor(1, HEADS, 1, DEPTH), tensor(1, HEADS, 1, DEPTH)
    at = model.constant([0, 0, tokens // 2, 0])
    caches = [tensor(1, HEADS, tokens, DEPTH) for _ in range(2)]
    updated = [tensor(1, HEADS, tokens, DEPTH) for _ in range(2)]
    handles = variables(model, caches) if kept_in == "variables" else []
    for cache, result in zip(caches, updated, strict=True):
        options = tflite.DynamicUpdateSliceOptionsT()
        model.op(BuiltinOperator.DYNAMIC_UPDATE_SLICE, [cache, new, at], [result], options, 1)
    for handle, result in zip(handles, updated, strict=False):
        model.op(BuiltinOperator.ASSIGN_VARIABLE, [handle, result], [])
    scores, shares = (
        tensor(1, HEADS, 1, tokens, scale=s, zero_point=z) for s, z in ((0.2, 3), (1 / 256, -128))
    )
    mixed = tensor(1, HEADS, 1, DEPTH)
    version = 4 if bytes_ else 1
    product = tflite.BatchMatMulOptionsT(adj_y=True)
    model.op(BuiltinOperator.BATCH_MATMUL, [q, updated[0]], [scores], product, version)
    softmax = tflite.SoftmaxOptionsT(beta=1.0)
    model.op(BuiltinOperator.SOFTMAX, [scores], [shares], softmax, 2 if bytes_ else 1)
    model.op(
        BuiltinOperator.BATCH_MATMUL, [shares, updated[1]], [mixed], tflite.BatchMatMulOptionsT(), version
    )
    inputs = [q, new, *(() if handles else caches)]
    return model.build(inputs, [mixed, *(updated if kept_in == "outputs" else ())])


def variables(model: ModelBuilder, reads: list[int]) -> list[int]:
    """Handles of variables that are zeros at first and are read into these tensors."""
    start = model.add_subgraph("start")
    options = tflite.CallOnceOptionsT(init_subgraph_index=start.index)
    model.op(BuiltinOperator.CALL_ONCE, [], [], options)
    handles = []
    for name, read in enumerate(reads):
        like = model.model.subgraphs[0].tensors[read]
        zeros = np.zeros(like.shape, np.int8 if like.type == tflite.TensorType.INT8 else np.float32)
        start.op(BuiltinOperator.ASSIGN_VARIABLE, [variable(start, str(name)), start.constant(zeros)], [])
        handles.append(variable(model, str(name)))
        model.op(BuiltinOperator.READ_VARIABLE, [handles[-1]], [read])
    start.finish([], [])
    return handles


def variable(graph: SubgraphBuilder, name: str) -> int:
    handle = graph.tensor((), tflite.TensorType.RESOURCE)
    options = tflite.VarHandleOptionsT(container="", shared_name=name)
    graph.op(BuiltinOperator.VAR_HANDLE, [], [handle], options)
    return handle


def counters(count: int, size: int) -> bytes:
    model = ModelBuilder()
    x = model.tensor((1,))
    reads = [model.tensor((size,)) for _ in range(count)]
    for handle, read in zip(variables(model, reads), reads, strict=True):
        more = model.tensor((size,))
        model.op(BuiltinOperator.ADD, [read, x], [more], tflite.AddOptionsT())
        model.op(BuiltinOperator.ASSIGN_VARIABLE, [handle, more], [])
    y = model.tensor((1,))
    model.op(BuiltinOperator.ADD, [x, x], [y], tflite.AddOptionsT())
    return model.build([x], [y])


if __name__ == "__main__":
    sys.exit(main())
