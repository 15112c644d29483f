"""Random cases of the STABLEHLO operators that LiteRT runs, and of REDUCE_WINDOW."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from .draw import Draw, Kind
from .elementwise import INTEGERS, binary
from .entry import Entry
from .one_op import OneOp

NUMBERS = (
    "float32",
    "float32",
    "int32",
    "int64",
    "int16!",
    "int8!",
    "uint8!",
    "float16",
    "uint32",
    "uint64",
    "float64",
)
BODIES = ("STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM")
TRUTHS = ("STABLEHLO_AND", "STABLEHLO_OR")


def _body(op: OneOp, kind: Kind, code: str) -> int:
    """A subgraph of one operator of two scalars, or of none ("second"); its number."""
    graph, type_ = op.subgraph("body"), TensorType[kind.type.upper()]
    a, b, out = (graph.tensor((), type_) for _ in range(3))
    if code != "second":
        graph.op(BuiltinOperator[code], [a, b], [out])
    graph.finish([a, b], [b if code == "second" else out])
    op.told.append(f"body {code}")
    return graph.index


def _pad(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*NUMBERS, "bool", "int8"), draw.shape(0, 4, 500)
    inputs = [op.input(shape, kind), op.input((), kind, constant=0.7)]
    op.output(kind)
    sides = [[draw.number(-2, 3) for _ in shape] for _ in range(2)]
    op.op(inputs, tflite.StablehloPadOptionsT(
        edge_padding_low=sides[0], edge_padding_high=sides[1],
        interior_padding=[draw.pick(0, 0, 1, 2) for _ in shape],
    ))  # fmt: skip


def _window(draw: Draw, op: OneOp) -> None:
    truth = draw.chance(0.2)
    kind = Kind("bool") if truth else draw.kind(*NUMBERS)
    shape = draw.shape(1, 4, 500)
    sizes, strides, wide = ([draw.pick(1, 2, 3) for _ in shape] for _ in range(3))
    x = op.input(shape, kind)
    start = op.input((), kind, constant=0.8)
    op_inputs = [x, start]
    if op.name == "REDUCE_WINDOW":
        codes = (5, 6) if truth else (1, 2, 3, 4)
        op_inputs += [
            op.numbers(np.array(each, np.int64), ("int64",), 0.8) for each in (sizes, strides, wide)
        ]
        op.output(kind)
        op.op(
            op_inputs,
            tflite.ReduceWindowOptionsT(reduce_function=tflite.ReduceWindowFunction(draw.pick(*codes))),
        )
        return
    op.output(kind)
    base = [draw.pick(1, 1, 2) for _ in shape]
    op.op(op_inputs, tflite.StablehloReduceWindowOptionsT(
        window_dimensions=sizes, window_strides=strides, base_dilations=base, window_dilations=wide,
        padding=[draw.pick(0, 0, 1, 2, -1) for _ in range(2 * len(shape))],
        body_subgraph_index=_body(op, kind, draw.pick(*(TRUTHS if truth else BODIES))),
    ))  # fmt: skip


def _gather(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*NUMBERS, "bool"), tuple(max(1, n) for n in draw.shape(1, 3, 300))
    rank = len(shape)
    sizes = [draw.number(1, n) for n in shape]
    dropped = [axis for axis in range(rank) if sizes[axis] == 1 and draw.chance()]
    named = [int(axis) for axis in draw.random.permutation(rank)[: draw.number(1, rank)]]
    batch = list(draw.shape(0, 2, 12))
    place = draw.number(0, len(batch))
    vector = [*batch[:place], len(named), *batch[place:]]
    implicit = len(named) == 1 and draw.chance(0.3)
    ids_shape = batch if implicit else vector
    ids = draw.random.integers(-1, max(shape) + 1, ids_shape)
    offsets = rank - len(dropped)
    at = sorted(int(i) for i in draw.random.choice(len(batch) + offsets, offsets, replace=False))
    inputs = [op.input(shape, kind), op.numbers(ids, ("int32", "int64"), 0.3)]
    op.output(kind)
    op.op(inputs, tflite.StablehloGatherOptionsT(
        offset_dims=at, collapsed_slice_dims=dropped, start_index_map=named,
        index_vector_dim=len(batch) if implicit else place, slice_sizes=sizes,
    ))  # fmt: skip


def _scatter(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind(*NUMBERS), tuple(max(1, n) for n in draw.shape(1, 3, 300))
    rank = len(shape)
    inserted = sorted(axis for axis in range(rank) if draw.chance(0.4))
    window = [draw.number(1, n) for axis, n in enumerate(shape) if axis not in inserted]
    named = [int(axis) for axis in draw.random.permutation(rank)[: draw.number(1, rank)]]
    batch = list(draw.shape(0, 2, 8))
    ids = draw.random.integers(-1, max(shape) + 1, [*batch, len(named)])
    at = sorted(int(i) for i in draw.random.choice(len(batch) + len(window), len(window), replace=False))
    spans, rest = iter(window), iter(batch)
    sizes = [next(spans if axis in at else rest) for axis in range(len(batch) + len(window))]
    inputs = [op.input(shape, kind), op.numbers(ids, ("int32", "int64"), 0.3), op.input(tuple(sizes), kind)]
    op.output(kind)
    op.op(inputs, tflite.StablehloScatterOptionsT(
        update_window_dims=at, inserted_window_dims=inserted, scatter_dims_to_operand_dims=named,
        index_vector_dim=len(batch), unique_indices=draw.chance(), indices_are_sorted=draw.chance(),
        update_computation_subgraph_index=_body(op, kind, draw.pick(*BODIES, "second", "second")),
    ))  # fmt: skip


def _random_bits(draw: Draw, op: OneOp) -> None:
    algorithm = draw.number(0, 2)
    state = op.input((draw.pick(2, 2, 3),), "uint64", constant=0.3)
    op.output("uint64")
    shape = draw.shape(1, 3, 100)
    op.output(draw.pick("int32", "uint32", "int64", "uint64"), shape)
    op.op([state], tflite.StablehloRngBitGeneratorOptionsT(algorithm=tflite.RngAlgorithm(algorithm)))


def _branches(draw: Draw, op: OneOp) -> None:
    """Of x: each branch is another operator without options."""
    shape, count = draw.shape(0, 3, 100), draw.number(1, 4)
    numbers = []
    for code in (BuiltinOperator.ABS, BuiltinOperator.NEG, BuiltinOperator.FLOOR, BuiltinOperator.RELU)[
        :count
    ]:
        graph = op.subgraph(code.name)
        x, y = graph.tensor(shape), graph.tensor(shape)
        graph.op(code, [x], [y])
        graph.finish([x], [y])
        numbers.append(graph.index)
    if op.name == "IF":
        first = op.input(draw.pick((), (1,)), "bool", constant=0.2)
        options = tflite.IfOptionsT(then_subgraph_index=numbers[0], else_subgraph_index=numbers[-1])
    else:
        first = op.numbers(draw.number(-1, count), constant=0.2)
        options = tflite.StablehloCaseOptionsT(branch_subgraph_indices=numbers)
    inputs = [first, op.input(shape, "float32")]
    op.output("float32")
    op.op(inputs, options)


ENTRIES = {
    "STABLEHLO_ADD": Entry(binary(*NUMBERS)),
    "STABLEHLO_MULTIPLY": Entry(binary(*NUMBERS)),
    "STABLEHLO_MAXIMUM": Entry(binary(*NUMBERS), nan=True),
    "STABLEHLO_MINIMUM": Entry(binary(*NUMBERS), nan=True),
    "STABLEHLO_AND": Entry(binary("bool", *INTEGERS)),
    "STABLEHLO_SHIFT_LEFT": Entry(binary(*INTEGERS)),
    "STABLEHLO_PAD": Entry(_pad),
    "STABLEHLO_REDUCE_WINDOW": Entry(_window, nan=True),
    "REDUCE_WINDOW": Entry(_window, nan=True),
    "STABLEHLO_GATHER": Entry(_gather),
    "STABLEHLO_SCATTER": Entry(_scatter, nan=True),
    "STABLEHLO_RNG_BIT_GENERATOR": Entry(_random_bits),
    "STABLEHLO_CASE": Entry(_branches),
    "IF": Entry(_branches),
}
