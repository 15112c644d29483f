"""Tensors in the memory of resource variables: what others see of them, and what broken runs leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numlite.interpreter
import numpy as np
import pytest
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder, SubgraphBuilder

SHAPE = (2, 3)
NAMES = ("a", "b")
START = np.array([[1, 2, 3], [4, 5, 6]])
PROGRAMS = 100


class Step(NamedTuple):
    """An operator on earlier values, by number; `name` is a variable's."""

    kind: str
    values: tuple[int, ...] = ()
    name: str = ""


class Program(NamedTuple):
    """Values 0 and 1 are the input and its double; `outputs` are what the graph gives."""

    steps: list[Step]
    outputs: list[int]


ADDED = ("read", "add", "multiply", "update", "view", "row", "rows", "branch")


def random_program(seed: int) -> Program:
    random = np.random.default_rng(seed)
    steps, count = [], 2
    for _ in range(random.integers(4, 14)):
        kind = random.choice([*ADDED, "read", "assign", "assign"])
        recent = [int(v) for v in random.integers(max(0, count - 4), count, 2)]
        steps.append(Step(str(kind), tuple(recent), str(random.choice(NAMES))))
        count += kind in ADDED
    return Program(steps, [int(v) for v in random.integers(1, count, 2)])


def handle(graph: SubgraphBuilder, name: str) -> int:
    tensor = graph.tensor((), TensorType.RESOURCE)
    graph.op(
        BuiltinOperator.VAR_HANDLE, [], [tensor], tflite.VarHandleOptionsT(container="", shared_name=name)
    )
    return tensor


class Writer:
    """Writes values of one type into a graph; bytes have a scale of 1."""

    def __init__(self, model: ModelBuilder, graph: SubgraphBuilder, dtype: str) -> None:
        self.model, self.graph, self.dtype = model, graph, dtype
        self.quantization = {"scale": 1.0, "zero_point": 0} if dtype == "int8" else {}

    def value(self, shape: Sequence[int] = SHAPE) -> int:
        return self.graph.tensor(shape, self.dtype, **self.quantization)

    def constant(self, values: np.ndarray) -> int:
        return self.graph.constant(values.astype(self.dtype), **self.quantization)

    def result(
        self, code: BuiltinOperator, inputs: Sequence[int], options: Any = None, shape: Sequence[int] = SHAPE
    ) -> int:
        y = self.value(shape)
        self.graph.op(code, inputs, [y], options)
        return y

    def sum(self, x: int, y: int) -> int:
        return self.result(BuiltinOperator.ADD, [x, y], tflite.AddOptionsT())

    def assign(self, name: str, x: int) -> None:
        self.graph.op(BuiltinOperator.ASSIGN_VARIABLE, [handle(self.graph, name), x], [])

    def read(self, name: str) -> int:
        return self.result(BuiltinOperator.READ_VARIABLE, [handle(self.graph, name)])

    def branch(self, condition: int, name: str) -> int:
        """IF that adds 1 to the variable and gives it doubled, or leaves it and gives it."""
        branches = []
        for takes in (True, False):
            graph = self.model.add_subgraph(f"{name} {takes}")
            inner = Writer(self.model, graph, self.dtype)
            y = inner.read(name)
            if takes:
                y = inner.sum(y, inner.constant(np.ones(1)))
                inner.assign(name, y)
                y = inner.sum(y, inner.read(name))
            graph.finish([], [y])
            branches.append(graph.index)
        options = tflite.IfOptionsT(then_subgraph_index=branches[0], else_subgraph_index=branches[1])
        return self.result(BuiltinOperator.IF, [condition], options)


def model_of(program: Program, dtype: str) -> bytes:
    """Signatures: run(x, at, condition) does the program's steps, get() gives the variables."""
    model = ModelBuilder()
    writer = Writer(model, model, dtype)
    start = model.add_subgraph("start")
    for name in NAMES:
        first = Writer(model, start, dtype)
        first.assign(name, first.constant(START))
    start.finish([], [])
    once = tflite.CallOnceOptionsT(init_subgraph_index=start.index)
    model.op(BuiltinOperator.CALL_ONCE, [], [], once)
    x, at, condition = writer.value(), model.tensor((1,), np.int32), model.tensor((), np.bool_)
    values = [x, writer.sum(x, x)]
    for step in program.steps:
        write(writer, step, values, at, condition)
    get = model.add_subgraph("get")
    get.op(BuiltinOperator.CALL_ONCE, [], [], once)
    reads = [Writer(model, get, dtype).read(name) for name in NAMES]
    get.finish([], reads)
    inputs = {"x": x, "at": at, "condition": condition}
    first, second = (values[v] for v in program.outputs)
    second = writer.sum(second, writer.constant(np.zeros(1)))
    outputs = {"first": first, "second": second}
    signatures = {"run": (inputs, outputs), "get": ({}, dict(zip(NAMES, reads, strict=True)))}
    model.build([x, at, condition], [first, second], signatures)
    model.model.signature_defs[1].subgraph_index = get.index
    return tflite.pack(model.model)


def write(writer: Writer, step: Step, values: list[int], at: int, condition: int) -> None:
    x, y = (values[v] for v in step.values)
    graph = writer.graph
    if step.kind == "assign":
        writer.assign(step.name, x)
    elif step.kind == "read":
        values.append(writer.read(step.name))
    elif step.kind == "add":
        values.append(writer.sum(x, y))
    elif step.kind == "multiply":
        inputs = [x, writer.constant(np.array([-1]))]
        values.append(writer.result(BuiltinOperator.MUL, inputs, tflite.MulOptionsT()))
    elif step.kind == "branch":
        values.append(writer.branch(condition, step.name))
    elif step.kind == "update":
        inputs = [x, writer.constant(np.array([[7, 8]])), graph.constant([1, 1])]
        options = tflite.DynamicUpdateSliceOptionsT()
        values.append(writer.result(BuiltinOperator.DYNAMIC_UPDATE_SLICE, inputs, options))
    elif step.kind == "view":
        flat = writer.result(BuiltinOperator.RESHAPE, [x, graph.constant([6])], shape=(6,))
        values.append(writer.result(BuiltinOperator.RESHAPE, [flat, graph.constant(list(SHAPE))]))
    elif step.kind == "rows":
        positions = graph.tensor((2,), np.int32)
        options = tflite.ConcatenationOptionsT(axis=0)
        graph.op(BuiltinOperator.CONCATENATION, [graph.constant([1]), at], [positions], options)
        values.append(writer.result(BuiltinOperator.GATHER, [x, positions], tflite.GatherOptionsT()))
    else:
        row = writer.result(BuiltinOperator.GATHER, [x, at], tflite.GatherOptionsT(), (1, 3))
        values.append(writer.sum(y, row))


class State:
    """What the program does, by NumPy."""

    def __init__(self, program: Program, dtype: str) -> None:
        self.program = program
        self.variables = {name: START.astype(dtype) for name in NAMES}

    def run(self, x: np.ndarray, at: int, condition: bool) -> list[np.ndarray] | None:
        """The outputs; None where a position is out of range, which ends the run there."""
        values = [x, x + x]
        for step in self.program.steps:
            a, b = (values[v] for v in step.values)
            if step.kind == "assign":
                self.variables[step.name] = a.copy()
            elif step.kind in ("row", "rows") and not 0 <= at < 2:
                return None
            else:
                values.append(self._value(step, a, b, at, condition))
        return [values[v] for v in self.program.outputs]

    def _value(self, step: Step, a: np.ndarray, b: np.ndarray, at: int, condition: bool) -> np.ndarray:
        if step.kind == "branch":
            held = self.variables[step.name]
            self.variables[step.name] = held = held + held.dtype.type(condition)
            return held + held if condition else held
        if step.kind == "update":
            updated = a.copy()
            updated[1, 1:] = 7, 8
            return updated
        known: dict[str, Callable[[], np.ndarray]] = {
            "read": lambda: self.variables[step.name].copy(),
            "add": lambda: a + b,
            "multiply": lambda: -a,
            "view": lambda: a,
            "row": lambda: b + a[at : at + 1],
            "rows": lambda: a[[1, at]],
        }
        return known[step.kind]()


class Session:
    """A model in one of the runtimes, run and looked at by its signatures."""

    def __init__(self, api: Any, content: bytes, resolver: str, **options: Any) -> None:
        kind = getattr(api.OpResolverType, resolver)
        made = api.Interpreter(model_content=content, experimental_op_resolver_type=kind, **options)
        self.interpreter = made
        self._run, self._get = (made.get_signature_runner(key) for key in ("run", "get"))

    def run(self, x: np.ndarray, at: int, condition: bool) -> list[np.ndarray] | None:
        try:
            found = self._run(x=x, at=np.array([at], np.int32), condition=np.bool_(condition))
        except (RuntimeError, ValueError):
            return None
        return [found["first"], found["second"]]

    @property
    def variables(self) -> dict[str, np.ndarray]:
        return {name: value.copy() for name, value in self._get().items()}


# Input, position of `row`, condition of `branch`: position 5 ends a run where there is such a step.
RUNS = ((2, 0, True), (1, 1, False), (3, 5, True), (-1, 0, False), (2, 5, False), (1, 1, True))


def compare(found: Session, wanted: State | Session, dtype: str) -> None:
    for factor, at, condition in RUNS:
        x = (START[::-1] * factor % 5).astype(dtype)
        ours, theirs = (each.run(x, at, condition) for each in (found, wanted))
        assert (ours is None) == (theirs is None)
        for a, b in zip(ours or (), theirs or (), strict=True):
            np.testing.assert_array_equal(a, b)
        variables = wanted.variables
        for name, value in found.variables.items():
            np.testing.assert_array_equal(value, variables[name], err_msg=name)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_program_does_what_its_steps_say(seed: int) -> None:
    dtype = ("int32", "float32")[seed % 2]
    resolver = ("AUTO", "BUILTIN_REF")[seed // 2 % 2]
    program = random_program(seed)
    compare(Session(numlite.interpreter, model_of(program, dtype), resolver), State(program, dtype), dtype)


@pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="LiteRT is not installed")
@pytest.mark.parametrize("dtype", ("int32", "float32", "int8"))
@pytest.mark.parametrize("seed", range(0, PROGRAMS, 4))
def test_a_program_does_what_it_does_in_litert(seed: int, dtype: str) -> None:
    """LiteRT without delegates: XNNPACK takes variables of floats itself, and runs them in another order."""
    content = model_of(random_program(1000 + seed), dtype)
    resolver = ("BUILTIN_WITHOUT_DEFAULT_DELEGATES", "BUILTIN_REF")[seed % 2]
    litert = import_module("ai_edge_litert.interpreter")
    ours = "AUTO" if resolver != "BUILTIN_REF" and dtype != "int8" else resolver
    compare(Session(numlite.interpreter, content, ours), Session(litert, content, resolver), dtype)


def variable_tensors(session: Session) -> set[int]:
    """The tensors of `run` that lie in variables."""
    return {t for stage in session.interpreter.core.subgraph().stages for t in stage.memory.in_variables}


def session_of(steps: list[Step], outputs: list[int], dtype: str = "float32", **options: Any) -> Session:
    return Session(numlite.interpreter, model_of(Program(steps, outputs), dtype), "AUTO", **options)


def steps_of(text: str) -> list[Step]:
    """Steps as `kind x y name`, what they do not need left out."""
    made = []
    for words in map(str.split, text.split(",")):
        values = [int(word) for word in words[1:] if word.isdigit()]
        names = [word for word in words[1:] if not word.isdigit()]
        made.append(Step(words[0], tuple((*values, 0, 0)[:2]), "".join(names)))
    return made


# Steps, and how many values lie in variables. Values 0 and 1 are the input and its double.
PLACES = {
    "read a": 1,
    "read a, update 2, assign 3 a": 2,
    "read a, add 2 0, assign 3 a": 2,
    "read a, view 2, add 3 0, view 4, assign 5 a": 6,
    "read a, read b, update 2, update 3, assign 4 a, assign 5 b": 4,
    "read a, update 2, assign 3 a, read a, add 4 3": 3,
    "add 0 1, assign 2 a": 1,
    "read a, read b, assign 2 b, assign 3 a": 1,
    "read a, add 2 2, assign 3 a": 1,
    "read a, update 2, add 3 2, assign 3 a": 1,
    "read a, assign 0 a, add 2 0": 0,
    "read a, branch a, add 2 3": 0,
    "read a, branch b, add 2 3": 0,
    "read a, row 2 0, assign 3 a": 2,
    "read a, update 2, row 3 0, assign 3 a": 1,
    "assign 0 a": 0,
    "read a, rows 2, assign 3 a": 1,
}


@pytest.mark.parametrize("text", PLACES)
def test_which_values_lie_in_variables(text: str) -> None:
    steps = steps_of(text)
    last = 1 + sum(step.kind in ADDED for step in steps)
    session = session_of(steps, [1, last])
    compare(session, State(Program(steps, [1, last]), "float32"), "float32")
    assert len(variable_tensors(session)) == PLACES[text]


def test_all_values_are_kept_where_that_is_asked_for() -> None:
    steps = steps_of("read a, update 2, assign 3 a")
    kept = session_of(steps, [1, 3], experimental_preserve_all_tensors=True)
    compare(kept, State(Program(steps, [1, 3]), "float32"), "float32")
    assert not variable_tensors(kept)


def test_nobody_is_shown_an_old_value_that_was_written_over() -> None:
    session = session_of(steps_of("read a, update 2, assign 3 a"), [1, 3])
    session.run(START.astype("float32"), 0, True)
    places = variable_tensors(session)
    assert len(places) == 2
    for t in places:
        with pytest.raises(ValueError, match="is an intermediate value"):
            session.interpreter.get_tensor(t)


def test_an_update_in_several_pieces_is_written_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run can be stopped between them."""
    monkeypatch.setattr("numlite.lite.kernel_call.LONGEST_NS", 0.01)
    session = session_of(steps_of("read a, add 2 0, assign 3 a"), [1, 3])
    session.interpreter.allocate_tensors()
    calls = [call for node in session.interpreter.core.subgraph().schedule for call in node.calls or ()]
    assert any(call.kernel == "add_f32" and call.chunks > 1 for call in calls)
    assert len(variable_tensors(session)) == 1


def test_variables_stay_where_they_are_when_the_arena_is_given_back() -> None:
    steps = steps_of("read a, update 2, assign 3 a, read a, add 4 0, assign 5 a")
    session, state = session_of(steps, [1, 5]), State(Program(steps, [1, 5]), "float32")
    for _ in range(2):
        compare(session, state, "float32")
        session.interpreter.core.subgraph().release_nonpersistent_memory()
        session.interpreter.allocate_tensors()
