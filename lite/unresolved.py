"""Custom operators that the resolver does not know: they wait for a delegate that takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.shown import shown
from .errors import UnsupportedError
from .registration import Registration

if TYPE_CHECKING:
    from .context import Context
    from .node import Node

# Of the custom codes of TensorFlow's ops; the op's name follows.
FLEX_PREFIX = "Flex"


class UnresolvedOperator(Registration):
    """Preparing a node with it is an error: no delegate has taken the node."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        # What a TensorFlow op does besides its outputs is in its options: their order is kept.
        super().__init__(name, self._refuse, side_effects=name.startswith(FLEX_PREFIX))

    @property
    def is_unresolved_flex(self) -> bool:
        return self.name.startswith(FLEX_PREFIX)

    def _refuse(self, context: Context, node: Node) -> None:
        if self.is_unresolved_flex:
            # A delegate for fixed shapes is refused by this: it cannot be beside the flex delegate.
            for t in node.outputs:
                if t >= 0:
                    context.set_dynamic(context.tensor(t))
            raise UnsupportedError(
                f"Encountered unresolved custom op: {shown(self.name)}. It is a TensorFlow operator, "
                "which needs the flex delegate: numlite.Interpreter applies it by itself"
            )
        raise UnsupportedError(
            f"Encountered unresolved custom op: {shown(self.name)}. Register it with "
            "InterpreterWithCustomOps(custom_op_registerers=[...])"
        )
