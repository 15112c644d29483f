"""Names of tensors as messages show them."""

from __future__ import annotations

_LONGEST = 80
_HEAD, _TAIL = 48, 28


def shown_name(name: str) -> str:
    """The name in quotes, on one line; the middle of a long one (of fused operators, say) is left out."""
    return repr(name if len(name) <= _LONGEST else f"{name[:_HEAD]}...{name[-_TAIL:]}")
