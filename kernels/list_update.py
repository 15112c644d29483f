"""An element of a list set by SLICE and CONCATENATION, as TensorFlow's converter writes it: one update.

`CONCATENATION(SLICE(x, 0, i), item, SLICE(x, i + n, -1))` is x with n rows replaced. Its slices change
their size from turn to turn of a loop, and so would be prepared anew in each; the update does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.fusion import Fusion, Uses
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import InplaceOperator, Registration
from ..lite.tensor import TensorType
from ..schema.named_tuple import NamedTuple
from .dynamic_update_slice import update_calls
from .index_vector import integers, quantization_pair
from .packed import PACKED_BITS

_OUT_OF_RANGE = 1


def fuse(node: Node, uses: Uses) -> Fusion | None:
    """Given   CONCATENATION(SLICE(x, [0 ..], [i -1 ..]), item, SLICE(x, [i + n, 0 ..], [-1 ..])), axis 0
    Result  an update of x at i by item, which has n rows.

    i + n is ADD of i and a constant. An i outside [0, rows - n] is an error when it runs; of the operators'
    own, only SLICE with a size of -1 for an i of -1 would not be one.
    """
    if not _is_plain(node, 3) or node.options is None:
        return None
    before, item, after = node.inputs
    left, right = _writer(uses, before, "SLICE", 3, node), _writer(uses, after, "SLICE", 3, node)
    if left is None or right is None or left.inputs[0] != right.inputs[0]:
        return None
    x = left.inputs[0]
    zeros, ends = _constant(uses, left.inputs[1]), _constant(uses, right.inputs[2])
    size, begin = _led_by(uses, left, left.inputs[2]), _led_by(uses, right, right.inputs[1])
    if size is None or begin is None or not zeros or not ends or not _may_join(uses, x, item, node):
        return None
    rank = len(zeros)
    takes_rest = not any(zeros + begin.others) and {*ends, *size.others} == {-1}
    n = (uses.tensors[item].shape or (0,))[0]
    if not takes_rest or node.options.axis not in (0, -rank) or not _is_sum(uses, begin.i, size.i, n):
        return None
    made = Node(node.index, _REGISTRATION, (x, item, size.i), node.outputs)
    return Fusion(made, frozenset({node.index, left.index, right.index, *size.nodes, *begin.nodes}))


class _Vector(NamedTuple):
    """A vector of indices whose first is tensor i, and whose others are constant."""

    i: int
    others: list[int]
    nodes: tuple[int, ...]  # that make it, and nothing else


def _is_plain(node: Node, inputs: int) -> bool:
    """Whether a node has this number of inputs, none left out, one output, and no activation."""
    if getattr(node.options, "fused_activation_function", 0):
        return False
    return len(node.inputs) == inputs and min(node.inputs) >= 0 and len(node.outputs) == 1


def _writer(uses: Uses, t: int, name: str, inputs: int, reader: Node | None = None) -> Node | None:
    """The node that writes t, when it is numlite's own of this name, and only the reader looks at t."""
    node = uses.writer(t)
    if node is None or node.registration.name != name or not node.registration.is_own:
        return None
    alone = reader is None or uses.only_reader_is(t, reader)
    return node if alone and _is_plain(node, inputs) else None


def _may_join(uses: Uses, x: int, item: int, node: Node) -> bool:
    """Whether rows of x may be replaced by the item as they are, byte for byte."""
    tensors = [uses.tensors[t] for t in (x, item, node.outputs[0])]
    plain = tensors[0].has_fixed_size and tensors[0].type not in PACKED_BITS
    return plain and len({(tensor.type, quantization_pair(tensor)) for tensor in tensors}) == 1


def _constant(uses: Uses, t: int) -> list[int] | None:
    tensor = uses.tensors[t]
    return integers(tensor) if tensor.is_constant and tensor.type == TensorType.INT32 else None


def _led_by(uses: Uses, reader: Node, t: int) -> _Vector | None:
    """Given CONCATENATION(RESHAPE(i, [1]), constant): the vector of i and the constant."""
    joined = _writer(uses, t, "CONCATENATION", inputs=2, reader=reader)
    if joined is None:
        return None
    others = _constant(uses, joined.inputs[1])
    reshape = _writer(uses, joined.inputs[0], "RESHAPE", 2, joined)
    if others is None or reshape is None:
        return None
    i = uses.tensors[reshape.inputs[0]]
    if i.type != TensorType.INT32 or i.shape not in ((), (1,)):
        return None
    return _Vector(i.index, others, (joined.index, reshape.index))


def _is_sum(uses: Uses, t: int, i: int, n: int) -> bool:
    """Whether t is i + n, for a constant n."""
    node = _writer(uses, t, "ADD", inputs=2)
    if node is None:
        return False
    a, b = node.inputs
    return i in (a, b) and _constant(uses, b if a == i else a) == [n]


def _prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    x, item, i = (context.input(node, k) for k in range(3))
    rows = x.shape[0] if x.shape else 0
    if len(item.shape) != len(x.shape) or x.shape[1:] != item.shape[1:] or not 0 < item.shape[0] <= rows:
        raise PrepareError(
            f"CONCATENATION: rows of a list must be replaced by like ones, got {item!r} for {x!r}"
        )
    y = context.output(node, 0)
    context.resize_tensor(y, x.shape)
    messages = {_OUT_OF_RANGE: f"index must be in [0, {rows - item.shape[0]}]"}
    return update_calls(context, x, item, i, y, 1, messages)


_REGISTRATION = Registration(
    "CONCATENATION", _prepare, inplace_operator=InplaceOperator.INPUT0_SHARED, is_own=True
)
