"""What the variables and tables of a graph hold once it is ready, and which nodes make them so."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping

from ...lite.errors import ModelError
from ..ir.attributes import DenseAttr, TensorProtoAttr
from ..ir.module import Function, Module
from ..ir.node import Block, Node, Value
from ..ir.types import ElementType, TensorType
from ..transforms.bodies import token_of
from ..transforms.clone import clone_node
from ..transforms.effects import called_names
from ..transforms.inline import fresh_name
from ..transforms.purity import is_pure
from .checkpoint import Checkpoint
from .constant_variable import constant_node, make_constant
from .first_contents import restoring_node
from .model_folder import ModelFolder
from .resources import ResourceName, Uses, is_read, resources, uses_of
from .restore import StoredPart, origin
from .vocabulary import TEXT_INITIALIZERS, read_vocabulary

_ASSIGNS = {"AssignVariableOp": "dtype", "Assign": "T"}


class Session:
    """The resources of a module: who uses them, and what is known of their contents."""

    def __init__(
        self,
        module: Module,
        stored: Mapping[ResourceName, list[StoredPart]],
        checkpoint: Checkpoint | None,
        folder: ModelFolder,
    ) -> None:
        assert module.graph is not None
        self.graph = module.graph
        self.functions: dict[str, Function] = module.functions
        self.stored = stored
        self.checkpoint = checkpoint
        self.folder = folder
        bodies = [self.graph.body, *(f.body for f in self.functions.values() if not f.generic)]
        self.handles = resources(node for body in bodies for node in body.walk())
        self.uses: dict[ResourceName, Uses] = {
            name: uses_of(nodes, self.functions) for name, nodes in self.handles.items()
        }
        self.shared = self._shared()
        self.callers = self._callers()
        self.names = dict.fromkeys((node.name for body in bodies for node in body.walk()), 0)
        self.reads: list[Node] = []
        self.values: dict[StoredPart, DenseAttr | TensorProtoAttr] = {}

    def _shared(self) -> set[ResourceName]:
        """Resources that cannot be told apart: some value may be either's handle."""
        owners: dict[Value, ResourceName] = {}
        found: set[ResourceName] = set()
        for name, uses in self.uses.items():
            for value in uses.values:
                other = owners.setdefault(value, name)
                if other != name:
                    found |= {name, other}
        return found

    def written(self, nodes: Iterable[Node]) -> set[ResourceName]:
        """The variables that some of the nodes, or functions that they call, may assign to."""
        active = set(nodes)
        return {name for name in self.uses if any(True for _ in self._writers(name, active))}

    def _writers(self, name: ResourceName, among: Container[Node]) -> Iterable[Node]:
        """Nodes of the graph that do more with a resource than to look at it."""
        uses = self.uses[name]
        for node, index in uses.leaves:
            homes = [home for home in self._homes(node) if home in among]
            if homes and not is_read(node, index):
                yield from homes

    def _homes(self, node: Node) -> Iterable[Node]:
        """The node, or those of the graph that lead to the function that it is in."""
        return (node,) if node.block is self.graph.body else self.callers.get(node.block, ())

    def _callers(self) -> dict[Block | None, list[Node]]:
        """For each function's body the nodes of the graph that call it, also through others."""
        found: dict[Block | None, list[Node]] = {}
        for node in self.graph.body:
            waiting = called_names(node, self.functions)
            seen = set()
            while waiting:
                function = self.functions.get(waiting.pop())
                if function is not None and function.name not in seen:
                    seen.add(function.name)
                    found.setdefault(function.body, []).append(node)
                    for inner in function.body:
                        waiting += called_names(inner, self.functions)
        return found

    def _is_among(self, name: ResourceName, nodes: Container[Node]) -> bool:
        """Whether one of the nodes, or a function that one leads to, makes the resource's handle."""
        return any(home in nodes for node in self.handles[name] for home in self._homes(node))

    def settle(self, active: Iterable[Node], start: Iterable[Node], written: set[ResourceName]) -> None:
        """Make every variable a constant that is never assigned to, or only once at the start.

        active are the nodes that the signature needs, start those that run before.
        """
        active, start = dict.fromkeys(active), dict.fromkeys(start)
        near = active | start
        waiting = [
            name
            for name in self.uses
            if not name.is_table and name not in written | self.shared and self._is_among(name, near)
        ]
        progress = True
        while progress:
            progress = False
            for name in list(waiting):
                writers = list(dict.fromkeys(self._writers(name, start)))
                if self._assigned_once(name, writers, start) if writers else self._restored(name, active):
                    waiting.remove(name)
                    progress = True

    def _restored(self, name: ResourceName, active: Container[Node]) -> bool:
        """Put the checkpoint's value in the place of a variable."""
        parts = self.stored.get(name, [])
        if len(parts) != 1:
            if self._is_among(name, active):
                raise ModelError(
                    f"variable {name.name!r} has no value: neither the checkpoint nor the model's "
                    "initialization gives it one"
                )
            return False
        value = self._value(parts[0])
        pairs = []
        for handle in self.handles[name]:
            assert handle.block is not None
            node = handle.block.insert_before(
                handle, constant_node(self.fresh(f"{handle.name}/value"), value)
            )
            pairs.append((handle, node.results[0]))
        self.reads += make_constant(pairs, self.uses[name], self.functions, self.fresh)
        return True

    def fresh(self, name: str) -> str:
        """A name that no node has, from this one."""
        return fresh_name(name, self.names)

    def _value(self, part: StoredPart) -> DenseAttr | TensorProtoAttr:
        if part not in self.values:
            assert self.checkpoint is not None
            self.values[part] = part.read(self.checkpoint).attribute()
        return self.values[part]

    def _assigned_once(self, name: ResourceName, writers: list[Node], start: Container[Node]) -> bool:
        """Put what is assigned at the start in the place of a variable, where it is the same each time."""
        uses = self.uses[name]
        if len(writers) != 1 or writers[0].op not in _ASSIGNS or uses.functional:
            return False
        writer = writers[0]
        value = writer.operands[1]
        if any(handle.block is not self.graph.body for handle in self.handles[name]):
            return False
        if not _computable(value) or not isinstance(value.type, TensorType):
            return False
        others = [(node, index) for node, index in uses.leaves if node is not writer]
        if any(node in start and writer not in with_ancestors(node) for node, _ in others):
            # It is read at the start too, perhaps before it is assigned to.
            return False
        uses.leaves = others
        writer.op, writer.operands, writer.attributes = "NoOp", (), {}
        writer.controls = dict.fromkeys((*writer.controls, token_of(value)))
        pairs = [(handle, value) for handle in self.handles[name]]
        self.reads += make_constant(pairs, uses, self.functions, self.fresh)
        return True

    def initializers(self, active: Iterable[Node], start: Iterable[Node]) -> list[Node]:
        """The nodes that give the resources of the active nodes their first contents, in order.

        Those that the checkpoint knows are new; the others are the start's own.
        """
        needed, beginning = dict.fromkeys(active), dict.fromkeys(start)
        done: set[ResourceName] = set()
        found: dict[Node, None] = {}
        waiting = True
        while waiting:
            waiting = False
            for name in self._of(needed) - done:
                done.add(name)
                waiting = True
                first = self._first_contents(name)
                own = list(dict.fromkeys(self._writers(name, beginning)))
                for node in own:
                    self._read_file(node)
                    if first is not None:
                        node.controls = (*node.controls, first.control)
                for node in ([] if first is None else [first]) + own:
                    found[node] = None
                    needed |= with_ancestors(node)
        return list(found)

    def _of(self, nodes: Container[Node]) -> set[ResourceName]:
        """The resources whose handles are among the nodes, or in functions that those call."""
        return {
            name
            for name in self.uses
            if self._is_among(name, nodes)
            and any(value.users for handle in self.handles[name] for value in handle.results)
        }

    def _first_contents(self, name: ResourceName) -> Node | None:
        """A node that gives a resource what the checkpoint has for it, None when that is nothing."""
        parts = self.stored.get(name, [])
        if not parts or self.checkpoint is None:
            return None
        tensors = [part.read(self.checkpoint) for part in parts]
        return restoring_node(self.graph.body, self._handle(name), tensors, self.fresh)

    def _handle(self, name: ResourceName) -> Node:
        """A node of the graph that makes the resource's handle, a new one where only functions have it."""
        for node in self.handles[name]:
            if node.block is self.graph.body:
                return node
        copy = clone_node(self.handles[name][0], self.fresh)
        copy.attributes["shared_name"] = name.name.encode(errors="surrogateescape")
        return self.graph.body.append(copy)

    def _read_file(self, node: Node) -> None:
        """Make a node that fills a table from a file one that fills it from constants."""
        if node.op not in TEXT_INITIALIZERS:
            return
        what = f"node {node.name!r} ({node.op})"
        path = _string(node.operands[1])
        if path is None:
            raise ModelError(f"{what}: the file's name must be an asset or a constant")
        handle = origin(node.operands[0])
        types = [handle.attributes.get(name) for name in ("key_dtype", "value_dtype")]
        if not all(isinstance(type, ElementType) for type in types):
            raise ModelError(f"{what}: it must fill a table, whose types are known")
        key, value = (type for type in types if isinstance(type, ElementType))
        constants = []
        content = self.folder.asset(path, what)
        where = f"{what}, {os.path.basename(path)}"
        columns = read_vocabulary(content, node.attributes, key, value, where)
        for name, column in zip(("keys", "values"), columns, strict=True):
            constant = constant_node(self.fresh(f"{node.name}/{name}"), column)
            constants.append(self.graph.body.append(constant).results[0])
        node.op = TEXT_INITIALIZERS[node.op]
        node.attributes = {"Tkey": key, "Tval": value}
        node.operands = (node.operands[0], *constants)

    def elide_reads(self, kept: Container[Value]) -> None:
        """Drop the Identity nodes that were reads of variables and wait for nothing."""
        for node in self.reads:
            if node.block is not None and not node.controls and node.op == "Identity":
                value = node.operands[0]
                if node.results[0] in kept and not isinstance(value.owner, Node):
                    continue
                node.results[0].replace_all_uses_with(value)
                node.control.replace_all_uses_with(token_of(value))
                node.erase()


def _computable(value: Value) -> bool:
    """Whether a value follows from constants alone, without any state."""
    return all(is_pure(node) for node in with_ancestors(value.owner))


def with_ancestors(*owners: object) -> dict[Node, None]:
    """Those of the owners of values that are nodes, and all that their values and tokens come from."""
    found: dict[Node, None] = {}
    waiting = list(owners)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Node) and node not in found:
            found[node] = None
            waiting += [value.owner for value in (*node.operands, *node.controls)]
    return found


def _string(value: Value) -> str | None:
    """A constant string, None when the value is none."""
    node = origin(value)
    held = node.attributes.get("value") if node.op == "Const" else None
    if not isinstance(held, DenseAttr) or not isinstance(held.elements, tuple) or len(held.elements) != 1:
        return None
    return held.elements[0].decode(errors="surrogateescape")
