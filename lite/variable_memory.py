"""Which tensors of a plan may lie in the memory of resource variables, so that nothing is copied."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..schema.named_tuple import NamedTuple
from .lifetimes import shareable
from .registration import InplaceOperator
from .tensor import AllocationType

if TYPE_CHECKING:
    from .kernel_call import KernelCall
    from .node import Node
    from .prepared_graph import PreparedGraph
    from .resources import Variable

_UNMODIFIED = int(InplaceOperator.DATA_UNMODIFIED)


class _Value(NamedTuple):
    """Tensors with the same bytes, which may lie in the variable's memory from position begin to end."""

    variable: Variable
    tensors: tuple[int, ...]
    begin: int
    end: int


def variable_places(
    subgraph: PreparedGraph, first: int, last: int, kept: Collection[int]
) -> dict[int, Variable]:
    """The tensors that lie in a variable's memory, by number, of prepared nodes first to last (inclusive).

    What is read lies there until its last reader, when nothing may assign the variable before that. What is
    assigned is written there by the node that makes it, when this is one kernel call that cannot fail or be
    stopped, and only the assignment follows: so a run that breaks off leaves the old value or the new one,
    as when both were copies. Nothing else may read the old value then but that node itself, where it may
    work in place. kept are the tensors who runs the graph looks at: those are never among them.
    """
    if subgraph.delegation is not None or subgraph.is_watched:
        return {}
    _bring_together(subgraph, first, last)
    places = _Search(subgraph, first, last, kept).run()
    for node in subgraph.schedule[first : last + 1] if places else ():
        for call in node.calls or ():
            _expect_no_copy(call, places)
    return places


def _bring_together(subgraph: PreparedGraph, first: int, last: int) -> None:
    """Have what an assignment takes be computed right before it, where nothing can tell the difference."""
    nodes = subgraph.schedule
    seen: dict[int, Node] = {}  # who wrote a tensor that nothing has read yet
    waits: dict[Node, Node] = {}  # who waits, by the assignment
    for node in nodes[first : last + 1]:
        made = seen.get(node.inputs[1]) if _variable_of(node) is not None and not node.outputs else None
        if made is not None:
            waits[node] = made
        for t in node.inputs:
            seen.pop(t, None)
        if _may_wait(subgraph, node):
            seen[node.outputs[0]] = node
    moved = set(waits.values())
    order = [
        node
        for place in nodes[first : last + 1]
        for node in ((waits[place], place) if place in waits else () if place in moved else (place,))
    ]
    nodes[first : last + 1] = order


def _may_wait(subgraph: PreparedGraph, node: Node) -> bool:
    """Whether a node may run later: it has no effects, cannot fail, and what it reads does not change."""
    registration = node.registration
    if not node.calls or not registration.is_own or registration.side_effects or len(node.outputs) != 1:
        return False
    if any(call.messages or call.resize is not None for call in node.calls):
        return False
    return not any(subgraph.tensors[t].is_variable for t in (*node.inputs, *node.outputs) if t >= 0)


def _expect_no_copy(call: KernelCall, places: Mapping[int, Variable]) -> None:
    """Have a call count for little that copies nothing, because both sides are one memory."""
    there = [places.get(tensor.index) for tensor in call.tensors.values()]
    if (call.is_copy and there[0] is there[1] is not None) or (call.variable in there and call.variable):
        call.chunks = call.cost = 1


class _Search:
    def __init__(self, subgraph: PreparedGraph, first: int, last: int, kept: Collection[int]) -> None:
        self.tensors = subgraph.tensors
        self.nodes: Sequence[Node] = subgraph.schedule
        self.first, self.last = first, last
        self.kept = kept
        self.readers: dict[int, list[int]] = {}
        self.writer: dict[int, int] = {}
        self.assigned: dict[Variable, list[int]] = {}  # where
        self.unknown: list[int] = []  # where nodes may read or assign any variable
        self.values: list[_Value] = []

    def run(self) -> dict[int, Variable]:
        self._walk()
        for position in range(self.first, self.last + 1):
            variable = _variable_of(self.nodes[position])
            if variable is not None and self.nodes[position].outputs:
                self._read(position, variable)
        for variable, positions in self.assigned.items():
            for position in positions:
                self._assign(position, variable)
        return {t: value.variable for value in self.values for t in value.tensors}

    def _walk(self) -> None:
        for position, node in enumerate(self.nodes):
            for t in node.inputs:
                self.readers.setdefault(t, []).append(position)
            if not self.first <= position <= self.last:
                continue
            for t in node.outputs:
                self.writer[t] = position
            variable = _variable_of(node)
            if variable is None:
                if node.registration.side_effects or not node.registration.is_own:
                    self.unknown.append(position)
            elif not node.outputs:
                self.assigned.setdefault(variable, []).append(position)

    def _read(self, position: int, variable: Variable) -> None:
        value = self._value(variable, self.nodes[position].outputs[0], position)
        if value is not None and self._lasts(value, value.begin):
            self.values.append(value)

    def _assign(self, position: int, variable: Variable) -> None:
        """Have what is assigned here be written in place, where that can be."""
        source = t = self.nodes[position].inputs[1]
        begin = self._made_before(position, t)
        while begin is not None and (viewed := self._viewed(begin)) is not None:
            source = viewed
            begin = self._made_before(begin, source)
        if begin is None:
            return
        value = self._value(variable, source, begin)
        if value is None or t not in value.tensors or not self._lasts(value, position):
            return
        if self._may_write(begin, source, variable):
            self.values.append(value)

    def _made_before(self, position: int, t: int) -> int | None:
        """Where t is written, if nothing is run between that and the position."""
        begin = self.writer.get(t)
        if begin is None or any(node.calls != [] for node in self.nodes[begin + 1 : position]):
            return None
        return begin if self.nodes[begin].calls else None

    def _viewed(self, position: int) -> int | None:
        """The input whose bytes the node at the position gives on as they are."""
        node = self.nodes[position]
        if int(node.registration.inplace_operator) & _UNMODIFIED and node.calls is not None:
            return next((source for source, _ in shareable(node)), None)
        return None

    def _value(self, variable: Variable, t: int, begin: int) -> _Value | None:
        """t and what has its bytes unmodified; None where t has to lie elsewhere."""
        if not self._may_lie_there(variable, t):
            return None
        tensors, end = [t], begin
        for tensor in tensors:
            for position in self.readers.get(tensor, ()):
                end = max(end, position)
                if position <= self.last and self._viewed(position) == tensor:
                    result = self.nodes[position].outputs[0]
                    if result not in tensors and self._may_lie_there(variable, result):
                        tensors.append(result)
        return _Value(variable, tuple(tensors), begin, end) if end <= self.last else None

    def _may_lie_there(self, variable: Variable, t: int) -> bool:
        tensor, memory = self.tensors[t], variable.memory
        placed = any(t in value.tensors for value in self.values)
        if placed or t in self.kept or memory is None or not tensor.has_fixed_size:
            return False
        return tensor.allocation_type is AllocationType.ARENA_RW and len(memory) == tensor.nbytes > 0

    def _lasts(self, value: _Value, since: int) -> bool:
        """Whether the variable keeps the value from since on until it is read last."""
        if any(since < position <= value.end for position in self.unknown):
            return False
        return not any(
            since < position <= value.end and self.nodes[position].inputs[1] not in value.tensors
            for position in self.assigned.get(value.variable, ())
        )

    def _may_write(self, position: int, t: int, variable: Variable) -> bool:
        """Whether a node may write its result t over the variable's present value."""
        node = self.nodes[position]
        present = [value for value in self.values if value.variable is variable]
        live = [value for value in present if value.begin <= position <= value.end]
        there = {source for value in live for source in value.tensors}
        operands = [source for source in node.inputs if source in there]
        if operands and (len(operands) > 1 or (operands[0], t) not in shareable(node)):
            return False
        return self._is_safe(node, t, operands)

    def _is_safe(self, node: Node, t: int, operands: Sequence[int]) -> bool:
        """Whether the result is written by one call, to its end, whatever happens; copies of it are none."""
        calls = node.calls or ()
        y = self.tensors[t]
        writing = [call for call in calls if y in call.tensors.values()]
        if operands:
            both = {operands[0], t}
            writing = [
                c for c in writing if not (c.is_copy and {x.index for x in c.tensors.values()} == both)
            ]
        if len(writing) != 1 or any(call.messages or call.resize is not None for call in calls):
            return False
        [call] = writing
        return call.chunks == 1 and "cancellation" not in (call.args.dtype.names or ())


def _variable_of(node: Node) -> Variable | None:
    return node.calls[0].variable if node.calls and node.registration.is_own else None
