"""Operators that only move elements, as the strided copies that kernels/ makes of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...kernels.strided_copy import RANK
from ...lite.errors import UnsupportedError
from .launch import Argument, Constant
from .lowering import BLOCK

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from .fusion import Step
    from .lowering import Lowering

OPERATORS = (
    "CONCATENATION",
    "TRANSPOSE",
    "SLICE",
    "STRIDED_SLICE",
    "SPLIT",
    "SPLIT_V",
    "PACK",
    "UNPACK",
    "SPACE_TO_DEPTH",
    "DEPTH_TO_SPACE",
    "TILE",
    "BROADCAST_TO",
    "REVERSE_V2",
)
_MOST_LOOPS = 6


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
            x, y = call.tensors["source"], call.tensors["target"]
            b.convert(b.pointer(x), b.pointer(y), x.size)
        else:
            raise UnsupportedError(f"{node.registration.name} by {call.kernel} is not built")


def check_computed(b: Lowering, node: Node) -> None:
    """UnsupportedError where prepare knew the output, which then is a constant of the graph."""
    for i in range(len(node.outputs)):
        y = b.graph.output(node, i)
        if y.is_constant:
            raise UnsupportedError(f"{node.registration.name}: {y!r} is known without running")


def launch_copy(b: Lowering, node: Node, call: KernelCall) -> None:
    """The launch of one of kernels/strided_copy.py: its bytes are elements here."""
    x, y, block = call.tensors["source"], call.tensors["target"], call.args
    item = x.dtype.itemsize
    sizes = [int(n) for n in block["sizes"][0]]
    loops = [
        (n, int(block["source_strides"][0, k]) // item, int(block["target_strides"][0, k]) // item)
        for k, n in enumerate(sizes)
        if n != 1
    ]
    run = int(block["run_bytes"][0]) // item
    if run > 1 or not loops:
        loops.append((run, 1, 1))
    if len(loops) > _MOST_LOOPS:
        raise UnsupportedError(
            f"{node.registration.name}: copies of up to {_MOST_LOOPS} loops of the CPU's {RANK} are built, "
            f"got {len(loops)}"
        )
    size = math.prod(n for n, _, _ in loops)
    rank = len(loops)
    loops = [(1, 0, 0)] * (_MOST_LOOPS - rank) + loops
    args: dict[str, Argument] = {
        "x_ptr": b.pointer(x),
        "y_ptr": b.pointer(y),
        "size": size,
        "x_start": int(block["source_offset"][0]) // item,
        "y_start": int(block["target_offset"][0]) // item,
        **{f"n{k}": loops[k][0] for k in range(1, _MOST_LOOPS)},
        **{f"x{k}": loop[1] for k, loop in enumerate(loops)},
        **{f"y{k}": loop[2] for k, loop in enumerate(loops)},
    }
    constants: dict[str, Constant] = {"RANK": rank, "BLOCK": BLOCK}
    b.launch("movement", "copy", (-(-size // BLOCK),), args, constants)


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
