"""Resource variables that hold integers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter.quantization import Quantizer, recipes
from numlite.lite.errors import UnsupportedError
from numlite.lite.model import Model
from numlite.schema import tflite
from numlite.schema.tflite import TensorType

from ...model_builder import ModelBuilder, SubgraphBuilder
from .float_models import operators, weights

Op = tflite.BuiltinOperator
BEGIN = np.linspace(-2, 3, 16, dtype=np.float32).reshape(1, 16)


def handle(graph: SubgraphBuilder, name: str = "v") -> int:
    made = graph.tensor((), TensorType.RESOURCE, name=f"{name}/handle")
    graph.op(Op.VAR_HANDLE, [], [made], tflite.VarHandleOptionsT(container="", shared_name=name))
    return made


def stateful(last: Op = Op.RELU, passed: bool = False) -> bytes:
    """v = last(x w + v / 2), which begins as BEGIN; the result is v u. With passed a CALL assigns it."""
    model = ModelBuilder()
    first = model.add_subgraph("first")
    first.op(Op.ASSIGN_VARIABLE, [handle(first), first.constant(BEGIN, name="begin")], [])
    first.finish([], [])
    x, names = model.tensor((1, 16), name="x"), ("read", "half", "product", "sum", "next", "again", "y")
    read, half, product, sum_, next_, again, y = (model.tensor((1, 16), name=name) for name in names)
    model.op(Op.CALL_ONCE, [], [], tflite.CallOnceOptionsT(init_subgraph_index=first.index))
    v = handle(model)
    model.op(Op.READ_VARIABLE, [v], [read])
    model.op(Op.MUL, [read, model.constant(np.array(0.5, np.float32))], [half], tflite.MulOptionsT())
    w, u = (model.constant(weights((16, 16), seed), name=f"w{seed}") for seed in (0, 1))
    model.op(Op.FULLY_CONNECTED, [x, w, -1], [product], tflite.FullyConnectedOptionsT())
    model.op(Op.ADD, [half, product], [sum_], tflite.AddOptionsT())
    model.op(last, [sum_], [next_])
    if passed:
        called = model.add_subgraph("called")
        inner, value = called.tensor((), TensorType.RESOURCE), called.tensor((1, 16))
        called.op(Op.ASSIGN_VARIABLE, [inner, value], [])
        called.finish([inner, value], [])
        always = model.constant(np.array(True), name="always")
        options = tflite.IfOptionsT(then_subgraph_index=called.index, else_subgraph_index=called.index)
        model.op(Op.IF, [always, v, next_], [], options)
    else:
        model.op(Op.ASSIGN_VARIABLE, [v, next_], [])
    model.op(Op.READ_VARIABLE, [v], [again])
    model.op(Op.FULLY_CONNECTED, [again, u, -1], [y], tflite.FullyConnectedOptionsT())
    return model.build([x], [y])


def data(count: int = 12) -> list[list[np.ndarray]]:
    random = np.random.default_rng(3)
    return [[random.normal(0, 1, (1, 16)).astype(np.float32)] for _ in range(count)]


def quantized(content: bytes, recipe: Any = None, variables: bool = True, **ends: str) -> bytes:
    quantizer = Quantizer(content, recipe or recipes.static_int8())
    found = quantizer.calibrate(data())
    return quantizer.quantize(found, variables=variables, improve="none", **ends).quantized_model


def played(content: bytes, maker: Callable[..., Any] = Interpreter) -> np.ndarray:
    """The results of samples one after another."""
    interpreter = maker(model_content=content)
    interpreter.allocate_tensors()
    found = []
    for [x] in data(6):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        found.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return np.stack(found)


def sqnr(content: bytes, made: bytes) -> float:
    real, found = played(content), played(made)
    return float(10 * np.log10((real**2).sum() / ((found - real) ** 2).sum()))


def values(content: bytes) -> list[tuple[str, str, float]]:
    """Type and scale of what is assigned to variables, and read from them."""
    root, found = tflite.unpack(Model(content).root), []
    for subgraph in root.subgraphs:
        for operator in subgraph.operators:
            code = root.operator_codes[operator.opcode_index]
            name = Op(max(code.builtin_code, code.deprecated_builtin_code)).name
            if name in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
                t = operator.outputs[0] if name == "READ_VARIABLE" else operator.inputs[1]
                tensor = subgraph.tensors[t]
                table = tensor.quantization
                found.append((name, TensorType(tensor.type).name, table.scale[0] if table else 0.0))
    return found


@pytest.mark.parametrize(
    ("recipe", "type", "least"), [("static_int8", "INT8", 30), ("int16x8", "INT16", 38)], ids=["i8", "i16"]
)
@pytest.mark.parametrize("passed", [False, True], ids=["direct", "called"])
def test_variables_hold_integers_of_one_scale(recipe: str, type: str, least: float, passed: bool) -> None:
    content = stateful(passed=passed)
    made = quantized(content, getattr(recipes, recipe)())
    assert {kind for _, kind, _ in values(made)} == {type}
    assert len({scale for *_, scale in values(made)}) == 1
    assert sqnr(content, made) >= least


def test_litert_gives_the_same_bytes() -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter").Interpreter
    made = quantized(stateful())
    np.testing.assert_array_equal(played(made), played(made, litert))


def test_values_before_the_first_run_count() -> None:
    [(_, _, scale), *_] = values(quantized(stateful()))
    assert scale >= np.float32((BEGIN.max() - BEGIN.min()) / 255)


def test_a_variable_that_no_integers_touch_stays_float() -> None:
    content = stateful()
    recipe = recipes.static_int8()
    quantizer = Quantizer(content, recipe)
    quantizer.update_quantization_recipe("half|next|y", weights=None)
    made = quantizer.quantize(quantizer.calibrate(data()), variables=True, improve="none").quantized_model
    assert {kind for _, kind, _ in values(made)} == {"FLOAT32"}


def test_variables_stay_float_unless_asked() -> None:
    made = quantized(stateful(), variables=False)
    assert {kind for _, kind, _ in values(made)} == {"FLOAT32"}
    assert operators(made).count("DEQUANTIZE") > operators(quantized(stateful())).count("DEQUANTIZE")


def test_a_float_operator_may_give_a_variable_its_integers() -> None:
    made = quantized(stateful(Op.SIN))
    assert {kind for _, kind, _ in values(made)} == {"INT8"}
    assert sqnr(stateful(Op.SIN), made) >= 24


def test_integers_of_two_kinds_cannot_share_variables() -> None:
    quantizer = Quantizer(stateful(), recipes.static_int8())
    quantizer.update_quantization_recipe("product", weights="int8", activations="int16")
    with pytest.raises(UnsupportedError, match="activations must be of one kind, got 8 and 16 bits"):
        quantizer.quantize(quantizer.calibrate(data()), variables=True)


def test_floats_have_no_integer_variables() -> None:
    with pytest.raises(UnsupportedError, match="variables: must be float32 as the activations"):
        Quantizer(stateful(), recipes.dynamic_int8()).quantize(variables=True)
