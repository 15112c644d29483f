"""Types of values, as precise as constants, feeds and shapes make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import numpy as np

from ...lite.errors import ModelError
from ..ir.attributes import FuncAttr
from ..ir.module import Function, Module
from ..ir.node import CASE_REGIONS, IF_REGIONS, Block, Node, Value
from ..ir.signature import registered
from ..ir.types import ElementType, TensorType, Type, compatible
from ..shapes.dimensions import PartialShape, either
from ..shapes.infer import Inferred, infer
from ..transforms.bodies import Body, typed_bodies
from ..transforms.refined_types import listed_shapes, merged_shape, reshaped_type
from ..transforms.toposort import topological_order
from .consolidate_attrs import OUTPUT_SHAPES
from .functional_ops import CASE_OPS, IF_OPS, branches_of

# Rounds over loops, after which nothing is taken for sure of a value that still changes.
MOST_ROUNDS = 8
CALLS = ("PartitionedCall", "StatefulPartitionedCall", "StatelessPartitionedCall")


def infer_shapes(module: Module, graph_version: int = 0) -> None:
    """Refine the types of all results by the shape functions of their ops.

    Given:  c = Const {value = dense<1> : tensor<2xf32>}; y = Add(c, x: tensor<2x2xf32>) : tensor<*xf32>
    Result: y = Add(c, x) : tensor<2x2xf32>

    Functions are seen by themselves: their arguments are as their types and `_output_shapes` say, their
    results become what they return, and so do the results of those that call them. A type that
    contradicts what is inferred gives way. A node whose operands do not fit its op keeps its types: it
    may be one that never runs. What a loop of a V1 graph carries has the shape that is the same in all
    rounds. graph_version is the producer's; no shape function depends on it. Generic functions stay as
    they are.
    """
    del graph_version
    functions = module.functions
    for body in _callees_first(list(typed_bodies(module)), functions):
        ShapeInference(body, functions).run()


class ShapeInference:
    """Inference for one graph or function.

    types are those found of results, values their elements where known, for whoever wants them after.
    """

    def __init__(self, body: Body, functions: Mapping[str, Function] | None = None) -> None:
        self.body = body
        self.functions = functions or {}
        self.types: dict[Value, TensorType] = {}
        self.values: dict[Value, np.ndarray] = {}
        # What is taken to be sure of the data of a loop's Merge.
        self._assumed: dict[Node, PartialShape] = {}

    def run(self) -> None:
        """Refine the types of the body."""
        if isinstance(self.body, Function):
            _refine_arguments(self.body)
        nodes = list(_ordered(self.body.body))
        loops = [node for node in nodes if _begins_loop(node)]
        rounds = 0
        while True:
            for node in nodes:
                self._visit(node)
            rounds += 1
            if not self._weaken(loops, rounds):
                break
        for value, type in self.types.items():
            value.type = type
        if isinstance(self.body, Function):
            end = self.body.terminator
            if end is not None and len(end.operands) == len(self.body.result_types):
                self.body.result_types = [value.type for value in end.operands]

    def _type(self, value: Value) -> Type:
        return self.types.get(value, value.type)

    def _visit(self, node: Node) -> None:
        inputs = [type for value in node.operands if isinstance(type := self._type(value), TensorType)]
        given = [value.type for value in node.results if isinstance(value.type, TensorType)]
        if len(inputs) != len(node.operands) or len(given) != len(node.results) or not given:
            return
        if _begins_loop(node):
            inputs = self._loop_inputs(node, inputs)
        known = [self.values.get(value) for value in node.operands]
        try:
            found = infer(node.op, node.attributes, inputs, given, known)
        except ModelError:
            found = Inferred(given, [None] * len(given))
        given = self._given_elsewhere(node, given)
        for value, old, type, elements in zip(node.results, given, found.types, found.values, strict=True):
            self.types[value] = _refined(old, type)
            self.values.pop(value, None)
            if elements is not None:
                self.values[value] = elements

    def _given_elsewhere(self, node: Node, given: list[TensorType]) -> list[TensorType]:
        """The results' types with what the functions or regions that make them say."""
        if node.op in IF_REGIONS or node.op in CASE_REGIONS:
            sources = [
                [self._type(value) for value in region.last.operands]
                for region in node.regions
                if region.last is not None
            ]
        else:
            called = [self.functions.get(name) for name in called_for_results(node)]
            sources = [f.result_types for f in called if f is not None and not f.generic]
            if len(sources) != len(called):
                return given
        if not sources or any(len(types) != len(given) for types in sources):
            return given
        return [_refined(old, _common(types, old)) for old, *types in zip(given, *sources, strict=True)]

    def _loop_inputs(self, node: Node, inputs: list[TensorType]) -> list[TensorType]:
        """Types of a Merge's inputs: at first that of what enters the loop, then what was found sure."""
        if node in self._assumed:
            sure = self._assumed[node]
        else:
            pairs = zip(inputs, node.operands, strict=True)
            entering = [type.shape for type, value in pairs if not _is_back_edge(value)]
            sure = reduce(either, entering) if entering else None
        return [TensorType(type.element, sure) for type in inputs]

    def _weaken(self, loops: list[Node], rounds: int) -> bool:
        """Take less for sure where a later round of a loop gives something else; whether there was any."""
        changed = False
        for node in loops:
            result = self._type(node.results[0])
            shapes = [type.shape for v in node.operands if isinstance(type := self._type(v), TensorType)]
            if not isinstance(result, TensorType) or not shapes:
                continue
            sure = reduce(either, shapes)
            if sure != result.shape and either(sure, result.shape) != result.shape:
                self._assumed[node] = either(sure, result.shape) if rounds < MOST_ROUNDS else None
                changed = True
        return changed


def called_for_results(node: Node) -> list[str]:
    """Functions of which one gives the node's results."""
    if node.op in CALLS:
        held = node.attributes.get("f")
        return [held.name] if isinstance(held, FuncAttr) else []
    if node.op in (*IF_OPS, *CASE_OPS):
        return [branch.name for branch in branches_of(node) or ()]
    return [node.op] if registered(node.op) is None else []


def _callees_first(found: list[Body], functions: Mapping[str, Function]) -> Iterator[Body]:
    """Functions before what calls them, as far as they do not call themselves."""
    typed = set(found)
    done: set[Body] = set()
    stack: list[tuple[Body, Iterator[str]]] = []
    for body in found:
        if body in done:
            continue
        done.add(body)
        stack.append((body, _callees(body)))
        while stack:
            callee = next(
                (f for name in stack[-1][1] if (f := functions.get(name)) in typed and f not in done), None
            )
            if callee is None:
                yield stack.pop()[0]
            else:
                done.add(callee)
                stack.append((callee, _callees(callee)))


def _callees(body: Body) -> Iterator[str]:
    return (name for node in body.body.walk() for name in called_for_results(node))


def _common(types: Sequence[Type], old: TensorType) -> TensorType:
    """What is sure of a result that has one of the types."""
    shapes = [type.shape if isinstance(type, TensorType) else None for type in types]
    return TensorType(old.element, reduce(either, shapes))


def _begins_loop(node: Node) -> bool:
    return node.op in ("Merge", "RefMerge") and any(map(_is_back_edge, node.operands))


def _is_back_edge(value: Value) -> bool:
    return isinstance(value.owner, Node) and value.owner.op in ("NextIteration", "RefNextIteration")


def _ordered(block: Block) -> Iterator[Node]:
    """Each node after what it uses, the nodes of its regions before it."""
    for node in topological_order(block):
        for region in node.regions:
            yield from _ordered(region)
        yield node


def _refine_arguments(function: Function) -> None:
    for value, attributes in zip(function.arguments, function.argument_attributes, strict=True):
        shapes = listed_shapes(attributes.get(OUTPUT_SHAPES), 1)
        if shapes:
            value.type = reshaped_type(value.type, shapes[0])


def _refined(old: TensorType, new: TensorType) -> TensorType:
    """The inferred type with what the old one knows beyond it."""
    element = new.element
    if isinstance(old.element, ElementType) and isinstance(element, ElementType) and not element.subtypes:
        element = old.element
    if not compatible(TensorType(element, old.shape), TensorType(element, new.shape)):
        return TensorType(element, new.shape)
    return TensorType(element, merged_shape(new.shape, old.shape))
