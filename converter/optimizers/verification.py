"""Verification: whether a graph on its way gives what it gave before, on random inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...lite.errors import StateError
from ...schema.graph_def import GraphDef
from ..execution.graph_runner import GraphRunner
from ..ir.dense import FORMS
from ..ir.export_graph import export_graph_def
from ..ir.node import Node, Value
from ..ir.types import ElementType, TensorType
from ..transforms.toposort import topological_order
from .item import GrapplerItem, fetched_value
from .result import PassRecord

# Results may differ by so much of the largest value: rules add and multiply in another order.
_TOLERANCE, _NARROW_TOLERANCE = 1e-4, 0.05
# What an unknown size is on the random inputs.
_SIZE = 2
_FRAMES = frozenset(("Enter", "RefEnter", "Switch", "RefSwitch", "_SwitchN"))


class DifferenceError(StateError):
    """A pass changed what the graph gives."""


class Verification:
    """Runs an item's graph on random inputs, and compares with what it gave when it was run last.

    What differs between two runs of the same graph (random ops) is not compared. reason says why nothing is,
    for a graph that does not run on such inputs.
    """

    def __init__(self, item: GrapplerItem, count: int, seed: int = 0) -> None:
        self.item = item
        self.reason = ""
        self._definition = export_graph_def(item.module)
        self._targets = [name for name in item.fetches if fetched_value(item.body.body, name) is None]
        self._fetches = [name for name in item.fetches if name not in self._targets]
        self._feeds = [self._inputs(np.random.default_rng(seed + i)) for i in range(count)]
        try:
            self._values = [self._run(self._definition, feeds, self._fetches) for feeds in self._feeds]
            self._leave_out_random()
        except Exception as error:
            self.reason = f"the graph does not run on random inputs: {type(error).__name__}: {error}"

    def check(self, record: PassRecord) -> None:
        """Run the graph as it is now. DifferenceError names the pass, its rules, and the first node that
        gives something else.
        """
        if self.reason:
            return
        definition = export_graph_def(self.item.module)
        tolerance = _NARROW_TOLERANCE if record.optimizer.startswith("auto_mixed") else _TOLERANCE
        found = []
        for feeds, before in zip(self._feeds, self._values, strict=True):
            try:
                after = self._run(definition, feeds, self._fetches)
            except Exception as error:
                raise DifferenceError(
                    f"{_where(record, '')}: the graph must run as before, got {type(error).__name__}: {error}"
                ) from error
            for name, one, other in zip(self._fetches, before, after, strict=True):
                apart = difference(one, other)
                if apart > tolerance:
                    node = self._first_other(definition, feeds, tolerance)
                    raise DifferenceError(
                        f"{_where(record, node)}: fetch {name!r} must be what it was, got "
                        f"{'another shape or type' if np.isinf(apart) else f'{apart:.3g} of its size apart'}"
                    )
            found.append(after)
        self._values, self._definition = found, definition

    def _run(
        self, definition: GraphDef, feeds: Mapping[str, np.ndarray], fetches: Sequence[str]
    ) -> list[np.ndarray]:
        runner = GraphRunner(definition)
        if self.item.init_ops:
            runner.run(targets=self.item.init_ops)
        return [np.asarray(value) for value in runner.run(feeds, fetches, self._targets)]

    def _leave_out_random(self) -> None:
        again = self._run(self._definition, self._feeds[0], self._fetches)
        same = [difference(a, b) == 0 for a, b in zip(self._values[0], again, strict=True)]
        self._fetches = [name for name, is_same in zip(self._fetches, same, strict=True) if is_same]
        self._values = [[v for v, is_same in zip(row, same, strict=True) if is_same] for row in self._values]
        if not self._fetches and not self._targets:
            self.reason = "every fetch is random"

    def _inputs(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        block = self.item.body.body
        found = {name: fetched_value(block, name) for name in self.item.feeds}
        return {name: _random(value, rng) for name, value in found.items() if value is not None}

    def _first_other(self, definition: GraphDef, feeds: Mapping[str, np.ndarray], tolerance: float) -> str:
        """The first node of a name of before that gives something else, "" where that cannot be told."""
        known = {node.name for node in self._definition.node}
        nodes = [node for node in topological_order(self.item.body.body) if node.name in known]
        if any(node.op in _FRAMES for node in nodes):
            return ""
        names = [node.name for node in nodes if node.results and _is_plain(node)]
        try:
            before, after = (self._run(each, feeds, names) for each in (self._definition, definition))
        except Exception:
            return ""
        for name, one, other in zip(names, before, after, strict=True):
            if difference(one, other) > tolerance:
                return name
        return ""


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, as a part of the largest value (at least 1); infinite where shapes, types,
    strings, or what is not finite differ.
    """
    if one.shape != other.shape or one.dtype != other.dtype:
        return float("inf")
    if one.dtype.kind not in "iufc":
        return 0.0 if np.array_equal(one, other) else float("inf")
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    a, b = one.astype(wide), other.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(a - b))
    largest = np.abs(a[np.isfinite(a)]).max(initial=1.0)
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0) / largest)


def _where(record: PassRecord, node: str) -> str:
    rules = ", ".join(record.rules) or "no rules"
    named = {name for fired in record.rules.values() for name in fired.nodes}
    exact = [rule for rule, fired in record.rules.items() if node in fired.nodes]
    place = f"; first at node {node!r}" if node else ""
    by = f" by {', '.join(exact)}" if exact and node in named else ""
    return f"verification of {record.optimizer} ({rules}{place}{by})"


def _is_plain(node: Node) -> bool:
    return isinstance(node.results[0].type, TensorType) and _element(node.results[0]) in FORMS


def _element(value: Value) -> str:
    type = value.type
    held = type.element if isinstance(type, TensorType) else None
    return held.name if isinstance(held, ElementType) else ""


def _random(value: Value, rng: np.random.Generator) -> np.ndarray:
    """A random array for a fed value; small whole numbers for integers, which may be places."""
    sizes = _declared(value)
    kind = _element(value)
    if kind == "string":
        return np.array(rng.choice([b"", b"a", b"some text"], sizes), object)
    if kind == "i1":
        return np.asarray(rng.integers(0, 2, sizes) == 1)
    dtype = FORMS[kind][0] if kind in FORMS else np.dtype(np.float32)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(0, 3, sizes)).astype(dtype)
    return np.asarray(rng.uniform(-1, 1, sizes)).astype(dtype)


def _declared(value: Value) -> tuple[int, ...]:
    """The shape that a fed node declares, with a size for each that is not known."""
    from ..ir.attributes import ShapeAttr

    owner = value.owner
    held = owner.attributes.get("shape") if isinstance(owner, Node) else None
    sizes: Sequence[int | None] | None = held.sizes if isinstance(held, ShapeAttr) else None
    if sizes is None and isinstance(value.type, TensorType):
        sizes = value.type.shape
    return tuple(size if size is not None and size >= 0 else _SIZE for size in sizes or ())
