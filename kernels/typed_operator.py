"""Operators on the types that the table gives them besides those of their kernels.

Half floats become float32 before the operator's own kernels and are rounded behind them; 2- and 4-bit
elements are moved as bytes; results have the operator's type, whatever the file declares for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..lite.available_memory import OVERREAD_BYTES
from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node, StandIns
from ..lite.registration import Registration
from ..lite.tensor import AllocationType, Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .operator_facts import Operator

# By the type that is not taken, the one that is instead.
Types = Mapping[TensorType, TensorType]
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


def has_type(context: Context, node: Node, types: Types) -> bool:
    """Whether any tensor of the node has one of the types."""
    return any(t >= 0 and context.tensor(t).type in types for t in (*node.inputs, *node.outputs))


def widened(context: Context, node: Node, types: Types) -> Node:
    """The node as kernels of wider types see it: itself, where it has no tensor of the types.

    Constants have their values at once; the other inputs have them after read(), and the node's own
    outputs theirs after write().
    """
    if not has_type(context, node, types):
        return node
    inputs, outputs = _widened(context, node.inputs, types), _widened(context, node.outputs, types)
    for t, wide in inputs.items():
        place(wide)
        x = context.tensor(t)
        if x.is_constant:
            _widen(x, wide)
            wide.allocation_type = AllocationType.PERSISTENT_RO
    for t, wide in outputs.items():
        if context.tensor(t).is_dynamic:
            wide.allocation_type = AllocationType.DYNAMIC
    return node.seen_with(StandIns(inputs, outputs))


def _widened(context: Context, indices: Sequence[int], types: Types) -> dict[int, Tensor]:
    tensors = {t: context.tensor(t) for t in indices if t >= 0}
    return {t: _like(x, types[TensorType(x.type)]) for t, x in tensors.items() if x.type in types}


def wide_inputs(context: Context, wide: Node) -> list[tuple[Tensor, Tensor]]:
    """The inputs that change, each with what stands for it."""
    assert wide.stand_ins is not None
    return [(context.tensor(t), x) for t, x in wide.stand_ins.inputs.items() if not x.is_constant]


def wide_outputs(context: Context, wide: Node) -> list[tuple[Tensor, Tensor]]:
    """The outputs, each with what stands for it."""
    assert wide.stand_ins is not None
    return [(context.tensor(t), y) for t, y in wide.stand_ins.outputs.items()]


def size_outputs(context: Context, wide: Node) -> None:
    """Give the node's own outputs the shapes of what stands for them, once it is prepared."""
    for y, stand_in in wide_outputs(context, wide):
        if stand_in.is_dynamic:
            context.set_dynamic(y)
        else:
            context.resize_tensor(y, stand_in.shape)


def read(context: Context, wide: Node) -> None:
    """Give the inputs their values, and the outputs memory."""
    for x, stand_in in wide_inputs(context, wide):
        _widen(x, stand_in)
    for _, stand_in in wide_outputs(context, wide):
        place(stand_in)


def write(context: Context, wide: Node) -> None:
    """Give the node's outputs what the tensors that stand for them hold."""
    for y, stand_in in wide_outputs(context, wide):
        context.resize_tensor(y, stand_in.shape)
        _narrow(stand_in, y)


def _like(x: Tensor, type: TensorType) -> Tensor:
    wide = Tensor(x.index, x.name, type, x.shape, x.quantization, False, x.signature)
    wide.declared_type, wide.first_shape = x.type, x.first_shape
    wide.allocation_type = AllocationType.ARENA_RW
    return wide


def place(tensor: Tensor) -> None:
    """Memory for the tensor, where it has none that suffices."""
    if tensor.data is None or len(tensor.data) < tensor.nbytes:
        tensor.bind(np.zeros(tensor.nbytes + OVERREAD_BYTES, np.uint8)[: tensor.nbytes])


def _widen(x: Tensor, wide: Tensor) -> None:
    from .cast import values_of

    if x.size:
        wide.array()[...] = values_of(x)


def _narrow(wide: Tensor, y: Tensor) -> None:
    from .cast import bfloat16_bits
    from .packed import PACKED_BITS, packed

    if not y.size or y.data is None:
        return
    if y.type in PACKED_BITS:
        y.data[: y.nbytes] = packed(wide.array(), PACKED_BITS[TensorType(y.type)])
        return
    if y.type == TensorType.BFLOAT16:
        y.data[: y.nbytes] = bfloat16_bits(wide.array()).reshape(-1).view(np.uint8)
    else:
        with np.errstate(all="ignore"):
            y.array()[...] = wide.array()
