"""Sets of tensors that share their scale: on random graphs, and where the scale comes from."""

import numpy as np
import pytest
from numlite.converter.quantization.float_graph import FloatGraph, Site
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.propagate import Sets
from numlite.converter.quantization.scheme import Scheme
from numlite.converter.quantization.selection import select
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import outputs, quantized, ranges, samples

Op = tflite.BuiltinOperator
SHAPE = (1, 4, 4, 2)
FREE = (Op.ADD, Op.SUB, Op.LOGISTIC, Op.TANH, Op.RELU)
TIED = (Op.RESHAPE, Op.TRANSPOSE, Op.MAXIMUM, Op.MINIMUM, Op.CONCATENATION)


def random_graph(seed: int, count: int = 30) -> bytes:
    """Operators that have free and tied scales, of random earlier tensors of one shape."""
    random = np.random.default_rng(seed)
    model = ModelBuilder()
    tensors = [model.tensor(SHAPE, name="x"), model.tensor(SHAPE, name="y")]
    inputs = list(tensors)
    for i in range(count):
        code = (FREE + TIED)[random.integers(len(FREE) + len(TIED))]
        a, b = (tensors[random.integers(max(0, len(tensors) - 6), len(tensors))] for _ in range(2))
        result = model.tensor(SHAPE, name=f"t{i}")
        if code in (Op.ADD, Op.SUB, Op.MAXIMUM, Op.MINIMUM):
            model.op(code, [a, b], [result])
        elif code == Op.RESHAPE:
            model.op(code, [a, model.constant(list(SHAPE))], [result])
        elif code == Op.TRANSPOSE:
            model.op(code, [a, model.constant([0, 2, 1, 3])], [result])
        elif code == Op.CONCATENATION:
            wide = model.tensor((1, 4, 4, 4), name=f"c{i}")
            model.op(code, [a, b], [wide], tflite.ConcatenationOptionsT(axis=3))
            begin, size = model.constant([0, 0, 0, 1]), model.constant(list(SHAPE))
            model.op(Op.SLICE, [wide, begin, size], [result])
        else:
            model.op(code, [a], [result])
        tensors.append(result)
    return model.build(inputs, tensors[-3:])


@pytest.mark.parametrize("seed", range(40))
def test_tied_tensors_have_one_scale_and_an_edge_one_quantize(seed: int) -> None:
    content = random_graph(seed)
    data = samples(content, 4)
    made = quantized(content, data)
    model = tflite.unpack(tflite.read(made))
    (graph,) = model.subgraphs
    codes = [max(c.builtin_code, c.deprecated_builtin_code) for c in model.operator_codes]
    producers = {int(t): codes[o.opcode_index] for o in graph.operators for t in o.outputs}

    def scale(t: int) -> tuple[float, int]:
        found = graph.tensors[t].quantization
        return float(found.scale[0]), int(found.zero_point[0])

    for operator in graph.operators:
        code = codes[operator.opcode_index]
        quantized_tensors = [
            int(t)
            for t in (*operator.inputs, *operator.outputs)
            if graph.tensors[t].type == tflite.TensorType.INT8
        ]
        if code in (*TIED, Op.SLICE):
            assert len({scale(t) for t in quantized_tensors}) == 1
        if code == Op.QUANTIZE and graph.tensors[operator.inputs[0]].type != tflite.TensorType.FLOAT32:
            assert producers.get(int(operator.inputs[0])) != Op.QUANTIZE
            assert scale(operator.inputs[0]) != scale(operator.outputs[0])
    real = np.concatenate([each.ravel() for each in outputs(content, data[0])])
    integer = np.concatenate([each.ravel() for each in outputs(made, data[0])])
    noise = float(np.sum((real - integer) ** 2))
    assert noise == 0 or 10 * np.log10(float(np.sum(real**2)) / noise) > 16


def sets_of(content: bytes) -> tuple[Sets, dict[str, Site]]:
    graph = FloatGraph(ModelEditor(Model(content)))
    sets = Sets(graph, select(graph, lambda _: Scheme(activation_bits=8)), ranges(content, samples(content)))
    names = {graph.name(Site(0, t)): Site(0, t) for t in range(len(graph.subgraphs[0].tensors or ()))}
    return sets, names


def joined(second_user: bool, grows: float = 1.0) -> bytes:
    """concat(relu(x), grows * y), and perhaps another user of relu(x)."""
    model = ModelBuilder()
    x, y = model.tensor(SHAPE, name="x"), model.tensor(SHAPE, name="y")
    a, b, c = (model.tensor(SHAPE, name=name) for name in "abc")
    model.op(Op.RELU, [x], [a])
    model.op(Op.MUL, [y, model.constant(np.array(grows, np.float32))], [b])
    joint = model.tensor((1, 4, 4, 4), name="joint")
    model.op(Op.CONCATENATION, [a, b], [joint], tflite.ConcatenationOptionsT(axis=3))
    ends = [joint]
    if second_user:
        model.op(Op.LOGISTIC, [a], [c])
        ends.append(c)
    return model.build([x, y], ends)


@pytest.mark.parametrize(
    ("second_user", "grows", "one"),
    [(False, 1.0, True), (False, 90.0, True), (True, 1.0, True), (True, 90.0, False)],
)
def test_concatenation_gives_its_scale_to_producers_unless_other_users_lose(
    second_user: bool, grows: float, one: bool
) -> None:
    sets, names = sets_of(joined(second_user, grows))
    assert (sets.root(names["a"]) == sets.root(names["joint"])) == one
    assert sets.root(names["b"]) == sets.root(names["joint"])
    assert sets.root(names["x"]) != sets.root(names["a"])


def test_a_fixed_scale_goes_on_through_what_moves_values() -> None:
    model = ModelBuilder()
    x, a, b = (model.tensor(SHAPE, name=name) for name in "xab")
    model.op(Op.LOGISTIC, [x], [a])
    model.op(Op.RESHAPE, [a, model.constant(list(SHAPE))], [b])
    sets, names = sets_of(model.build([x], [b]))
    assert sets.source(names["b"]).fixed == (1 / 256, -128)
    assert sets.range(names["x"]) is not None
