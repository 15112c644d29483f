"""insert_borders: where operators of 8 and of 16 bits meet, a tensor of its own for each of them.

Given    CONV_2D (int8) -> a -> ADD (int16)
Result   CONV_2D (int8) -> a -> QUANTIZE -> a_int16 -> ADD (int16)

All are float tensors yet, and such a QUANTIZE changes nothing: behind it each tensor is touched by operators
of one type alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from .float_graph import FloatGraph, Site, Step
from .propagate import Range, called_ties
from .scheme import ACTIVATIONS, Integers
from .selection import Selection


class Borders(NamedTuple):
    """The QUANTIZEs, by the identity of the operator objects, and the ranges of the tensors behind them."""

    operators: set[int]
    ranges: dict[Site, Range]


def insert_borders(
    graph: FloatGraph, selection: Selection, ends: Mapping[Site, Integers], ranges: Mapping[Site, Range]
) -> Borders:
    """Put them into the graph's model, in place; the graph is out of date then.

    ends are tensors that are to be such integers. UnsupportedError where IF, WHILE or CALL makes two of them
    one, of which each is to be another.
    """
    return _Insertion(graph, selection, ends, ranges).run()


class _Insertion:
    def __init__(
        self,
        graph: FloatGraph,
        selection: Selection,
        ends: Mapping[Site, Integers],
        ranges: Mapping[Site, Range],
    ) -> None:
        self._graph, self._selection, self._ranges = graph, selection, ranges
        self._chosen = selection.chosen
        self._forced = {**_carried(graph, self._touching, ends), **ends}
        self._made = Borders(set(), {})

    def run(self) -> Borders:
        for site in [*self._graph.users, *(s for s in self._forced if s not in self._graph.users)]:
            if self._graph.is_float(site) and not self._graph.is_constant(site):
                self._separate(site)
        return self._made

    def _separate(self, site: Site) -> None:
        """Give all that touches a tensor one of its own type."""
        maker, readers = self._graph.producers.get(site), self._readers(site)
        given = None if maker is None else self._type(maker, site in maker.result_sites())
        home = self._forced.get(site) or given or next(iter(readers), None)
        if home is None:
            return
        source = site
        if maker is not None and given is not None and given is not home:
            source = self._behind_maker(site, maker, given)
            readers.setdefault(given, [])
        for integers, steps in readers.items():
            if integers is given and source is not site:
                self._read(steps, site, source)
            elif integers is not home:
                other = self._added(site, integers)
                self._insert(steps[0], source, other, behind=False)
                self._read(steps, site, other)

    def _behind_maker(self, site: Site, maker: Step, given: Integers) -> Site:
        """The tensor that its maker gives now, from which the tensor is made."""
        own = self._added(site, given)
        maker.operator.outputs = [own.tensor if t == site.tensor else t for t in maker.operator.outputs or ()]
        self._insert(maker, own, site, behind=True)
        return own

    def _readers(self, site: Site) -> dict[Integers, list[Step]]:
        """The integer operators that read a tensor, by their types, each in the order of the file."""
        found: dict[Integers, list[Step]] = {}
        for user in self._graph.users.get(site, ()):
            integers = self._type(user, site in user.operand_sites())
            if integers is not None:
                found.setdefault(integers, []).append(user)
        return found

    def _type(self, step: Step, touches: bool) -> Integers | None:
        is_chosen = (step.graph, step.place) in self._chosen
        return self._selection.integers(step) if is_chosen and touches else None

    def _touching(self, site: Site) -> list[Integers]:
        """The types of all integer operators that touch a tensor."""
        maker = self._graph.producers.get(site)
        given = None if maker is None else self._type(maker, site in maker.result_sites())
        return [*self._readers(site), *([] if given is None else [given])]

    def _added(self, site: Site, integers: Integers) -> Site:
        like = self._graph.tensor(site)
        subgraph = self._graph.subgraphs[site.graph]
        name = f"{like.name}_{TensorType(integers.type).name.lower()}"
        t = self._graph.editor.add_tensor(subgraph, name, TensorType.FLOAT32, like)
        made = Site(site.graph, t)
        if site in self._ranges:
            self._made.ranges[made] = self._ranges[site]
        return made

    def _insert(self, beside: Step, operand: Site, result: Site, behind: bool) -> None:
        subgraph = self._graph.subgraphs[beside.graph]
        operators = subgraph.operators
        assert operators is not None
        place = next(i for i, each in enumerate(operators) if each is beside.operator) + behind
        made = self._graph.editor.insert(subgraph, place, "QUANTIZE", [operand.tensor], [result.tensor])
        self._made.operators.add(id(made))

    @staticmethod
    def _read(steps: Iterable[Step], site: Site, other: Site) -> None:
        for step in steps:
            step.operator.inputs = [
                other.tensor if t == site.tensor else t for t in step.operator.inputs or ()
            ]


def _carried(
    graph: FloatGraph, touching: Callable[[Site], list[Integers]], ends: Mapping[Site, Integers]
) -> dict[Site, Integers]:
    """What goes between subgraphs: of each set of tensors that are one value, the type of its ends, else the
    widest that touches one."""
    found: dict[Site, Integers] = {}
    for members in joined(called_ties(graph)):
        chosen = {ends[site] for site in members if site in ends}
        if len(chosen) > 1:
            names = ", ".join(repr(graph.name(site)) for site in members if site in ends)
            raise UnsupportedError(
                f"inputs and outputs: those that IF, WHILE or CALL passes on must be of one type, got {names}"
            )
        types = chosen or {integers for site in members for integers in touching(site)}
        if types:
            widest = max(types, key=lambda integers: integers.bits)
            found.update(dict.fromkeys(members, ACTIVATIONS[widest.bits]))
    return found


def joined(ties: Iterable[tuple[Site, Site]]) -> list[list[Site]]:
    """The sets that pairs make."""
    sets: dict[Site, list[Site]] = {}
    for a, b in ties:
        first, second = sets.setdefault(a, [a]), sets.setdefault(b, [b])
        if first is not second:
            first += second
            sets.update(dict.fromkeys(second, first))
    return list({id(each): each for each in sets.values()}.values())
