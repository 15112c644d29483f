"""EMBEDDING_LOOKUP: launches from the argument blocks of kernels/embedding.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.gather import OUT_OF_RANGE
from ...lite.errors import UnsupportedError
from .gather import launch_gather
from .launch import Argument, Pointer
from .tiling import elements_of, tiling

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch: rows as they are, or times their scales."""
    table = b.graph.input(step.node, 1)
    if table.quantization is not None and table.quantization.block_size:
        raise UnsupportedError("EMBEDDING_LOOKUP: tables with a scale for each block are not built")
    for call in b.calls(step.node):
        if call.family == "gather":
            launch_gather(b, step, call)
        else:
            _dequantized(b, step, call)


def _dequantized(b: Lowering, step: Step, call: KernelCall) -> None:
    positions, table, y, block = *(call.tensors[name] for name in ("positions", "table", "y")), call.args
    if int(block["bits"][0]) != 8:
        raise UnsupportedError(f"EMBEDDING_LOOKUP: tables of {table.type_name} are not built")
    scales = call.keep[0]
    args: dict[str, Argument] = {
        # uint8 is read as int8, as the CPU does.
        "table_ptr": Pointer(b.pointer(table).place, "i8"),
        "position_ptr": b.pointer(positions),
        "y_ptr": b.pointer(y),
        "scale_ptr": b.weights(step.node, "scales", lambda: scales, "fp32"),
    }
    tiles = tiling(int(block["count"][0]), int(block["columns"][0]), elements_of([args["y_ptr"]]))
    args |= {**tiles.args, "table_rows": int(block["rows"][0])}
    args["scale_step"] = int(block["scale_step"][0])
    args |= b.reports.add(b, step.node, call.messages[OUT_OF_RANGE])
    b.launch("gather", "embedding", tiles.grid, args, tiles.constants, divisible=("columns",))
