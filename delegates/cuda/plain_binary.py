"""Operators of two values as they are: comparisons, truth values, powers and whole quotients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lite.errors import UnsupportedError
from .binary import launch, launch_plain
from .elementwise import launch_unary

if TYPE_CHECKING:
    from .fusion import Step
    from .launch import Argument
    from .lowering import Lowering


def lower_comparison(b: Lowering, step: Step) -> None:
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


def lower_logical(b: Lowering, step: Step) -> None:
    """LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT: one launch."""
    for call in b.calls(step.node):
        function = call.kernel.removesuffix("_bool")
        if function == "logical_not":
            launch_unary(b, call, function, is_float=False)
        else:
            launch_plain(b, step.node, call, function)


def lower_math(b: Lowering, step: Step) -> None:
    """POW, FLOOR_DIV and FLOOR_MOD: one launch, that reports what integers must not be."""
    for call in b.calls(step.node):
        if call.kernel == "floor_mod_f32":
            raise UnsupportedError("FLOOR_MOD of float32 is not built: its remainders must be exact")
        if call.kernel == "pow_by_squares_i32":
            raise UnsupportedError("POW of int32 by one exponent is not built: its products wrap around")
        launch_plain(b, step.node, call, call.kernel.rpartition("_")[0])
