"""propagate: which tensors share their scale, and where the scale of each such set comes from.

One union-find over the float tensors of all subgraphs. Given

    x -> CONV_2D -> a -> RESHAPE -> b -> CONCATENATION(b, c) -> d -> SOFTMAX -> e

the sets are {a, b, c, d}, whose range is that of d, and {e}, which is fixed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...lite.tensor import TensorType
from .constraints import Fixed
from .float_graph import FloatGraph, Site, Step
from .scheme import Integers
from .selection import CALLS, Selection

Range = tuple[float, float]

# An operand with other users shares the scale of what joins it, if that makes no range wider than so many
# times. TensorFlow sets no limit; beyond it a QUANTIZE costs less than the lost bits.
_MOST_WIDENING = 4.0


class Source(NamedTuple):
    """Where a set's parameters come from: fixed ones, a symmetric constant, or else the sites' ranges."""

    fixed: Fixed | None
    constant: Site | None
    sites: tuple[Site, ...]


class Sets:
    """The sets of tensors that share their parameters; those of no integer operator are in none."""

    def __init__(
        self,
        graph: FloatGraph,
        selection: Selection,
        ranges: Mapping[Site, Range],
        ends: Mapping[Site, Integers] = MappingProxyType({}),
        trained: bool = False,
        ties: Sequence[tuple[Site, Site]] = (),
    ) -> None:
        """ends are tensors that are to be such integers whatever touches them. Of each other tensor all
        operators that touch it have the same integers.

        With trained ranges, which were chosen for what they cut off, a tensor has that of another one only
        where nothing else reads it. ties are pairs of tensors that are one value, besides those of calls.
        """
        self._graph = graph
        self._selection = selection
        self._chosen = selection.chosen
        self._ranges, self._trained = ranges, trained
        self._parents: dict[Site, Site] = {}
        self._origins: dict[Site, dict[Site, None]] = {}
        self._integers: dict[Site, Integers] = {}
        joins = [step for step in selection.chosen.values() if not self._add(step)]
        for site, integers in ends.items():
            self._start(site)
            self._integers[site] = integers
        ties = [*called_ties(graph), *ties]
        for origin, heir in ties:
            self._start(origin)
            self._start(heir)
            self._inherit(origin, [heir])
        self.carried = {site for tie in ties for site in tie}
        free = [step for step in joins if not self._join_fixed(step)]
        # What joins last comes first: its range is what the others inherit.
        for step in reversed(free):
            self._join(step)
        self._of_roots = {self.root(site): integers for site, integers in self._integers.items()}

    def root(self, site: Site) -> Site:
        """The tensor that stands for the set."""
        while (parent := self._parents[site]) != site:
            self._parents[site] = site = self._parents[parent]
        return site

    def is_integer(self, site: Site) -> bool:
        """Whether an integer operator touches the tensor's set."""
        return site in self._parents and self.root(site) in self._of_roots

    def integers(self, site: Site) -> Integers:
        """Those of the tensor's set, which has some."""
        return self._of_roots[self.root(site)]

    def members(self) -> dict[Site, list[Site]]:
        """The tensors of each set of integers, by what stands for it."""
        found: dict[Site, list[Site]] = defaultdict(list)
        for site in self._parents:
            if self.is_integer(site):
                found[self.root(site)].append(site)
        return found

    def source(self, site: Site) -> Source:
        """Where the parameters of the tensor's set come from."""
        origins = tuple(self._origins[self.root(site)])
        fixed = {self._fixed(origin) for origin in origins}
        if len(fixed) == 1 and (only := fixed.pop()) is not None:
            return Source(only, None, origins)
        constants = [c for c in map(self._embedded, origins) if c is not None]
        if len(origins) == 1 and constants:
            return Source(None, constants[0], origins)
        return Source(None, None, origins)

    def unknown(self, site: Site) -> list[Site]:
        """The tensors whose ranges the set wants, and that have none."""
        return [origin for origin in self._origins[self.root(site)] if self._range_of(origin) is None]

    def _is_set(self, root: Site) -> bool:
        source = self.source(root)
        return source.fixed is not None or source.constant is not None

    def _start(self, site: Site) -> None:
        if site not in self._parents:
            self._parents[site] = site
            self._origins[site] = {site: None}

    def _add(self, step: Step) -> bool:
        """Enter the operator's tensors; False where several tied operands are still to be joined."""
        rule = step.constraint
        assert rule is not None
        results, operands = step.result_sites(), step.operand_sites()
        variable = [site for site in operands if not self._graph.is_constant(site)]
        for site in (*variable, *results):
            self._start(site)
            self._integers[site] = self._selection.integers(step)
        if not rule.tied or not results:
            return True
        for other in results[1:]:
            self._union(results[0], other)
        if len(operands) > 1:
            return False
        if variable and not self._have_own_ranges(variable[0], results):
            self._inherit(variable[0], results)
        return True

    def _have_own_ranges(self, operand: Site, results: Iterable[Site]) -> bool:
        """Whether training has chosen other ranges for results than for the operand."""
        known = [self._ranges.get(site) for site in (operand, *results)]
        return self._trained and None not in known and len(set(known)) > 1

    def _inherit(self, operand: Site, results: Iterable[Site]) -> None:
        """Tie results to the operand, whose range is theirs."""
        for result in results:
            self._union(operand, result)
            self._origins[self.root(result)].pop(result, None)

    def _union(self, first: Site, second: Site) -> None:
        a, b = self.root(first), self.root(second)
        if a != b:
            self._parents[b] = a
            self._origins[a] |= self._origins.pop(b)

    def _join_fixed(self, step: Step) -> bool:
        """Tie the result to operands that all have one fixed scale; False where they have not."""
        operands = step.operand_sites()
        if any(map(self._graph.is_constant, operands)):
            return False
        fixed = {self.source(site).fixed for site in operands}
        if len(fixed) != 1 or None in fixed:
            return False
        for operand in operands:
            self._inherit(operand, step.result_sites())
        return True

    def _join(self, step: Step) -> None:
        """Tie the operands to the result, as far as that costs nothing; a QUANTIZE will serve the others."""
        result = step.result_sites()[0]
        operands = [site for site in step.operand_sites() if not self._graph.is_constant(site)]
        for operand in operands:
            root = self.root(operand)
            if root == self.root(result) or self._is_set(root) or self._is_set(self.root(result)):
                continue
            alone = self._has_one_user(root, step)
            if alone or self._is_about_as_wide(root, result):
                origins = {**self._origins[self.root(result)], **({} if alone else self._origins[root])}
                self._union(result, operand)
                self._origins[self.root(result)] = origins

    def _is_about_as_wide(self, root: Site, result: Site) -> bool:
        """Whether both sets lose little when they have the hull of their ranges."""
        own, other = self.range(root), self.range(result)
        if self._trained or own is None or other is None:
            return False
        width = max(own[1], other[1]) - min(own[0], other[0])
        return width <= _MOST_WIDENING * min(own[1] - own[0], other[1] - other[0])

    def _has_one_user(self, root: Site, step: Step) -> bool:
        """Whether all tensors of a set are read only by operators that tie them, and by the step."""
        sites = [site for site in self._parents if self.root(site) == root]
        for site in sites:
            if site in self._graph.outputs:
                return False
            for user in self._graph.users.get(site, ()):
                same = (user.graph, user.place) == (step.graph, step.place)
                if not same and not self._ties(user, root):
                    return False
        return True

    def _ties(self, user: Step, root: Site) -> bool:
        if (user.graph, user.place) not in self._chosen:
            return False
        results = user.result_sites()
        return bool(results) and user.constraint.tied and self.root(results[0]) == root  # type: ignore[union-attr]

    def range(self, site: Site) -> Range | None:
        """The hull of the ranges that count for the tensor's set, None where one was not observed."""
        found = [self._range_of(origin) for origin in self._origins[self.root(site)]]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        return min(low for low, _ in known), max(high for _, high in known)

    def _range_of(self, site: Site) -> Range | None:
        """What was observed, of constants their own."""
        seen = self._ranges.get(site)
        if seen is None and self._graph.is_constant(site):
            values = self._graph.constant(site)
            seen = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
        return seen

    def _fixed(self, site: Site) -> Fixed | None:
        step = self._chosen_producer(site)
        if step is None or step.constraint is None:
            return None
        return step.constraint.fixed(TensorType(self._selection.integers(step).type))

    def _embedded(self, site: Site) -> Site | None:
        """The constant whose rows or elements the tensor has, which is quantized as weights are."""
        step = self._chosen_producer(site)
        if step is None or step.constraint is None or not step.constraint.tied:
            return None
        operands = step.operand_sites()
        return operands[0] if len(operands) == 1 and self._graph.is_constant(operands[0]) else None

    def _chosen_producer(self, site: Site) -> Step | None:
        step = self._graph.producers.get(site)
        return step if step is not None and (step.graph, step.place) in self._chosen else None


def called_ties(graph: FloatGraph) -> list[tuple[Site, Site]]:
    """Pairs of float tensors that are one value: what gives it, and what takes it.

    They are operands of IF, WHILE and CALL with inputs of the subgraphs that these run, and those subgraphs'
    outputs with the results. A subgraph that callers of the model run, too, keeps its floats.
    """
    ties: list[tuple[Site, Site]] = []
    for step in graph.steps:
        if step.name in CALLS and not graph.entries.intersection(callees_of(step)):
            ties += [tie for tie in tied_by_calls(graph, step) if all(map(graph.is_float, tie))]
    return ties


def tied_by_calls(graph: FloatGraph, step: Step) -> list[tuple[Site, Site]]:
    """The same of tensors of any type, for one operator that runs subgraphs."""
    return [tie for callee in callees_of(step) for tie in _ties_of(graph, step, callee)]


def callees_of(step: Step) -> list[int]:
    """The subgraphs that IF, WHILE (its condition first) or CALL runs."""
    options = step.operator.builtin_options
    fields = {
        "IF": ("then_subgraph_index", "else_subgraph_index"),
        "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
        "CALL": ("subgraph",),
    }[step.name]
    return [int(getattr(options, field)) for field in fields]


def _ties_of(graph: FloatGraph, step: Step, callee: int) -> list[tuple[Site, Site]]:
    operands = step.inputs[1:] if step.name == "IF" else step.inputs
    outside, results = _sites(step.graph, operands), _sites(step.graph, step.outputs)
    inner = graph.subgraphs[callee]
    inputs, outputs = (_sites(callee, list(ends or ())) for ends in (inner.inputs, inner.outputs))
    ties = list(zip(outside, inputs, strict=False))
    if step.name == "WHILE":
        ties += zip(outside, results, strict=False)
        if callee == callees_of(step)[0]:
            return ties
    return ties + list(zip(outputs, results, strict=False))


def _sites(graph: int, tensors: Sequence[int]) -> list[Site]:
    return [Site(graph, t) for t in tensors]
