"""Operators on single elements: the shape rules of one operand and of two that broadcast, and their calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from ..schema.named_tuple import NamedTuple
from .element_functions import BROADCAST_RANK, block_of, form_of
from .index_vector import check_counts, output_of


class Loops(NamedTuple):
    """A loop nest over a result: sizes, and strides of each operand for each, innermost last.

    The innermost stride of each operand is 1 (its elements follow one another) or 0 (one
    element serves the whole inner loop).
    """

    shape: list[int]
    strides: list[tuple[int, ...]]

    def fill(self, args: np.ndarray, *names: str) -> None:
        """Write the nest into an argument block with `shape` and the operands' strides, padded in front."""
        start = BROADCAST_RANK - len(self.shape)
        args["shape"] = 1
        args["shape"][0, start:] = self.shape
        for i, name in enumerate(names):
            args[f"{name}_strides"][0, start:] = [steps[i] for steps in self.strides]


def broadcast_shape(operator: str, a: Shape, b: Shape) -> Shape:
    """The shape of an operator's result from the shapes of its two operands.

    Dimensions are matched from the last; those of equal size stay, size 1 stretches. Raises
    PrepareError, naming the operator, when a pair differs and neither is 1.
    """
    result = []
    for m, n in zip_longest(reversed(a), reversed(b), fillvalue=1):
        if m != n and 1 not in (m, n):
            raise PrepareError(
                f"{operator}: operands must have equal or broadcastable shapes, "
                f"got {'x'.join(map(str, a))} and {'x'.join(map(str, b))}"
            )
        result.append(n if m == 1 else m)
    return tuple(reversed(result))


def broadcast_strides(shape: Shape, rank: int) -> list[int]:
    """Element strides in a result of a given rank; 0 where the operand stretches."""
    strides = [0] * rank
    step = 1
    for k in range(1, len(shape) + 1):
        if shape[-k] != 1:
            strides[-k] = step
        step *= shape[-k]
    return strides


def collapse(out: Shape, *operands: Shape) -> Loops:
    """The fewest loops over a result: dimensions that all operands walk through alike become one."""
    loops = Loops([], [])
    for n, *steps in zip(out, *(broadcast_strides(shape, len(out)) for shape in operands), strict=True):
        if n == 1:
            continue
        if loops.shape and all(s == t * n for s, t in zip(loops.strides[-1], steps, strict=True)):
            loops.shape[-1] *= n
            loops.strides[-1] = tuple(steps)
        else:
            loops.shape.append(n)
            loops.strides.append(tuple(steps))
    return loops if loops.shape else Loops([1], [(1,) * len(operands)])


def _block(function: str, suffix: str, parameters: Mapping[str, float]) -> np.ndarray:
    args = np.zeros(1, block_of(function, suffix))
    for name, value in parameters.items():
        args[name] = value
    return args


def same_shape(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor]:
    """The node's input and its output, which is given the input's shape; both have one type."""
    check_counts(operator, node, 1)
    x = context.input(node, 0)
    y = output_of(context, node, operator, x)
    context.resize_tensor(y, x.shape)
    return x, y


def unary_call(
    context: Context, function: str, suffix: str, x: Tensor, y: Tensor, element_ns: float, **parameters: float
) -> list[KernelCall]:
    """The call of a function of one operand in a type; none for an empty tensor."""
    if x.size == 0:
        return []
    args = _block(function, suffix, parameters)
    args["size"] = x.size
    unit = form_of(function, suffix).unit.format(suffix)
    chunks = chunk_count(context, element_ns * x.size)
    return [KernelCall(unit, f"{function}_{suffix}", args, {"x": x, "y": y}, chunks)]


def broadcast_operands(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, Tensor]:
    """Both operands and the output, which is given its shape; all have one type."""
    check_counts(operator, node, 2)
    a, b, out = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if not a.type == b.type == out.type:
        raise PrepareError(
            f"{operator}: operands and output must have one type, got {a!r}, {b!r} and {out!r}"
        )
    context.resize_tensor(out, broadcast_shape(operator, a.shape, b.shape))
    return a, b, out


def loops_of(operator: str, operands: tuple[Tensor, Tensor, Tensor]) -> Loops:
    """The loops over a, b and out; UnsupportedError, naming the operator, when they are too many."""
    a, b, out = operands
    loops = collapse(out.shape, a.shape, b.shape)
    if len(loops.shape) > BROADCAST_RANK:
        raise UnsupportedError(
            f"{operator}: broadcasts of up to {BROADCAST_RANK} alternating dimensions are built, "
            f"got {len(loops.shape)}; reshaping or splitting the operands would run"
        )
    return loops


def binary_call(
    context: Context,
    operator: str,
    kernel: tuple[str, str],
    operands: tuple[Tensor, Tensor, Tensor],
    element_ns: float = 0.2,
    parameters: Mapping[str, float] = {},
    messages: Mapping[int, str] = {},
    keep: Sequence[np.ndarray] = (),
) -> list[KernelCall]:
    """The call of a function of two operands, a and b, to out; none for an empty result.

    kernel is the function and the type. Raises UnsupportedError, naming the operator, for broadcasts
    of too many loops.
    """
    a, b, out = operands
    if out.size == 0:
        return []
    args = _block(*kernel, parameters)
    loops_of(operator, operands).fill(args, "a", "b")
    form = form_of(*kernel)
    unit = form.unit.format(kernel[1])
    chunks = chunk_count(context, element_ns * out.size)
    tensors = {"a": a, "b": b, "out": out}
    return [KernelCall(unit, "_".join(kernel), args, tensors, chunks, keep, messages if form.refuses else {})]
