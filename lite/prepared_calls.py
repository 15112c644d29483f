"""What a prepare hook may return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..schema.operator_code import CUSTOM, DELEGATE
from ..schema.shown import shown
from .errors import PrepareError
from .kernel_call import KernelCall

if TYPE_CHECKING:
    from .context import Context
    from .node import Node

_FOREIGN = (CUSTOM, DELEGATE)  # their hooks are other people's


def checked_calls(context: Context, node: Node, calls: object) -> Sequence[KernelCall] | None:
    """The calls that prepare has returned; PrepareError for what is none, and for a node that nothing runs.

    An empty list says that there is nothing to do. Of a custom operator or a delegate's kernel whose outputs
    have elements that is a mistake: nothing would write them, since invoke runs only after None.
    """
    registration = node.registration
    name = shown(registration.name)
    if calls is None:
        if registration.invoke is None:
            raise PrepareError(f"{name}: prepare returned no calls and there is no invoke")
        return None
    if not isinstance(calls, list | tuple) or not all(isinstance(call, KernelCall) for call in calls):
        raise PrepareError(
            f"{name}: prepare must return a list of KernelCalls, or None to have invoke run, "
            f"got {_brief(calls)}"
        )
    if not calls and registration.builtin_code in _FOREIGN:
        written = (context.tensor(t) for t in node.outputs if t >= 0)
        if any(tensor.size for tensor in written):
            raise PrepareError(
                f"{name}: prepare must return None to have invoke run, or calls that write the "
                f"outputs, got {calls!r}"
            )
    return calls


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
