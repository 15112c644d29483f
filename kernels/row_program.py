"""Programs over rows: the calls of a chain of operators as steps of one kernel.

A program takes a block of rows through all its steps before the next one. Operands are tensors of the graph,
or scratch memory that is as large as a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..lite.kernel_call import KernelCall, chunk_count
from ..schema.named_tuple import NamedTuple

if TYPE_CHECKING:
    from ..lite.context import Context
    from ..lite.node import Node
    from ..lite.tensor import Shape, Tensor

# What a step computes, by the kernel that computes it alone: the number of its operation.
OPERATIONS = {
    "add_f32": 0,
    "sub_f32": 1,
    "mul_f32": 2,
    "squared_difference_f32": 3,
    "neg_f32": 4,
    "square_f32": 5,
    "sqrt_f32": 6,
    "rsqrt_f32": 7,
    "mean_along_f32": 8,
    "sum_along_f32": 9,
}
_UNARY = ("neg_f32", "square_f32", "sqrt_f32", "rsqrt_f32")
_REDUCTIONS = ("mean_along_f32", "sum_along_f32")

# Fields of a step, int64 each: the operation, where operands and result lie (a tensor's number, or OPERANDS
# and how far in scratch), by how many elements they go on from row to row, and whether they do within a row;
# elements of a row of the result (of the operand, for sums), whether all rows are one, and a scale's bits.
FIELDS = 12
OP, X, X_ROWS, X_STEP, Y, Y_ROWS, Y_STEP, OUT, OUT_ROWS, INNER, FLAT, SCALE = range(FIELDS)
OPERANDS = 8  # tensors, at most; the last is the result
ROW_CHAIN = np.dtype(
    [(f"t{i}", np.int64) for i in range(OPERANDS)]
    + [(name, np.int64) for name in ("scratch", "scratch_bytes", "steps", "count", "rows", "block_rows")]
)
_LEAST_WIDTH, _LEAST_ROWS = 16, 8
_BLOCK_BYTES = 20 << 10  # of scratch: it and the rows of operands lie in a first-level cache
_RESULT = OPERANDS - 1


class Prepared(NamedTuple):
    """A member of the chain as it was prepared to run alone."""

    inputs: Sequence[Tensor]
    output: Tensor
    calls: tuple[KernelCall, ...]


class _Layout(NamedTuple):
    """How an operand goes along with the rows: elements from row to row (0: the same), and within one."""

    rows: int
    step: int


def row_program(context: Context, node: Node, members: Sequence[Prepared]) -> KernelCall | None:
    """The call that computes what all members do; None where they are no rows of one width."""
    y = members[-1].output
    width = y.shape[-1] if y.shape else 0
    if width < _LEAST_WIDTH or y.size < _LEAST_ROWS * width:
        return None
    program = _Program(y.shape, members)
    steps = [program.step(i, member) for i, member in enumerate(members)]
    if None in steps or len(program.tensors) >= OPERANDS:
        return None
    rows = y.size // width
    table = np.array(steps, np.int64)
    chunks = chunk_count(context, 0.1 * y.size * len(members), most=max(1, rows // _LEAST_ROWS))
    block_rows = min(rows, max(1, _BLOCK_BYTES // (4 * program.scratch)))
    # Until here scratch is counted in elements of a row.
    for field in (X, Y, OUT):
        inside = table[:, field] >= OPERANDS
        table[inside, field] = OPERANDS + (table[inside, field] - OPERANDS) * 4 * block_rows
    args = np.zeros(1, ROW_CHAIN)
    args["steps"] = table.__array_interface__["data"][0]
    args["count"], args["rows"], args["block_rows"] = len(members), rows, block_rows
    args["scratch_bytes"] = -(-4 * program.scratch * block_rows // 64) * 64
    scratch = context.add_temporary(node, int(args["scratch_bytes"][0]) * chunks)
    tensors = {f"t{place}": tensor for tensor, place in program.tensors.values()}
    tensors |= {f"t{_RESULT}": y, "scratch": scratch}
    return KernelCall("row_chain", "row_chain_f32", args, tensors, chunks, keep=(table,))


class _Program:
    """Gives operands their places, and members their steps."""

    def __init__(self, result: Shape, members: Sequence[Prepared]) -> None:
        self.lead, self.width = _stripped(result[:-1]), result[-1]
        self.tensors: dict[int, tuple[Tensor, int]] = {}  # from outside
        self.scratch = 0  # elements for a row
        self._end = len(members) - 1
        self._inside = {member.output.index: member.output for member in members}
        self._last = {x.index: i for i, member in enumerate(members) for x in member.inputs}
        self._places: dict[int, int] = {}  # of what is inside, in scratch
        self._free: dict[int, list[int]] = {}  # places by their elements

    def step(self, i: int, member: Prepared) -> tuple[int, ...] | None:
        """The fields of the i-th member's step; None where it has none."""
        if len(member.calls) != 1 or member.calls[0].kernel not in OPERATIONS:
            return None
        call = member.calls[0]
        reduces, unary = call.kernel in _REDUCTIONS, call.kernel in _UNARY
        operands = member.inputs[: 1 if reduces or unary else 2]
        out, given = self._layout(member.output), [self._layout(x) for x in operands]
        if out is None or not out.rows or None in given:
            return None
        x, y = given[0], given[-1]
        assert x is not None and y is not None
        inner, flat, scale = out.rows, 0, 0
        if reduces:
            if x != (self.width, 1) or out != (1, 0):
                return None
            inner, scale = self.width, int(call.args["scale"].view(np.int32)[0])
        else:
            if not unary and not _is_unlimited(call):
                return None
            # Rows that follow each other in all operands are one.
            flat = int(all(each in (out, (0, 0)) for each in (x, y)))
            if unary and not flat:
                return None
            if flat:
                x, y = (each._replace(step=int(each == out)) for each in (x, y))
        places = [self._place(tensor) for tensor in (operands[0], operands[-1])]
        to = _RESULT if i == self._end else self._reserve(member.output, out.rows)
        self._release(i, operands)
        return (
            OPERATIONS[call.kernel],
            *(places[0], x.rows, x.step),
            *(places[1], y.rows, y.step),
            *(to, out.rows, inner, flat, scale),
        )

    def _layout(self, tensor: Tensor) -> _Layout | None:
        """None where the operand is not a row, an element, or one of either for each row."""
        shape = tensor.shape
        width, lead = (shape[-1], _stripped(shape[:-1])) if shape else (1, ())
        if width not in (1, self.width) or lead not in ((), self.lead):
            return None
        return _Layout(width if lead else 0, int(width != 1))

    def _place(self, tensor: Tensor) -> int:
        if tensor.index in self._places:
            return self._places[tensor.index]
        return self.tensors.setdefault(tensor.index, (tensor, len(self.tensors)))[1]

    def _reserve(self, tensor: Tensor, elements: int) -> int:
        """Scratch for a result; never an operand's, which the loops may read behind what they write."""
        free = self._free.setdefault(elements, [])
        if not free:
            free.append(OPERANDS + self.scratch)
            self.scratch += elements
        place = self._places[tensor.index] = free.pop()
        return place

    def _release(self, i: int, operands: Sequence[Tensor]) -> None:
        for index in {x.index for x in operands if x.index in self._places and self._last[x.index] == i}:
            elements = self._inside[index].shape[-1]
            self._free.setdefault(elements, []).append(self._places[index])


def _stripped(lead: Shape) -> Shape:
    """Sizes without ones in front of them."""
    while lead and lead[0] == 1:
        lead = lead[1:]
    return lead


def _is_unlimited(call: KernelCall) -> bool:
    """Whether results are left as they are."""
    return "low" not in (call.args.dtype.names or ()) or bool(
        call.args["low"] == -np.inf and call.args["high"] == np.inf
    )
