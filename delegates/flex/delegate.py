"""FlexDelegate: takes the TensorFlow ops of a model and runs them in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.fallback.environment import Environment
from ...kernels.fallback.forwarding import forwardable
from ...kernels.fallback.node_runner import NodeRunner
from ...kernels.fallback.register import fallback_kernels
from ...lite.delegate import DelegateFlags
from ...lite.errors import CancelledError, InvokeError, ModelError, TimedOutError, UnsupportedError
from ...schema.graph_def import DT_RESOURCE, DT_VARIANT, NodeDef
from ...schema.shown import shown
from ..simple import SimpleDelegate, SimpleDelegateKernel
from .options import node_def_of
from .tensors import array_of, give

if TYPE_CHECKING:
    from ...kernels.fallback.registry import KernelRegistry
    from ...lite.context import Context
    from ...lite.delegate import DelegateContext, DelegateParams
    from ...lite.node import Node
    from ...lite.registration import Registration

_MOST_KERNELS = 1024
_OBJECTS = (DT_RESOURCE, DT_VARIANT)


class FlexDelegate(SimpleDelegate):
    """Takes every flex operator that nobody else has. One delegate is for one interpreter.

    Kernels without state are shared by all interpreters in which the same node appears; those with
    state, and resources, belong to the delegate. Operators without a fallback kernel are taken as well:
    preparing them is an UnsupportedError that names them all.
    """

    flags = DelegateFlags.ALLOW_DYNAMIC_TENSORS

    def __init__(self, registry: KernelRegistry | None = None) -> None:
        super().__init__()
        self._registry = registry
        self._stateful: dict[tuple[int, int], NodeRunner] = {}
        self.environment = Environment()
        # Why nodes cannot run, by their subgraph and number.
        self._faults: dict[tuple[int, int], UnsupportedError | ModelError] = {}

    def is_node_supported(self, context: DelegateContext, node: Node, registration: Registration) -> bool:
        return registration.is_unresolved_flex

    def why_not_supported(self, context: DelegateContext, node: Node, registration: Registration) -> str:
        return f"{shown(registration.name)} is no operator of TensorFlow's"

    def create_kernel(self) -> FlexKernel:
        return FlexKernel(self)

    def runner(self, subgraph: int, node: Node) -> NodeRunner | None:
        """The node's kernel; None when there is none, which preparing the node will say."""
        place = subgraph, node.index
        if place not in self._stateful:
            name = where(subgraph, node)
            try:
                found = self._found(node_def_of(bytes(node.custom_options)))
                _check_tensors(node, found)
            except UnsupportedError as error:
                self._faults[place] = UnsupportedError(f"{name}: {error}")
                return None
            except (ModelError, InvokeError) as error:
                self._faults[place] = ModelError(f"{name}: {error}")
                return None
            if not found.stateful:
                return found
            self._stateful[place] = found
        return self._stateful[place]

    def _found(self, definition: NodeDef) -> NodeRunner:
        if self._registry is not None:
            return NodeRunner(definition, self._registry)
        content = definition.SerializeToString(deterministic=True)
        known = _stateless_runner(content)
        return NodeRunner(definition) if known is None else known

    def check(self) -> None:
        """ModelError when an operator is damaged, UnsupportedError when some have no kernel."""
        faults = [self._faults[place] for place in sorted(self._faults)]
        for fault in faults:
            if isinstance(fault, ModelError):
                raise fault
        if faults:
            reasons = "\n  ".join(map(str, faults))
            raise UnsupportedError(
                f"TensorFlow ops must have fallback kernels, these have none:\n  {reasons}"
            )


def where(subgraph: int, node: Node) -> str:
    """How errors name a node of a partition."""
    name = f"node {node.index} ({shown(node.registration.name)})"
    return name if subgraph == 0 else f"subgraph {subgraph}, {name}"


def _check_tensors(node: Node, runner: NodeRunner) -> None:
    counts = len(runner.input_types), len(runner.output_types)
    if (len(node.inputs), len(node.outputs)) != counts or min(node.inputs, default=0) < 0:
        message = f"must have {counts[0]} inputs and {counts[1]} outputs"
        raise ModelError(f"{message}, got tensors {list(node.inputs)} and {list(node.outputs)}")


@lru_cache(_MOST_KERNELS)
def _stateless_runner(content: bytes) -> NodeRunner | None:
    """The runner that all share, None when each interpreter needs one of its own."""
    runner = NodeRunner(NodeDef.FromString(content), fallback_kernels())
    return None if runner.stateful else runner


def keeps_inputs(runner: NodeRunner) -> bool:
    """Whether the kernel may hold on to its inputs after it has run."""
    return runner.stateful or any(type in _OBJECTS for type in (*runner.input_types, *runner.output_types))


@dataclass(frozen=True)
class _Step:
    """One node: the tensors it reads and writes (None for what nobody reads), and reads as the last one."""

    name: str
    runner: NodeRunner
    inputs: tuple[int, ...]
    outputs: tuple[int | None, ...]
    last_uses: tuple[int, ...]


class FlexKernel(SimpleDelegateKernel):
    """Runs a partition's nodes in order; what they give each other never leaves NumPy."""

    def __init__(self, delegate: FlexDelegate) -> None:
        self._delegate = delegate
        self._steps: list[_Step] = []
        # TensorFlow's type of each tensor that comes from outside.
        self._types: dict[int, int] = {}
        # Whether kernels may hold on to what they are given: in lists, variables, queues.
        self._keeps_inputs = False

    def init(self, context: DelegateContext, params: DelegateParams) -> None:
        kept = set(params.output_tensors)
        for n in reversed(params.nodes_to_replace):
            node, _ = context.node_and_registration(n)
            runner = self._delegate.runner(context.index, node)
            if runner is None:
                continue
            self._types.update(zip(node.inputs, runner.input_types, strict=True))
            self._keeps_inputs |= keeps_inputs(runner)
            outputs = tuple(t if t in kept else None for t in node.outputs)
            last_uses = tuple(set(node.inputs) - kept)
            kept.update(node.inputs)
            name = where(context.index, node)
            self._steps.append(_Step(name, runner, node.inputs, outputs, last_uses))
        self._steps.reverse()

    def prepare(self, context: Context, node: Node) -> None:
        self._delegate.check()
        self._delegate.environment.check = context.cancellation.check
        for t in node.outputs:
            context.set_dynamic(context.tensor(t))

    def invoke(self, context: Context, node: Node) -> None:
        values: dict[int | None, np.ndarray] = {}
        for t in node.inputs:
            tensor = context.tensor(t)
            value = array_of(tensor, self._types[t])
            # The tensor's memory is written anew in the next run.
            values[t] = value.copy() if self._keeps_inputs and not tensor.is_constant else value
        for step in self._steps:
            inputs = [values[t] for t in step.inputs]
            for t in step.last_uses:
                del values[t]
            values.update(zip(step.outputs, self._run(step, inputs), strict=True))
            values.pop(None, None)
        for t in node.outputs:
            give(context, context.tensor(t), values[t])

    def _run(self, step: _Step, inputs: list[np.ndarray]) -> list[np.ndarray]:
        environment = self._delegate.environment
        try:
            environment.check()
            return step.runner(inputs, environment, forwardable(inputs))
        except (InvokeError, ModelError, UnsupportedError, CancelledError, TimedOutError) as error:
            raise type(error)(f"{shown(step.name)}: {error}") from error
