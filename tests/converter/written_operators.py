"""Lowered graphs as text, one operator a line, for rules that are tested by what is given and what they make.

x: 2x3                         an input, float32 where nothing else is said ("x: 2x3 int32")
c = [1, 2]                     a constant; numbers without a point are float32, too ("c = int32 [1, 2]")
a = NEG(x)                     an operator whose result has the shape and type of its first operand
y: 3x2 = TRANSPOSE(a, c)       another shape; {keep_dims=True} behind it are options
return y
"""

from __future__ import annotations

import ast
import re

import numpy as np
from numlite.converter.graph.rule import Rule
from numlite.converter.graph.trace import Trace
from numlite.converter.lite_graph import LiteGraph, LiteOperator, LiteTensor
from numlite.converter.operator_rules.rewriter import OperatorRewriter
from numlite.lite.tensor import TensorType
from numlite.schema import tflite
from numlite.schema.operator_options import options_table
from numlite.schema.tflite import BuiltinOperator

_LINE = re.compile(r"(\w+)(?:: ([\w?]+)(?: (\w+))?)?(?: = (.*))?")
_OPERATOR = re.compile(r"([A-Z]\w*)\(([^)]*)\)(?: \{(.*)\})?")


def parsed(text: str) -> LiteGraph:
    """The graph that the text says."""
    graph = LiteGraph()
    known: dict[str, LiteTensor | None] = {"none": None}
    for line in (each.strip() for each in text.strip().splitlines()):
        if line.startswith("return"):
            graph.outputs = [known[name] for name in re.findall(r"\w+", line)[1:]]  # type: ignore[misc]
            continue
        found = _LINE.fullmatch(line)
        assert found is not None, line
        name, shape, type, value = found.groups()
        operator = None if value is None else _OPERATOR.fullmatch(value)
        if value is None:
            known[name] = tensor = LiteTensor(name, _type(type), _shape(shape))
            graph.inputs = [*graph.inputs, tensor]
        elif operator is None:
            known[name] = _constant(name, value)
        else:
            known[name] = _add(graph, known, name, shape, type, operator)
    return graph


def _add(graph: LiteGraph, known, name: str, shape: str, type: str, found) -> LiteTensor:  # type: ignore[no-untyped-def]
    code, operands, fields = found.groups()
    given = [known[each] for each in re.findall(r"\w+", operands)]
    y = LiteTensor(
        name,
        _type(type) if type else given[0].type,
        _shape(shape) if shape else given[0].shape,
    )
    table = getattr(tflite, f"{options_table(code)}T", None)
    options = None if table is None else table()
    for field in re.findall(r"(\w+)=(\w+)", fields or ""):
        setattr(options, field[0], ast.literal_eval(field[1]))
    custom = code not in BuiltinOperator.__members__
    made = LiteOperator(
        BuiltinOperator.CUSTOM if custom else BuiltinOperator[code], given, [y], options, (name,)
    )
    made.custom_code = code if custom else None
    graph.append(made)
    return y


def _type(text: str | None) -> TensorType:
    return TensorType[(text or "float32").upper()]


def _shape(text: str) -> tuple[int, ...]:
    return () if text == "scalar" else tuple(-1 if n == "?" else int(n) for n in text.split("x"))


def _constant(name: str, text: str) -> LiteTensor:
    type, _, value = text.rpartition(" ") if text[0].isalpha() else ("float32", "", text)
    if text[0].isalpha():
        type, value = text.split(" ", 1)
    data = np.array(ast.literal_eval(value), type)
    return LiteTensor(name, _type(type), data.shape, data)


def written(graph: LiteGraph) -> str:
    """The graph as text; names are those of inputs, and numbers for all else."""
    names: dict[LiteTensor | None, str] = {None: "none"} | {x: x.name for x in graph.inputs}
    lines = []
    for operator in graph:
        operands = [_named(names, tensor) for tensor in operator.operands]
        for y in operator.results:
            names[y] = f"v{len(names)}"
        y = operator.result
        shape = "x".join(map(str, y.shape or ())) or "scalar"
        code = operator.custom_code or operator.code.name
        fields = _fields(operator)
        lines.append(f"{names[y]}: {shape} {y.type.name.lower()} = {code}({', '.join(operands)}){fields}")
    return "\n".join([*lines, f"return {', '.join(_named(names, y) for y in graph.outputs)}"])


def _named(names: dict[LiteTensor | None, str], tensor: LiteTensor | None) -> str:
    return (
        str(np.round(tensor.data, 6).tolist())
        if tensor is not None and tensor.data is not None
        else names[tensor]
    )


def _fields(operator: LiteOperator) -> str:
    if operator.options is None:
        return ""
    values = {field.name: getattr(operator.options, field.name) for field in operator.options.fields}
    shown = [f"{name}={value}" for name, value in values.items() if isinstance(value, int | float) and value]
    return f" {{{', '.join(shown)}}}" if shown else ""


def rewritten(text: str, *rules: Rule[OperatorRewriter]) -> tuple[str, Trace]:
    """What the rules make of a graph, and what fired."""
    graph = parsed(text)
    trace = OperatorRewriter(graph, [[rule] for rule in rules]).run()
    return written(graph), trace
