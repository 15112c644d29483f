"""Ranges of tensors that one saturating function reads."""

import numpy as np
import pytest
from numlite.converter.quantization import recipes
from numlite.converter.quantization.float_graph import FloatGraph, Site
from numlite.converter.quantization.histogram import Histogram
from numlite.converter.quantization.histogram_ranges import kept_ends, least_error_range
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.reader_functions import reader_functions
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import outputs, weights

Op = tflite.BuiltinOperator
ROWS, DEPTH = 4, 8
SHAPE = (ROWS, DEPTH)


def read_by(
    operators: list[tflite.BuiltinOperator], is_output: bool = False, reshaped: bool = False
) -> bytes:
    """A tensor (number 1) that each operator reads; MUL takes the first one's result, too."""
    model = ModelBuilder()
    x, value = model.tensor(SHAPE, name="x"), model.tensor(SHAPE, name="value")
    model.op(Op.FULLY_CONNECTED, [x, model.constant(weights((DEPTH, DEPTH), 1)), -1], [value])
    read, results = value, list[int]()
    if reshaped:
        read = model.tensor((1, *SHAPE), name="reshaped")
        model.op(Op.RESHAPE, [value, model.constant(np.array([1, *SHAPE], np.int32))], [read])
    for number, operator in enumerate(operators):
        y = model.tensor(SHAPE, name=f"y{number}")
        model.op(operator, [read, results[0]] if operator == Op.MUL else [read], [y])
        results.append(y)
    last = model.tensor((ROWS, 3), name="last")
    model.op(Op.FULLY_CONNECTED, [results[-1], model.constant(weights((3, DEPTH), 2)), -1], [last])
    return model.build([x], [last, value] if is_output else [last])


def function_of_value(content: bytes) -> object:
    graph = FloatGraph(ModelEditor(Model(content)))
    site = next(s for s in graph.producers if graph.name(s) == "value")
    return reader_functions(graph).get(site)


@pytest.mark.parametrize(
    ("operators", "is_output", "reshaped", "is_found"),
    [
        ([Op.TANH], False, False, True),
        ([Op.TANH], False, True, True),
        ([Op.LOGISTIC, Op.MUL], False, False, True),
        ([Op.LOGISTIC], False, False, True),
        ([Op.TANH], True, False, False),
        ([Op.TANH, Op.LOGISTIC], False, False, False),
        ([Op.TANH, Op.MUL], False, False, False),
        ([Op.RELU], False, False, False),
    ],
)
def test_one_function_reads_it(
    operators: list[tflite.BuiltinOperator], is_output: bool, reshaped: bool, is_found: bool
) -> None:
    assert (function_of_value(read_by(operators, is_output, reshaped)) is not None) == is_found


def test_range_ends_where_the_function_is_flat() -> None:
    histogram = Histogram()
    histogram.see(np.random.default_rng(0).normal(0, 8, 50_000).astype(np.float32))
    low, high = least_error_range(histogram, 1.0, np.tanh)
    assert -8 < low < -2
    assert 2 < high < 8
    whole = least_error_range(histogram, 1.0)
    assert whole[1] > 2 * high


def test_range_ends_only_where_the_function_is_flat() -> None:
    """HARD_SWISH is flat below -3 and grows without bounds above."""
    histogram = Histogram()
    histogram.see(np.random.default_rng(0).normal(0, 8, 50_000).astype(np.float32))
    (low, high) = kept_ends({Site(0, 1): histogram}, 8.0, {Site(0, 1): hard_swish})[Site(0, 1)]
    assert low < 0.3
    assert high > 0.9


def hard_swish(x: np.ndarray) -> np.ndarray:
    return x * np.clip(x + 3, 0, 6) / 6


def test_others_keep_their_ranges() -> None:
    histogram = Histogram()
    histogram.see(np.linspace(-9, 9, 10_000, dtype=np.float32))
    sites = {Site(0, 1): histogram, Site(0, 2): histogram}
    found = kept_ends(sites, 8.0, {Site(0, 1): np.tanh})
    assert list(found) == [Site(0, 1)]


def test_results_of_far_values_are_nearer() -> None:
    content = read_by([Op.TANH])
    data = [[20 * np.random.default_rng(k).normal(size=SHAPE).astype(np.float32)] for k in range(40)]
    quantizer = Quantizer(content, recipes.static_int8())
    ranges = quantizer.calibrate(data)
    real, plain, made = (
        np.array([outputs(m, sample)[0] for sample in data])
        for m in (
            content,
            *(quantizer.quantize(ranges, improve=i).quantized_model for i in ("none", "whole")),
        )
    )
    assert sqnr_db(real, made) > sqnr_db(real, plain) + 3
