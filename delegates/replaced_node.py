"""Running a replaced node by its own operator, inside the node that took its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..lite.context import Context
    from ..lite.kernel_call import KernelCall
    from ..lite.node import Node


def prepare_replaced(context: Context, node: Node, replaced: Node) -> Sequence[KernelCall] | None:
    """The calls of a replaced node, or None when its registration's invoke runs it.

    For the prepare of a delegate's kernel; node is the delegate's. The scratch memory of the
    operator, and those of its outputs that nobody outside the partition reads, live while that
    node runs. The nodes of a partition are prepared in their order.
    """
    replaced.temporaries.clear()
    calls = replaced.registration.prepare(context, replaced)
    node.temporaries += replaced.temporaries
    node.temporaries += [t for t in replaced.outputs if t >= 0 and t not in node.outputs]
    return calls
