"""Convolutions of float32 over blocks of pixels, as converters write dilated ones of open length.

BATCH_TO_SPACE_ND(CONV_2D(SPACE_TO_BATCH_ND(x))) is one convolution of x with dilation: nothing is copied to
other images and back. Each output adds up the same products in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lite.context import Context
from ..lite.fusion import Fusion, MemberError, Uses
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Shape, TensorType
from ..schema.named_tuple import NamedTuple
from ..schema.tflite import Padding
from .contraction import winograd_f32
from .contraction.conv import checked, float_calls
from .contraction.geometry import ConvGeometry
from .contraction.node import FilterNode
from .index_vector import integers
from .row_chain import calls_apart, part_of, prepared_alone
from .row_program import Prepared

_RESHAPES = ("RESHAPE", "EXPAND_DIMS", "SQUEEZE")
# Of integers that are known when a node is prepared, where those that they read are.
_ARITHMETIC = frozenset(
    (
        "ADD",
        "SUB",
        "MUL",
        "FLOOR_DIV",
        "FLOOR_MOD",
        "PACK",
        "CONCATENATION",
        "STRIDED_SLICE",
        "RESHAPE",
        "GATHER",
    )
)
_MOST = 64  # nodes that are looked at


class _Members(NamedTuple):
    """In the order in which they run; the reshapes are there for images of three dimensions."""

    to_batch: Node
    before: Node | None
    conv: Node
    after: Node | None
    to_space: Node

    def nodes(self) -> list[Node]:
        return [node for node in self if node is not None]


def fuse(node: Node, uses: Uses) -> Fusion | None:
    """Given   BATCH_TO_SPACE_ND(RESHAPE(CONV_2D(EXPAND_DIMS(SPACE_TO_BATCH_ND(x, b, m)), w)), b, c)
    Result  a convolution of x by w whose taps lie b apart.

    Of images, without the two in brackets. b and w are constant, strides are 1, the padding is VALID, and
    the margins m and c are known before the run.
    """
    after = _before(uses, node, _RESHAPES)
    conv = _before(uses, after or node, ("CONV_2D",))
    before = None if conv is None else _before(uses, conv, _RESHAPES)
    to_batch = None if conv is None else _before(uses, before or conv, ("SPACE_TO_BATCH_ND",))
    if conv is None or to_batch is None or (before is None) != (after is None):
        return None
    members = _Members(to_batch, before, conv, after, node)
    if not _is_plain_conv(uses, conv) or not _have_one_block(uses, members):
        return None
    nodes = members.nodes()
    inside = {member.outputs[0] for member in nodes}
    inputs = dict.fromkeys(t for member in nodes for t in member.inputs if t >= 0 and t not in inside)
    if any(uses.tensors[t].is_variable for t in inputs):
        return None
    registration = Registration("BATCH_TO_SPACE_ND", _prepare, is_own=True)
    made = Node(node.index, registration, tuple(inputs), node.outputs)
    made.user_data = members
    return Fusion(made, frozenset(member.index for member in nodes))


def _before(uses: Uses, node: Node, names: tuple[str, ...]) -> Node | None:
    """The operator of these that writes the node's first input, for this node alone."""
    t = node.inputs[0] if node.inputs else -1
    writer = None if t < 0 else uses.writer(t)
    if writer is None or writer.registration.name not in names or not uses.only_reader_is(t, node):
        return None
    return writer if writer.registration.is_own and writer.delegate is None else None


def _is_plain_conv(uses: Uses, conv: Node) -> bool:
    o = conv.options
    if o is None or o.padding != Padding.VALID or len(conv.inputs) < 2:
        return False
    if (o.stride_h, o.stride_w, o.dilation_h_factor, o.dilation_w_factor) != (1, 1, 1, 1):
        return False
    constants = [uses.tensors[t] for t in conv.inputs[1:] if t >= 0]
    types = {uses.tensors[t].type for t in (*conv.inputs, *conv.outputs) if t >= 0}
    return types == {TensorType.FLOAT32} and all(tensor.is_constant for tensor in constants)


def _have_one_block(uses: Uses, members: _Members) -> bool:
    """Whether the blocks are constant and the same, and both margins known before the run."""
    ends = members.to_batch, members.to_space
    if any(len(end.inputs) != 3 or min(end.inputs) < 0 for end in ends):
        return False
    blocks = [uses.tensors[end.inputs[1]] for end in ends]
    if any(not block.is_constant or block.type != TensorType.INT32 for block in blocks):
        return False
    if integers(blocks[0]) != integers(blocks[1]):
        return False
    x = members.to_batch.inputs[0]
    return all(_is_known(uses, end.inputs[2], x) for end in ends)


def _is_known(uses: Uses, t: int, x: int) -> bool:
    """Whether a tensor comes of constants and of the shape of x."""
    waiting, seen = [t], set[int]()
    while waiting:
        t = waiting.pop()
        if t in seen or t < 0 or uses.tensors[t].is_constant:
            continue
        seen.add(t)
        node = uses.writer(t)
        if node is None or not node.registration.is_own or node.delegate is not None or len(seen) > _MOST:
            return False
        if node.registration.name == "SHAPE" and node.inputs[0] == x:
            continue
        if node.registration.name not in _ARITHMETIC:
            return False
        waiting += node.inputs
    return True


def _prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    """One call where the convolution is one by dilation, else the members' own calls."""
    members = node.user_data
    assert isinstance(members, _Members)
    found = dict[int, Prepared]()
    for member in members.nodes():
        if member is not members.conv:
            found[member.index] = prepared_alone(context, node, member)
            continue
        try:
            n = checked(context, part_of(node, member))
        except Exception as error:
            raise MemberError(member) from error
    for member in members.nodes()[:-1]:
        context.output(member, 0).bind(None)
    whole = _whole(context, members, n)
    if whole is not None:
        return float_calls(whole)
    found[members.conv.index] = prepared_alone(context, node, members.conv)
    return calls_apart(context, node, [found[member.index] for member in members.nodes()])


def _whole(context: Context, members: _Members, n: FilterNode) -> FilterNode | None:
    """The one convolution; None where it is none, or would add up in another order."""
    x, y = context.input(members.to_batch, 0), context.output(members.to_space, 0)
    axes = _axes(context.output(members.to_batch, 0).shape, n.x.shape)
    left = context.input(members.to_space, 0).shape
    if left != tuple([n.y.shape[axis] for axis in (0, *axes, 3)]) or 0 in (x.size, y.size):
        return None
    blocks, pads = (integers(context.input(members.to_batch, i)) for i in (1, 2))
    crops = integers(context.input(members.to_space, 2))
    g = n.geometry._replace(batch=x.shape[0])
    for k, axis in enumerate(axes):
        sizes = x.shape[1 + k], y.shape[1 + k], blocks[k], pads[2 * k] - crops[2 * k]
        g = g._replace(**dict(zip(_OF_AXIS[axis], sizes, strict=True)))
    return n._replace(x=x, y=y, geometry=g) if _adds_up_alike(n, g) else None


_OF_AXIS = {
    1: ("in_height", "out_height", "dilation_h", "pad_top"),
    2: ("in_width", "out_width", "dilation_w", "pad_left"),
}


def _axes(images: Shape, of_conv: Shape) -> tuple[int, ...]:
    """Which of the convolution's axes are the images' own, none where it is of other images."""
    if images == of_conv:
        return (1, 2)
    rows = {axis: (*images[:axis], 1, *images[axis:]) for axis in (1, 2)}
    return next(((3 - axis,) for axis, shape in rows.items() if shape == of_conv), ())


def _adds_up_alike(n: FilterNode, whole: ConvGeometry) -> bool:
    """Whether both are sums over the filter's taps one by one, and the whole has dilation along each."""
    g = n.geometry
    if g.groups != 1 or g.taps == 1 or min(whole.pad_top, whole.pad_left) < 0:
        return False
    if (g.filter_height > 1 and whole.dilation_h == 1) or (g.filter_width > 1 and whole.dilation_w == 1):
        return False
    return not (g.is_matrix_product or whole.is_matrix_product or winograd_f32.applies(n))
