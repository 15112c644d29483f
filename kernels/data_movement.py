"""Operators that only move elements: sized and copied in prepare, or when a tensor tells how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Shape, Tensor
from .strided_copy import StridedCopy, strided_copy_calls, strided_copy_now


class Movement(NamedTuple):
    """What a node does: the shapes of its outputs, and copies as (copy, source, target)."""

    outputs: list[tuple[Tensor, Shape]]
    copies: list[tuple[StridedCopy, Tensor, Tensor]]


Rule = Callable[[Context, Node], Movement]


def movement_registration(
    name: str, builtin_code: int, rule: Rule, told_by: Sequence[int], max_version: int
) -> Registration:
    """An operator whose rule reads the values of the inputs `told_by`.

    Where those are constant, the copies are compiled calls; where not, the node runs in Python.
    """

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        tensors = [context.optional_input(node, i) for i in told_by]
        if any(tensor is not None and not tensor.is_constant for tensor in tensors):
            for i in range(len(node.outputs)):
                context.set_dynamic(context.output(node, i))
            return None
        movement = rule(context, node)
        for tensor, shape in movement.outputs:
            context.resize_tensor(tensor, shape)
        return [call for copy, x, y in movement.copies for call in strided_copy_calls(context, copy, x, y)]

    def invoke(context: Context, node: Node) -> None:
        movement = rule(context, node)
        for tensor, shape in movement.outputs:
            context.resize_tensor(tensor, shape)
        for copy, x, y in movement.copies:
            if x.data is not None and y.data is not None:
                strided_copy_now(copy, x.data, y.data)

    return Registration(name, prepare, invoke, builtin_code=builtin_code, max_version=max_version)
