"""Lists whose elements are set by SLICE and CONCATENATION: one update in place, wherever that is the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.kernels.register import BuiltinOpResolver
from numlite.lite.context import Context
from numlite.lite.errors import InvokeError
from numlite.lite.kernel_call import KernelCall
from numlite.lite.node import Node
from numlite.lite.registration import Registration
from numlite.schema import tflite
from numlite.schema.tflite import ActivationFunctionType, BuiltinOperator

from ..cases.control_flow import while_model
from ..model_builder import ModelBuilder, SubgraphBuilder

LIST = np.arange(10, dtype=np.float32).reshape(5, 2)


def set_rows(
    b: SubgraphBuilder,
    x: int,
    item: int,
    i: int,
    shape: tuple[int, ...],
    step: int = 1,
    activation: ActivationFunctionType = ActivationFunctionType.NONE,
    **quantization: object,
) -> tuple[int, int]:
    """The operators of TensorListSetItem; returns the first rows and the result."""
    rank, dtype = len(shape), np.int8 if quantization else np.float32
    one, after = b.constant([step]), b.tensor((), np.int32)
    b.op(BuiltinOperator.ADD, [i, one], [after], tflite.AddOptionsT(fused_activation_function=activation))
    vectors = []
    for number, rest in ((i, -1), (after, 0)):
        row, vector = b.tensor((1,), np.int32), b.tensor((rank,), np.int32)
        b.op(BuiltinOperator.RESHAPE, [number, b.constant([1])], [row])
        others = b.constant([rest] * (rank - 1))
        b.op(BuiltinOperator.CONCATENATION, [row, others], [vector], tflite.ConcatenationOptionsT())
        vectors.append(vector)
    left, right = (b.tensor([1] * rank, dtype, shape_signature=[-1] * rank, **quantization) for _ in range(2))
    b.op(BuiltinOperator.SLICE, [x, b.constant([0] * rank), vectors[0]], [left])
    b.op(BuiltinOperator.SLICE, [x, vectors[1], b.constant([-1] * rank)], [right])
    y = b.tensor(shape, dtype, **quantization)
    b.op(BuiltinOperator.CONCATENATION, [left, item, right], [y], tflite.ConcatenationOptionsT())
    return left, y


def list_model(rows: int = 1, step: int = 1, keeps_rows: bool = False, **options: object) -> bytes:
    b = ModelBuilder()
    x, item, i = b.tensor((5, 2)), b.tensor((rows, 2)), b.tensor((), np.int32)
    left, y = set_rows(b, x, item, i, (5, 2), step, **options)
    return b.build([x, item, i], [y, left] if keeps_rows else [y])


def run(interpreter: Interpreter, *values: np.ndarray) -> list[np.ndarray]:
    for detail, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def ready(model: bytes, **settings: object) -> Interpreter:
    interpreter = Interpreter(model_content=model, **settings)
    interpreter.allocate_tensors()
    return interpreter


def joined(item: np.ndarray, i: int, step: int = 1) -> np.ndarray:
    return np.concatenate([LIST[:i], item, LIST[i + step :]])


def is_one_update(interpreter: Interpreter) -> bool:
    return interpreter.core.subgraph().native_plan is not None


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_rows_are_replaced_at_each_index(rows: int) -> None:
    interpreter = ready(list_model(rows, rows))
    assert is_one_update(interpreter)
    item = -np.ones((rows, 2), np.float32)
    for i in range(6 - rows):
        assert np.array_equal(run(interpreter, LIST, item, np.int32(i))[0], joined(item, i, rows))


@pytest.mark.parametrize("i", [-2, -1, 5, 2**31 - 1])
def test_an_index_out_of_range_is_an_error(i: int) -> None:
    interpreter = ready(list_model())
    with pytest.raises(InvokeError, match=r"^node 7 \(CONCATENATION\).*: index must be in \[0, 4\]"):
        run(interpreter, LIST, LIST[:1], np.int32(i))
    assert np.array_equal(run(interpreter, LIST, LIST[:1], np.int32(4))[0], joined(LIST[:1], 4))


@pytest.mark.parametrize(
    ("model", "settings", "step"),
    [
        (list_model(step=2), {}, 2),  # a row is lost
        (list_model(keeps_rows=True), {}, 1),  # the first rows are a result
        (list_model(), {"experimental_preserve_all_tensors": True}, 1),
    ],
    ids=["other step", "rows are read", "all tensors kept"],
)
def test_what_is_no_update_runs_as_it_is(model: bytes, settings: dict[str, bool], step: int) -> None:
    interpreter = ready(model, **settings)
    assert not is_one_update(interpreter)
    for i in (0, 3, 1):
        assert np.array_equal(run(interpreter, LIST, LIST[4:], np.int32(i))[0], joined(LIST[4:], i, step))


def test_another_slice_than_ours_is_run() -> None:
    seen = []
    known = BuiltinOpResolver().find_builtin(BuiltinOperator.SLICE, 1, "SLICE")

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        seen.append(node.index)
        return known.prepare(context, node)

    resolver = BuiltinOpResolver()
    resolver.add_builtin(Registration("SLICE", prepare, known.invoke, builtin_code=BuiltinOperator.SLICE))
    interpreter = ready(list_model(), experimental_op_resolver_type=resolver)
    assert np.array_equal(run(interpreter, LIST, LIST[:1], np.int32(2))[0], joined(LIST[:1], 2))
    assert seen


@pytest.mark.parametrize("same", [True, False])
def test_quantized_rows_are_moved_only_between_equal_scales(same: bool) -> None:
    b = ModelBuilder()
    quantization = {"scale": 0.5, "zero_point": 3}
    x = b.tensor((5, 2), np.int8, **quantization)
    item = b.tensor((1, 2), np.int8, scale=0.5 if same else 0.25, zero_point=3)
    i = b.tensor((), np.int32)
    _, y = set_rows(b, x, item, i, (5, 2), **quantization)
    interpreter = Interpreter(model_content=b.build([x, item, i], [y]))
    interpreter.allocate_tensors()
    values = LIST.astype(np.int8)
    if not same:  # as CONCATENATION refuses them
        with pytest.raises(RuntimeError, match="one scale and zero point"):
            run(interpreter, values, values[:1], np.int32(1))
        return
    assert is_one_update(interpreter)
    assert np.array_equal(run(interpreter, values, values[:1], np.int32(1))[0], joined(LIST[:1], 1))


def test_other_shapes() -> None:
    interpreter = ready(list_model())
    interpreter.resize_tensor_input(0, [3, 4])
    interpreter.resize_tensor_input(1, [1, 4])
    interpreter.allocate_tensors()
    x, item = np.ones((3, 4), np.float32), np.zeros((1, 4), np.float32)
    assert np.array_equal(run(interpreter, x, item, np.int32(2))[0], np.concatenate([x[:2], item]))
    interpreter.resize_tensor_input(1, [1, 3])
    with pytest.raises(RuntimeError, match=r"rows of .* must be replaced by like ones"):
        interpreter.allocate_tensors()


def test_an_activation_on_the_next_index_counts() -> None:
    interpreter = ready(list_model(activation=ActivationFunctionType.RELU_N1_TO_1))
    values = run(interpreter, LIST, LIST[4:], np.int32(3))[0]
    assert np.array_equal(values, np.concatenate([LIST[:3], LIST[4:], LIST[1:]]))


def sets_counter(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    """list[counter] = twice the last item."""
    item = body.tensor((1, 2))
    body.op(BuiltinOperator.ADD, [inputs[2], inputs[2]], [item], tflite.AddOptionsT())
    _, y = set_rows(body, inputs[1], item, inputs[0], (5, 2))
    return [y, item]


def test_a_loop_sets_its_list_in_place() -> None:
    interpreter = ready(while_model([(5, 2), (1, 2)], sets_counter))
    assert is_one_update(interpreter)
    bodies = [s for s in interpreter.core.subgraph().callees if len(s.outputs) == 3]
    assert [s.tensor(s.outputs[1]).address == s.tensor(s.inputs[1]).address for s in bodies] == [True]
    for start in (1, 3):
        item = np.full((1, 2), 1.5, np.float32)
        expected, value = LIST.copy(), item
        for i in range(start, 5):
            value = value * 2
            expected[i] = value
        _, y, last = run(interpreter, np.array([start], np.int32), LIST, item)
        assert np.array_equal(y, expected) and np.array_equal(last, value)
