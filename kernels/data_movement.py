"""Operators that only move elements: sized and copied in prepare, or when a tensor tells how."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.string_tensor import pack_strings, strings_of
from ..lite.tensor import Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .index_vector import is_small_constant, set_constant
from .operators import registration
from .strided_copy import StridedCopy, element_bytes, is_compiled, strided_copy_calls, strided_copy_now

_INDEX_BYTES = 8


class Movement(NamedTuple):
    """What a node does: the shapes of its outputs, and copies as (copy, source, target)."""

    outputs: list[tuple[Tensor, Shape]]
    copies: list[tuple[StridedCopy, Tensor, Tensor]]


def item_bytes_of(tensor: Tensor, operator: str) -> int:
    """Bytes of an element in a rule's copies; strings count as 8, and their indices are moved."""
    return _INDEX_BYTES if tensor.type == TensorType.STRING else element_bytes(tensor, operator)


Rule = Callable[[Context, Node], Movement]


def movement_registration(name: str, rule: Rule, value_inputs: Sequence[int]) -> Registration:
    """An operator whose rule reads the values of the inputs `value_inputs`.

    Where those are constant, the copies are compiled calls; where not, or where a copy has too many
    separate axes, the node runs in Python.
    """

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        tensors = [context.optional_input(node, i) for i in value_inputs]
        strings = context.output(node, 0).type == TensorType.STRING
        is_dynamic = any(tensor is not None and not tensor.is_constant for tensor in tensors)
        movement = None if strings or is_dynamic else rule(context, node)
        if movement is None or not all(is_compiled(copy) for copy, _, _ in movement.copies):
            for i in range(len(node.outputs)):
                context.set_dynamic(context.output(node, i))
            return None
        inputs = [context.input(node, i) for i, t in enumerate(node.inputs) if t >= 0]
        if all(is_small_constant(inputs, y, shape) for y, shape in movement.outputs):
            _set_constant(context, movement)
            return []
        for tensor, shape in movement.outputs:
            context.resize_tensor(tensor, shape)
        return [call for copy, x, y in movement.copies for call in strided_copy_calls(context, copy, x, y)]

    def invoke(context: Context, node: Node) -> None:
        movement = rule(context, node)
        for tensor, shape in movement.outputs:
            context.resize_tensor(tensor, shape)
        if movement.outputs[0][0].type == TensorType.STRING:
            move_strings(movement)
            return
        for copy, x, y in movement.copies:
            if x.data is not None and y.data is not None:
                strided_copy_now(copy, x.dense_bytes(), y.data)

    return registration(name, prepare, invoke)


def move_strings(movement: Movement) -> None:
    """Do a movement of strings: copy where they come from, then the strings themselves."""
    for y, shape in movement.outputs:
        moved = np.full(math.prod(shape), b"", object)
        for copy, x, target in movement.copies:
            if target is not y:
                continue
            strings = np.array([b"", *strings_of(x)], object)
            origins = np.zeros(len(moved), np.int64)
            strided_copy_now(copy, np.arange(1, len(strings)).view(np.uint8), origins.view(np.uint8))
            np.copyto(moved, strings[origins], where=origins > 0)
        y.bind(pack_strings(moved.tolist()))


def _set_constant(context: Context, movement: Movement) -> None:
    """Do a movement of constants in prepare."""
    for y, shape in movement.outputs:
        values = np.zeros(shape, y.dtype)
        for copy, x, target in movement.copies:
            if target is y and x.data is not None:
                strided_copy_now(copy, x.dense_bytes(), values.reshape(-1).view(np.uint8))
        set_constant(context, y, values)
