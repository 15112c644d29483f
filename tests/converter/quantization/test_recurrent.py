"""UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF of integers."""

from __future__ import annotations

from typing import Any

import ai_edge_litert.interpreter as litert
import numpy as np
import pytest
from numlite.converter.quantization.calibration import Calibration
from numlite.converter.quantization.float_graph import FloatGraph
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.observers import MinMax
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.recipes import int16x8, static_int8
from numlite.converter.quantization.recurrent_ranges import add_inner_tensors, inner_watchers
from numlite.interpreter import Interpreter
from numlite.lite.errors import UnsupportedError
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from .recurrent_models import RELU, TANH, lstm, svdf

KINDS: dict[str, tuple[bytes, float]] = {
    "plain": (lstm(), 28.0),
    "time major": (lstm(time_major=True), 28.0),
    "peephole": (lstm(peephole=True), 26.0),
    "projection": (lstm(projection=3), 24.0),
    "normalized": (lstm(norm=True), 26.0),
    "coupled": (lstm(coupled=True), 24.0),
    "clipped": (lstm(cell_clip=0.5), 26.0),
    "all": (lstm(peephole=True, norm=True, projection=6), 20.0),
    "svdf": (svdf(), 28.0),
    "svdf of rank 2": (svdf(2), 24.0),
    "svdf without bias": (svdf(bias=False), 26.0),
}


def data(content: bytes, count: int = 20, seed: int = 0) -> list[list[np.ndarray]]:
    shape = Interpreter(model_content=content).get_input_details()[0]["shape"]
    random = np.random.default_rng(seed)
    return [[random.normal(size=shape).astype(np.float32)] for _ in range(count)]


def run(content: bytes, samples: list[list[np.ndarray]], maker: Any = Interpreter) -> np.ndarray:
    """What the model gives for samples in a row, with what it remembers."""
    made = maker(model_content=content)
    made.allocate_tensors()
    found = []
    for sample in samples:
        made.set_tensor(made.get_input_details()[0]["index"], sample[0])
        made.invoke()
        found.append(made.get_tensor(made.get_output_details()[0]["index"]))
    return np.array(found)


@pytest.mark.parametrize("kind", KINDS)
def test_integers_come_near_and_are_those_of_litert(kind: str) -> None:
    content, least = KINDS[kind]
    quantizer = Quantizer(content, static_int8())
    made = quantizer.quantize(quantizer.calibrate(data(content)), improve="none")
    assert [outcome.reason for outcome in made.outcomes] == [""]
    ours, theirs = (
        run(made.quantized_model, data(content, 10, 1), each) for each in (Interpreter, litert.Interpreter)
    )
    np.testing.assert_array_equal(ours, theirs)
    assert sqnr_db(run(content, data(content, 10, 1)), ours) > least


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_inside_is_what_the_operator_computes(kind: str) -> None:
    """The last cell, and the memory, are in variables: seen there they are as computed once more."""
    editor = ModelEditor(Model(KINDS[kind][0]))
    add_inner_tensors(editor)
    content = editor.finish().content()
    graph = FloatGraph(ModelEditor(Model(content)))
    found: dict[Any, MinMax] = {}
    ((site, (watcher,)),) = inner_watchers(graph, found).items()
    made = Interpreter(model_content=content, experimental_preserve_all_tensors=True)
    made.allocate_tensors()
    state = next(
        d for d in made.get_tensor_details() if d["name"] in ("cell", "state") and d["shape"].size == 2
    )
    state = next((d for d in made.get_tensor_details() if d["name"] == "cell"), state)
    seen = MinMax()
    for sample in data(content, 8):
        made.set_tensor(site.tensor, sample[0])
        made.invoke()
        watcher(sample[0])
        values = made.get_tensor(state["index"])
        seen.extend(float(values.min()), float(values.max()))
    (inner,) = [own for key, own in found.items() if key.tensor == state["index"]]
    assert inner.low <= seen.low + 1e-5
    assert inner.high >= seen.high - 1e-5
    assert inner.high - inner.low < 3 * (seen.high - seen.low)


def test_scales_are_as_kernels_want_them() -> None:
    content = lstm(norm=True, projection=3)
    quantizer = Quantizer(content, static_int8())
    made = quantizer.quantize(quantizer.calibrate(data(content)), improve="none")
    tensors = {t.name: t for t in Model(made.quantized_model).root.subgraphs[0].tensors}
    cell = float(tensors["cell"].quantization.scale[0])
    assert np.log2(cell) == int(np.log2(cell))
    assert tensors["state"].quantization.scale[0] == tensors["y_quantized"].quantization.scale[0]
    assert (
        tensors["constant20"].quantization.scale[0] * 2.0**-10 == tensors["constant12"].quantization.scale[0]
    )


def test_saved_ranges_have_what_lies_inside() -> None:
    content = lstm()
    quantizer = Quantizer(content, static_int8())
    ranges = quantizer.calibrate(data(content), jobs=2)
    again = Calibration.from_json(ranges.to_json())
    first, second = (quantizer.quantize(each, improve="none").quantized_model for each in (ranges, again))
    assert first == second


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lstm(activation=RELU), "int8 has only TANH as its activation"),
        (svdf(activation=TANH), "int8 has only RELU as its activation"),
    ],
    ids=["lstm", "svdf"],
)
def test_what_stays_float(content: bytes, reason: str) -> None:
    quantizer = Quantizer(content, static_int8())
    made = quantizer.quantize(quantizer.calibrate(data(content)))
    assert [outcome.reason for outcome in made.outcomes] == [reason]
    operators = Model(made.quantized_model).root.subgraphs[0].operators
    assert all(not len(operator.intermediates) for operator in operators)


def test_int16_stays_float() -> None:
    """Nothing has a kernel for it; TensorFlow refuses to convert such a net."""
    quantizer = Quantizer(lstm(), int16x8())
    made = quantizer.quantize(quantizer.calibrate(data(lstm())))
    assert [outcome.reason for outcome in made.outcomes] == ["it has no int16 kernel"]


@pytest.mark.parametrize(
    ("maker", "message"),
    [(litert.Interpreter, "failed to prepare"), (Interpreter, "float32 or int8 throughout")],
    ids=["litert", "numlite"],
)
def test_int16_activations_are_refused_by_those_who_run_models(maker: Any, message: str) -> None:
    quantizer = Quantizer(lstm(), static_int8())
    made = quantizer.quantize(quantizer.calibrate(data(lstm())), input_type="int8", output_type="int8")
    editor = ModelEditor(Model(made.quantized_model))
    [subgraph] = editor.subgraphs
    [operator] = subgraph.operators or []
    for t in (*operator.inputs[:1], *operator.outputs):  # type: ignore[index,misc]
        tensor = (subgraph.tensors or [])[t]
        assert tensor.quantization is not None
        tensor.type, tensor.quantization.zero_point = tflite.TensorType.INT16, np.zeros(1, np.int64)
    with pytest.raises((RuntimeError, UnsupportedError), match=message):
        maker(model_content=editor.finish().content()).allocate_tensors()


@pytest.mark.parametrize("maker", [Interpreter, litert.Interpreter])
def test_states_that_are_set_in_each_run_are_set_to_integers(maker: Any) -> None:
    content = lstm(begins_anew=True)
    quantizer = Quantizer(content, static_int8())
    made = quantizer.quantize(quantizer.calibrate(data(content)), improve="none").quantized_model
    [sample] = data(content, 1, 2)
    first, *others = run(made, [sample] * 3, maker)
    np.testing.assert_array_equal(others, [first] * 2)
    assert sqnr_db(run(content, [sample]), first[np.newaxis]) > 26


def test_an_operator_whose_variables_are_all_integers_is_no_float_one() -> None:
    content = lstm(begins_anew=True)
    quantizer = Quantizer(content, static_int8())
    made = quantizer.quantize(quantizer.calibrate(data(content)), improve="none")
    # The variable that no LSTM goes on in stays as it is.
    assert [bool(outcome.reason) for outcome in made.outcomes] == [True, False]
