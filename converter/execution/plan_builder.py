"""PlanBuilder: plans of a graph's and its functions' bodies, whose nodes' kernels are made once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence

from ...kernels.fallback.attributes import FunctionName
from ...kernels.fallback.registry import KernelRegistry
from ...lite.errors import InvokeError, ModelError, UnsupportedError
from ...schema.calls import Call, check_calls
from ...schema.fault import Fault
from ...schema.graph_def import NameAttrList
from ...schema.shown import shown
from ..transforms.purity import is_stateless
from .body import Body, BodyNode, Endpoint
from .function_body import FunctionLibrary
from .operations import Operation, make_operation
from .ordering import ordered
from .plan import Plan

# Instantiations that a graph may have: attributes could make new ones for ever.
_MOST_FUNCTIONS = 10_000
# Ops that run one of the functions that they name.
_BRANCHES = frozenset(("If", "StatelessIf", "Case", "StatelessCase"))


class PlanBuilder:
    """Safe from several threads."""

    def __init__(self, library: FunctionLibrary, registry: KernelRegistry) -> None:
        self._library = library
        self._registry = registry
        self._operations: dict[Body, dict[int, Operation]] = {}
        self._functions: dict[tuple[str, bytes], Plan] = {}
        self._lock = threading.RLock()

    def plan(
        self, body: Body, given: Sequence[Endpoint], results: Sequence[Endpoint], targets: Sequence[int]
    ) -> Plan:
        """The plan of what the results and targets need.

        UnsupportedError when there is no kernel for a node, or for one of a function that may be called;
        it names them all.
        """
        with self._lock:
            order = _order(body, given, results, targets)
            missing = MissingKernels()
            self._make(body, order, missing)
            for function_body in self._reachable([body.nodes[place] for place in order]):
                self._make(function_body, _function_order(function_body), missing)
            missing.check()
            return Plan(body, order, self._operations[body], given, results)

    def share_state(self, body: Body, other: Body) -> None:
        """Nodes with state of another body of the same graph are those of the body, by their names."""
        with self._lock:
            places = [
                (place, other.places[node.name])
                for place, node in enumerate(body.nodes)
                if node.name in other.places
                and not is_stateless(node.op)
                and other.nodes[other.places[node.name]].definition == node.definition
            ]
            missing = MissingKernels()
            self._make(body, [place for place, _ in places], missing)
            made = self._operations[body]
            shared = {there: made[place] for place, there in places if place in made}
            self._operations.setdefault(other, {}).update(shared)

    def function_plan(self, function: FunctionName) -> Plan:
        """The plan of a function, made when it is first called."""
        key = self._library.key(function)
        found = self._functions.get(key)
        if found is not None:
            return found
        body = self._library.body(function)
        with self._lock:
            order = _function_order(body)
            missing = MissingKernels()
            self._make(body, order, missing)
            missing.check()
            try:
                plan = Plan(body, order, self._operations[body], _arguments(body), body.results)
            except ModelError as error:
                raise ModelError(f"function {function.name!r}: {error}") from error
            return self._functions.setdefault(key, plan)

    def _make(self, body: Body, order: Iterable[int], missing: MissingKernels) -> None:
        """Make the operations of these places, where they are not made yet."""
        made = self._operations.setdefault(body, {})
        for place in order:
            if place in made:
                continue
            node = body.nodes[place]
            try:
                made[place] = make_operation(node.definition, self._library, self._registry)
            except UnsupportedError as error:
                missing.add(node, error)
            except (ModelError, InvokeError) as error:
                raise type(error)(f"{node}: {error}") from error

    def _reachable(self, nodes: Sequence[BodyNode]) -> list[Body]:
        """Bodies of the functions that these nodes may call, each once.

        ModelError when calls nest too deep, or a run would make too many of them.
        """
        bodies: list[Body] = []
        names = ["graph"]
        calls = [Counter[Call]()]
        numbers: dict[tuple[str, bytes], int] = {}
        waiting = [(0, node) for node in nodes]
        while waiting:
            caller, node = waiting.pop()
            callees = set()
            for function in self._called(node):
                key = self._library.key(function)
                if key not in numbers:
                    numbers[key] = len(names)
                    names.append(f"function {function.name!r}")
                    calls.append(Counter())
                    bodies.append(self._library.body(function))
                    waiting += [(numbers[key], inner) for inner in bodies[-1].nodes]
                callees.add(numbers[key])
            if len(numbers) > _MOST_FUNCTIONS:
                raise ModelError(f"graph: functions must be at most {_MOST_FUNCTIONS}, got more")
            if callees:
                calls[caller][Call(tuple(sorted(callees)), node.op not in _BRANCHES)] += 1
        try:
            check_calls(calls, names.__getitem__, may_recurse=True)
        except Fault as fault:
            raise ModelError(str(fault)) from None
        return bodies

    def _called(self, node: BodyNode) -> list[FunctionName]:
        """Functions that the node's attributes name; those with "_" before their name are never called."""
        definition = node.definition
        if definition.op in self._library:
            return [FunctionName(definition.op, definition.attr)]
        functions: list[NameAttrList] = []
        for name, value in definition.attr.items():
            if not name.startswith("_"):
                functions += [value.func] if value.HasField("func") else value.list.func
        for function in functions:
            if function.name not in self._library:
                raise ModelError(f"{node}: the graph's library has no function {function.name!r}")
        return [FunctionName(function.name, function.attr) for function in functions]


def _arguments(body: Body) -> list[Endpoint]:
    """What a call of the function gives."""
    return [Endpoint(place, 0) for place in body.arguments]


def _function_order(body: Body) -> list[int]:
    return _order(body, _arguments(body), body.results, body.control_results)


def _order(
    body: Body, given: Sequence[Endpoint], results: Sequence[Endpoint], targets: Sequence[int]
) -> list[int]:
    wanted = [endpoint.node for endpoint in results if endpoint not in given]
    return ordered(body, frozenset(given), [*wanted, *targets])


class MissingKernels:
    """Nodes that have no kernel, by op."""

    def __init__(self) -> None:
        self._nodes: dict[str, list[str]] = {}
        self._reasons: dict[str, UnsupportedError] = {}

    def add(self, node: BodyNode, reason: UnsupportedError) -> None:
        self._nodes.setdefault(node.op, []).append(node.name)
        self._reasons.setdefault(node.op, reason)

    def check(self) -> None:
        """UnsupportedError unless there are none."""
        if not self._nodes:
            return
        lines = [f"{shown(reason)} (nodes {_names(self._nodes[op])})" for op, reason in self._reasons.items()]
        ops = ", ".join(map(shown, sorted(self._nodes)))
        text = "\n  ".join(lines)
        raise UnsupportedError(f"graph: every op must have a kernel, there is none for {ops}:\n  {text}")


def _names(nodes: list[str]) -> str:
    first = ", ".join(map(repr, nodes[:5]))
    return first if len(nodes) <= 5 else f"{first} and {len(nodes) - 5} more"
