"""Running a plan without loops: step after step, each value let go after its last use."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.fallback.environment import Environment
from ...kernels.fallback.forwarding import NONE, forwardable
from ...kernels.fallback.variable import dereferenced
from ...lite.errors import CancelledError, InvokeError, ModelError, TimedOutError, UnsupportedError
from .operations import DEAD, Dead, Flow, Role, merged

if TYPE_CHECKING:
    from .plan import Plan, Step


def run_in_order(plan: Plan, environment: Environment, given: Sequence[np.ndarray]) -> list[Flow]:
    """The plan's results; dead ones where a branch was not taken."""
    values = list(plan.start.values)
    for number, value in zip(plan.given, given, strict=True):
        values[number] = value
    value_of = values.__getitem__
    died: set[int] = set()
    for place, step in enumerate(plan.start.steps):
        inputs = list(map(value_of, step.inputs))
        for number in step.last_uses:
            values[number] = DEAD
        if plan.may_die and _is_dead(step, inputs, died):
            died.add(place)
            continue
        outputs = merged(inputs) if step.operation.role is Role.MERGE else run_step(step, inputs, environment)
        if len(step.outputs) == len(outputs) == 1 and step.outputs[0] is not None:
            values[step.outputs[0]] = outputs[0]
        else:
            _store(values, step.outputs, outputs)
        del inputs, outputs  # they would keep an array from being forwarded
    return [values[number] for number in plan.results]


def _store(values: list[Flow], numbers: Sequence[int | None], outputs: Sequence[Flow]) -> None:
    for number, output in zip(numbers, outputs, strict=True):
        if number is not None:
            values[number] = output


def _is_dead(step: Step, inputs: Sequence[Flow], died: set[int]) -> bool:
    """Whether a step does not run because of what its inputs, or the steps that it waits for, are."""
    role = step.operation.role
    if role is Role.TRIGGER:
        return False
    if role is Role.MERGE:
        return all(value is DEAD for value in inputs)
    return any(value is DEAD for value in inputs) or not died.isdisjoint(step.controls)


def run_step(step: Step, inputs: list[Flow], environment: Environment) -> Sequence[Flow]:
    """The outputs of a step whose inputs are alive; errors name the node."""
    arrays: list[np.ndarray] = inputs  # type: ignore[assignment]  # none of them is dead
    try:
        environment.check()
        for place in step.dereferenced:
            arrays[place] = dereferenced(arrays[place])
        operation = step.operation
        free = forwardable(arrays) if operation.takes_memory else NONE
        if environment.watch is None:
            return operation.compute(arrays, environment, free)
        begun = perf_counter_ns()
        outputs = operation.compute(arrays, environment, free)
        environment.watch(step.node.name, perf_counter_ns() - begun, outputs)
        return outputs
    except (InvokeError, ModelError, UnsupportedError, CancelledError, TimedOutError) as error:
        raise type(error)(f"{step.node}: {error}") from error


def alive(flow: Flow, name: str) -> np.ndarray:
    """The value of a result; ModelError when its branch was not taken."""
    if isinstance(flow, Dead):
        raise InvokeError(f"{name}: it has no value, because its branch was not taken")
    return flow
