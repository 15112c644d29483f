"""Calibration: what is observed, also in place and inside of loops, and what is wrong with samples."""

import json
from pathlib import Path

import numpy as np
import pytest
from numlite.converter.quantization.calibrate import calibrate
from numlite.converter.quantization.calibration import Calibration
from numlite.converter.quantization.float_graph import FloatGraph, Site
from numlite.converter.quantization.full_integer import quantize_activations, sites_to_observe
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs

Op = tflite.BuiltinOperator


def chain() -> bytes:
    """y = relu(-(x * 2) + 100), each operator able to write over its input."""
    model = ModelBuilder()
    x, a, b, c, y = (model.tensor([2, 3], name=name, shape_signature=[-1, 3]) for name in "xabcy")
    model.op(Op.MUL, [x, model.constant(np.array(2, np.float32))], [a])
    model.op(Op.NEG, [a], [b])
    model.op(Op.ADD, [b, model.constant(np.array(100, np.float32))], [c])
    model.op(Op.RELU, [c], [y])
    return model.build([x], [y], {"serve": ({"features": x}, {"y": y})})


def looped(turns: int = 3) -> bytes:
    """x is doubled and one added, some times, in a WHILE; then its logistic function."""
    model = ModelBuilder()
    i, x = model.tensor([], np.int32, np.array(0, np.int32), name="i"), model.tensor([2], name="x")
    last, y, z = (
        model.tensor([], np.int32, name="last"),
        model.tensor([2], name="y"),
        model.tensor([2], name="z"),
    )
    cond, body = model.add_subgraph("cond"), model.add_subgraph("body")
    ci, cx = cond.tensor([], np.int32), cond.tensor([2])
    more = cond.tensor([], np.bool_)
    cond.op(Op.LESS, [ci, cond.constant(np.array(turns, np.int32))], [more])
    cond.finish([ci, cx], [more])
    bi, bx = body.tensor([], np.int32), body.tensor([2], name="bx")
    ni, double, nx = body.tensor([], np.int32), body.tensor([2], name="double"), body.tensor([2], name="nx")
    body.op(Op.ADD, [bi, body.constant(np.array(1, np.int32))], [ni])
    body.op(Op.MUL, [bx, body.constant(np.array(2, np.float32))], [double])
    body.op(Op.ADD, [double, body.constant(np.array(1, np.float32))], [nx])
    body.finish([bi, bx], [ni, nx])
    options = tflite.WhileOptionsT(cond_subgraph_index=cond.index, body_subgraph_index=body.index)
    model.op(Op.WHILE, [i, x], [last, y], options)
    model.op(Op.LOGISTIC, [y], [z])
    return model.build([x], [z])


def branched() -> bytes:
    """x * 2 where the condition holds, else x - 1."""
    model = ModelBuilder()
    which, x, y = (
        model.tensor([], np.bool_, name="which"),
        model.tensor([2], name="x"),
        model.tensor([2], name="y"),
    )
    graphs = []
    for code, value in ((Op.MUL, 2), (Op.SUB, 1)):
        graph = model.add_subgraph(code.name)
        a, b = graph.tensor([2], name=f"{code.name} in"), graph.tensor([2], name=f"{code.name} out")
        graph.op(code, [a, graph.constant(np.array(value, np.float32))], [b])
        graph.finish([a], [b])
        graphs.append(graph.index)
    options = tflite.IfOptionsT(then_subgraph_index=graphs[0], else_subgraph_index=graphs[1])
    model.op(Op.IF, [which, x], [y], options)
    return model.build([which, x], [y])


def observed(content: bytes, samples: list[object], kind: str = "minmax") -> Calibration:
    sites = {
        *sites_to_observe(FloatGraph(ModelEditor(Model(content)))),
        *(Site(0, t) for t in range(9 if content == chain() else 0)),
    }
    return calibrate(Interpreter(model_content=content).core, samples, sites, kind)


def by_name(found: Calibration) -> dict[str, tuple[float, float]]:
    return {name: found[site] for site, name in found.names.items()}


def test_values_count_that_are_overwritten_in_place() -> None:
    rows = [np.array([[-1, 0, 2], [3, 1, 1]], np.float32), np.array([[-4, 0, 0], [0, 0, 0]], np.float32)]
    found = by_name(observed(chain(), [[row] for row in rows]))
    assert found["x"] == (-4, 3)
    assert found["a"] == (-8, 6)
    assert found["b"] == (-6, 8)
    assert found["c"] == (94, 108)
    assert found["y"] == (94, 108)


@pytest.mark.parametrize("kind", ["minmax", "mse"])
def test_samples_may_be_lists_or_named_or_of_a_signature_and_of_other_batches(kind: str) -> None:
    row = np.array([[-1, 0, 2], [3, 1, 1]], np.float32)
    forms = [[row], row, {"x": row}, {"features": row}, ("serve", {"features": row}), [np.vstack([row, row])]]
    ends = {by_name(observed(chain(), [form], kind))["c"] for form in forms}
    assert len(ends) == 1


def test_all_turns_of_a_loop_count_and_its_tensors_share_a_scale() -> None:
    content = looped()
    found = by_name(observed(content, [[np.array([0.5, -1], np.float32)]]))
    assert found["bx"] == (-1, 5)
    assert found["double"] == (-2, 10)
    assert found["nx"] == (-1, 11)
    assert found["y"] == (-1, 11)
    made = quantize_activations(Model(content), observed(content, [[np.array([0.5, -1], np.float32)]]))
    whole = made.editor.finish().content()
    assert operators(whole) == ["QUANTIZE", "WHILE", "LOGISTIC", "DEQUANTIZE", "LESS", "ADD", "MUL", "ADD"]
    data = [np.array([0.5, -1], np.float32)]
    np.testing.assert_allclose(outputs(whole, data)[0], outputs(content, data)[0], atol=0.02)
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    np.testing.assert_array_equal(outputs(whole, data)[0], outputs(whole, data, litert.Interpreter)[0])


def test_a_branch_that_was_not_taken_is_named() -> None:
    content = branched()
    x = np.array([1, -2], np.float32)
    with pytest.raises(ModelError, match="got none of 1: 'SUB out'; samples that take every branch"):
        quantize_activations(Model(content), observed(content, [[np.array(True), x]]))
    found = observed(content, [[np.array(True), x], [np.array(False), x]])
    made = quantize_activations(Model(content), found).editor.finish().content()
    for which in (True, False):
        data = [np.array(which), x]
        np.testing.assert_allclose(outputs(made, data)[0], outputs(content, data)[0], atol=0.05)


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        ([], "there must be samples, got none"),
        ([[np.full((2, 3), np.nan)]], "sample 0: input 'x': values must be finite, got nan .6 of 6."),
        (
            [[np.zeros((2, 3))], [np.full((2, 3), 3e38)]],
            "sample 1: tensor 'a': values must be finite, got inf",
        ),
        ([[np.zeros((2, 4))]], "sample 0: input 'x': its shape must be .-1, 3., got .2, 4."),
        ([[]], "sample 0: must have 1 arrays, one an input, got 0"),
        ([{"z": np.zeros((2, 3))}], "its inputs must be"),
        ([("other", {})], "its signature must be of"),
    ],
)
def test_a_wrong_sample_is_named(samples: list[object], text: str) -> None:
    with pytest.raises(ModelError, match=text):
        observed(chain(), samples)


@pytest.mark.parametrize("kind", ["minmax", "mse"])
def test_calibrations_are_saved_loaded_and_merged(kind: str, tmp_path: object) -> None:
    random = np.random.default_rng(0)
    rows = [[random.normal(size=(2, 3)).astype(np.float32)] for _ in range(6)]
    whole = observed(chain(), rows, kind)
    parts = [Calibration.from_json(observed(chain(), rows[k::2], kind).to_json()) for k in range(2)]
    parts[1].merge(parts[0])
    assert dict(parts[1]) == dict(whole)
    assert parts[1].to_json() == whole.to_json()


def test_calibrations_of_another_model_or_observer_are_refused() -> None:
    row = [[np.ones((2, 3), np.float32)]]
    found = observed(chain(), row)
    with pytest.raises(ModelError, match="observers must be the same"):
        found.merge(observed(chain(), row, "mse"))
    with pytest.raises(ModelError, match="must be of one model"):
        found.merge(observed(looped(), [[np.zeros(2, np.float32)]]))


def changed(text: str, **fields: object) -> str:
    """The calibration with these fields of its first tensor, or of the whole where it has such."""
    found = json.loads(text)
    for name, value in fields.items():
        (found if name in found else found["tensors"][0])[name] = value
    return json.dumps(found)


@pytest.mark.parametrize(
    "fields",
    [
        *({"low": "x"}, {"low": np.nan}, {"low": 4.0, "high": 3.0}, {"high": np.inf}, {"subgraph": 1e400}),
        *({"exponent": -2000}, {"exponent": 10**30}, {"first": 5}, {"first": -(10**9)}, {"counts": [[1]]}),
        *({"counts": []}, {"counts": [0]}, {"counts": [-1] * 2048}, {"counts": [2**62] * 2048}),
        *({"tensors": 5}, {"tensors": [5]}, {"observer": 5}, {"format": 2}),
    ],
)
def test_a_damaged_calibration_is_none(fields: dict[str, object]) -> None:
    text = observed(chain(), [[np.ones((2, 3), np.float32)]], "mse").to_json()
    assert dict(Calibration.from_json(changed(text)))
    with pytest.raises(ModelError, match=r"calibration: must be|observer: must be"):
        Calibration.from_json(changed(text, **fields))


@pytest.mark.parametrize("content", [b"{}", b'{"format": 1, "tensors": []}', b"[" * 100_000, b'{"\xff"', b""])
def test_a_file_that_is_no_calibration(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ranges.json"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="must be a file that numlite has saved"):
        Calibration.load(path)


def test_an_interpreter_runs_as_ever_when_it_is_no_longer_observed() -> None:
    interpreter = Interpreter(model_content=chain())
    calibrate(interpreter.core, [[np.ones((2, 3), np.float32)]], [Site(0, 0)])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones((2, 3), np.float32))
    interpreter.invoke()
    np.testing.assert_array_equal(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), 98)


def test_what_floats_give_to_a_loop_is_observed() -> None:
    """A state that starts as COS, which has no integer kernel."""
    content = looped()
    model = tflite.unpack(tflite.read(content))
    (main, *_) = model.subgraphs
    operands = next(o for o in main.operators if len(o.outputs) == 2)
    start = len(main.tensors)
    main.tensors.append(tflite.TensorT(name="start", shape=[2], has_rank=True))
    model.operator_codes.append(
        tflite.OperatorCodeT(builtin_code=Op.COS, deprecated_builtin_code=Op.COS, version=1)
    )
    cos = tflite.OperatorT(opcode_index=len(model.operator_codes) - 1, inputs=[1], outputs=[start])
    operands.inputs = [int(operands.inputs[0]), start]
    main.operators.insert(0, cos)
    content = tflite.pack(model)
    data = [np.array([0.5, -1], np.float32)]
    made = quantize_activations(Model(content), observed(content, [data])).editor.finish().content()
    assert operators(made)[:3] == ["COS", "QUANTIZE", "WHILE"]
    np.testing.assert_allclose(outputs(made, data)[0], outputs(content, data)[0], atol=0.02)
