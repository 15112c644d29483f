"""Operators that only move elements, as the strided copies that kernels/ makes of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ...kernels.strided_copy import RANK, element_bytes
from ...lite.errors import UnsupportedError
from .launch import ELEMENT_BYTES, Argument, Constant, Pointer
from .lowering import BLOCK
from .tiles import power_of_two
from .tiling import elements_of, stays_even, tiling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from ...lite.tensor import Tensor
    from .fusion import Step
    from .lowering import Lowering

_MOST_LOOPS = 6
_UNITS = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
# Rows and columns of a transposed tile, by the bytes of its elements.
_SQUARES = {1: 64, 2: 32, 4: 32, 8: 32}


class Units:
    """Memory that is moved, in the largest units that divide all of its sizes and steps.

    These are given in bytes as the CPU has them: the device may hold the elements in fewer.
    """

    def __init__(self, b: Lowering, x: Tensor, sizes: Sequence[int]) -> None:
        self._item, self._held = element_bytes(x, "copy"), ELEMENT_BYTES[b.type_of(x)]
        self.nbytes = math.gcd(8, *(size * self._held // self._item for size in sizes))

    def count(self, nbytes: int) -> int:
        """Units in so many of the CPU's bytes."""
        return nbytes * self._held // self._item // self.nbytes

    def pointer(self, pointer: Pointer) -> Pointer:
        """To the same memory, as units."""
        return Pointer(pointer.place, _UNITS[self.nbytes])


class _Loop(NamedTuple):
    """A loop of a copy: its turns, and its steps in the source and in the target."""

    size: int
    x: int
    y: int


def lower(b: Lowering, step: Step) -> None:
    """A launch for each copy of the CPU's."""
    node = step.node
    calls = b.calls(node)
    check_computed(b, node)
    for call in calls:
        if call.family == "strided_copy" or call.kernel.startswith("transpose_"):
            launch_copy(b, node, call)
        elif call.kernel == "rescaled_rows_u8":
            _rescale(b, call)
        elif call.kernel == "flat_copy":
            launch_flat_copy(b, call)
        else:
            raise UnsupportedError(f"{node.registration.name} by {call.kernel} is not built")


def check_computed(b: Lowering, node: Node) -> None:
    """UnsupportedError where prepare knew the output, which then is a constant of the graph."""
    for i in range(len(node.outputs)):
        y = b.graph.output(node, i)
        if y.is_constant:
            raise UnsupportedError(f"{node.registration.name}: {y!r} is known without running")


def launch_flat_copy(b: Lowering, call: KernelCall) -> None:
    """The launch of a copy of a whole tensor."""
    x, y = call.tensors["source"], call.tensors["target"]
    b.convert(b.pointer(x), b.pointer(y), x.size)


def launch_copy(b: Lowering, node: Node, call: KernelCall) -> None:
    """The launch of one of kernels/strided_copy.py."""
    x, y, block = call.tensors["source"], call.tensors["target"], call.args
    fields = ("sizes", "source_strides", "target_strides")
    nest = [
        _Loop(*loop)
        for loop in zip(*(block[name][0].tolist() for name in fields), strict=True)
        if loop[0] != 1
    ]
    run, x_start, y_start = (int(block[name][0]) for name in ("run_bytes", "source_offset", "target_offset"))
    units = Units(b, x, [run, x_start, y_start, *(step for loop in nest for step in loop[1:])])
    loops = [_Loop(loop.size, units.count(loop.x), units.count(loop.y)) for loop in nest]
    if units.count(run) > 1 or not loops:
        loops.append(_Loop(units.count(run), 1, 1))
    if len(loops) > _MOST_LOOPS:
        raise UnsupportedError(
            f"{node.registration.name}: copies of up to {_MOST_LOOPS} loops of the CPU's {RANK} are built, "
            f"got {len(loops)}"
        )
    pointers: dict[str, Argument] = {
        "x_ptr": units.pointer(b.pointer(x)),
        "y_ptr": units.pointer(b.pointer(y)),
    }
    starts: dict[str, Argument] = {"x_start": units.count(x_start), "y_start": units.count(y_start)}
    across = _across(loops)
    if across is not None:
        _transposed(b, pointers, starts, [*loops[:across], *loops[across + 1 : -1], loops[across], loops[-1]])
    else:
        _straight(b, pointers, starts, loops, stays_even(y.shape))


def _across(loops: Sequence[_Loop]) -> int | None:
    """The loop that walks the source by single elements, where the innermost one walks only the target so."""
    if loops[-1].y != 1 or loops[-1].x == 1:
        return None
    return next((k for k, loop in enumerate(loops[:-1]) if loop.x == 1 and loop.size > 1), None)


def _loop_arguments(loops: Sequence[_Loop]) -> dict[str, Argument]:
    filled = [_Loop(1, 0, 0)] * (_MOST_LOOPS - len(loops)) + list(loops)
    args: dict[str, Argument] = {f"n{k}": filled[k].size for k in range(1, _MOST_LOOPS - 1)}
    args |= {f"x{k}": loop.x for k, loop in enumerate(filled)}
    return args | {f"y{k}": loop.y for k, loop in enumerate(filled)}


def _straight(
    b: Lowering,
    pointers: dict[str, Argument],
    starts: dict[str, Argument],
    loops: Sequence[_Loop],
    is_even: bool,
) -> None:
    rows, columns = math.prod(loop.size for loop in loops[:-1]), loops[-1].size
    tiles = tiling(rows, columns, elements_of(pointers.values()))
    args = {**pointers, **tiles.args, **starts, **_loop_arguments(loops)}
    dense = loops[-1].x == loops[-1].y == 1
    constants: dict[str, Constant] = {"DENSE": dense, "RANK": len(loops), **tiles.constants}
    steps = [f"{name}{k}" for name in "xy" for k in range(_MOST_LOOPS - 1)]
    even = ("columns", *starts, *steps) if len(loops) > 1 or is_even else ()
    b.launch("movement", "copy", tiles.grid, args, constants, divisible=even if dense else ())


def _transposed(
    b: Lowering, pointers: dict[str, Argument], starts: dict[str, Argument], loops: Sequence[_Loop]
) -> None:
    """The last loop is the target's innermost, the one before it the source's."""
    down, across = loops[-2].size, loops[-1].size
    square = _SQUARES[ELEMENT_BYTES[pointers["x_ptr"].type]]  # type: ignore[union-attr]  # it is a pointer
    rows = min(power_of_two(down), square)
    columns = min(power_of_two(across), square * square // rows)
    outer = math.prod(loop.size for loop in loops[:-2])
    args = {**pointers, "rows": outer, "columns": across, **starts, **_loop_arguments(loops)}
    del args["x4"], args["y5"]  # they are 1
    constants: dict[str, Constant] = {"RANK": len(loops), "ROWS": rows, "COLUMNS": columns}
    grid = (outer * -(-down // rows) * -(-across // columns),)
    steps = [name for name in args if name[0] in "xy" and name[1:].isdigit()]
    b.launch("movement", "transpose", grid, args, constants, divisible=("columns", "n4", *starts, *steps))


def _rescale(b: Lowering, call: KernelCall) -> None:
    """An input of CONCATENATION in another scale than the output's."""
    x, y, block = call.tensors["source"], call.tensors["target"], call.args
    args: dict[str, Argument] = {
        "x_ptr": b.pointer(x),
        "y_ptr": b.pointer(y),
        "size": x.size,
        "row_size": int(block["row_bytes"][0]),
        "y_start": int(block["target_offset"][0]),
        "y_stride": int(block["target_stride"][0]),
        "scale": float(block["scale"][0]),
        "bias": float(block["bias"][0]),
        "zero_point": int(block["zero_point"][0]),
    }
    b.launch("movement", "rescale", (-(-x.size // BLOCK),), args, {"BLOCK": BLOCK})


def lower_reshape(b: Lowering, step: Step) -> None:
    """Operators that keep the bytes: no launch, unless the memory of both is seen from outside."""
    node = step.node
    b.calls(node)
    y = b.graph.output(node, 0)
    if not y.is_constant:
        b.alias(y, b.graph.input(node, 0))
