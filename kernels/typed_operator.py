"""Operators on the types that the table gives them besides those of their kernels.

Half floats become float32 before the operator's own kernels and are rounded behind them; 2- and 4-bit
elements are moved as bytes; results have the operator's type, whatever the file declares for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import AllocationType, Tensor, TensorType
from .operator_facts import Operator
from .widened import Types, place, read, size_outputs, wide_inputs, wide_outputs, widened, write

_HALVES = {"f16": TensorType.FLOAT16, "bf16": TensorType.BFLOAT16}
_SUFFIXES = {type: name for name, type in _HALVES.items()}
_PACKED = {
    TensorType.INT4: TensorType.INT8,
    TensorType.UINT4: TensorType.UINT8,
    TensorType.INT2: TensorType.INT8,
}


def with_types(entry: Registration, facts: Operator) -> Registration:
    """The operator for the types that its facts name: halves, packed, and results.

    A half is rounded once, to the nearest. XNNPACK rounds within an operator too, so that its float16
    results may differ in the last bits. Packed tensors run in Python around the operator's own kernels.
    """
    if not (facts.halves or facts.packed or facts.results):
        return entry
    wider = _PACKED if facts.packed else {_HALVES[name]: TensorType.FLOAT32 for name in facts.halves.split()}
    operator = _TypedOperator(entry, wider, facts.packed, facts.results.split())
    runs_wide = facts.packed or (facts.halves and entry.invoke is not None)
    return entry.with_hooks(operator.prepare, operator.invoke if runs_wide else entry.invoke)


class _Prepared(NamedTuple):
    """A node on wide tensors, and its calls, None where its invoke computes them."""

    node: Node
    calls: Sequence[KernelCall] | None


class _TypedOperator(NamedTuple):
    """The hooks of an operator whose kernels take the types of wider in the place of its own.

    In Python, where in_python, the wide tensors are read and written around the operator's calls, else
    by calls, too. results has a word for each result, the last for all that follow: `#1` for the type of
    input 1, or a type's name.
    """

    entry: Registration
    wider: Types
    in_python: bool
    results: Sequence[str]

    def prepare(self, context: Context, node: Node) -> Sequence[KernelCall] | None:
        if self.results:
            self._settle_results(context, node)
        wide = widened(context, node, self.wider)
        calls = self.entry.prepare(context, wide)
        if wide is node:
            return calls
        size_outputs(context, wide)
        if self.in_python:  # user_data, for which these operators have no use, holds what invoke needs
            node.user_data = _Prepared(wide, calls)
            return None
        node.user_data = wide.user_data
        return None if calls is None else _between_casts(context, wide, calls)

    def invoke(self, context: Context, node: Node) -> None:
        prepared = node.user_data
        if isinstance(prepared, _Prepared):
            wide, calls = prepared
        else:
            wide, calls = widened(context, node, self.wider), None
        if wide is not node:
            read(context, wide)
        if calls is not None:
            context.run_calls(node, calls)
        else:
            assert self.entry.invoke is not None
            self.entry.invoke(context, wide)
        if wide is not node:
            write(context, wide)

    def _settle_results(self, context: Context, node: Node) -> None:
        for i, t in enumerate(node.outputs):
            wanted = _type_of(self.results[min(i, len(self.results) - 1)], context, node)
            if wanted is not None and t >= 0:
                _settle(context.tensor(t), wanted)


def _between_casts(context: Context, wide: Node, calls: Sequence[KernelCall]) -> Sequence[KernelCall]:
    """The calls, behind those that widen the inputs and before those that round the outputs."""
    outputs = [(stand_in, y) for y, stand_in in wide_outputs(context, wide)]
    for stand_in, _ in outputs:
        place(stand_in)
    return [*_casts(context, wide_inputs(context, wide)), *calls, *_casts(context, outputs)]


def _casts(context: Context, pairs: Sequence[tuple[Tensor, Tensor]]) -> list[KernelCall]:
    """Calls that convert tensors between float32 and the half types."""
    from .broadcast import unary_call

    calls: list[KernelCall] = []
    for x, y in pairs:
        names = [_SUFFIXES.get(TensorType(tensor.type), "f32") for tensor in (x, y)]
        calls += unary_call(context, "cast", "_".join(names), x, y, 0.3)
    return calls


def _type_of(word: str, context: Context, node: Node) -> int | None:
    """None where there is no such input, which prepare reports."""
    if not word.startswith("#"):
        return TensorType[word.upper()]
    tensor = context.optional_input(node, int(word[1:]))
    return None if tensor is None else tensor.type


def _settle(tensor: Tensor, wanted: int) -> None:
    if tensor.type == wanted:
        return
    tensor.type = wanted
    tensor.bind(None)
    if tensor.has_fixed_size:
        if tensor.allocation_type is AllocationType.DYNAMIC:
            tensor.allocation_type = AllocationType.ARENA_RW
    else:
        tensor.allocation_type = AllocationType.DYNAMIC
