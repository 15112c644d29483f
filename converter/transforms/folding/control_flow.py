"""Control flow that constants decide."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.arity import has_arity
from ...ir.attributes import Attributes, DenseAttr, FuncAttr
from ...ir.node import Node
from ...ir.types import ElementType, TensorType
from ..node_rewriter import NodeRewriter, data_type
from .tensors import constant_of, known_integers

_I32, _I1 = ElementType("i32"), ElementType("i1")


@rule("Enter", "RefEnter")
def constant_enter(rewriter: NodeRewriter, node: Node) -> bool:
    """A constant that enters a loop to stay the same is one inside, too.

    Given:  e = Enter(c) {is_constant = true}; y = Neg(e)
    Result: e/_enter = Const [e]; e = Enter(c); y = Neg(e/_enter)
    """
    if node.attributes.get("is_constant") is not True:
        return False
    value = constant_of(node.operands[0])
    if value is None or not node.results[0].users:
        return False
    made = rewriter.constant(node, f"{node.name}/_enter", value, [node.control])
    rewriter.replace_value(node.results[0], made.results[0])
    return True


@rule("Merge")
def merge_of_constant(rewriter: NodeRewriter, node: Node) -> bool:
    """A Merge takes the input that is there first: a constant that waits for nothing.

    Given:  c = Const; m, i = Merge(x, c)
    Result: m/const = Const [m]; m/index = Const [m] {1}; m, i = Merge(x, c)
    """
    if not any(value.users for value in node.results):
        return False
    for i, operand in enumerate(node.operands):
        value = constant_of(operand)
        if value is None or (isinstance(operand.owner, Node) and operand.owner.controls):
            continue
        index = DenseAttr(TensorType(_I32, ()), i.to_bytes(4, "little"))
        parts = ((node.results[0], "const", value), (node.results[1], "index", index))
        for result, name, held in parts:
            if result.users:
                made = rewriter.constant(node, f"{node.name}/{name}", held, [node.control])
                rewriter.replace_value(result, made.results[0])
        return True
    return False


@rule("Switch")
def switch_of_itself(rewriter: NodeRewriter, node: Node) -> bool:
    """A Switch by its own data: what comes out on a side is that side.

    Given:  f, t = Switch(x, x)
    Result: false on f's side, true on t's, each waiting for an Identity of its side
    """
    if node.operands[0] is not node.operands[1]:
        return False
    changed = False
    for i, result in enumerate(node.results):
        users = [user for user in result.users if not (user.op == "Identity" and _is_anchor(user))]
        if not users:
            continue
        token = rewriter.wait_for(result)
        value = DenseAttr(TensorType(_I1, ()), bytes((i,)))
        name = f"{node.name}/_const_{'true' if i else 'false'}"
        made = rewriter.constant(node, name, value, [token])
        for user in dict.fromkeys(users):
            user.operands = [made.results[0] if value is result else value for value in user.operands]
            rewriter.changed(user)
        changed = True
    return changed


def _is_anchor(node: Node) -> bool:
    """Whether only the token of an Identity is used."""
    return not node.results[0].users and bool(node.control.users)


def branch_call(node: Node, function: FuncAttr) -> Attributes:
    """Attributes of a call of one of the node's branches, which takes all its operands but the first."""
    return {
        "Tin": tuple(data_type(value.type) for value in node.operands[1:]),
        "Tout": tuple(data_type(value.type) for value in node.results),
        "f": function,
    }


@rule("Case", "StatelessCase")
def constant_case(rewriter: NodeRewriter, node: Node) -> bool:
    """A Case whose branch is known calls it.

    Given:  c = Const 1; y = Case(c, x) {branches = [@f, @g]}
    Result: y = PartitionedCall(x) {f = @g}

    Out of range is the last branch.
    """
    if rewriter.is_kept(node):
        return False
    index, branches = known_integers(node.operands[0]), node.attributes.get("branches")
    if index is None or len(index) != 1 or not isinstance(branches, tuple) or not branches:
        return False
    chosen = branches[index[0]] if 0 <= index[0] < len(branches) else branches[-1]
    if not isinstance(chosen, FuncAttr):
        return False
    attributes = branch_call(node, chosen) | {"config": b"", "config_proto": b"", "executor_type": b""}
    made = rewriter.node(node, "PartitionedCall", node.operands[1:], attributes)
    condition = node.operands[0].owner
    # A constant that waits for nothing holds nobody up.
    waits = isinstance(condition, Node) and condition.controls
    made.controls = [*([rewriter.wait_for(node.operands[0])] if waits else []), *node.controls]
    rewriter.replace(node, made)
    return True


@rule("TensorArraySizeV3")
def tensor_array_size(rewriter: NodeRewriter, node: Node) -> bool:
    """The size of an array that cannot grow is the constant that it was made with.

    Given:  n = Const 5; a, flow = TensorArrayV3(n); s = TensorArraySizeV3(a, flow)
    Result: s = Const [a, a] 5
    """
    if rewriter.is_kept(node):
        return False
    array = node.operands[0].owner
    if not isinstance(array, Node) or array.op != "TensorArrayV3" or not has_arity(array):
        return False
    value = constant_of(array.operands[0])
    if value is None or array.attributes.get("dynamic_size", False) is not False:
        return False
    rewriter.replace_with_constant(node, value)
    return True
