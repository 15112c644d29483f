"""A functional While becomes a loop of the first version."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attributes import Attributes, FuncAttr
from ..ir.module import Function
from ..ir.node import Node, Value
from ..ir.types import TensorType, Type
from .effects import Effect
from .inline import fresh_name
from .lowering import BOOL, Lowering
from .node_rewriter import data_type

# TensorFlow's default of the attribute.
_PARALLEL_ITERATIONS = 10


def lower_loop(lowering: Lowering, functions: Sequence[Function]) -> None:
    """Lower a While; the functions are its condition and its body.

    Given:  y = While(x) {cond = @c, body = @b}
    Result: m, _ = Merge(Enter(x), NextIteration(b(go))); end, go = Switch(m, LoopCond(c(m))); y = Exit(end)

    A value that the body passes on as it is enters once, for all turns, and goes around the loop. Where the
    loop changes state, a turn waits for all of the last one.
    Source: TensorFlow core/common_runtime/lower_while_op.cc.
    """
    _Loop(lowering, *functions).lower()


class _Loop:
    def __init__(self, lowering: Lowering, condition: Function, body: Function) -> None:
        self.lowering = lowering
        self.node = lowering.node
        self.condition = condition
        self.body = body
        self.fixed = self._fixed()
        self.turning = [i for i in range(len(self.node.operands)) if i not in self.fixed]

    def _fixed(self) -> set[int]:
        """Places of the values that are the same in all turns; one is left to go around."""
        end = self.body.terminator
        results = end.operands if end is not None else ()
        pairs = zip(results, self.body.arguments, strict=False)
        found = {i for i, (result, argument) in enumerate(pairs) if result is argument}
        return found if len(found) < len(self.node.operands) else found - {0}

    def lower(self) -> None:
        lowering, node = self.lowering, self.node
        types = [self._type(i) for i in range(len(node.operands))]
        inside, merges = self._enter(types)
        first = self.turning[0]
        test = self._call("cond", self.condition, inside, [TensorType(BOOL, ())], merges[first].control)
        on = lowering.passed("LoopCond", "LoopCond", test.results[0]).results[0]
        switches = {i: lowering.switch(merge.results[0], on, 2) for i, merge in merges.items()}
        pivot = lowering.passed("Identity", "loop_body_control", switches[first].results[1])
        given = [switches[i].results[1] if i in switches else value for i, value in enumerate(inside)]
        turn = self._call("body", self.body, given, types, pivot.control)
        waits = (turn.control,) if self._writes() else ()
        for i, merge in merges.items():
            again = lowering.passed("NextIteration", "next_iteration", turn.results[i], waits)
            merge.operands = (merge.operands[0], again.results[0])
        exits = {i: lowering.passed("Exit", "exit", each.results[0]) for i, each in switches.items()}
        self._leave(exits)
        lowering.inline(test, self.condition)
        lowering.inline(turn, self.body)

    def _type(self, i: int) -> Type:
        """What is known of a value in all turns."""
        before, behind = self.node.operands[i].type, self.node.results[i].type
        return behind if i in self.fixed or before == behind else TensorType(data_type(behind), None)

    def _enter(self, types: Sequence[Type]) -> tuple[list[Value], dict[int, Node]]:
        """The values as they are in the loop, and the Merges of those that go around."""
        lowering, node = self.lowering, self.node
        frame = fresh_name(node.name, lowering.around.frames).encode()
        most = node.attributes.get("parallel_iterations", _PARALLEL_ITERATIONS)
        entry = lowering.entry()
        inside: list[Value] = []
        merges: dict[int, Node] = {}
        for i, value in enumerate(node.operands):
            is_fixed = i in self.fixed
            attributes: Attributes = {
                "frame_name": frame,
                "is_constant": is_fixed,
                "parallel_iterations": most,
            }
            enter = lowering.passed("Enter", "enter", value, entry, **attributes).results[0]
            if not is_fixed:
                merges[i] = lowering.merge("merge", (enter, enter), types[i])
            inside.append(enter if is_fixed else merges[i].results[0])
        return inside, merges

    def _call(
        self, name: str, function: Function, operands: Sequence[Value], types: Sequence[Type], wait: Value
    ) -> Node:
        return self.lowering.call(name, FuncAttr(function.name, {}), operands, types, wait)

    def _writes(self) -> bool:
        effects = self.lowering.around.effects
        return any(
            effects.of(node) == Effect.WRITES for each in (self.condition, self.body) for node in each.body
        )

    def _leave(self, exits: dict[int, Node]) -> None:
        lowering, node = self.lowering, self.node
        tokens = [each.control for each in exits.values()]
        if lowering.needs_end and len(tokens) > 1:
            tokens = [lowering.add("NoOp", "executed", (), (), tokens).control]
        results: list[Value | None] = []
        for i, result in enumerate(node.results):
            if i in exits:
                results.append(exits[i].results[0])
            elif lowering.is_used(result):
                results.append(lowering.passed("Identity", "result", node.operands[i], tokens).results[0])
            else:
                results.append(None)
        lowering.finish(results, tokens)
