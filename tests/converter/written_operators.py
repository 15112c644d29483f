"""Lowered graphs as text, one operator a line, for rules that are tested by what is given and what they make.

x: 2x3                         an input, float32 where nothing else is said ("x: 2x3 int32")
c = [1, 2]                     a constant; numbers without a point are float32, too ("c = int32 [1, 2]")
a = NEG(x)                     an operator whose result has the shape and type of its first operand
y: 3x2 = TRANSPOSE(a, c)       another shape; {keep_dims=True} behind it are options
ASSIGN_VARIABLE(v, a)          an operator without results
p: 2, q: 2 = IF(b, x) @then @else    several results, and graphs that stand before, each from "graph then" on
return y
"""

from __future__ import annotations

import ast
import re

import numpy as np
from numlite.converter.graph.rule import Rule, Trace
from numlite.converter.lite_graph import LiteGraph, LiteOperator, LiteTensor
from numlite.converter.operator_rules.rewriter import OperatorRewriter
from numlite.lite.tensor import TensorType
from numlite.schema import tflite
from numlite.schema.operator_code import options_table
from numlite.schema.tflite import BuiltinOperator

_RESULT = re.compile(r"(\w+)(?:: ([\w?]+)(?: (\w+))?)?")
_LINE = re.compile(rf"({_RESULT.pattern}(?:, {_RESULT.pattern})*)(?: = (.*))?")
_OPERATOR = re.compile(r"([A-Z]\w*)\(([^)]*)\)(?: \{(.*)\})?((?: @\w+)*)")


def parsed(text: str) -> LiteGraph:
    """The graph that the text says, the last one of it."""
    graphs: dict[str, LiteGraph] = {}
    for part in re.split(r"^graph ", text.strip(), flags=re.MULTILINE)[1:] or [f"main\n{text}"]:
        name, _, lines = part.partition("\n")
        graphs[name] = _graph(name, lines, graphs)
    return graphs[name]


def _graph(name: str, text: str, graphs: dict[str, LiteGraph]) -> LiteGraph:
    graph = LiteGraph(name)
    known: dict[str, LiteTensor | None] = {"none": None}
    for line in (each.strip() for each in text.strip().splitlines()):
        if line.startswith("return"):
            graph.outputs = [known[name] for name in re.findall(r"\w+", line)[1:]]  # type: ignore[misc]
            continue
        if (alone := _OPERATOR.fullmatch(line)) is not None:
            _add(graph, graphs, known, [], alone)
            continue
        found = _LINE.fullmatch(line)
        assert found is not None, line
        left, value = found[1], found[found.re.groups]
        results = [each.groups() for each in _RESULT.finditer(left)]
        operator = None if value is None else _OPERATOR.fullmatch(value)
        if value is None:
            made = [LiteTensor(name, _type(type), _shape(shape)) for name, shape, type in results]
            graph.inputs = [*graph.inputs, *made]
        elif operator is None:
            made = [_constant(left, value)]
        else:
            made = _add(graph, graphs, known, results, operator)
        known |= {each.name: each for each in made}
    return graph


def _add(graph: LiteGraph, graphs, known, results, found) -> list[LiteTensor]:  # type: ignore[no-untyped-def]
    code, operands, fields, callees = found.groups()
    given = [known[each] for each in re.findall(r"\w+", operands)]
    made = [
        LiteTensor(name, _type(type) if type else given[0].type, _shape(shape) if shape else given[0].shape)
        for name, shape, type in results
    ]
    table = getattr(tflite, f"{options_table(code)}T", None)
    options = None if table is None else table()
    for field in re.findall(r"(\w+)=([-\w.]+)", fields or ""):
        setattr(options, field[0], ast.literal_eval(field[1]))
    custom = code not in BuiltinOperator.__members__
    operator = LiteOperator(
        BuiltinOperator.CUSTOM if custom else BuiltinOperator[code],
        given,
        made,
        options,
        (made[0].name if made else code,),
    )
    operator.custom_code = code if custom else None
    operator.callees = tuple(graphs[name] for name in re.findall(r"\w+", callees))
    graph.append(operator)
    return made


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
    """The graph as text; names are those of inputs, and numbers for all else. Called graphs stand before."""
    names: dict[LiteTensor | None, str] = {None: "none"} | {x: x.name for x in graph.inputs}
    lines = [f"{x.name}: {_typed(x)}" for x in graph.inputs]
    before = []
    for operator in graph:
        operands = [_named(names, tensor) for tensor in operator.operands]
        names |= {y: f"v{len(names) + i}" for i, y in enumerate(operator.results)}
        results = ", ".join(f"{names[y]}: {_typed(y)}" for y in operator.results)
        code = operator.custom_code or operator.code.name
        callees = "".join(f" @{each.name}" for each in operator.callees)
        before += [f"graph {each.name}\n{written(each)}" for each in operator.callees]
        given = f"{results} = " if results else ""
        lines.append(f"{given}{code}({', '.join(operands)}){_fields(operator)}{callees}")
    outputs = ", ".join(_named(names, y) for y in graph.outputs)
    return "\n".join([*before, *lines, f"return {outputs}"])


def _typed(tensor: LiteTensor) -> str:
    return f"{'x'.join(map(str, tensor.shape or ())) or 'scalar'} {tensor.type.name.lower()}"


def _named(names: dict[LiteTensor | None, str], tensor: LiteTensor | None) -> str:
    if tensor is None or tensor.data is None:
        return names[tensor]
    return f"{tensor.data.dtype} {np.round(tensor.data, 6).tolist()}"


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
