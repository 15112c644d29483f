"""Node: one operator of a subgraph, resolved and, after prepare, ready to run."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from ..schema.named_tuple import NamedTuple

if TYPE_CHECKING:
    from .delegate import Delegate
    from .kernel_call import KernelCall
    from .registration import Registration
    from .tensor import Tensor


class StandIns(NamedTuple):
    """Tensors that a node's kernels see in the place of its own, by the numbers of these."""

    inputs: Mapping[int, Tensor]
    outputs: Mapping[int, Tensor]


class Node:
    """An operator with its tensors (by index; -1 stands for an optional input left out).

    options is the schema's options table of the operator (attributes in the schema's own
    names), or None when the file has none. custom_options are the bytes of a custom operator.
    temporaries are scratch tensors that prepare asked for. packed is what prepare made of constants, by
    a name of its own, for when it is asked again with other shapes. user_data is whatever init returned;
    stand_ins are what a context gives for operands where kernels take other types, None on a model's node;
    calls are the compiled calls that prepare returned, or None when the node runs in Python.
    delegate is who runs the node, None for the model's own; options are DelegateParams then.
    """

    __slots__ = (
        "calls",
        "custom_options",
        "delegate",
        "index",
        "inputs",
        "intermediates",
        "options",
        "outputs",
        "packed",
        "registration",
        "stand_ins",
        "temporaries",
        "user_data",
        "version",
    )

    def __init__(
        self,
        index: int,
        registration: Registration,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        options: Any = None,
        custom_options: bytes = b"",
        intermediates: tuple[int, ...] = (),
        version: int = 1,
    ) -> None:
        self.index = index
        self.registration = registration
        self.inputs = inputs
        self.outputs = outputs
        self.options = options
        self.custom_options = custom_options
        self.intermediates = intermediates
        self.version = version
        self.temporaries: list[int] = []
        self.packed: dict[str, object] = {}
        self.stand_ins: StandIns | None = None
        self.user_data: object = None
        self.calls: Sequence[KernelCall] | None = None
        self.delegate: Delegate | None = None

    def seen_with(self, stand_ins: StandIns) -> Self:
        """The same node, whose operands are others; scratch and what is packed are shared."""
        made = copy.copy(self)
        made.stand_ins = stand_ins
        return made
