"""Registration: what an operator promises the runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntFlag
from typing import TYPE_CHECKING

from ..schema.operator_code import CUSTOM

if TYPE_CHECKING:
    from .context import Context
    from .fusion import Fusion, Uses
    from .kernel_call import KernelCall
    from .node import Node

    Fuse = Callable[[Node, Uses], Fusion | None]


class InplaceOperator(IntFlag):
    """Which inputs an output may share memory with; names and values are TFLite's."""

    NONE = 0
    DATA_UNMODIFIED = 1
    CAN_SHARE_WITH_CORRESPONDING_OUTPUT = 2
    INPUT0_SHARED = 4
    INPUT1_SHARED = 8
    INPUT2_SHARED = 16


class Registration:
    """The hooks of one operator.

    prepare(context, node) runs once per shape: it checks the node, calls
    context.resize_tensor for each output, asks for scratch, packs weights, and returns the
    node's compiled calls, which then run in order. It returns None when the node runs in
    Python, through invoke(context, node), which must be given then.
    fuse(node, uses) says whether the node and others before it run as one node; is_own says that the
    operator is numlite's, so that a fusion may rely on what it means.
    init(context, node) makes node.user_data when the graph is built; free(context, node)
    lets go of it. reset_variables(context, node) sets what the operator keeps between runs to its beginning,
    as Interpreter.reset_all_variables does with the model's variables.
    """

    __slots__ = (
        "builtin_code",
        "free",
        "fuse",
        "init",
        "inplace_operator",
        "invoke",
        "is_own",
        "max_version",
        "min_version",
        "name",
        "prepare",
        "reset_variables",
        "side_effects",
    )

    def __init__(
        self,
        name: str,
        prepare: Callable[[Context, Node], Sequence[KernelCall] | None],
        invoke: Callable[[Context, Node], None] | None = None,
        *,
        builtin_code: int = CUSTOM,
        min_version: int = 1,
        max_version: int = 1,
        inplace_operator: InplaceOperator = InplaceOperator.NONE,
        side_effects: bool = False,
        init: Callable[[Context, Node], object] | None = None,
        free: Callable[[Context, Node], None] | None = None,
        reset_variables: Callable[[Context, Node], None] | None = None,
        fuse: Fuse | None = None,
        is_own: bool = False,
    ) -> None:
        self.name = name
        self.prepare = prepare
        self.invoke = invoke
        self.builtin_code = builtin_code
        self.min_version = min_version
        self.max_version = max_version
        self.inplace_operator = inplace_operator
        self.side_effects = side_effects
        self.init = init
        self.free = free
        self.reset_variables = reset_variables
        self.fuse = fuse
        self.is_own = is_own

    def with_hooks(
        self,
        prepare: Callable[[Context, Node], Sequence[KernelCall] | None],
        invoke: Callable[[Context, Node], None] | None,
    ) -> Registration:
        """The same operator, prepared and invoked by others."""
        return Registration(
            self.name,
            prepare,
            invoke,
            builtin_code=self.builtin_code,
            min_version=self.min_version,
            max_version=self.max_version,
            inplace_operator=self.inplace_operator,
            side_effects=self.side_effects,
            init=self.init,
            free=self.free,
            reset_variables=self.reset_variables,
            fuse=self.fuse,
            is_own=self.is_own,
        )

    @property
    def is_unresolved_flex(self) -> bool:
        """Whether it is one of TensorFlow's ops, which no delegate has taken yet."""
        return False

    def __repr__(self) -> str:
        return f"Registration({self.name}, versions {self.min_version}-{self.max_version})"
