"""CompositeCall: a call of a function that says what it implements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....lite.tensor import TensorType
from ...declared import declared
from ...ir.attributes import Attribute, FuncAttr
from ...ir.module import Function
from ...ir.node import Node
from ...lite_graph import LiteTensor
from ..lowering import Lowering
from .body_run import body_results

# What stands for a size that is not known where a body is tried.
_SOME_SIZE = 3
# No more elements are made up to try a body.
_MOST_ELEMENTS = 1 << 25
_RTOL, _ATOL = 1e-4, 1e-5


@dataclass(frozen=True)
class CompositeCall:
    """The call, its operands, and what can be asked about them and the function's body."""

    lowering: Lowering
    node: Node
    function: Function

    @property
    def inputs(self) -> list[LiteTensor]:
        return self.lowering.inputs(self.node)

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """What the function says beside the name of what it implements."""
        held = declared(self.function)
        return held.attributes if isinstance(held, FuncAttr) else {}

    @property
    def is_placeholder(self) -> bool:
        """Whether the body only stands for what it implements: none of its arguments is read."""
        arguments = self.function.arguments
        return bool(arguments) and not any(argument.users for argument in arguments)

    def is_read(self, index: int) -> bool:
        """Whether anything may use a result."""
        value = self.node.results[index]
        return bool(value.users) or value in self.lowering.wanted

    def sizes(self, index: int) -> tuple[int, ...]:
        """An operand's shape, with some number for each size that is not known."""
        return tuple(_SOME_SIZE if size == -1 else size for size in self.inputs[index].shape or ())

    def results(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray] | None:
        """What the function's body computes; None where it does not run, or is much work."""
        if sum(argument.size for argument in arguments) > _MOST_ELEMENTS:
            return None
        return body_results(self.lowering.program.functions, self.function, arguments)

    def unread(self) -> LiteTensor:
        """Stands for a result that nothing uses."""
        return self.lowering.constant(self.lowering.name(self.node, "/unread"), np.zeros((), np.float32))


# Gives the results of a call, or None where the operators of the name do not compute what its function does.
CompositeRule = Callable[[CompositeCall], "list[LiteTensor] | None"]


@dataclass(frozen=True)
class Composite:
    """What functions of a name take (types and ranks; a rank of None is any) and give, and the rule.

    Where there may be further arguments than these, they must be constants.
    """

    arguments: tuple[tuple[TensorType, int | None], ...]
    results: int
    rule: CompositeRule
    has_further: bool = False

    def lowered(self, call: CompositeCall) -> list[LiteTensor] | None:
        """The call's results by the operators of the name; None where it does not fit."""
        inputs, count = call.inputs, len(self.arguments)
        if len(inputs) < count or len(call.node.results) != self.results:
            return None
        if (len(inputs) > count and not self.has_further) or any(0 in (x.shape or ()) for x in inputs):
            return None
        for x, (type, rank) in zip(inputs, self.arguments, strict=False):
            if x.type != type or x.shape is None or rank not in (None, len(x.shape)):
                return None
        return self.rule(call) if all(x.data is not None for x in inputs[count:]) else None


def agree(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether two results are the same, numbers up to rounding."""
    if ours.shape != theirs.shape or ours.dtype == object:
        return ours.shape == theirs.shape and bool(np.array_equal(ours, theirs))
    return bool(np.allclose(ours, theirs, _RTOL, _ATOL))
