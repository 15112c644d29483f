"""Body: the nodes of a graph or of a function, with their inputs found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...lite.errors import ModelError
from ...schema.graph_def import NodeDef
from ...schema.shown import shown

# The op of the nodes that stand for a function's arguments.
ARGUMENT = "_Arg"


class Endpoint(NamedTuple):
    """An output of a node: the node's place in its body, and which of its outputs."""

    node: int
    port: int


@dataclass(frozen=True)
class BodyNode:
    """A node: its op and attributes, where its data comes from, and which nodes run before it."""

    definition: NodeDef
    inputs: tuple[Endpoint, ...]
    controls: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def op(self) -> str:
        return self.definition.op

    def __str__(self) -> str:
        return f"node {self.name!r} ({shown(self.op)})"


@dataclass(eq=False)
class Body:
    """Nodes in the order of the file.

    Of a function, arguments are the nodes that stand for its arguments, results what it returns and
    control_results the nodes that every call runs.
    """

    nodes: list[BodyNode]
    places: dict[str, int]
    arguments: list[int] = field(default_factory=list)
    results: list[Endpoint] = field(default_factory=list)
    control_results: list[int] = field(default_factory=list)

    def endpoint(self, name: str) -> Endpoint:
        """The output that "node" or "node:1" names; ModelError when there is no such node."""
        node, colon, port = name.partition(":")
        if node not in self.places:
            raise ModelError(f"graph: there is no node {node!r}")
        if colon and re.fullmatch(r"\d{1,9}", port) is None:
            raise ModelError(f"graph: an output is named 'node:number', got {name!r}")
        return Endpoint(self.places[node], int(port or 0))


def graph_body(nodes: Iterable[NodeDef]) -> Body:
    """The body of a graph; ModelError for an input that no node gives, or a name that is there twice."""
    definitions = list(nodes)
    places = places_of(definitions, "graph")
    body = Body([], places)
    for definition in definitions:
        data = [name for name in definition.input if not name.startswith("^")]
        try:
            inputs = tuple(body.endpoint(name) for name in data)
        except ModelError as error:
            raise ModelError(f"node {definition.name!r} ({shown(definition.op)}): {error}") from error
        body.nodes.append(BodyNode(definition, inputs, controls_of(definition, places)))
    return body


def places_of(definitions: Iterable[NodeDef], where: str) -> dict[str, int]:
    """Each node's place by its name."""
    places: dict[str, int] = {}
    for definition in definitions:
        if definition.name in places:
            raise ModelError(f"{where}: node names must be unique, got {definition.name!r} twice")
        places[definition.name] = len(places)
    return places


def controls_of(definition: NodeDef, places: Mapping[str, int]) -> tuple[int, ...]:
    """The nodes that must run before this one."""
    found = []
    for name in definition.input:
        if not name.startswith("^"):
            continue
        if name[1:] not in places:
            raise ModelError(
                f"node {definition.name!r} ({shown(definition.op)}): there is no node {name[1:]!r}"
            )
        found.append(places[name[1:]])
    return tuple(dict.fromkeys(found))
