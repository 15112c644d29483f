"""State that subgraphs share: resource variables, CALL_ONCE and hash tables."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError, PrepareError
from numlite.lite.string_tensor import pack_strings
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder, SubgraphBuilder

RESOURCE, STRING, INT64 = TensorType.RESOURCE, TensorType.STRING, TensorType.INT64


def handle(graph: SubgraphBuilder, name: str = "total") -> int:
    tensor = graph.tensor((), RESOURCE)
    options = tflite.VarHandleOptionsT(container="", shared_name=name)
    graph.op(BuiltinOperator.VAR_HANDLE, [], [tensor], options)
    return tensor


def initialization(model: ModelBuilder, value: np.ndarray) -> int:
    graph = model.add_subgraph("initialization")
    graph.op(BuiltinOperator.ASSIGN_VARIABLE, [handle(graph), graph.constant(value)], [])
    graph.finish([], [])
    return graph.index


def call_once(graph: SubgraphBuilder, index: int) -> None:
    graph.op(BuiltinOperator.CALL_ONCE, [], [], tflite.CallOnceOptionsT(init_subgraph_index=index))


def accumulator(shape: tuple[int, ...] = (2,)) -> bytes:
    """Signatures: add(x) adds to the total and gives it, get() gives twice the total."""
    model = ModelBuilder()
    start = initialization(model, np.array([10, 20], np.float32))
    x, total, result = model.tensor(shape), model.tensor((2,)), model.tensor((2,))
    call_once(model, start)
    variable = handle(model)
    model.op(BuiltinOperator.READ_VARIABLE, [variable], [total])
    model.op(BuiltinOperator.ADD, [total, x], [result], tflite.AddOptionsT())
    model.op(BuiltinOperator.ASSIGN_VARIABLE, [variable, result], [])
    graph = model.add_subgraph("get")
    call_once(graph, start)
    read, twice = graph.tensor((2,)), graph.tensor((2,))
    graph.op(BuiltinOperator.READ_VARIABLE, [handle(graph)], [read])
    graph.op(BuiltinOperator.ADD, [read, read], [twice], tflite.AddOptionsT())
    graph.finish([], [twice])
    model.build([x], [result], {"add": ({"x": x}, {"result": result}), "get": ({}, {"twice": twice})})
    model.model.signature_defs[1].subgraph_index = graph.index
    return tflite.pack(model.model)


def test_a_variable_is_shared_by_signatures_and_kept() -> None:
    interpreter = Interpreter(model_content=accumulator())
    add, get = (interpreter.get_signature_runner(key) for key in ("add", "get"))
    np.testing.assert_array_equal(get()["twice"], [20, 40])
    np.testing.assert_array_equal(add(x=np.float32([1, 2]))["result"], [11, 22])
    np.testing.assert_array_equal(add(x=np.float32([1, 2]))["result"], [12, 24])
    np.testing.assert_array_equal(get()["twice"], [24, 48])
    interpreter.reset_all_variables()  # of the tensors that are variables, not of these
    interpreter.allocate_tensors()
    np.testing.assert_array_equal(add(x=np.float32([0]))["result"], [12, 24])
    fresh = Interpreter(model_content=accumulator()).get_signature_runner("get")
    np.testing.assert_array_equal(fresh()["twice"], [20, 40])


def test_another_shape_may_be_assigned() -> None:
    """A variable has the shape of what it was given last; what reads it is prepared anew."""
    model = ModelBuilder()
    x, old, doubled = model.tensor((2,)), model.tensor((2,)), model.tensor((2,))
    call_once(model, initialization(model, np.array([10, 20], np.float32)))
    variable = handle(model)
    model.op(BuiltinOperator.READ_VARIABLE, [variable], [old])
    model.op(BuiltinOperator.ADD, [old, old], [doubled], tflite.AddOptionsT())
    model.op(BuiltinOperator.ASSIGN_VARIABLE, [variable, x], [])
    interpreter = Interpreter(model_content=model.build([x], [doubled]))
    results = []
    for size in (3, 3, 1, 2):
        interpreter.resize_tensor_input(x, [size])
        interpreter.allocate_tensors()
        interpreter.set_tensor(x, np.full(size, size, np.float32))
        interpreter.invoke()
        results.append(interpreter.get_tensor(doubled).tolist())
    assert results == [[20, 40], [6, 6, 6], [6, 6, 6], [2]]


def test_a_shape_that_only_a_run_tells_may_be_assigned() -> None:
    model = ModelBuilder()
    x, times, old, doubled = (model.tensor((n,), t) for n, t in ((2, "f4"), (1, "i4"), (2, "f4"), (2, "f4")))
    call_once(model, initialization(model, np.array([10, 20], np.float32)))
    variable, tiled = handle(model), model.tensor((2,), shape_signature=[-1])
    model.op(BuiltinOperator.READ_VARIABLE, [variable], [old])
    model.op(BuiltinOperator.ADD, [old, old], [doubled], tflite.AddOptionsT())
    model.op(BuiltinOperator.TILE, [x, times], [tiled])
    model.op(BuiltinOperator.ASSIGN_VARIABLE, [variable, tiled], [])
    interpreter = Interpreter(model_content=model.build([x, times], [doubled]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(x, np.array([1, 2], np.float32))
    results = []
    for count in (1, 2, 1, 1):
        interpreter.set_tensor(times, np.array([count], np.int32))
        interpreter.invoke()
        results.append(interpreter.get_tensor(doubled).tolist())
    assert results == [[20, 40], [2, 4], [2, 4, 2, 4], [2, 4]]


def test_variables_of_one_shape_need_no_python() -> None:
    interpreter = Interpreter(model_content=accumulator())
    for index in (0, 2):
        interpreter.core.allocate_tensors(index)
        assert interpreter.core.subgraph(index).native_plan is not None


def counter_loop() -> bytes:
    """WHILE that is passed the variable, and adds 1 to it until it is 5."""
    model = ModelBuilder()
    call_once(model, initialization(model, np.array([2], np.float32)))
    condition = model.add_subgraph("condition")
    variable, value, less = (
        condition.tensor((), RESOURCE),
        condition.tensor((1,)),
        condition.tensor((1,), bool),
    )
    condition.op(BuiltinOperator.READ_VARIABLE, [variable], [value])
    condition.op(BuiltinOperator.LESS, [value, condition.constant(np.float32([5]))], [less])
    condition.finish([variable], [less])
    body = model.add_subgraph("body")
    variable, value, more = body.tensor((), RESOURCE), body.tensor((1,)), body.tensor((1,))
    body.op(BuiltinOperator.READ_VARIABLE, [variable], [value])
    body.op(BuiltinOperator.ADD, [value, body.constant(np.float32([1]))], [more], tflite.AddOptionsT())
    body.op(BuiltinOperator.ASSIGN_VARIABLE, [variable, more], [])
    body.finish([variable], [variable])
    passed, result = model.tensor((), RESOURCE), model.tensor((1,))
    options = tflite.WhileOptionsT(cond_subgraph_index=condition.index, body_subgraph_index=body.index)
    model.op(BuiltinOperator.WHILE, [handle(model)], [passed], options)
    model.op(BuiltinOperator.READ_VARIABLE, [passed], [result])
    return model.build([], [result])


def test_a_loop_changes_a_variable_that_it_is_given() -> None:
    interpreter = Interpreter(model_content=counter_loop())
    interpreter.allocate_tensors()
    assert interpreter.core.subgraph().native_plan is not None
    for _ in range(2):
        interpreter.invoke()
        assert interpreter.get_tensor(interpreter.get_output_details()[0]["index"]) == 5


def test_reading_before_assigning_is_an_error() -> None:
    model = ModelBuilder()
    y = model.tensor((2,))
    model.op(BuiltinOperator.READ_VARIABLE, [handle(model)], [y])
    interpreter = Interpreter(model_content=model.build([], [y]))
    interpreter.allocate_tensors()
    with pytest.raises(InvokeError, match="READ_VARIABLE: the variable must have been assigned a value"):
        interpreter.invoke()


@pytest.mark.parametrize("code", [BuiltinOperator.READ_VARIABLE, BuiltinOperator.HASHTABLE_SIZE])
def test_a_handle_must_be_a_resource(code: BuiltinOperator) -> None:
    model = ModelBuilder()
    x, y = model.tensor((1,), np.int32), model.tensor((1,), np.int64)
    model.op(code, [x], [y])
    with pytest.raises(PrepareError, match=f"{code.name}: the handle must be a resource, got"):
        Interpreter(model_content=model.build([x], [y])).allocate_tensors()


def test_a_handle_that_is_an_input_holds_nothing() -> None:
    model = ModelBuilder()
    x, y = model.tensor((1,), RESOURCE), model.tensor((1,), np.int64)
    model.op(BuiltinOperator.HASHTABLE_SIZE, [x], [y])
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    with pytest.raises(InvokeError, match="it must hold a resource"):
        interpreter.invoke()


Entries = list[int] | list[str]


def entries(graph: SubgraphBuilder, values: Entries) -> int:
    if isinstance(values[0], str):
        data = pack_strings([str(value).encode() for value in values]).tobytes()
        return graph.tensor((len(values),), STRING, data)
    return graph.constant(np.array(values, np.int64))


def lookup(imports: list[tuple[Entries, Entries]], default: Entries, shape: tuple[int, ...] = (3,)) -> bytes:
    """Finds keys in a table that the imports fill: outputs are the values and the size."""
    model = ModelBuilder()
    key_type = STRING if isinstance(imports[0][0][0], str) else INT64
    value_type = STRING if isinstance(default[0], str) else INT64
    options = tflite.HashtableOptionsT(table_id=7, key_dtype=key_type, value_dtype=value_type)
    graph = model.add_subgraph("initialization")
    table = graph.tensor((1,), RESOURCE)
    graph.op(BuiltinOperator.HASHTABLE, [], [table], options)
    for keys, values in imports:
        inputs = [table, entries(graph, keys), entries(graph, values)]
        graph.op(BuiltinOperator.HASHTABLE_IMPORT, inputs, [])
    graph.finish([], [])
    call_once(model, graph.index)
    keys, table = model.tensor(shape, key_type), model.tensor((1,), RESOURCE)
    found, size = model.tensor(shape, value_type), model.tensor((1,), INT64)
    model.op(BuiltinOperator.HASHTABLE, [], [table], options)
    model.op(BuiltinOperator.HASHTABLE_FIND, [table, keys, entries(model, default)], [found])
    model.op(BuiltinOperator.HASHTABLE_SIZE, [table], [size])
    return model.build([keys], [found, size])


@pytest.mark.parametrize(
    ("imports", "default", "keys", "found", "size"),
    [
        ([(["a", "b"], [5, 6])], [-1], [b"a", b"zz", b"b"], [5, -1, 6], 2),
        ([([1, 2], ["x", "yy"])], ["none"], [[1, 9], [2, 1]], [[b"x", b"none"], [b"yy", b"x"]], 2),
        ([(["a", "a"], [5, 6])], [-1], [b"a"], [5], 1),
        ([(["a"], [5]), (["b"], [6])], [-1], [b"a", b"b"], [5, -1], 1),
        ([([1, 2], [3, 4])], [0], [2, 3], [4, 0], 2),
    ],
)
def test_finding(imports: list, default: Entries, keys: list, found: list, size: int) -> None:
    """Of equal keys the first counts, and of imports too."""
    array = np.array(keys, object if isinstance(imports[0][0][0], str) else np.int64)
    interpreter = Interpreter(model_content=lookup(imports, default, array.shape))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, array)
    interpreter.invoke()
    outputs = [interpreter.get_tensor(d["index"]).tolist() for d in interpreter.get_output_details()]
    assert outputs == [found, [size]]


def test_keys_and_values_of_different_number_are_refused() -> None:
    interpreter = Interpreter(model_content=lookup([(["a", "b"], [1])], [0]))
    with pytest.raises(PrepareError, match=r"CALL_ONCE.*subgraph 1, node 1 \(HASHTABLE_IMPORT\).*one shape"):
        interpreter.allocate_tensors()
