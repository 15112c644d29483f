"""Custom operators written in Python: from what a user passes to a registration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .registration import Registration

if TYPE_CHECKING:
    from .op_resolver import OpResolver

_WHAT = (
    "custom_op_registerers: each must be a pair (name, operator) or a function that takes the "
    "OpResolver, got {!r}"
)


def register_custom_op(resolver: OpResolver, registerer: object) -> None:
    """Add a custom operator.

    registerer is a pair (name, operator), or a function of the resolver. The operator is a
    Registration, or an object with invoke(context, node) and, unless the shapes in the file
    are right as they are, prepare(context, node); init, free and reset_variables are taken where it has
    them, as Registration describes.
    """
    if isinstance(registerer, str):
        raise ValueError(
            f"Looking up symbol '{registerer}' failed: numlite takes custom operators as Python "
            "objects, not as symbols of a native library"
        )
    if isinstance(registerer, tuple) and len(registerer) == 2:
        name, operator = registerer
        resolver.add_custom(name, custom_registration(name, operator))
    elif callable(registerer):
        registerer(resolver)
    else:
        raise ValueError(_WHAT.format(registerer))


def custom_registration(name: str, operator: Any) -> Registration:
    """The registration of what a user gives as an operator; ValueError for what is none."""
    if not isinstance(name, str):
        raise ValueError(f"custom operator: its name must be a str, got {name!r}")
    if isinstance(operator, Registration):
        return operator
    invoke: Callable[..., None] | None = getattr(operator, "invoke", None)
    prepare = getattr(operator, "prepare", None)
    if not callable(invoke) and not callable(prepare):
        raise ValueError(f"custom operator {name!r}: it must have invoke(context, node), got {operator!r}")
    if isinstance(operator, type):
        raise ValueError(
            f"custom operator {name!r}: it must be an object, got the class {operator.__name__}: make one, "
            f"{operator.__name__}()"
        )
    return Registration(
        name,
        prepare if callable(prepare) else _keep_shapes,
        invoke,
        init=getattr(operator, "init", None),
        free=getattr(operator, "free", None),
        reset_variables=getattr(operator, "reset_variables", None),
    )


def _keep_shapes(context: object, node: object) -> None:
    """Prepare of an operator whose outputs have the shapes that the file gives them."""
