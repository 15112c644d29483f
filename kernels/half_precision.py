"""float16 and bfloat16 tensors of operators whose kernels take float32: widened before, rounded behind."""

from __future__ import annotations

from collections.abc import Sequence

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .widened import Widened, has_type, place, widened_context

_HALVES = {"f16": TensorType.FLOAT16, "bf16": TensorType.BFLOAT16}
_SUFFIXES = {type: name for name, type in _HALVES.items()}


def _casts(context: Context, pairs: Sequence[tuple[Tensor, Tensor]]) -> list[KernelCall]:
    """Calls that convert tensors between float32 and the half types."""
    from .broadcast import unary_call

    calls: list[KernelCall] = []
    for x, y in pairs:
        names = [_SUFFIXES.get(TensorType(tensor.type), "f32") for tensor in (x, y)]
        calls += unary_call(context, "cast", "_".join(names), x, y, 0.3)
    return calls


def in_float32(registration: Registration, halves: str) -> Registration:
    """The operator with half-precision inputs and outputs, by its own float32 kernels.

    A result is rounded once, to the nearest. XNNPACK rounds within an operator too, so that its
    float16 results may differ in the last bits.
    """
    types = {_HALVES[name]: TensorType.FLOAT32 for name in halves.split()}

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        if not has_type(context, node, types):
            return registration.prepare(context, node)
        wide = Widened(context, node, types)
        calls = registration.prepare(widened_context(wide), node)
        if calls is None:
            return None
        inputs = [(context.tensor(t), x) for t, x in wide.inputs_by_index.items() if not x.is_constant]
        outputs = [(y, context.tensor(t)) for t, y in wide.outputs_by_index.items()]
        for y, _ in outputs:
            place(y)
        return [*_casts(context, inputs), *calls, *_casts(context, outputs)]

    def invoke(context: Context, node: Node) -> None:
        assert registration.invoke is not None
        if not has_type(context, node, types):
            registration.invoke(context, node)
            return
        wide = Widened(context, node, types)
        wide.read()
        registration.invoke(widened_context(wide), node)
        wide.write()

    return registration.with_hooks(prepare, None if registration.invoke is None else invoke)
