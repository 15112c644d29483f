"""Routes: where the values and control tokens of a plan with loops go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .operations import Role

if TYPE_CHECKING:
    from .plan import Step


class Consumer(NamedTuple):
    """A step that reads a value, as which of its inputs."""

    step: int
    place: int


class Enter(NamedTuple):
    """What an Enter node says of its loop; a constant comes into every iteration."""

    frame: str
    is_constant: bool
    most_iterations: int

    @classmethod
    def of(cls, step: Step) -> Enter:
        get_attr = step.operation.construction.get_attr
        most = get_attr("parallel_iterations", int)
        return cls(get_attr("frame_name", str), get_attr("is_constant", bool), max(most, 1))


class Routes:
    """Who reads each value and who comes after each step, by their places in the plan."""

    def __init__(self, value_count: int, steps: Sequence[Step]) -> None:
        self.consumers: list[list[Consumer]] = [[] for _ in range(value_count)]
        self.successors: list[list[int]] = [[] for _ in steps]
        self.enters: dict[int, Enter] = {}
        self.enter_counts: Counter[str] = Counter()
        for i, step in enumerate(steps):
            for place, number in enumerate(step.inputs):
                self.consumers[number].append(Consumer(i, place))
            for control in step.controls:
                self.successors[control].append(i)
            if step.operation.role is Role.ENTER:
                self.enters[i] = Enter.of(step)
                self.enter_counts[self.enters[i].frame] += 1
