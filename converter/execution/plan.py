"""Plan: the nodes that some outputs need, ready to run in order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...kernels.fallback.dtypes import REFERENCE
from ...kernels.fallback.environment import Environment
from ...lite.errors import ModelError
from .body import Body, BodyNode, Endpoint
from .operations import DEAD, Flow, Operation, Role
from .routes import Routes


@dataclass(frozen=True)
class Step:
    """One node of a plan.

    Values are numbered; inputs and outputs are their numbers, None for an output that nobody reads.
    controls are the places in the plan of the steps that it waits for. last_uses are the inputs that
    no later step reads, dereferenced the places of inputs that are read through a reference.
    """

    node: BodyNode
    operation: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int | None, ...]
    controls: tuple[int, ...]
    last_uses: tuple[int, ...]
    dereferenced: tuple[int, ...]


class Start(NamedTuple):
    """Values by their numbers, DEAD for those that are not there yet, and the steps that make them."""

    values: Sequence[Flow]
    steps: Sequence[Step]


class Plan:
    """Steps in order; given and results are the numbers of the values that go in and come out.

    has_loops says that values go around, so that the order alone does not do. may_die says that nodes
    do not run when their branch is not taken. references are the places of results that are references.
    """

    def __init__(
        self,
        body: Body,
        order: Sequence[int],
        operations: Mapping[int, Operation],
        given: Sequence[Endpoint],
        results: Sequence[Endpoint],
    ) -> None:
        self._operations = operations
        self._fed = frozenset(given)
        self._number_of: dict[Endpoint, int] = {}
        self.given = [self._number(endpoint) for endpoint in given]
        for place in order:
            _check_inputs(body, place, operations, self._fed)
            for endpoint in body.nodes[place].inputs:
                self._number(endpoint)
        self.results = [self._number(endpoint) for endpoint in results]
        for endpoint in results:
            _check_port(body, endpoint, operations, self._fed)
        self.references = [i for i, endpoint in enumerate(results) if self._is_reference(endpoint)]
        self.value_count = len(self._number_of)
        self.steps = self._steps(body, order)
        roles = {step.operation.role for step in self.steps}
        self.has_loops = not roles.isdisjoint((Role.ENTER, Role.EXIT, Role.NEXT_ITERATION))
        self.may_die = any(step.operation.kills for step in self.steps)

    @cached_property
    def start(self) -> Start:
        """Where a run begins: constants are there already, unless their branch may not be taken."""
        values: list[Flow] = [DEAD] * self.value_count
        if self.may_die:
            return Start(values, self.steps)
        steps = []
        for step in self.steps:
            if step.node.op != "Const":
                steps.append(step)
            elif step.outputs[0] is not None:
                (values[step.outputs[0]],) = step.operation.compute((), Environment(), frozenset())
        return Start(values, steps)

    @cached_property
    def routes(self) -> Routes:
        return Routes(self.value_count, self.steps)

    def _number(self, endpoint: Endpoint) -> int:
        return self._number_of.setdefault(endpoint, len(self._number_of))

    def _is_reference(self, endpoint: Endpoint) -> bool:
        if endpoint in self._fed:
            return False
        return self._operations[endpoint.node].output_types[endpoint.port] > REFERENCE

    def _steps(self, body: Body, order: Sequence[int]) -> list[Step]:
        step_of = {place: i for i, place in enumerate(order)}
        last_uses = self._last_uses(body, order)
        steps = []
        for i, place in enumerate(order):
            node, operation = body.nodes[place], self._operations[place]
            count = range(len(operation.output_types))
            steps.append(
                Step(
                    node,
                    operation,
                    tuple(self._number_of[endpoint] for endpoint in node.inputs),
                    tuple(self._kept(Endpoint(place, port)) for port in count),
                    tuple(step_of[control] for control in node.controls if control in step_of),
                    last_uses[i],
                    self._dereferenced(node, operation),
                )
            )
        return steps

    def _kept(self, endpoint: Endpoint) -> int | None:
        """The number of an output; what is given in its place stays."""
        return None if endpoint in self._fed else self._number_of.get(endpoint)

    def _last_uses(self, body: Body, order: Sequence[int]) -> list[tuple[int, ...]]:
        seen = set(self.results)
        uses: list[tuple[int, ...]] = []
        for place in reversed(order):
            inputs = {self._number_of[endpoint] for endpoint in body.nodes[place].inputs}
            uses.append(tuple(inputs - seen))
            seen |= inputs
        return uses[::-1]

    def _dereferenced(self, node: BodyNode, operation: Operation) -> tuple[int, ...]:
        taken = enumerate(zip(node.inputs, operation.input_types, strict=True))
        return tuple(i for i, (source, type) in taken if type < REFERENCE and self._is_reference(source))


def _check_inputs(
    body: Body, place: int, operations: Mapping[int, Operation], fed: Collection[Endpoint]
) -> None:
    node, wanted = body.nodes[place], operations[place].input_types
    if len(node.inputs) != len(wanted):
        raise ModelError(f"{node}: must have {len(wanted)} inputs, got {len(node.inputs)}")
    for endpoint in node.inputs:
        _check_port(body, endpoint, operations, fed)


def _check_port(
    body: Body, endpoint: Endpoint, operations: Mapping[int, Operation], fed: Collection[Endpoint]
) -> None:
    if endpoint in fed:
        return
    count = len(operations[endpoint.node].output_types)
    if endpoint.port >= count:
        raise ModelError(f"{body.nodes[endpoint.node]}: output {endpoint.port} is read, but it has {count}")
