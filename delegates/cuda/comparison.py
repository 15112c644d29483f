"""EQUAL, LESS and the other comparisons: launches from the argument blocks of kernels/comparison.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .binary import launch, launch_plain

if TYPE_CHECKING:
    from .fusion import Step
    from .launch import Argument
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch: by tables of what bytes and int16 stand for, where the CPU has them."""
    node = step.node
    for call in b.calls(node):
        kind = call.kernel.rpartition("_")[0].removesuffix("_scaled")
        if not call.keep:
            launch_plain(b, node, call, kind)
            continue
        tables: dict[str, Argument] = {
            f"{name}_table_ptr": b.weights(node, name, lambda table=table: table, "i32")  # type: ignore[misc]
            for name, table in zip("ab", call.keep, strict=True)
        }
        mask = len(call.keep[0]) - 1
        launch(b, node, call, "binary", "by_table", tables, {"OP": kind, "MASK": mask})
