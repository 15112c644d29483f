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
    operator lives while that node runs. Tensors between nodes of one partition have no memory:
    the kernel has to give them some before it runs a second node.
    """
    replaced.temporaries.clear()
    calls = replaced.registration.prepare(context, replaced)
    node.temporaries += replaced.temporaries
    return calls
