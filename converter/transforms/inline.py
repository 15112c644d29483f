"""Calls of functions become the nodes of their functions."""

from __future__ import annotations

from collections.abc import Container, Iterable

from ...lite.errors import ModelError
from ..ir.attributes import FuncAttr
from ..ir.module import Function, Module
from ..ir.node import Block, Node, Value
from ..ir.signature import registered
from ..ir.types import OPAQUE, REFERENCE, ElementType, TensorType, Type, compatible, element_type
from .bodies import Body, token_of, typed_bodies
from .clone import clone_nodes
from .effects import Effect, Effects
from .instantiate import Instances
from .purity import CONTROL_FLOW, ENTERS, is_reference

CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall", "StatelessPartitionedCall"))
# So many nodes calls may add: a few functions that call each other twice make as many as one likes.
MOST_NODES = 1 << 17


def inline_calls(module: Module, keep: Container[str] = ()) -> None:
    """Put the nodes of called functions in the place of the calls, in all graphs and typed functions.

    Given:  graph { y = PartitionedCall(x) {f = @f} }; func @f(a) { b = Neg(a); return b }
    Result: graph { y/b = Neg(x) }; func @f ...

    Nodes, and frames of loops of the first version, take the call's name as a prefix. What runs, in which
    order, and what is dead in such a loop or a branch of that version stays as it was. Functions in keep are
    called as before, and so are those that attributes name otherwise (branches, loop bodies). They stay in
    the module. ModelError when functions call themselves, a call does not fit its function, or the calls
    would make more than MOST_NODES nodes.
    """
    _Inliner(module, keep).run()


def inline_call(
    node: Node, callee: Function, effects: Effects, names: dict[str, int], frames: dict[str, int]
) -> None:
    """Put the nodes of a function in the place of one call, whose operands are dead only where what it waits
    for is. names and frames are those of the block, and learn the new ones.
    """
    _Call(node, callee, effects, names, frames, framed=False).inline()


def frames_of(nodes: Iterable[Node]) -> dict[str, int]:
    """The names of the frames of loops of the first version, as `fresh_name` takes them."""
    return dict.fromkeys((node.text("frame_name") for node in nodes if node.op in ENTERS), 0)


class _Inliner:
    def __init__(self, module: Module, keep: Container[str]) -> None:
        self.module = module
        self.keep = keep
        self.instances = Instances(module)
        self.functions = self.instances.functions
        self.effects = Effects(self.functions)

    def run(self) -> None:
        order = self._order()
        self._check_growth(order)
        for body in order:
            self._inline_in(body)

    def _check_growth(self, order: list[Body]) -> None:
        sizes: dict[int, int] = {}
        for body in order:
            # The call itself goes, and the end of the function is not copied.
            called = sum(sizes[id(callee)] - 2 for callee in self._callees(body))
            sizes[id(body)] = len(body.body) + called
        if sum(sizes.values()) > MOST_NODES + sum(len(body.body) for body in order):
            raise ModelError(
                f"functions: their calls, inlined, must make at most {MOST_NODES:,} nodes, got more"
            )

    def _order(self) -> list[Body]:
        """All bodies, each after the functions that it calls."""
        order: list[Body] = []
        done: set[int] = set()
        for root in typed_bodies(self.module):
            if id(root) in done:
                continue
            path: dict[int, Body] = {id(root): root}
            waiting = [(root, self._callees(root))]
            while waiting:
                body, callees = waiting[-1]
                if not callees:
                    waiting.pop()
                    del path[id(body)]
                    done.add(id(body))
                    order.append(body)
                    continue
                callee = callees.pop()
                if id(callee) in path:
                    raise ModelError(f"function {callee.name!r} calls itself")
                if id(callee) not in done:
                    path[id(callee)] = callee
                    waiting.append((callee, self._callees(callee)))
        return order

    def _callees(self, body: Body) -> list[Function]:
        return [callee for node in body.body.walk() if (callee := self._callee(node)) is not None]

    def _callee(self, node: Node) -> Function | None:
        """The function that a node calls and that shall be inlined."""
        if node.op in CALLS:
            called = node.attributes.get("f")
        elif node.op in self.functions and registered(node.op) is None:
            called = FuncAttr(node.op, node.attributes)
        else:
            return None
        if not isinstance(called, FuncAttr) or called.name in self.keep:
            return None
        return self.instances.find(called)

    def _inline_in(self, body: Body) -> None:
        nodes = list(body.body.walk())
        names, frames = dict.fromkeys((node.name for node in nodes), 0), frames_of(nodes)
        # In a loop or branch of the first version all nodes must know where the call stood.
        framed = {node.block for node in nodes if node.op in CONTROL_FLOW}
        for node in nodes:
            callee = self._callee(node)
            if callee is not None:
                _Call(node, callee, self.effects, names, frames, node.block in framed).inline()


class _Call:
    """One call on its way to be inlined."""

    def __init__(
        self,
        node: Node,
        callee: Function,
        effects: Effects,
        names: dict[str, int],
        frames: dict[str, int],
        framed: bool,
    ) -> None:
        assert node.block is not None
        self.node = node
        self.block = node.block
        self.callee = callee
        self.effects = effects
        self.names = names
        self.frames = frames
        self.framed = framed

    def inline(self) -> None:
        end = self.callee.terminator
        results = end.operands if end is not None else ()
        self._check(results)
        entry = self._entry()
        values = self._arguments(entry)
        copies = Block()
        clone_nodes(self.callee.body, copies, values, self._fresh)
        if copies.terminator is not None:
            copies.terminator.erase()
        self._rename_frames(copies)
        if entry is not None:
            for source, copy in zip(self._sources(), copies, strict=False):
                if source:
                    copy.controls = (*copy.controls, entry.control)
        for copy in copies:
            copies.remove(copy)
            self.block.insert_before(self.node, copy)
        self._replace([values.get(value, value) for value in results], values, entry)
        self.node.erase()

    def _rename_frames(self, copies: Block) -> None:
        """A loop of the function is another one in each call."""
        enters = [copy for copy in copies if copy.op in ENTERS]
        new = {name: fresh_name(f"{self.node.name}/{name}", self.frames) for name in frames_of(enters)}
        for enter in enters:
            enter.attributes["frame_name"] = new[enter.text("frame_name")].encode()

    def _check(self, results: tuple[Value, ...]) -> None:
        node, callee = self.node, self.callee
        what = f"call {node.name!r} of function {callee.name!r}"
        if len(node.operands) != len(callee.arguments) or len(node.results) > len(results):
            raise ModelError(
                f"{what}: it has {len(node.operands)} operands and {len(node.results)} results, "
                f"the function {len(callee.arguments)} and {len(results)}"
            )
        for i, (value, argument) in enumerate(zip(node.operands, callee.arguments, strict=True)):
            given = _value_type(value)
            if given is not OPAQUE and not compatible(given, _value_type(argument)):
                raise ModelError(f"{what}: operand {i} must be {argument.type}, got {value.type}")

    def _entry(self) -> Node | None:
        """What all nodes of the function wait for, None when that is nothing."""
        controls = list(self.node.controls)
        if self.framed:
            controls += [token_of(self._settled(value)) for value in self.node.operands]
        if not controls:
            return None
        return self._add("NoOp", "entry", (), tuple(dict.fromkeys(controls)))

    def _settled(self, value: Value) -> Value:
        """The value, by a node that is dead where the value is."""
        owner = value.owner
        if isinstance(owner, Node) and owner.op in CONTROL_FLOW and len(owner.results) > 1:
            return self._add("Identity", "operand", (value,)).results[0]
        return value

    def _direct(self, value: Value) -> bool:
        """Whether an operand goes into the function without waiting for the call's controls."""
        type = value.type
        is_handle = isinstance(type, TensorType) and getattr(type.element, "name", "") == "resource"
        return not self.framed and is_handle

    def _arguments(self, entry: Node | None) -> dict[Value, Value]:
        """What stands for the function's arguments and their tokens."""
        values: dict[Value, Value] = {}
        for value, argument in zip(self.node.operands, self.callee.arguments, strict=True):
            given = value
            if entry is not None and argument.users and not self._direct(value):
                given = self._add("Identity", "argument", (value,), (entry.control,)).results[0]
            values[argument] = given
            values[self.callee.control_of(argument)] = token_of(given) if entry is None else entry.control
        return values

    def _sources(self) -> list[bool]:
        """For each node of the function whether nothing in it already waits for the call's controls."""
        return [
            not node.controls
            and all(not isinstance(value.owner, Node) and self._direct(value) for value in node.operands)
            for node in self.callee.body
        ]

    def _replace(self, results: list[Value], values: dict[Value, Value], entry: Node | None) -> None:
        """Use the function's results and its end where the call's were used."""
        tokens = self._tokens(results, values, entry)
        late = self._effects(values) if any(value.users for value in self.node.results) else []
        exit_token: Value | None = None
        if self.node.control.users or late:
            exit_token = self._exit(tokens)
        wait = exit_token if late else entry.control if self.framed and entry is not None else None
        for value, mine in zip(results, self.node.results, strict=False):
            if not mine.users:
                continue
            if wait is not None:
                value = self._add("Identity", "result", (value,), (wait,)).results[0]
            mine.replace_all_uses_with(value)
        if exit_token is not None:
            self.node.control.replace_all_uses_with(exit_token)

    def _tokens(self, results: list[Value], values: dict[Value, Value], entry: Node | None) -> list[Value]:
        """Tokens of all that has to be done before the call is."""
        end = self.callee.terminator
        controls = end.controls if end is not None else ()
        tokens = [values.get(token, token) for token in controls] + self._effects(values)
        tokens += [token_of(value) for value in results]
        return list(dict.fromkeys([*tokens, *([] if entry is None else [entry.control])]))

    def _effects(self, values: dict[Value, Value]) -> list[Value]:
        """Tokens of the nodes that change state, where a result may not wait for them by itself."""
        writers = {node for node in self.callee.body if self.effects.of(node) == Effect.WRITES}
        end = self.callee.terminator
        results = end.operands if end is not None else ()
        if results and all(_waits_for(value, writers) for value in results):
            return []
        return [values[node.control] for node in self.callee.body if node in writers]

    def _exit(self, tokens: list[Value]) -> Value:
        if len(tokens) == 1:
            return tokens[0]
        return self._add("NoOp", "exit", (), tuple(tokens)).control

    def _add(self, op: str, name: str, operands: tuple[Value, ...], controls: tuple[Value, ...] = ()) -> Node:
        """A node before the call; an Identity has its operand's type."""
        types = [_value_type(value) for value in operands]
        node = Node(op, self._fresh(name), types)
        if types and isinstance(types[0], TensorType) and isinstance(types[0].element, ElementType):
            node.attributes["T"] = ElementType(types[0].element.name)
        self.block.insert_before(self.node, node)
        node.operands, node.controls = operands, controls
        return node

    def _fresh(self, name: str) -> str:
        return fresh_name(f"{self.node.name}/{name}", self.names)


def fresh_name(name: str, names: dict[str, int]) -> str:
    """The name, or the first of name_1, name_2 ... that is not among the names; it is added to them.

    The names remember how far they were counted up.
    """
    found = name
    while found in names:
        names[name] += 1
        found = f"{name}_{names[name]}"
    names[found] = 0
    return found


def _value_type(value: Value) -> Type:
    """The type of the value that is read where a variable itself is given."""
    type = value.type
    if isinstance(type, TensorType) and isinstance(type.element, ElementType) and is_reference(type):
        return TensorType(element_type(type.element.number - REFERENCE), type.shape)
    return type


def _waits_for(value: Value, nodes: set[Node]) -> bool:
    """Whether all of the nodes have to run before the value is there."""
    missing, seen, waiting = set(nodes), set(), [value.owner]
    while missing and waiting:
        node = waiting.pop()
        if isinstance(node, Node) and node not in seen:
            seen.add(node)
            missing.discard(node)
            # Controls come last and are looked at first: they lead to effects straight.
            waiting += [operand.owner for operand in (*node.operands, *node.controls)]
    return not missing
