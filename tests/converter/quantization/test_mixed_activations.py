"""Activations of 8 and of 16 bits in one model: a QUANTIZE wherever they meet, and LiteRT's bytes."""

import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, Recipe, Rule
from numlite.converter.quantization.scheme import SCHEMES
from numlite.interpreter import Interpreter
from numlite.lite.errors import UnsupportedError
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, samples, weights
from .test_calibrate import branched, looped
from .test_propagate import random_graph

Op, Type = tflite.BuiltinOperator, tflite.TensorType
INT8, INT16 = SCHEMES["int8"], SCHEMES["int16x8"]
FLOAT_ENDS, IMAGE = ("float32", "float32"), (1, 6, 6, 4)


def several() -> bytes:
    """Filters, pools, joins, normalization, what is compared and what has a fixed scale."""
    model = ModelBuilder()
    x = model.tensor(IMAGE, name="x")

    def op(
        code: int, operands: list[int], name: str, options: object = None, shape: tuple[int, ...] = IMAGE
    ) -> int:
        result = model.tensor(shape, name=name)
        model.op(code, operands, [result], options)
        return result

    same = {"stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
    filter = model.constant(weights((4, 3, 3, 4)) / 8)
    conv = op(Op.CONV_2D, [x, filter, model.constant(weights((4,)))], "conv", tflite.Conv2DOptionsT(**same))
    depthwise = model.constant(weights((1, 3, 3, 4), 1) / 4)
    options = tflite.DepthwiseConv2DOptionsT(depth_multiplier=1, **same)
    deep = op(Op.DEPTHWISE_CONV_2D, [conv, depthwise, model.constant(weights((4,), 2))], "deep", options)
    added = op(Op.ADD, [conv, deep], "added", tflite.AddOptionsT(fused_activation_function=1))
    pool = tflite.Pool2DOptionsT(filter_width=3, filter_height=3, stride_w=1, stride_h=1)
    pooled = op(Op.AVERAGE_POOL_2D, [added], "pooled", pool)
    joint = op(Op.CONCATENATION, [added, pooled], "joint", tflite.ConcatenationOptionsT(axis=3), (1, 6, 6, 8))
    halves = [model.tensor(IMAGE, name=f"half{i}") for i in range(2)]
    model.op(
        Op.SPLIT, [model.constant(np.array(3, np.int32)), joint], halves, tflite.SplitOptionsT(num_splits=2)
    )
    difference = op(Op.SQUARED_DIFFERENCE, halves, "difference")
    product = op(Op.MUL, [difference, op(Op.LOGISTIC, halves[:1], "gate")], "product", tflite.MulOptionsT())
    swish = op(Op.HARD_SWISH, [product], "swish")
    one = model.constant(np.array(0.7, np.float32))
    mask = model.tensor(IMAGE, np.bool_, name="mask")
    model.op(Op.GREATER, [deep, one], [mask])
    chosen = op(Op.SELECT_V2, [mask, swish, deep], "chosen")
    mean = op(
        Op.MEAN, [chosen, model.constant([1, 2])], "mean", tflite.ReducerOptionsT(keep_dims=False), (1, 4)
    )
    dense = op(Op.FULLY_CONNECTED, [mean, model.constant(weights((5, 4), 3)), -1], "dense", None, (1, 5))
    last = op(Op.SOFTMAX, [dense], "last", tflite.SoftmaxOptionsT(beta=1), (1, 5))
    return model.build([x], [last, dense, pooled])


SEVERAL = several()


def recipe_of(content: bytes, seed: int) -> Recipe:
    """int8, but int16 for some operators, by chance."""
    random = np.random.default_rng(seed)
    model = tflite.unpack(tflite.read(content))
    rules = [Rule(scheme=INT8)]
    for graph in model.subgraphs:
        for operator in graph.operators:
            name = graph.tensors[operator.outputs[0]].name
            if random.integers(2):
                rules.append(Rule(f"^{name}(;|$)", scheme=INT16))
    return Recipe(rules)


def made_of(
    content: bytes, recipe: Recipe, data: list[list[np.ndarray]], ends: tuple[str, str], **how: str
) -> bytes:
    quantizer = Quantizer(content, recipe)
    ranges = quantizer.calibrate(data)
    made = quantizer.quantize(ranges, input_type=ends[0], output_type=ends[1], **how)
    return made.quantized_model


def assert_right(content: bytes, made: bytes, data: list[list[np.ndarray]], least_db: float) -> None:
    """LiteRT's bytes, and near to the float model's outputs."""
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    real, integer = [], []
    for sample in data:
        found, theirs = outputs(made, sample), outputs(made, sample, litert.Interpreter)
        for a, b in zip(found, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
        real += [each.ravel() for each in outputs(content, sample)]
        integer += [each.ravel() for each in found]
    a, b = np.concatenate(real), np.concatenate(integer)
    noise = float(np.square(a - b).sum())
    assert noise == 0 or 10 * np.log10(float(np.square(a).sum()) / noise) > least_db


def assert_each_of_one_type(made: bytes) -> None:
    """What operators read and give is all of one type, but for QUANTIZE; and none of these makes the same."""
    model = tflite.unpack(tflite.read(made))
    for graph in model.subgraphs:
        for operator in graph.operators:
            code = model.operator_codes[operator.opcode_index]
            name = Op(max(code.builtin_code, code.deprecated_builtin_code)).name
            tensors = [graph.tensors[t] for t in (*operator.inputs, *operator.outputs) if t >= 0]
            if name in ("WHILE", "IF", "DEQUANTIZE"):
                continue
            places = [0, -1] if name == "QUANTIZE" or len(operator.inputs) == 3 else range(len(tensors))
            types = {tensors[i].type for i in places} & {Type.FLOAT32, Type.INT8, Type.INT16}
            assert len(types) == 1 or name == "QUANTIZE", name
            if name == "QUANTIZE":
                a, b = tensors
                same = a.type == b.type and a.quantization.scale[0] == b.quantization.scale[0]
                assert not same or a.quantization.zero_point[0] != b.quantization.zero_point[0]


@pytest.mark.parametrize("ends", [FLOAT_ENDS, ("int8", "int16"), ("int16", "uint8"), ("uint8", "float32")])
@pytest.mark.parametrize("seed", range(8))
def test_random_mixes_of_many_operators(seed: int, ends: tuple[str, str]) -> None:
    data = samples(SEVERAL, 6)
    made = made_of(SEVERAL, recipe_of(SEVERAL, seed), data, ends, improve="none")
    assert_each_of_one_type(made)
    assert_right(SEVERAL, made, data, 22)


@pytest.mark.parametrize("seed", range(12))
def test_random_mixes_of_random_graphs(seed: int) -> None:
    content = random_graph(seed)
    data = samples(content, 4)
    made = made_of(content, recipe_of(content, seed + 50), data, FLOAT_ENDS, improve="none")
    assert_each_of_one_type(made)
    assert_right(content, made, data, 16)


@pytest.mark.parametrize("improve", ["whole", "all"])
def test_mixes_are_improved(improve: str) -> None:
    data = samples(SEVERAL, 24)
    recipe = Recipe([Rule(scheme=INT8), Rule("conv|deep|added", scheme=INT16)])
    assert_right(SEVERAL, made_of(SEVERAL, recipe, data, FLOAT_ENDS, improve=improve), data, 25)


@pytest.mark.parametrize("names", ["MUL out", "SUB out", "MUL out|y", "nx", "double", "y"])
@pytest.mark.parametrize("kind", ["loop", "branch"])
def test_bodies_may_be_of_another_type_than_what_they_are_given(kind: str, names: str) -> None:
    content = looped() if kind == "loop" else branched()
    x = np.array([0.5, -1], np.float32)
    data = [[x]] if kind == "loop" else [[np.array(True), x], [np.array(False), x]]
    rules = [Rule(scheme=INT8), *([Rule(names, scheme=INT16)] if _has(content, names) else [])]
    made = made_of(content, Recipe(rules), data, FLOAT_ENDS)
    assert_right(content, made, data, 30)


def _has(content: bytes, names: str) -> bool:
    model = tflite.unpack(tflite.read(content))
    given = [graph.tensors[t].name for graph in model.subgraphs for o in graph.operators for t in o.outputs]
    return any(name in each for name in names.split("|") for each in given)


def test_16_bits_between_what_needs_them() -> None:
    """A difference of two large numbers: of 8 bits they leave nothing of it."""
    model = ModelBuilder()
    x, large, y, z = (model.tensor((4, 8), name=name) for name in ("x", "large", "difference", "end"))
    far = model.constant(np.linspace(-2000, 2000, 8, dtype=np.float32))
    model.op(Op.ADD, [x, far], [large], tflite.AddOptionsT())
    model.op(Op.SUB, [large, far], [y], tflite.SubOptionsT())
    model.op(Op.RELU, [y], [z])
    content = model.build([x], [z])
    data = samples(content, 6)
    plain = Recipe([Rule(scheme=INT8)])
    with pytest.raises(AssertionError):
        assert_right(content, made_of(content, plain, data, FLOAT_ENDS, improve="none"), data, 5)
    mixed = Recipe([Rule(scheme=INT8), Rule("large|difference", scheme=INT16)])
    made = made_of(content, mixed, data, FLOAT_ENDS, improve="none")
    assert_right(content, made, data, 25)
    assert operators(made) == ["QUANTIZE", "ADD", "SUB", "QUANTIZE", "RELU", "DEQUANTIZE"]


def test_one_border_serves_all_that_stands_behind_it() -> None:
    model = ModelBuilder()
    x, a, b, c, d = (model.tensor((2, 8), name=name) for name in "xabcd")
    model.op(Op.RELU, [x], [a])
    for name, code in ((b, Op.ADD), (c, Op.SUB), (d, Op.MUL)):
        model.op(code, [a, a], [name])
    content = model.build([x], [b, c, d])
    data = samples(content, 4)
    made = made_of(
        content, Recipe([Rule(scheme=INT8), Rule("^[bcd]$", scheme=INT16)]), data, ("int8", "int16")
    )
    assert operators(made) == ["RELU", "QUANTIZE", "ADD", "SUB", "MUL"]
    assert_right(content, made, data, 35)


def test_what_has_no_kernel_of_16_bits_has_8_where_a_rule_says_so() -> None:
    data = samples(SEVERAL, 6)
    rules = [Rule(scheme=INT8), Rule("added|product|swish|chosen", scheme=INT16)]
    quantizer = Quantizer(SEVERAL, Recipe(rules))
    made = quantizer.quantize(quantizer.calibrate(data), improve="none")
    found = {outcome.scope: outcome.scheme for outcome in made.outcomes}
    assert found["swish"] == INT8
    assert found["product"] == found["chosen"] == INT16
    assert_right(SEVERAL, made.quantized_model, data, 22)
    quantizer = Quantizer(SEVERAL, Recipe(rules[1:]))
    made = quantizer.quantize(quantizer.calibrate(data), improve="none")
    reasons = {outcome.scope: outcome.reason for outcome in made.outcomes}
    assert reasons["swish"] == "it has no int16 kernel"


def test_ends_of_all_types_are_possible_and_no_others() -> None:
    quantizer = Quantizer(SEVERAL, recipe_of(SEVERAL, 0))
    ranges = quantizer.calibrate(samples(SEVERAL, 2))
    with pytest.raises(UnsupportedError, match="float32, int8, uint8, int16 with int8 and int16 activations"):
        quantizer.quantize(ranges, input_type="bfloat16")
    made = quantizer.quantize(ranges, input_type="uint8", output_type="int16", improve="none")
    interpreter = Interpreter(model_content=made.quantized_model)
    assert [detail["dtype"] for detail in interpreter.get_input_details()] == [np.uint8]
    assert {detail["dtype"] for detail in interpreter.get_output_details()} == {np.int16}


def test_a_recipe_of_both_kinds_is_written_and_read() -> None:
    recipe = recipe_of(SEVERAL, 1)
    data = samples(SEVERAL, 4)
    again = Quantizer(SEVERAL, recipe.to_list())
    found = again.quantize(again.calibrate(data), improve="none").quantized_model
    assert found == made_of(SEVERAL, recipe, data, FLOAT_ENDS, improve="none")


def test_what_a_loop_carries_from_an_input_to_an_output_has_one_type() -> None:
    model = ModelBuilder()
    x, y = model.tensor([2], name="x"), model.tensor([2], name="y")
    condition, body = model.add_subgraph("condition"), model.add_subgraph("body")
    a, small, total = condition.tensor([2]), condition.tensor([], np.bool_), condition.tensor([])
    condition.op(Op.SUM, [a, condition.constant([0])], [total], tflite.ReducerOptionsT())
    condition.op(Op.LESS, [total, condition.constant(np.array(3, np.float32))], [small])
    condition.finish([a], [small])
    b, more = body.tensor([2], name="b"), body.tensor([2], name="more")
    body.op(Op.ADD, [b, body.constant(np.array(1, np.float32))], [more])
    body.finish([b], [more])
    loop = tflite.WhileOptionsT(cond_subgraph_index=condition.index, body_subgraph_index=body.index)
    model.op(Op.WHILE, [x], [y], loop)
    content = model.build([x], [y])
    data = [[np.array([0.25, -1], np.float32)]]
    recipe = Recipe([Rule(scheme=INT8), Rule("more", scheme=INT16)])
    message = "those that IF, WHILE or CALL passes on must be of one type, got 'x', 'y'"
    with pytest.raises(UnsupportedError, match=message):
        made_of(content, recipe, data, ("int8", "int16"))
    for ends in (("int8", "uint8"), ("int16", "int16"), FLOAT_ENDS):
        assert_right(content, made_of(content, recipe, data, ends), data, 30)


def test_what_was_trained_for_its_integers_has_activations_of_one_kind() -> None:
    model = ModelBuilder()
    x, a, b, c = (model.tensor((1, 4), name=name) for name in "xabc")
    model.op(Op.FAKE_QUANT, [x], [a], tflite.FakeQuantOptionsT(min=-1, max=1, num_bits=8))
    model.op(Op.RELU, [a], [b])
    model.op(Op.ABS, [b], [c])
    recipe = Recipe([Rule(scheme=INT8), Rule("c", scheme=INT16)])
    with pytest.raises(UnsupportedError, match="trained for its integers must have activations of one kind"):
        Quantizer(model.build([x], [c]), recipe).quantize()
