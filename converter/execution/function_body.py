"""Bodies of the library's functions, instantiated with attributes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping

from ...kernels.fallback.attributes import FunctionName
from ...kernels.fallback.kernel import KernelConstruction
from ...kernels.fallback.op_metadata import ArgumentTypes, OpMetadata
from ...kernels.fallback.registry import KernelRegistry
from ...lite.errors import ModelError
from ...schema.graph_def import AttrValue, FunctionDef, NameAttrList, NodeDef
from .body import ARGUMENT, Body, BodyNode, Endpoint, controls_of, places_of

Attributes = Mapping[str, AttrValue]

_NUMBER = re.compile(r"[0-9]{1,9}")


class FunctionLibrary:
    """The functions of a graph by name, and the kernels' ops. Safe from several threads."""

    def __init__(self, functions: Iterable[FunctionDef], registry: KernelRegistry) -> None:
        self._definitions = {function.signature.name: function for function in functions}
        self._registry = registry
        self._bodies: dict[tuple[str, bytes], Body] = {}
        self._lock = threading.RLock()

    def __contains__(self, name: str) -> bool:
        return name in self._definitions

    def metadata(self, op: str) -> OpMetadata:
        """What an op, or a function that a node names as its op, takes and gives."""
        if op in self._definitions:
            return OpMetadata(self._definitions[op].signature)
        return self._registry.metadata(op)

    def key(self, function: FunctionName) -> tuple[str, bytes]:
        """What an instantiation is known by: the name, and the attributes that the signature has."""
        definition = self._definition(function.name)
        known = [attr.name for attr in definition.signature.attr if attr.name in function.attributes]
        if not known:
            return function.name, b""
        bound = NameAttrList(attr={name: function.attributes[name] for name in known})
        return function.name, bound.SerializeToString(deterministic=True)

    def body(self, function: FunctionName) -> Body:
        """The function's body; ModelError when the library has no such function or it is damaged."""
        key = self.key(function)
        with self._lock:
            if key not in self._bodies:
                try:
                    self._bodies[key] = self._instantiated(function)
                except ModelError as error:
                    raise ModelError(f"function {function.name!r}: {error}") from error
            return self._bodies[key]

    def _definition(self, name: str) -> FunctionDef:
        if name not in self._definitions:
            raise ModelError(f"function {name!r}: the graph's library has no such function")
        return self._definitions[name]

    def _instantiated(self, function: FunctionName) -> Body:
        definition = self._definition(function.name)
        attributes = OpMetadata(definition.signature).with_defaults(function.attributes)
        return _Instantiation(definition, attributes, self.metadata).body()


class _Instantiation:
    """One function on its way from FunctionDef to Body."""

    def __init__(
        self, definition: FunctionDef, attributes: Attributes, metadata: Callable[[str], OpMetadata]
    ) -> None:
        self._definition = definition
        self._attributes = attributes
        self._metadata = metadata
        # Places of the nodes that stand for an argument's tensors, and of a node's outputs among its tensors.
        self._argument_places: dict[str, range] = {}
        self._outputs: dict[int, dict[str, range]] = {}

    def body(self) -> Body:
        signature, ret = self._definition.signature, self._definition.ret
        arguments = self._arguments(OpMetadata(signature).inputs(self._attributes))
        self._definitions = [
            *arguments,
            *(bound(node, self._attributes) for node in self._definition.node_def),
        ]
        self._places = places_of(self._definitions, "body")
        # The control token of a list is that of its first tensor.
        for name, places in self._argument_places.items():
            self._places.setdefault(name, places.start)
        body = Body([], self._places, list(range(len(arguments))))
        for definition in self._definitions:
            data = [name for name in definition.input if not name.startswith("^")]
            inputs = tuple(self._endpoint(name) for name in data)
            body.nodes.append(BodyNode(definition, inputs, controls_of(definition, self._places)))
        for output in OpMetadata(signature).outputs(self._attributes):
            body.results += self._results(output, ret)
        body.control_results = [self._control(name) for name in self._definition.control_ret.values()]
        return body

    def _arguments(self, taken: Iterable[ArgumentTypes]) -> list[NodeDef]:
        made: list[NodeDef] = []
        for argument in taken:
            self._argument_places[argument.name] = range(len(made), len(made) + len(argument.types))
            for index, type in enumerate(argument.types):
                name = f"{argument.name}:{index}" if argument.is_list else argument.name
                made.append(NodeDef(name=name, op=ARGUMENT, attr={"T": AttrValue(type=type)}))
        return made

    def _results(self, output: ArgumentTypes, ret: Mapping[str, str]) -> list[Endpoint]:
        if output.name not in ret:
            raise ModelError(f"result {output.name!r} must be among its rets, got {sorted(ret)}")
        name = ret[output.name]
        if not output.is_list:
            return [self._endpoint(name)]
        return [self._endpoint(name, index) for index in range(len(output.types))]

    def _control(self, name: str) -> int:
        if name not in self._places:
            raise ModelError(f"control result {name!r} must be a node of the body")
        return self._places[name]

    def _endpoint(self, name: str, further: int = 0) -> Endpoint:
        """What "argument", "argument:1", "node:output" or "node:output:1" names, or a tensor further on."""
        node, *rest = name.split(":")
        number = rest.pop() if rest and _NUMBER.fullmatch(rest[-1]) else "0"
        index = int(number) + further
        if node in self._argument_places and not rest:
            return Endpoint(_at(self._argument_places[node], index, name), 0)
        if node not in self._places or len(rest) != 1:
            raise ModelError(f"input {name!r} names no output of a node of the body")
        place = self._places[node]
        outputs = self._outputs.get(place) or self._outputs_of(place)
        if rest[0] not in outputs:
            raise ModelError(f"node {node!r} ({self._definitions[place].op}) has no output {rest[0]!r}")
        return Endpoint(place, _at(outputs[rest[0]], index, name))

    def _outputs_of(self, place: int) -> dict[str, range]:
        """Where each of a node's outputs lies among its tensors."""
        definition = self._definitions[place]
        construction = KernelConstruction(self._metadata(definition.op), definition.attr)
        outputs, at = {}, 0
        for output in construction.outputs:
            outputs[output.name] = range(at, at + len(output.types))
            at += len(output.types)
        self._outputs[place] = outputs
        return outputs


def _at(places: range, index: int, name: str) -> int:
    if index >= len(places):
        raise ModelError(f"input {name!r}: there are {len(places)} tensors of that name, got number {index}")
    return places[index]


def bound(node: NodeDef, attributes: Attributes) -> NodeDef:
    """The node with the function's attributes in place of the placeholders that name them."""
    if not any(_has_placeholder(value) for value in node.attr.values()):
        return node
    made = NodeDef()
    made.CopyFrom(node)
    for value in made.attr.values():
        _bind(value, attributes)
    return made


def _has_placeholder(value: AttrValue) -> bool:
    held = value.WhichOneof("value")
    if held == "placeholder":
        return True
    functions = [value.func] if held == "func" else value.list.func if held == "list" else []
    return any(_has_placeholder(inner) for function in functions for inner in function.attr.values())


def _bind(value: AttrValue, attributes: Attributes) -> None:
    held = value.WhichOneof("value")
    if held == "placeholder":
        if value.placeholder not in attributes:
            raise ModelError(f"attribute {value.placeholder!r} must be given where the function is called")
        value.CopyFrom(attributes[value.placeholder])
        return
    functions = [value.func] if held == "func" else value.list.func if held == "list" else []
    for function in functions:
        for inner in function.attr.values():
            _bind(inner, attributes)
