"""Calls that stay get functions of their own: typed, with what they pass in it, without the unused."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from ...lite.errors import ModelError, UnsupportedError
from ..ir.attributes import Attributes, DenseAttr, FuncAttr
from ..ir.module import Function
from ..ir.node import Node, Value
from ..transforms.bodies import token_of
from ..transforms.clone import clone_nodes
from ..transforms.folding.tensors import MOST_BYTES, constant_of
from ..transforms.inline import CALLS, fresh_name
from ..transforms.instantiate import Instances
from ..transforms.node_rewriter import data_type
from ..transforms.purity import CONTROL_FLOW, is_reference
from .called import called_name
from .finish import implemented
from .needed import drop, needed_of_function, unneeded_of_function
from .turn import Turn

# Of functions with these there are no others: they have a gradient, belong to tf.data, or their arguments
# are numbered elsewhere.
_LEFT = ("gradient", "_tf_data_function", "resource_arg_unique_ids_keys")
# Function attributes with an entry for each argument.
_OF_ARGUMENTS = ("_input_shapes", "tf._input_shapes")


def specialize_calls(turn: Turn, left: Container[str]) -> bool:
    """Give each call a function for what it passes and uses; calls that are alike share one. Whether any did.

    Given:  y, z = PartitionedCall(x, 3) {f = @f}; nothing uses z
    Result: y = PartitionedCall(x) {f = @f_specialized}, which has the 3 in it and gives y alone

    Constants go into the function, unused operands and results go, and a generic function is filled in. What
    the call waited for it still waits for; a preserved one keeps its results. Not functions in left.
    Source: TensorFlow core/grappler/optimizers/function_optimizer.cc, SpecializeFunction.
    """
    made = _Specializer(turn, left)
    changed = [node.label for node in list(turn.item.nodes()) if made.specialize(node)]
    for label in changed:
        turn.count("specialize_call", label)
    if changed:
        turn.inferred.forget()
    return bool(changed)


@dataclass
class _Form:
    """What of a function a call needs: constants for arguments, and the places of what is left."""

    function: Function
    inside: dict[int, DenseAttr]
    results: list[int]
    arguments: list[int] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether it is the function as it is."""
        count = len(self.function.arguments), len(_results(self.function))
        return not self.function.generic and count == (len(self.arguments), len(self.results))


class _Specializer:
    """Makes the functions for one body's calls."""

    def __init__(self, turn: Turn, left: Container[str]) -> None:
        self.module = turn.item.module
        self.functions = self.module.functions
        self.left = left
        self.preserved = turn.item.nodes_to_preserve()
        self.instances = Instances(self.module)
        self.names = dict.fromkeys(self.functions, 0)
        self.made: dict[object, Function] = {}

    def specialize(self, node: Node) -> bool:
        """Whether the node is a call that now has a function of its own."""
        name = called_name(node, self.functions)
        if not name or name in self.left or not _may_change(self.functions[name]):
            return False
        try:
            function = self.instances.find(_called(node))
        except (ModelError, UnsupportedError):
            return False
        if function is None or len(function.arguments) != len(node.operands):
            return False
        if len(_results(function)) != len(node.results):
            return False
        form = self._form(node, function)
        if form.is_whole and not self.functions[name].generic:
            return False
        key = id(function), tuple(form.inside.items()), tuple(form.arguments), tuple(form.results)
        if key not in self.made:
            made = _made(form, fresh_name(f"{name}_specialized", self.names), self.functions)
            self.module.ops.append(made)
            self.made[key] = made
        _call_instead(node, form, self.made[key].name)
        return True

    def _form(self, node: Node, function: Function) -> _Form:
        named = node.name in self.preserved
        results = [i for i, value in enumerate(node.results) if named or value.users]
        places = range(len(node.operands))
        inside = {i: held for i in places if (held := _constant(node.operands[i])) is not None}
        form = _Form(function, inside, results)
        used = _used_arguments(form, self.functions)
        form.arguments = [
            i for i in places if i not in inside and (i in used or not _may_drop(node.operands[i]))
        ]
        return form


def _may_change(function: Function) -> bool:
    held = {name.removeprefix("tf.") for name, value in function.attributes.items() if value}
    return not held & set(_LEFT) and not implemented(function)


def _called(node: Node) -> FuncAttr:
    held = node.attributes.get("f") if node.op in CALLS else None
    return held if isinstance(held, FuncAttr) else FuncAttr(node.op, node.attributes)


def _results(function: Function) -> tuple[Value, ...]:
    return () if function.terminator is None else function.terminator.operands


def _constant(value: Value) -> DenseAttr | None:
    held = constant_of(value)
    return held if held is not None and len(held.elements) <= MOST_BYTES else None


def _may_drop(value: Value) -> bool:
    """Whether waiting for the value's node is as good as taking the value: not where it may be dead."""
    owner = value.owner
    return not is_reference(value.type) and not (isinstance(owner, Node) and owner.op in CONTROL_FLOW)


def _used_arguments(form: _Form, functions: dict[str, Function]) -> set[int]:
    """Places of the arguments that the results which are left, control results and effects need."""
    function = form.function
    results = [_results(function)[i] for i in form.results]
    nodes = needed_of_function(function, functions, results)
    values = {value for node in nodes for value in (*node.operands, *node.controls)}
    end = function.terminator
    values |= {*results, *(() if end is None else end.controls)}
    return {value.index // 2 for value in values if value.owner is function.body}


def _made(form: _Form, name: str, functions: dict[str, Function]) -> Function:
    """A new function of the form."""
    old = form.function
    made = Function(name, visibility=old.visibility)
    made.attributes = {key: held for key, held in old.attributes.items() if key not in _OF_ARGUMENTS}
    values: dict[Value, Value] = {}
    for i, argument in enumerate(old.arguments):
        if i in form.inside:
            value = _constant_inside(made, old.argument_name(argument), form.inside[i])
            token = token_of(value)
        elif i in form.arguments:
            value = made.add_argument(argument.type, dict(old.argument_attributes[i]))
            token = made.control_of(value)
        else:
            continue
        values[argument], values[old.control_of(argument)] = value, token
    clone_nodes(old.body, made.body, values)
    end = made.terminator
    if end is not None:
        end.operands = [end.operands[i] for i in form.results]
        # A constant that is a result has a shape.
        for i, value in zip(form.results, end.operands, strict=True):
            made.add_result(value.type, dict(old.result_attributes[i]))
    drop(unneeded_of_function(made, functions))
    return made


def _constant_inside(function: Function, name: str, held: DenseAttr) -> Value:
    made = Node("Const", name, [held.type], {"dtype": held.type.element, "value": held})
    function.body.append(made)
    return made.results[0]


def _call_instead(node: Node, form: _Form, name: str) -> None:
    """A call of the new function in the place of the node."""
    operands = [node.operands[i] for i in form.arguments]
    left = [value for i, value in enumerate(node.operands) if i not in form.arguments]
    results = [node.results[i] for i in form.results]
    if node.op in CALLS:
        attributes: Attributes = dict(node.attributes)
        attributes["f"] = FuncAttr(name, {})
        attributes["Tin"] = tuple(data_type(value.type) for value in operands)
        attributes["Tout"] = tuple(data_type(value.type) for value in results)
    else:
        attributes = {key: held for key, held in node.attributes.items() if key.startswith("_")}
    types = [value.type for value in results]
    op = node.op if node.op in CALLS else name
    made = Node(op, node.name, types, attributes, node.device, node.assigned_device)
    assert node.block is not None
    node.block.insert_before(node, made)
    made.operands = operands
    made.controls = dict.fromkeys((*node.controls, *_tokens(left)))
    for old, new in zip(results, made.results, strict=True):
        old.replace_all_uses_with(new)
    node.control.replace_all_uses_with(made.control)
    node.erase()


def _tokens(values: Iterable[Value]) -> list[Value]:
    """What is waited for in the place of these values; a constant's own waits for a constant."""
    tokens: list[Value] = []
    for value in values:
        owner = value.owner
        is_constant = isinstance(owner, Node) and owner.op == "Const"
        tokens += owner.controls if is_constant and isinstance(owner, Node) else [token_of(value)]
    return tokens
