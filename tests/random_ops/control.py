"""Random models of more than one operator: loops, variables, compositions, chains that share values."""

from __future__ import annotations

import numpy as np
from flatbuffers import flexbuffers
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator as B
from numlite.schema.tflite import TensorType

from ..model_builder import SubgraphBuilder
from .draw import Draw, Kind, Shape
from .entry import Entry
from .one_op import OneOp

_OPTIONS = {B.ADD: tflite.AddOptionsT, B.SUB: tflite.SubOptionsT, B.MUL: tflite.MulOptionsT}
_UNARY = {"float32": (B.ABS, B.NEG, B.RELU, B.FLOOR, B.SQUARE), "int32": (B.ABS, B.NEG)}
_BINARY = (B.ADD, B.SUB, B.MUL, B.MAXIMUM, B.MINIMUM)
_VARIABLE_TYPES = ("float32", "float32", "int8!", "int32", "int64", "bool", "uint8!", "float16", "int16!")


def _step(draw: Draw, graph: SubgraphBuilder, values: list[int], kind: Kind, shape: Shape) -> int:
    """Another value of the same shape, of one or two of those that are there."""
    type_ = TensorType[kind.type.upper()]
    y, how = graph.tensor(shape, type_), draw.number(0, 3)
    if how == 0:
        graph.op(draw.pick(*_UNARY[kind.type]), [draw.pick(*values)], [y])
    elif how == 1 and shape:
        order = graph.constant(np.array([*range(len(shape))], np.int32))
        flat = graph.tensor((int(np.prod(shape)),), type_)
        graph.op(B.RESHAPE, [draw.pick(*values)], [flat], tflite.ReshapeOptionsT(new_shape=[-1]))
        sizes = graph.constant(np.array(shape, np.int32))
        same = graph.tensor(shape, type_)
        graph.op(B.RESHAPE, [flat, sizes], [same])
        graph.op(B.TRANSPOSE, [same, order], [y])
    else:
        code = draw.pick(*_BINARY)
        options = _OPTIONS[code]() if code in _OPTIONS else None
        graph.op(code, [draw.pick(*values), draw.pick(*values)], [y], options)
    return y


def _chain(draw: Draw, op: OneOp) -> None:
    """Values of which some are used twice, some not at all; results among them, and a given one perhaps."""
    kind, shape = draw.kind("float32", "int32"), draw.shape(0, 4, 200)
    values = [op.input(shape, kind, lambda shape: _small(draw, kind, shape), 0.0) for _ in range(2)]
    made = []
    for _ in range(draw.number(1, 7)):
        made.append(_step(draw, op.model, [*values, *made], kind, shape))
    op.results(sorted({made[-1], *(draw.pick(*made) for _ in range(2))}))
    op.told.append(f"{len(made)} steps")


def _small(draw: Draw, kind: Kind, shape: Shape) -> np.ndarray:
    return draw.random.integers(-3, 4, shape).astype(kind.dtype)


def _loop(draw: Draw, op: OneOp) -> None:
    """Turns of a body that gives each value another, an old one, or itself."""
    kind, shape = draw.kind("float32", "int32"), draw.shape(0, 3, 50)
    count, turns = draw.number(1, 3), draw.number(0, 4)
    type_ = TensorType[kind.type.upper()]
    condition, body = op.subgraph("condition"), op.subgraph("body")
    for graph in (condition, body):
        i = graph.tensor((), np.int32)
        values = [graph.tensor(shape, type_) for _ in range(count)]
        if graph is condition:
            less = graph.tensor((), np.bool_)
            graph.op(B.LESS, [i, graph.constant(np.array(turns, np.int32))], [less])
            graph.finish([i, *values], [less])
            continue
        after = graph.tensor((), np.int32)
        graph.op(B.ADD, [i, graph.constant(np.array(1, np.int32))], [after], tflite.AddOptionsT())
        graph.finish([i, *values], [after, *(_step(draw, graph, values, kind, shape) for _ in values)])
    inputs = [op.input((), "int32", lambda shape: np.zeros(shape, np.int32), 0.0)]
    inputs += [op.input(shape, kind, lambda shape: _small(draw, kind, shape), 0.0) for _ in range(count)]
    op.output("int32")
    for _ in range(count):
        op.output(kind, shape)
    options = tflite.WhileOptionsT(cond_subgraph_index=condition.index, body_subgraph_index=body.index)
    op.op(inputs, options)
    op.told.append(f"{turns} turns")


def _composite(draw: Draw, op: OneOp) -> None:
    """A composition of a few steps, which runs as its subgraph."""
    kind, shape = draw.kind("float32", "int32"), draw.shape(0, 3, 50)
    graph = op.subgraph("decomposition")
    values = [graph.tensor(shape, TensorType[kind.type.upper()]) for _ in range(draw.number(1, 3))]
    made = [_step(draw, graph, values, kind, shape) for _ in range(draw.number(1, 2))]
    graph.finish(values, made)
    inputs = [op.input(shape, kind, lambda shape: _small(draw, kind, shape), 0.0) for _ in values]
    for _ in made:
        op.output(kind, shape)
    op.op(inputs, tflite.StableHLOCompositeOptionsT(
        name="random.composition", decomposition_subgraph_index=graph.index,
        composite_attributes=bytes(flexbuffers.Dumps({})),
    ))  # fmt: skip


def _variable(draw: Draw, op: OneOp) -> None:
    """What was given is assigned, and read before or after; other runs may have other sizes."""
    kind, graph = draw.kind(*_VARIABLE_TYPES), op.model
    x = op.input(draw.shape(0, 4, 200), kind, constant=0.1)
    handle = graph.tensor((), TensorType.RESOURCE)
    options = tflite.VarHandleOptionsT(container="", shared_name="kept")
    graph.op(B.VAR_HANDLE, [], [handle], options)
    graph.op(B.ASSIGN_VARIABLE, [handle, x], [])
    op.output(kind)
    op.op([handle])


ENTRIES = {
    "chain": Entry(_chain),
    "WHILE": Entry(_loop),
    "STABLEHLO_COMPOSITE": Entry(_composite),
    "READ_VARIABLE": Entry(_variable),
}
