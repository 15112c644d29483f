"""Reads of variables behind what tells their values."""

from __future__ import annotations

import pytest
from numlite.converter.lite_graph import LiteGraph, LiteOperator, LiteTensor
from numlite.converter.operator_rules.rewriter import OperatorRewriter
from numlite.converter.operator_rules.variables import read_what_is_known
from numlite.lite.tensor import TensorType
from numlite.schema.tflite import BuiltinOperator as Op
from numlite.schema.tflite import VarHandleOptionsT


class Program:
    """A graph of operators on variables, in order; x is its input."""

    def __init__(self) -> None:
        self.graph = LiteGraph("main")
        self.x = self.tensor("x")
        self.graph.inputs = [self.x]
        self.handles: dict[str, LiteTensor] = {}

    def tensor(self, name: str, type: TensorType = TensorType.FLOAT32) -> LiteTensor:
        return LiteTensor(name, type, () if type == TensorType.RESOURCE else (2,))

    def add(self, code: Op, operands: list[LiteTensor], results: list[LiteTensor]) -> LiteOperator:
        return self.graph.append(LiteOperator(code, operands, results, None, (f"node{len(self.graph)}",)))

    def handle(self, name: str) -> LiteTensor:
        made = self.tensor(name, TensorType.RESOURCE)
        self.add(Op.VAR_HANDLE, [], [made]).options = VarHandleOptionsT(shared_name=name, container="")
        return made

    def assign(self, name: str, value: LiteTensor) -> None:
        self.add(Op.ASSIGN_VARIABLE, [self.handle(name), value], [])

    def read(self, name: str) -> LiteTensor:
        y = self.tensor(f"read{len(self.graph)}")
        self.add(Op.READ_VARIABLE, [self.handle(name)], [y])
        return y

    def rewritten(self, *outputs: LiteTensor) -> list[str]:
        """The operators in order, without those of handles; outputs go through a SIN each."""
        made = [self.tensor(f"y{i}") for i in range(len(outputs))]
        for x, y in zip(outputs, made, strict=True):
            self.add(Op.SIN, [x], [y])
        self.graph.outputs = made
        OperatorRewriter(self.graph, [[read_what_is_known]]).run()
        return [operator.code.name for operator in self.graph if operator.code != Op.VAR_HANDLE]


def test_what_was_assigned_is_not_read() -> None:
    program = Program()
    program.assign("v", program.x)
    program.assign("w", program.x)
    assert program.rewritten(program.read("v")) == ["ASSIGN_VARIABLE", "ASSIGN_VARIABLE", "SIN"]
    assert program.graph.outputs[0].producer.operands == (program.x,)


def test_what_was_read_is_not_read_again() -> None:
    program = Program()
    first, second = program.read("v"), program.read("v")
    assert program.rewritten(first, second) == ["READ_VARIABLE", "SIN", "SIN"]
    assert program.graph.outputs[1].producer.operands == (first,)


def test_a_read_behind_another_assignment_stays() -> None:
    program = Program()
    first = program.read("v")
    program.assign("v", first)
    program.assign("v", program.x)
    assert program.rewritten(first, program.read("v")) == [
        *("READ_VARIABLE", "ASSIGN_VARIABLE", "ASSIGN_VARIABLE", "SIN", "SIN"),
    ]
    assert program.graph.outputs[1].producer.operands == (program.x,)


@pytest.mark.parametrize("what", ["custom", "branch", "unknown handle"])
def test_what_may_assign_is_a_border(what: str) -> None:
    program = Program()
    first = program.read("v")
    if what == "unknown handle":
        handle = program.tensor("given", TensorType.RESOURCE)
        program.graph.inputs = [program.x, handle]
        program.add(Op.ASSIGN_VARIABLE, [handle, program.x], [])
    elif what == "custom":
        program.add(Op.CUSTOM, [program.x], []).has_effects = True
    else:
        inner = Program()
        inner.assign("v", inner.x)
        program.add(Op.IF, [program.x], []).callees = (inner.graph, inner.graph)
    assert program.rewritten(first, program.read("v")).count("READ_VARIABLE") == 2


def test_a_value_of_another_shape_is_read() -> None:
    program = Program()
    program.assign("v", LiteTensor("row", TensorType.FLOAT32, (1, 2)))
    assert program.rewritten(program.read("v")).count("READ_VARIABLE") == 1
