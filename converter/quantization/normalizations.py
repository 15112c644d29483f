"""simplify_normalizations: layer normalization with fewer operators, and fewer roundings as integers.

Given    a = MUL(RSQRT(v), gamma)     y = ADD(MUL(x, a), SUB(beta, MUL(m, a)))     m = MEAN(x)
         v = ADD(MEAN(SQUARED_DIFFERENCE(x, m)), epsilon)
Result   d = SUB(x, m)     v = ADD(MEAN(MUL(d, d)), epsilon)     y = ADD(MUL(MUL(d, RSQRT(v)), gamma), beta)

The same values but for the last bits. x a and m a are large where x lies far from zero, and their difference
is small; d is as large as it is. Only where gamma and beta can go into the filters behind
(folded_factors.py): else it would be rounded more often than as it was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...lite.tensor import TensorType
from ...schema import tflite
from .float_graph import FloatGraph, Site, Step
from .folded_factors import only_filters_read
from .model_editor import ModelEditor


class Normalization(NamedTuple):
    """The operators of one; tensors by number: the input, its mean, the factor, gamma and beta (-1: none).

    squares is the SQUARED_DIFFERENCE, last gives the result; dead are the others that go.
    """

    x: int
    mean: int
    factor: int
    gamma: int
    beta: int
    squares: Step
    last: Step
    dead: tuple[Step, ...]


def simplify_normalizations(editor: ModelEditor) -> bool:
    """Rewrite those that only filters read, in place; whether there was one.

    New tensors are named after the result.
    """
    graph = FloatGraph(editor)
    found = [each for each in normalizations(graph) if _suits_filters(graph, each)]
    for each in found:
        rewrite(graph, each)
    return bool(found)


def normalizations(graph: FloatGraph) -> Iterator[Normalization]:
    """All that are written as given above, whatever reads them."""
    for step in graph.steps:
        if (found := _found(graph, step)) is not None:
            yield found


def _suits_filters(graph: FloatGraph, found: Normalization) -> bool:
    """Whether gamma and beta can go into all that reads the result."""
    result = Site(found.last.graph, found.last.outputs[0])
    wanted = [name for name, constant in (("MUL", found.gamma), ("ADD", found.beta)) if constant >= 0]
    return all(only_filters_read(graph, result, name) for name in wanted)


def _found(graph: FloatGraph, step: Step) -> Normalization | None:
    """The normalization of a SQUARED_DIFFERENCE."""
    if step.name != "SQUARED_DIFFERENCE":
        return None
    reading = _Reading(graph, step.graph)
    for x, mean in (step.inputs, step.inputs[::-1]):
        maker = reading.maker(mean)
        if maker is not None and maker.name == "MEAN" and maker.inputs[0] == x:
            break
    else:
        return None
    root = reading.behind(step, "MEAN", "ADD", "RSQRT")
    if root is None:
        return None
    factor, scaled, gamma = root.outputs[0], root.outputs[0], -1
    first, dead = reading.sole_user(scaled), list[Step]()
    if first is not None and first.name == "MUL" and (constant := reading.constant_of(first)) >= 0:
        gamma, scaled = constant, first.outputs[0]
        dead.append(first)
    pair = reading.products(scaled, x, mean)
    if pair is None:
        return None
    of_x, of_mean, negative = pair
    end = reading.end(of_x, of_mean, negative is not None)
    if end is None:
        return None
    last, beta, more = end
    dead += [of_x, *more]
    if negative is not None and reading.sole_user(negative.outputs[0]) is not None:
        dead.append(negative)
    return Normalization(x, mean, factor, gamma, beta, step, last, tuple(dead))


class _Reading:
    """Questions about the operators of one subgraph; operators count only where nothing else reads them."""

    def __init__(self, graph: FloatGraph, number: int) -> None:
        self._graph, self._number = graph, number

    def maker(self, t: int) -> Step | None:
        return self._graph.producers.get(Site(self._number, t))

    def users(self, t: int) -> list[Step]:
        return self._graph.users.get(Site(self._number, t), [])

    def sole_user(self, t: int) -> Step | None:
        users = self.users(t)
        alone = len(users) == 1 and users[0].inputs.count(t) == 1
        return users[0] if alone and Site(self._number, t) not in self._graph.outputs else None

    def is_constant(self, t: int) -> bool:
        return t >= 0 and self._graph.is_constant(Site(self._number, t))

    def constant_of(self, step: Step) -> int:
        """The constant among two operands, -1 where there is not one."""
        found = [t for t in step.inputs if self.is_constant(t)]
        return found[0] if len(step.inputs) == 2 and len(found) == 1 and not step.activation else -1

    def behind(self, step: Step, *names: str) -> Step | None:
        """The last of the operators of these names that follow each other behind a step, whose result is read
        by nothing that callers see."""
        for name in names:
            user = self.sole_user(step.outputs[0])
            if user is None or user.name != name or (name == "ADD" and self.constant_of(user) < 0):
                return None
            step = user
        return step if Site(self._number, step.outputs[0]) not in self._graph.outputs else None

    def products(self, scaled: int, x: int, mean: int) -> tuple[Step, Step, Step | None] | None:
        """MUL(x, scaled), MUL(mean, scaled), and the NEG of the mean if any; nothing else reads it."""
        users = self.users(scaled)
        if len(users) != 2 or any(user.name != "MUL" or user.activation for user in users):
            return None
        of_x = of_mean = negative = None
        for user in users:
            other = [t for t in user.inputs if t != scaled]
            negated = self.maker(other[0]) if len(other) == 1 else None
            if other == [x]:
                of_x = user
            elif other == [mean]:
                of_mean = user
            elif negated is not None and negated.name == "NEG" and negated.inputs[0] == mean:
                of_mean, negative = user, negated
        return None if of_x is None or of_mean is None else (of_x, of_mean, negative)

    def end(self, of_x: Step, of_mean: Step, is_negative: bool) -> tuple[Step, int, tuple[Step, ...]] | None:
        """The operator that gives of_x less of_mean plus beta, beta or -1, and what else goes."""
        last, user = self.sole_user(of_x.outputs[0]), self.sole_user(of_mean.outputs[0])
        if last is None or user is None or user.activation:
            return None
        if last.place == user.place:
            fits = (
                last.name == "ADD"
                if is_negative
                else last.name == "SUB" and last.inputs[0] == of_x.outputs[0]
            )
            return (last, -1, (of_mean,)) if fits else None
        beta = self.constant_of(user)
        shifted = user.name == "ADD" if is_negative else user.name == "SUB" and user.inputs[0] == beta
        joined = last.name == "ADD" and user.outputs[0] in last.inputs
        return (last, beta, (of_mean, user)) if beta >= 0 and shifted and joined else None


def rewrite(graph: FloatGraph, found: Normalization, is_centered: bool = False) -> None:
    """Write one with fewer operators, in place; is_centered tells that the input's mean is 0."""
    editor, last = graph.editor, found.last
    subgraph = graph.subgraphs[last.graph]
    operators = subgraph.operators
    assert operators is not None
    result = last.outputs[0]
    like, name = graph.tensor(Site(last.graph, found.x)), graph.name(Site(last.graph, result))

    def tensor(what: str) -> int:
        return editor.add_tensor(subgraph, f"{name}_{what}", TensorType.FLOAT32, like)

    def insert(before: Step, code: str, operands: list[int], to: int) -> None:
        options = {"SUB": tflite.SubOptionsT, "MUL": tflite.MulOptionsT, "ADD": tflite.AddOptionsT}[code]
        editor.insert(subgraph, operators.index(before.operator), code, operands, [to], options())

    centered = found.x if is_centered else tensor("centered")
    if not is_centered:
        insert(found.squares, "SUB", [found.x, found.mean], centered)
    insert(found.squares, "MUL", [centered, centered], found.squares.outputs[0])
    steps = [
        ("MUL", found.factor, "normalized"),
        ("MUL", found.gamma, "scaled"),
        ("ADD", found.beta, "shifted"),
    ]
    steps = [step for step in steps if step[1] >= 0]
    value = centered
    for number, (code, operand, what) in enumerate(steps, 1):
        to = result if number == len(steps) else tensor(what)
        insert(last, code, [value, operand], to)
        value = to
    if last.activation:
        options = operators[operators.index(last.operator) - 1].builtin_options
        options.fused_activation_function = last.activation  # type: ignore[union-attr]
    for step in (found.squares, *found.dead, last):
        operators.remove(step.operator)
