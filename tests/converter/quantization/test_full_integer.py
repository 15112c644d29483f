"""Integer models of single operators: close to the float ones, and the same in LiteRT."""

from copy import copy

import numpy as np
import pytest
from numlite.converter.quantization.constraints import CONSTRAINTS, INT8, INT16
from numlite.converter.quantization.rewrite import Ends
from numlite.converter.quantization.scheme import ACTIVATIONS, UINT8
from numlite.converter.quantization.scheme import INT8 as INT8_VALUES
from numlite.interpreter import Interpreter
from numlite.schema import tflite

from .float_models import IMAGE, Case, build, numbers, operators, outputs, quantized, samples, weights

KEEP = tflite.ReducerOptionsT(keep_dims=True)
POOL = tflite.Pool2DOptionsT(stride_w=2, stride_h=2, filter_width=2, filter_height=2)
ROW = (2, 6)


def unary(name: str, low: float = -3.0, high: float = 5.0) -> Case:
    options = {
        "LEAKY_RELU": tflite.LeakyReluOptionsT(alpha=0.2),
        "SOFTMAX": tflite.SoftmaxOptionsT(beta=1.0),
    }
    return Case(name, [ROW], [ROW], options=options.get(name), lowest=low, highest=high)


def binary(name: str, low: float = -3.0, types: tuple[str, ...] = ("float32",)) -> Case:
    return Case(name, [IMAGE, IMAGE], [IMAGE], types=types, lowest=low)


def moved(name: str, result: tuple[int, ...], *constants: np.ndarray, options: object = None) -> Case:
    return Case(name, [IMAGE], [result], dict(enumerate(constants, 1)), options)


COMPARED = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
CASES = [
    Case(
        *("CONV_2D", [IMAGE], [(1, 4, 4, 5)], {1: weights((5, 3, 3, 3)), 2: weights((5,))}),
        tflite.Conv2DOptionsT(stride_w=1, stride_h=1, fused_activation_function=1),
    ),
    Case(
        *("DEPTHWISE_CONV_2D", [IMAGE], [(1, 4, 4, 3)], {1: weights((1, 3, 3, 3)), 2: weights((3,))}),
        tflite.DepthwiseConv2DOptionsT(stride_w=1, stride_h=1, depth_multiplier=1),
    ),
    Case(
        "FULLY_CONNECTED",
        [ROW],
        [(2, 5)],
        {1: weights((5, 6)), 2: weights((5,))},
        tflite.FullyConnectedOptionsT(),
    ),
    Case(
        *("TRANSPOSE_CONV", [IMAGE], [(1, 8, 8, 5)], {0: numbers(1, 8, 8, 5), 1: weights((5, 3, 3, 3))}),
        tflite.TransposeConvOptionsT(stride_w=2, stride_h=2),
    ),
    Case("BATCH_MATMUL", [(2, 3, 4), (2, 4, 5)], [(2, 3, 5)], options=tflite.BatchMatMulOptionsT()),
    *(binary(name) for name in ("ADD", "SUB", "MUL", "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM")),
    binary("DIV", 1.0),
    Case("ADD", [IMAGE], [IMAGE], {1: weights((3,))}, tflite.AddOptionsT()),
    Case("PRELU", [IMAGE], [IMAGE], {1: weights((1, 1, 3))}),
    *(binary(name, types=("bool",)) for name in COMPARED),
    *(moved(name, (1, 1, 1, 3), numbers(1, 2), options=KEEP) for name in ("MEAN", "SUM", "REDUCE_PROD")),
    *(moved(name, (1, 1, 1, 3), numbers(1, 2), options=KEEP) for name in ("REDUCE_MAX", "REDUCE_MIN")),
    *(unary(name) for name in ("ABS", "EXP", "GELU", "RELU", "RELU6", "LEAKY_RELU", "HARD_SWISH", "ELU")),
    *(unary(name) for name in ("SOFTMAX", "LOGISTIC", "TANH", "L2_NORMALIZATION", "LOG_SOFTMAX")),
    unary("RELU_N1_TO_1"),
    *(unary(name, 0.5) for name in ("LOG", "SQRT", "RSQRT")),
    Case("ARG_MAX", [ROW], [(2,)], {1: numbers(1)}, tflite.ArgMaxOptionsT(output_type=2), ("int32",)),
    Case("ARG_MIN", [ROW], [(2,)], {1: numbers(1)}, tflite.ArgMinOptionsT(output_type=2), ("int32",)),
    Case("TOPK_V2", [ROW], [(2, 2), (2, 2)], {1: np.array(2, np.int32)}, None, ("float32", "int32")),
    moved("RESHAPE", (4, 12), numbers(4, 12)),
    moved("SQUEEZE", (4, 4, 3), options=tflite.SqueezeOptionsT(squeeze_dims=[0])),
    moved("EXPAND_DIMS", (1, 1, 4, 4, 3), np.array(0, np.int32)),
    moved("TRANSPOSE", (1, 3, 4, 4), numbers(0, 3, 1, 2)),
    moved("SLICE", (1, 2, 2, 3), numbers(0, 1, 1, 0), numbers(1, 2, 2, 3)),
    moved(
        *("STRIDED_SLICE", (1, 2, 2, 3), numbers(0, 0, 0, 0), numbers(1, 4, 4, 3), numbers(1, 2, 2, 1)),
        options=tflite.StridedSliceOptionsT(),
    ),
    moved("PAD", (1, 6, 6, 3), np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)),
    moved(
        *("PADV2", (1, 6, 6, 3), np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)),
        np.array(-1, np.float32),
    ),
    moved(
        *("MIRROR_PAD", (1, 6, 6, 3), np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)),
        options=tflite.MirrorPadOptionsT(mode=0),
    ),
    moved("TILE", (1, 8, 4, 3), numbers(1, 2, 1, 1)),
    moved("BROADCAST_TO", (2, 4, 4, 3), numbers(2, 4, 4, 3)),
    moved("REVERSE_V2", IMAGE, numbers(1)),
    moved("GATHER", (1, 2, 4, 3), numbers(2, 0), options=tflite.GatherOptionsT(axis=1)),
    moved("GATHER_ND", (1, 4, 3), np.array([[0, 2]], np.int32)),
    moved("RESIZE_BILINEAR", (1, 8, 8, 3), numbers(8, 8), options=tflite.ResizeBilinearOptionsT()),
    moved(
        *("RESIZE_NEAREST_NEIGHBOR", (1, 8, 8, 3), numbers(8, 8)),
        options=tflite.ResizeNearestNeighborOptionsT(),
    ),
    moved("MAX_POOL_2D", (1, 2, 2, 3), options=POOL),
    moved("AVERAGE_POOL_2D", (1, 2, 2, 3), options=POOL),
    moved("SPACE_TO_DEPTH", (1, 2, 2, 12), options=tflite.SpaceToDepthOptionsT(block_size=2)),
    Case("DEPTH_TO_SPACE", [(1, 2, 2, 12)], [IMAGE], {}, tflite.DepthToSpaceOptionsT(block_size=2)),
    moved("SPACE_TO_BATCH_ND", (4, 2, 2, 3), numbers(2, 2), np.zeros((2, 2), np.int32)),
    Case(
        *("BATCH_TO_SPACE_ND", [(4, 2, 2, 3)], [IMAGE]),
        {1: numbers(2, 2), 2: np.zeros((2, 2), np.int32)},
    ),
    Case(
        *("SPLIT", [IMAGE], [(1, 2, 4, 3), (1, 2, 4, 3)], {0: np.array(1, np.int32)}),
        tflite.SplitOptionsT(num_splits=2),
    ),
    Case(
        *("SPLIT_V", [IMAGE], [(1, 1, 4, 3), (1, 3, 4, 3)]),
        {1: numbers(1, 3), 2: np.array(1, np.int32)},
        tflite.SplitVOptionsT(num_splits=2),
    ),
    Case("UNPACK", [(2, 3)], [(3,), (3,)], {}, tflite.UnpackOptionsT(num=2, axis=0)),
    Case("CONCATENATION", [ROW, ROW], [(2, 12)], {}, tflite.ConcatenationOptionsT(axis=1)),
    Case("PACK", [ROW, ROW], [(2, 2, 6)], {}, tflite.PackOptionsT(values_count=2, axis=0)),
    *(
        Case(name, [ROW, ROW], [ROW], {0: np.array([[True] * 6, [False] * 6])})
        for name in ("SELECT", "SELECT_V2")
    ),
    Case("DYNAMIC_UPDATE_SLICE", [ROW, (1, 2)], [ROW], {2: numbers(1, 3)}),
]


def name_of(case: Case) -> str:
    return case.operator + ("_constant" if case.operator == "ADD" and case.constants else "")


def test_every_operator_of_the_table_is_tried() -> None:
    recurrent = {"UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF"}  # in test_recurrent.py
    assert {case.operator for case in CASES} == set(CONSTRAINTS) - recurrent


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_integers_are_close_to_floats_and_the_same_in_litert(case: Case, bits: int) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    rule, type_ = CONSTRAINTS[case.operator], {8: INT8, 16: INT16}[bits]
    around = "RELU" if rule.beside else ""
    content = build(case, before=around)
    data = samples(content, low=case.lowest, high=case.highest)
    made = quantized(content, data, bits)
    is_integer = "QUANTIZE" in operators(made)
    rewritten = case.operator == "SQUARED_DIFFERENCE"  # by SUB and MUL where it has no kernel
    assert is_integer == (type_ in rule.types or rewritten)
    if not is_integer:
        return
    reals = [outputs(content, sample) for sample in data]
    steps = 8 if case.operator in ("EXP", "REDUCE_PROD", "DIV", "LOG", "RSQRT", "SQUARED_DIFFERENCE") else 4
    for sample, real in zip(data[:3], reals, strict=False):
        integer = outputs(made, sample)
        for i, (a, b, c) in enumerate(
            zip(real, integer, outputs(made, sample, litert.Interpreter), strict=True)
        ):
            np.testing.assert_array_equal(b, c)
            if a.dtype.kind != "f":
                assert case.operator in (*COMPARED, "TOPK_V2") or np.mean(a != b) <= 0.5
                continue
            seen = np.stack([each[i] for each in reals])
            extent = max(float(seen.max()), 0.0) - min(float(seen.min()), 0.0) + 1e-6
            assert np.abs(a - b).max() <= steps * extent / 2**8, (a, b)


@pytest.mark.parametrize("bits", [8, 16])
def test_integer_ends_take_quantize_and_dequantize_away(bits: int) -> None:
    content = build(CASES[0])
    data = samples(content)
    integers = ACTIVATIONS[bits]
    made = quantized(content, data, bits, ends=Ends(integers, integers))
    assert operators(made) == ["CONV_2D"]
    floats = quantized(content, data, bits)
    assert operators(floats) == ["QUANTIZE", "CONV_2D", "DEQUANTIZE"]
    np.testing.assert_allclose(outputs(made, data[0])[0], outputs(floats, data[0])[0], rtol=1e-5, atol=1e-5)


def test_unsigned_ends_cost_one_quantize_each() -> None:
    content = build(CASES[0])
    data = samples(content)
    made = quantized(content, data, ends=Ends(UINT8, UINT8))
    assert operators(made) == ["QUANTIZE", "CONV_2D", "QUANTIZE"]
    signed = quantized(content, data, ends=Ends(INT8_VALUES, INT8_VALUES))
    np.testing.assert_array_equal(outputs(made, data[0])[0], outputs(signed, data[0])[0])


def test_a_convolution_without_bias_gets_one_of_zeros() -> None:
    case = CASES[0]._replace(constants={1: weights((5, 3, 3, 3))})
    content = build(case)
    made = quantized(content, samples(content))
    model = tflite.unpack(tflite.read(made))
    (conv,) = [o for o in model.subgraphs[0].operators if len(o.inputs) == 3]
    bias = model.subgraphs[0].tensors[conv.inputs[2]]
    assert bias.type == tflite.TensorType.INT32
    assert not np.asarray(model.buffers[bias.buffer].data).any()


def test_a_bias_beyond_2_to_the_30_widens_its_channels_weights() -> None:
    filters = weights((5, 3, 3, 3))
    filters[2] *= 1e-9
    case = CASES[0]._replace(constants={1: filters, 2: np.full(5, 3.0, np.float32)})
    content = build(case)
    data = samples(content)
    model = tflite.unpack(tflite.read(quantized(content, data)))
    (conv,) = [o for o in model.subgraphs[0].operators if len(o.inputs) == 3]
    bias = np.asarray(model.buffers[model.subgraphs[0].tensors[conv.inputs[2]].buffer].data).view(np.int32)
    assert np.abs(bias.astype(np.int64)).max() <= 1 << 30
    assert bias[2] >= (1 << 30) - 256


def test_an_operator_without_kernels_is_an_island_of_floats() -> None:
    content = build(CASES[0], after="SIN")
    made = quantized(content, samples(content))
    assert operators(made) == ["QUANTIZE", "CONV_2D", "DEQUANTIZE", "SIN"]


def test_what_is_integer_already_stays() -> None:
    content = build(CASES[0], after="SIN")
    data = samples(content)
    once = quantized(content, data)
    assert quantized(once, data) == once


@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_results_that_are_always_0_have_scales_that_litert_takes(name: str) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    case = next(case for case in CASES if case.operator == name)
    options = copy(case.options)
    options.fused_activation_function = 1
    bias = np.full(len(case.constants[2]), -1e7, np.float32)
    constants = {**case.constants, 1: case.constants[1] * 300, 2: bias}
    content = build(case._replace(constants=constants, options=options))
    data = samples(content, low=-100, high=100)
    made = quantized(content, data)
    for maker in (litert.Interpreter, Interpreter):
        np.testing.assert_array_equal(outputs(made, data[0], maker)[0], 0)
