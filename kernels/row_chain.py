"""Chains of operators over rows, as layer normalization is written: one pass, some rows at a time.

What lies between the chain's operators stays in the nearest cache instead of going through memory. Each
operator is prepared as if it stood alone; what the one kernel then computes for a row are the same
operations in the same order.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..lite.errors import UnsupportedError
from ..lite.fusion import Fusion, MemberError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import TensorType
from ..schema.named_tuple import NamedTuple
from .row_program import Prepared, row_program

if TYPE_CHECKING:
    from ..lite.context import Context
    from ..lite.fusion import Uses
    from ..lite.kernel_call import KernelCall
    from ..lite.tensor import Tensor

_REDUCTIONS = frozenset({"MEAN", "SUM"})
_MEMBERS = _REDUCTIONS | {"ADD", "SUB", "MUL", "SQUARED_DIFFERENCE", "NEG", "SQUARE", "SQRT", "RSQRT"}
_MOST = 32  # members


def fuse(node: Node, uses: Uses) -> Fusion | None:
    """Given   operators on single elements and sums over the last axis, of float32, that end in the node
    Result  all of them as one.

    At least one is a sum, and nothing else looks at what lies between them.
    """
    if not _is_member(node, uses) or _goes_on(node, uses):
        return None
    members = _members(node, uses)
    if not any(member.registration.name in _REDUCTIONS for member in members):
        return None
    inside = {member.outputs[0] for member in members}
    inputs = dict.fromkeys(t for member in members for t in member.inputs if t not in inside)
    if any(uses.tensors[t].is_variable for t in inputs):
        return None
    made = Node(node.index, _registration(node), tuple(inputs), node.outputs)
    made.user_data = _Chain(tuple(members))
    return Fusion(made, frozenset(member.index for member in members))


class _Chain(NamedTuple):
    """The operators in their order, the last of which gives the result."""

    members: tuple[Node, ...]

    def prepared(self, context: Context, node: Node) -> Iterator[Prepared]:
        """Each member as it runs alone, with the scratch memory of the node that stands for them.

        MemberError where one cannot be prepared.
        """
        for member in self.members:
            yield prepared_alone(context, node, member)


def part_of(node: Node, member: Node) -> Node:
    """The member with the scratch memory of the node that stands for it."""
    own = copy.copy(member)
    own.index, own.temporaries = node.index, node.temporaries
    return own


def prepared_alone(context: Context, node: Node, member: Node) -> Prepared:
    """A member as it runs alone, MemberError where it cannot be prepared."""
    try:
        return _prepared(context, part_of(node, member))
    except Exception as error:
        raise MemberError(member) from error


def _prepared(context: Context, member: Node) -> Prepared:
    calls = member.registration.prepare(context, member)
    if calls is None:
        raise UnsupportedError(
            f"{member.registration.name}: it runs in Python for these operands, which a chain does not; "
            "preserve_all_tensors=True runs each operator by itself"
        )
    inputs = [context.input(member, i) for i, t in enumerate(member.inputs) if t >= 0]
    return Prepared(inputs, context.output(member, 0), tuple(calls))


def _is_member(node: Node, uses: Uses) -> bool:
    """Whether it may be part of a chain: of float32, without activation, sums over the last axis."""
    name = node.registration.name
    if name not in _MEMBERS or not node.registration.is_own or node.delegate is not None:
        return False
    if getattr(node.options, "fused_activation_function", 0) or len(node.outputs) != 1:
        return False
    data = node.inputs[:1] if name in _REDUCTIONS else node.inputs
    if not data or min((*node.inputs, *node.outputs)) < 0:
        return False
    if any(uses.tensors[t].type != TensorType.FLOAT32 for t in (*data, *node.outputs)):
        return False
    return name not in _REDUCTIONS or _is_over_last(node, uses)


def _is_over_last(node: Node, uses: Uses) -> bool:
    x, axes = (uses.tensors[t] for t in node.inputs[:2])
    if len(node.inputs) != 2 or not axes.is_constant or axes.type != TensorType.INT32:
        return False
    return getattr(node.options, "keep_dims", False) and axes.array().ravel().tolist() in (
        [-1],
        [len(x.shape) - 1],
    )


def _goes_on(node: Node, uses: Uses) -> bool:
    """Whether a later node may end the chain instead: all that read the result may be members."""
    readers = uses.readers(node.outputs[0])
    return bool(readers) and all(_is_member(reader, uses) for reader in readers)


def _members(root: Node, uses: Uses) -> list[Node]:
    """Those whose results only others of them read, in an order in which they may run."""
    chosen = {root.index: root}
    grows = True
    while grows and len(chosen) < _MOST:
        grows = False
        for node in list(chosen.values()):
            for t in node.inputs:
                writer = uses.writer(t)
                if writer is None or writer.index in chosen or not _is_member(writer, uses):
                    continue
                readers = uses.readers(t)
                if readers and all(reader.index in chosen for reader in readers):
                    chosen[writer.index] = writer
                    grows = True
    ordered: dict[int, Node] = {}

    def visit(node: Node) -> None:
        for t in node.inputs:
            writer = uses.writer(t)
            if writer is not None and writer.index in chosen and writer.index not in ordered:
                visit(writer)
        ordered[node.index] = node

    visit(root)
    return list(ordered.values())


def _prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    """One call where the members' shapes are rows of one width, else the members' own calls."""
    assert isinstance(node.user_data, _Chain)
    prepared = list(node.user_data.prepared(context, node))
    between = [one.output for one in prepared[:-1]]
    for tensor in between:
        tensor.bind(None)
    call = None if node.temporaries else row_program(context, node, prepared)
    return calls_apart(context, node, prepared) if call is None else [call]


def calls_apart(context: Context, node: Node, prepared: Sequence[Prepared]) -> list[KernelCall]:
    """The members' own calls, with scratch memory for what lies between them."""
    scratch = _scratch(context, node, prepared)
    calls = [call for one in prepared for call in one.calls]
    for each in calls:
        each.tensors = {name: _placed(tensor, scratch) for name, tensor in each.tensors.items()}
    return calls


def _scratch(context: Context, node: Node, prepared: Sequence[Prepared]) -> dict[int, Tensor]:
    """Memory for each result but the last, by tensors; it serves again when no later member reads it."""
    last = {x.index: i for i, one in enumerate(prepared) for x in one.inputs}
    placed: dict[int, Tensor] = {}
    free: dict[int, list[Tensor]] = {}  # by their bytes
    for i, one in enumerate(prepared[:-1]):
        nbytes = one.output.nbytes
        placed[one.output.index] = (free.get(nbytes) or [context.add_temporary(node, nbytes)]).pop()
        for t in {x.index for x in one.inputs if x.index in placed and last[x.index] == i}:
            free.setdefault(placed[t].nbytes, []).append(placed[t])
    return placed


def _placed(tensor: Tensor, scratch: dict[int, Tensor]) -> Tensor:
    return scratch.get(tensor.index, tensor)


def _registration(root: Node) -> Registration:
    return Registration(root.registration.name, _prepare, is_own=True)
