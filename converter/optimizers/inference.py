"""Inference of shapes with symbols over a graph, through functions and loops, whole and step by step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count

import numpy as np

from ...lite.errors import ModelError
from ..ir.arity import has_arity
from ..ir.attributes import FuncAttr
from ..ir.dense import FORMS
from ..ir.module import Function
from ..ir.node import Node, Value
from ..ir.types import ElementType, TensorType
from ..shapes.context import Demands, is_open
from ..shapes.dimensions import ANY, PartialShape, Symbol, either, merged, number_of, same_shape
from ..shapes.infer import Inferred, infer
from ..shapes.values import constant_value
from ..transforms.bodies import Body
from ..transforms.folding.evaluate import run
from ..transforms.folding.tensors import constant_of, known_array
from ..transforms.purity import is_pure
from ..transforms.refined_types import listed_shapes, reshaped_type
from ..transforms.toposort import topological_order
from .called import branches, called_function
from .demanded import DemandedShapes

# A loop whose Merge still changes after so many visits is taken to be of any rank.
_MOST_VISITS = 8
# Functions in functions are looked into so far.
_DEEPEST = 20
_MERGES = ("Merge", "RefMerge")
_BACK_EDGES = ("NextIteration", "RefNextIteration")
# Larger tensors than this are not computed to know their elements.
_MOST_COMPUTED = 64


class Inference:
    """Types and values of one body's results.

    fed are names of nodes whose declared shapes are not trusted; nor are those of a function's arguments
    unless trusts_arguments. The body's value types are written, unless
    arguments are given: then the body is a function as one call sees it, and types alone has them.
    """

    def __init__(
        self,
        body: Body,
        functions: Mapping[str, Function],
        fed: frozenset[str] = frozenset(),
        aggressive: bool = False,
        arguments: Sequence[TensorType] | None = None,
        outer: Inference | None = None,
        trusts_arguments: bool = True,
    ) -> None:
        self.body = body
        self.functions = functions
        self.fed = fed
        self.aggressive = aggressive
        self.arguments = arguments
        self.trusts_arguments = trusts_arguments
        self.types: dict[Value, TensorType] = {}
        self.values: dict[Value, np.ndarray] = {}
        self._numbers: Iterator[int] = count(2) if outer is None else outer._numbers
        self._depth: int = 0 if outer is None else outer._depth + 1
        self._calls: dict[tuple[object, ...], list[TensorType]] = {} if outer is None else outer._calls
        self._visits: dict[Node, int] = {}
        # What updated nodes were: of one that has only other control edges, nothing else is known.
        self._updated: dict[Node, tuple[object, ...]] = {}
        self._asked: dict[Node, list[Symbol]] = {}
        # What nodes ask of their inputs, and the first value that has a value's unknown shape.
        self.demands: dict[Node, Demands] = {}
        self.same_shape: dict[Value, Value] = {}

    def run(self) -> None:
        """Infer everything."""
        self._take_arguments()
        order = [node for node in topological_order(self.body.body) if node.results]
        self._settle(order)
        if self.arguments is None:
            for value, type in self.types.items():
                value.type = type
            if isinstance(self.body, Function) and self.body.terminator is not None:
                self.body.result_types = [value.type for value in self.body.terminator.operands]

    def update(self, node: Node) -> None:
        """Infer a node again that is new or changed, and what hangs on it; what was known of it holds."""
        if node.block is not self.body.body or not node.results or not has_arity(node):
            return
        asked = _asked(node)
        if self._updated.get(node) == asked:
            return
        self._updated[node] = asked
        for value in node.results:
            if isinstance(value.type, TensorType) and value not in self.types:
                self.types[value] = value.type
        touched = self._settle([node], refine=True)
        for each in touched:
            for value in each.results:
                if value in self.types:
                    value.type = self.types[value]

    def demanded(self, nodes: Iterable[Node]) -> DemandedShapes:
        """Shapes with what these nodes ask of their inputs, in this order."""
        return DemandedShapes(nodes, self.demands, self.same_shape)

    def type_of(self, value: Value) -> TensorType | None:
        """The type as far as it is inferred; None for one not visited yet, and for opaque ones."""
        return self.types.get(value)

    def _take_arguments(self) -> None:
        if not isinstance(self.body, Function):
            return
        for i, (value, held) in enumerate(
            zip(self.body.arguments, self.body.argument_attributes, strict=True)
        ):
            type = value.type
            if not isinstance(type, TensorType):
                continue
            given = self.arguments[i] if self.arguments is not None and i < len(self.arguments) else None
            noted = held.get("tf._output_shapes") if self.trusts_arguments else None
            shapes = listed_shapes(noted, 1)
            if given is not None:
                shape, element = given.shape, given.element if _has_subtypes(given) else type.element
            else:
                sizes = shapes[0].sizes if shapes else None
                shape = None if sizes is None else tuple(ANY if n is None or n < 0 else n for n in sizes)
                element = type.element
            self.types[value] = TensorType(element, self._numbered(shape, None))

    def _settle(self, order: Iterable[Node], refine: bool = False) -> list[Node]:
        """Visit nodes, and again what depends on what has changed; the nodes that were changed."""
        waiting = deque(order)
        queued = set(waiting)
        touched = []
        while waiting:
            node = waiting.popleft()
            queued.discard(node)
            if not self._visit(node, refine):
                continue
            touched.append(node)
            for value in node.results:
                for user in value.users:
                    # In the first round users come later anyway; only loops go back.
                    is_due = user.results and user.block is node.block and (refine or user in self._visits)
                    if is_due and user not in queued:
                        queued.add(user)
                        waiting.append(user)
        return touched

    def _visit(self, node: Node, refine: bool) -> bool:
        """Infer one node; whether its types or values are others than before."""
        if (
            node.regions
            or node.op == "return"
            or not all(isinstance(v.type, TensorType) for v in node.results)
        ):
            return False
        self._visits[node] = self._visits.get(node, 0) + 1
        is_loop = node.op in _MERGES and any(map(_is_back_edge, node.operands))
        known = [self.types.get(value) for value in node.operands]
        if is_loop:
            entering = [type for type in known if type is not None]
            if not entering:
                return False
            joined = entering[0].shape
            for type in entering[1:]:
                joined = either(joined, type.shape)
            if self._visits[node] > _MOST_VISITS:
                joined = None
            known = [TensorType(type.element if type else entering[0].element, joined) for type in known]
        self.demands.pop(node, None)
        inputs = [type or _unranked(value) for type, value in zip(known, node.operands, strict=True)]
        given = [_unranked(value) for value in node.results]
        types, values = self._inferred(node, inputs, given, is_loop)
        changed = False
        for value, type, elements in zip(node.results, types, values, strict=True):
            changed |= self._take(value, type, elements, refine)
        return changed

    def _inferred(
        self, node: Node, inputs: list[TensorType], given: list[TensorType], is_loop: bool
    ) -> tuple[list[TensorType], list[np.ndarray | None]]:
        nothing: list[np.ndarray | None] = [None] * len(given)
        if node.name in self.fed:
            return given, nothing
        called = self._called(node, inputs, given)
        if called is not None:
            return _as_noted(node, called), nothing
        elements = [None] * len(inputs) if is_loop else [self.values.get(value) for value in node.operands]
        try:
            found = infer(node.op, node.attributes, inputs, given, elements, self._sizes_of(node))
        except ModelError:
            return given, nothing
        self._note(node, found, is_loop)
        if not self.aggressive or not all(map(is_open, found.values)):
            return found.types, found.values
        return found.types, self._computed(node, found.types) or found.values

    def _computed(self, node: Node, types: Sequence[TensorType]) -> list[np.ndarray | None] | None:
        """Elements of the results of what is known, by running the node."""
        if not node.operands or not is_pure(node):
            return None
        shapes = [type.shape for type in types]
        if any(s is None or ANY in s or np.prod(s, dtype=object) > _MOST_COMPUTED for s in shapes):
            return None
        arrays = [array for value in node.operands if (array := self._array(value)) is not None]
        elements = [type.element for type in types if isinstance(type.element, ElementType)]
        if len(arrays) != len(node.operands) or len(elements) != len(types):
            return None
        found = run(node.op, node.attributes, arrays, elements)
        return None if found is None else [constant_value(value) for value in found]

    def _array(self, value: Value) -> np.ndarray | None:
        """The elements of a small value, None for one not wholly known."""
        held, known, type = constant_of(value), self.values.get(value), value.type
        if held is not None:
            return None if held.count > _MOST_COMPUTED else known_array(value)
        if known is None or is_open(known) or known.size > _MOST_COMPUTED:
            return None
        name = getattr(getattr(type, "element", None), "name", "")
        return known.astype(FORMS[name][0]) if name in FORMS else None

    def _sizes_of(self, node: Node) -> Callable[[], int]:
        """Makes the sizes that a node asks for, in each visit the same."""
        place = -1

        def size() -> Symbol:
            nonlocal place
            place += 1
            known = self._asked.setdefault(node, [])
            if place == len(known):
                known.append(self._symbol(ANY))
            return known[place]

        return size

    def _note(self, node: Node, found: Inferred, is_loop: bool) -> None:
        if found.demands:
            self.demands[node] = found.demands
        places: list[int | None] = found.passed_on or [None] * len(node.results)
        if is_loop and found.types[0].shape is None:
            # What is asked of a loop's value is asked of the one that enters it.
            places[0] = next((i for i, v in enumerate(node.operands) if not _is_back_edge(v)), None)
        for value, place in zip(node.results, places, strict=True):
            self.same_shape.pop(value, None)
            if place is not None:
                operand = node.operands[place]
                self.same_shape[value] = self.same_shape.get(operand, operand)

    def _called(
        self, node: Node, inputs: list[TensorType], given: list[TensorType]
    ) -> list[TensorType] | None:
        """Results of a call by its function's; None for a node that calls none of the library."""
        called = called_function(node, self.functions)
        if called is not None:
            return self._of_function(called, inputs, given)
        choice = branches(node, self.functions)
        if choice is not None:
            found = [self._of_function(branch, inputs[1:], given) for branch in choice]
            shapes = [_common([type.shape for type in types]) for types in zip(*found, strict=True)]
            return [TensorType(type.element, shape) for type, shape in zip(given, shapes, strict=True)]
        body = node.attributes.get("body")
        if node.op in ("While", "StatelessWhile") and isinstance(body, FuncAttr):
            function = self.functions.get(body.name)
            if function is not None and not function.generic:
                return self._of_loop(function, inputs, given)
        return None

    def _of_loop(
        self, function: Function, inputs: list[TensorType], given: list[TensorType]
    ) -> list[TensorType]:
        """What is the same in all rounds of a While."""
        sure = list(inputs)
        for _ in range(_MOST_VISITS):
            after = self._of_function(function, sure, given)
            joined = [
                TensorType(a.element, either(a.shape, b.shape)) for a, b in zip(sure, after, strict=True)
            ]
            if all(_same(a.shape, b.shape) for a, b in zip(sure, joined, strict=True)):
                return joined
            sure = joined
        return given

    def _of_function(
        self, function: Function, inputs: Sequence[TensorType], given: list[TensorType]
    ) -> list[TensorType]:
        key = (function, *(None if t.shape is None else tuple(map(number_of, t.shape)) for t in inputs))
        if key in self._calls:
            return self._calls[key]
        self._calls[key] = given  # of a function that calls itself
        if self._depth >= _DEEPEST or function.terminator is None:
            return given
        inner = Inference(function, self.functions, frozenset(), self.aggressive, inputs, self)
        inner.run()
        ends = [inner.types.get(value) for value in function.terminator.operands]
        if len(ends) < len(given):
            return given
        found = [
            TensorType(end.element if _has_subtypes(end) else old.element, end.shape) if end else old
            for old, end in zip(given, ends, strict=False)
        ]
        self._calls[key] = found
        return found

    def _take(self, value: Value, type: TensorType, elements: np.ndarray | None, refine: bool) -> bool:
        """Note what was found of a result; whether it is something else than before."""
        old = self.types.get(value)
        shape = type.shape
        if refine and old is not None:
            with suppress(ValueError):
                shape = merged(old.shape, shape)
        shape = self._numbered(shape, None if old is None else old.shape)
        before = self.values.pop(value, None)
        if elements is not None:
            self.values[value] = elements
        self.types[value] = TensorType(type.element, shape)
        return old is None or not (_same(old.shape, shape) and _equal(self.values.get(value), before))

    def _numbered(self, shape: PartialShape, before: PartialShape) -> PartialShape:
        """The shape with a symbol for each size that is not known: that of before, or a new one."""
        if shape is None or ANY not in shape:
            return shape
        kept = before if before is not None and len(before) == len(shape) else shape
        return tuple(
            size if size != ANY or isinstance(size, Symbol) else self._symbol(old)
            for size, old in zip(shape, kept, strict=True)
        )

    def _symbol(self, old: int) -> Symbol:
        return old if isinstance(old, Symbol) else Symbol(-next(self._numbers))


def _as_noted(node: Node, types: list[TensorType]) -> list[TensorType]:
    """The types with what the node's output_shapes add."""
    noted = listed_shapes(node.attributes.get("output_shapes"), len(types))
    if noted is None:
        return types
    shaped = [reshaped_type(type, shape) for type, shape in zip(types, noted, strict=True)]
    return [type for type in shaped if isinstance(type, TensorType)]


def _unranked(value: Value) -> TensorType:
    type = value.type
    return TensorType(type.element) if isinstance(type, TensorType) else TensorType(ElementType("variant"))


def _has_subtypes(type: TensorType) -> bool:
    return isinstance(type.element, ElementType) and bool(type.element.subtypes)


def _asked(node: Node) -> tuple[object, ...]:
    """What inference looks at of the node itself."""
    return node.op, node.operands, node.results, tuple(node.attributes.items())


def _is_back_edge(value: Value) -> bool:
    return isinstance(value.owner, Node) and value.owner.op in _BACK_EDGES


def _common(shapes: Sequence[PartialShape]) -> PartialShape:
    found = shapes[0]
    for shape in shapes[1:]:
        found = either(found, shape)
    return found


def _same(one: PartialShape, other: PartialShape) -> bool:
    """Whether the same is known of both."""
    if one is None or other is None:
        return one is other
    return same_shape(one, other)


def _equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and bool(np.array_equal(one, other))
