"""Functions that are one custom operator, which numlite has a kernel for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat

import numpy as np

from ....lite.errors import UnsupportedError
from ....lite.tensor import TensorType
from ....schema.tflite import BuiltinOperator
from ...element_types import numpy_dtype_of
from ...lite_graph import LiteTensor, PartialShape
from ..cast import cast_to
from .call import CompositeCall, agree
from .operator_run import operator_results

CUSTOM_OPS_NEEDED = "allow_custom_ops (--allow-custom-ops) would take"
# Types that an operand or a result may have.
Types = frozenset[TensorType]
# What is known of the results' shapes.
Shapes = Callable[[CompositeCall], Sequence[PartialShape]]
# What a call with these operands is tried with; None where nothing is known to fit.
Trial = Callable[[CompositeCall], "list[np.ndarray] | None"]


def no_options(call: CompositeCall) -> bytes:
    """Of operators that have none."""
    return b""


def takes_two(call: CompositeCall, operands: int, results: int) -> bool:
    return operands == 2 and results == 1


@dataclass(frozen=True)
class CustomComposite:
    """The operator's code; what functions of the name take (types and ranks; a rank of None is any) and give.

    All operands and results behind the told ones are like the last. options makes the operator's from the
    function's attributes, or None where it has none that say the same. Operands of `casts`, and results that
    the operator has as `given`, are cast. Only an operator that every runtime has is made where the caller
    does not allow custom ones.
    """

    code: str
    arguments: tuple[tuple[Types, int | None], ...]
    results: tuple[Types, ...]
    options: Callable[[CompositeCall], bytes | None]
    trial: Trial
    counts: Callable[[CompositeCall, int, int], bool]
    shapes: Shapes
    casts: Mapping[int, TensorType] = field(default_factory=dict)
    given: TensorType | None = None
    is_everywhere: bool = False

    def lowered(self, call: CompositeCall) -> list[LiteTensor] | None:
        """The call's results by the operator; None where it does not fit, or its body computes another thing.

        UnsupportedError where it does not fit and its body computes nothing.
        """
        allowed = self.is_everywhere or call.lowering.program.settings.custom_ops
        options = self.options(call) if allowed and self._fits(call) else None
        if options is not None and self._does_what_the_body_does(call, options):
            return self._made(call, options)
        if call.is_placeholder:
            raise UnsupportedError(
                f"the function's body only stands for {self.code!r}, which "
                + ("its operands, results or attributes do not fit" if allowed else CUSTOM_OPS_NEEDED)
            )
        return None

    def _fits(self, call: CompositeCall) -> bool:
        inputs, types = call.inputs, self._types(call)
        if not self.counts(call, len(inputs), len(types)):
            return False
        for x, (allowed, rank) in zip(
            inputs, chain(self.arguments, repeat(self.arguments[-1])), strict=False
        ):
            if x.type not in allowed or x.shape is None or rank not in (None, len(x.shape)):
                return False
        allowed_results = chain(self.results, repeat(self.results[-1]))
        return all(type in allowed for type, allowed in zip(types, allowed_results, strict=False))

    def _types(self, call: CompositeCall) -> list[TensorType]:
        return [call.lowering.result_type(call.node, i) for i in range(len(call.node.results))]

    def _does_what_the_body_does(self, call: CompositeCall, options: bytes) -> bool:
        """Whether both give the same; a body that does not run, or is only a placeholder, is not asked."""
        arguments = None if call.is_placeholder else self.trial(call)
        results = None if arguments is None else call.results(arguments)
        if results is None or arguments is None:
            return True
        taken = [
            argument.astype(numpy_dtype_of(self.casts[i])) if i in self.casts else argument
            for i, argument in enumerate(arguments)
        ]
        ours = operator_results(self.code, options, taken, self._given(call))
        return ours is not None and all(
            agree(np.asarray(a), np.asarray(b)) for a, b in zip(ours, results, strict=True)
        )

    def _given(self, call: CompositeCall) -> Sequence[TensorType]:
        return [type if self.given is None else self.given for type in self._types(call)]

    def _made(self, call: CompositeCall, options: bytes) -> list[LiteTensor]:
        lowering, node = call.lowering, call.node
        inputs = [
            cast_to(lowering, node, x, self.casts[i]) if i in self.casts else x
            for i, x in enumerate(call.inputs)
        ]
        results = lowering.results(node, self.shapes(call), self._given(call))
        operator = lowering.add(node, BuiltinOperator.CUSTOM, inputs, results)
        operator.custom_code, operator.custom_options = self.code, options
        return [cast_to(lowering, node, y, type) for y, type in zip(results, self._types(call), strict=True)]
