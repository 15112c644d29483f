"""Operations: what a node does when it runs, a kernel's work or a step of V1 control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

import numpy as np

from ...kernels.fallback.environment import Environment
from ...kernels.fallback.kernel import KernelConstruction
from ...kernels.fallback.node_runner import NodeRunner
from ...kernels.fallback.registry import KernelRegistry
from ...kernels.fallback.status import InvalidArgumentError
from ...schema.graph_def import NodeDef
from .function_body import FunctionLibrary


class Dead(Enum):
    """What flows along a branch that is not taken."""

    DEAD = "dead"


DEAD = Dead.DEAD
Flow = np.ndarray | Dead


class Role(Enum):
    """How a node takes part in V1 control flow."""

    PLAIN = "plain"
    MERGE = "merge"
    ENTER = "enter"
    EXIT = "exit"
    NEXT_ITERATION = "next iteration"
    # Runs even after nodes that are dead.
    TRIGGER = "trigger"


_ROLES = {
    "Merge": Role.MERGE,
    "RefMerge": Role.MERGE,
    "Enter": Role.ENTER,
    "RefEnter": Role.ENTER,
    "Exit": Role.EXIT,
    "RefExit": Role.EXIT,
    "NextIteration": Role.NEXT_ITERATION,
    "RefNextIteration": Role.NEXT_ITERATION,
    "ControlTrigger": Role.TRIGGER,
}


def role_of(op: str) -> Role:
    return _ROLES.get(op, Role.PLAIN)


class Compute(Protocol):
    """Outputs for inputs that are all alive; who calls it has told NumPy not to warn."""

    def __call__(
        self, inputs: Sequence[np.ndarray], environment: Environment, forwardable: frozenset[int], /
    ) -> Sequence[Flow]: ...


class Operation:
    """A node's types, its role, and its computation; merges are computed by who runs the graph."""

    def __init__(
        self, construction: KernelConstruction, compute: Compute, takes_memory: bool = False
    ) -> None:
        self.construction = construction
        self.compute = compute
        # Whether an output may take an input's memory.
        self.takes_memory = takes_memory
        self.role = role_of(construction.op)
        self.input_types = [type for argument in construction.inputs for type in argument.types]
        self.output_types = construction.output_types

    @property
    def kills(self) -> bool:
        """Whether some of its outputs may be dead though its inputs are alive."""
        return self.construction.op in _SWITCHES


def make_operation(node: NodeDef, library: FunctionLibrary, registry: KernelRegistry) -> Operation:
    """The node's operation; UnsupportedError when there is none, ModelError for wrong attributes."""
    if node.op in _STRUCTURAL:
        construction = KernelConstruction(registry.metadata(node.op), node.attr, node.name)
        count = sum(len(argument.types) for argument in construction.outputs)
        return Operation(construction, _Structural(_STRUCTURAL[node.op], count))
    runner = NodeRunner(_as_call(node, library) if node.op in library else node, registry)
    return Operation(runner.construction, runner.compute, runner.takes_memory)


def _as_call(node: NodeDef, library: FunctionLibrary) -> NodeDef:
    """A node whose op is a function, as a call of it."""
    construction = KernelConstruction(library.metadata(node.op), node.attr, node.name)
    call = NodeDef(name=node.name, op="PartitionedCall")
    for name, arguments in (("Tin", construction.inputs), ("Tout", construction.outputs)):
        # An empty list is a list as well.
        call.attr[name].list.SetInParent()
        call.attr[name].list.type.extend(type for argument in arguments for type in argument.types)
    call.attr["f"].func.name = node.op
    for name, value in node.attr.items():
        call.attr["f"].func.attr[name].CopyFrom(value)
    return call


class _Structural:
    """A step of control flow: a function of the inputs and the number of outputs."""

    def __init__(
        self, function: Callable[[Sequence[np.ndarray], int], Sequence[Flow]], output_count: int
    ) -> None:
        self._function = function
        self._output_count = output_count

    def __call__(
        self, inputs: Sequence[np.ndarray], environment: Environment, forwardable: frozenset[int], /
    ) -> Sequence[Flow]:
        return self._function(inputs, self._output_count)


def _passes(inputs: Sequence[np.ndarray], output_count: int) -> Sequence[Flow]:
    """Every input as the output of its place."""
    return inputs[:output_count]


def _switch(inputs: Sequence[np.ndarray], output_count: int) -> Sequence[Flow]:
    """data as output 1 where the predicate is true, as output 0 where it is false."""
    data, predicate = inputs
    if predicate.shape != () or predicate.dtype != np.bool_:
        message = f"must be a bool scalar, got {predicate.dtype} {list(predicate.shape)}"
        raise InvalidArgumentError(f"Switch: pred {message}")
    return (DEAD, data) if predicate else (data, DEAD)


def _switch_n(inputs: Sequence[np.ndarray], output_count: int) -> Sequence[Flow]:
    """data as the output with the index, as the last one where there is none with it."""
    data, index = inputs
    if index.shape != () or index.dtype != np.int32:
        message = f"must be an int32 scalar, got {index.dtype} {list(index.shape)}"
        raise InvalidArgumentError(f"_SwitchN: output_index {message}")
    taken = int(index) if 0 <= index < output_count else output_count - 1
    return [data if place == taken else DEAD for place in range(output_count)]


def merged(inputs: Sequence[Flow]) -> Sequence[Flow]:
    """What a merge gives: the first input that is alive, and its place."""
    for place, value in enumerate(inputs):
        if not isinstance(value, Dead):
            return value, np.array(place, np.int32)
    return DEAD, DEAD


_SWITCHES = frozenset(("Switch", "RefSwitch", "_SwitchN"))
_STRUCTURAL: dict[str, Callable[[Sequence[np.ndarray], int], Sequence[Flow]]] = {
    **dict.fromkeys(("LoopCond", *_ROLES), _passes),
    "Switch": _switch,
    "RefSwitch": _switch,
    "_SwitchN": _switch_n,
}
