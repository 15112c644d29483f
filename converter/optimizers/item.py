"""GrapplerItem: a graph, what is fed and fetched, and what must be preserved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike

from ...lite.errors import ModelError
from ...schema.graph_def import GraphDef
from ...schema.saved_model import MetaGraphDef
from ..ir.attributes import Attributes
from ..ir.edges import parse_edge
from ..ir.import_graph import import_graph_def
from ..ir.import_options import ImportOptions
from ..ir.module import Function, Graph, Module
from ..ir.node import Block, Node, Value
from ..saved_model.frozen_graph import FrozenGraph
from ..saved_model.loader import SavedModel, load_saved_model
from ..transforms.bodies import Body, bodies
from ..transforms.clone import clone_function, clone_nodes

# Nodes whose value a caller gives, when a MetaGraphDef does not say what is fed.
_PLACEHOLDERS = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")


@dataclass(frozen=True)
class ItemOptions:
    """What optimizers may do to an item."""

    allow_non_differentiable_rewrites: bool = True
    allow_pruning_stateful_and_dataset_ops: bool = True
    optimize_function_library: bool = True
    intra_op_parallelism_threads: int = 1


@dataclass(frozen=True)
class QueueRunner:
    """Nodes by name that fill a queue, and what closes and cancels it."""

    enqueue_ops: tuple[str, ...] = ()
    close_op: str = ""
    cancel_op: str = ""


@dataclass
class GrapplerItem:
    """A graph to be optimized, or a function of its module when `function` names one.

    feeds and fetches are "node" or "node:port", kept as given. keep_ops, init_ops, save_op and restore_op are
    names of nodes. devices are those that there are, by their full names; empty means that nobody says.
    The module is changed in place by optimizers; whoever wants the old one clones the item before.
    """

    module: Module
    feeds: tuple[str, ...] = ()
    fetches: tuple[str, ...] = ()
    keep_ops: tuple[str, ...] = ()
    init_ops: tuple[str, ...] = ()
    save_op: str = ""
    restore_op: str = ""
    queue_runners: tuple[QueueRunner, ...] = ()
    devices: tuple[str, ...] = ()
    options: ItemOptions = field(default_factory=ItemOptions)
    function: str = ""

    @classmethod
    def from_graph_def(
        cls,
        graph_def: GraphDef,
        feeds: Iterable[str] = (),
        fetches: Iterable[str] = (),
        keep_ops: Iterable[str] = (),
        devices: Iterable[str] = (),
    ) -> GrapplerItem:
        """Of a GraphDef. ModelError when it is damaged, or a name is of no node."""
        module = import_graph_def(graph_def, ImportOptions(check_nodes=False))
        item = cls(module, tuple(feeds), tuple(fetches), tuple(keep_ops), devices=tuple(devices))
        item.check()
        return item

    @classmethod
    def from_saved_model(
        cls, model: SavedModel | str | PathLike[str], signature: str | None = None
    ) -> GrapplerItem:
        """Of a SavedModel's signature, which may be left out when it is the only one: inputs are feeds,
        outputs are fetches, and what makes variables and tables ready is kept.
        """
        loaded = model if isinstance(model, SavedModel) else load_saved_model(model)
        return cls.from_frozen(loaded.freeze(signature))

    @classmethod
    def from_frozen(cls, frozen: FrozenGraph) -> GrapplerItem:
        """Of a frozen signature; its module is changed."""
        feeds, fetches = ([t.tensor for t in side.values()] for side in (frozen.inputs, frozen.outputs))
        item = cls(frozen.module, tuple(feeds), tuple(fetches), init_ops=frozen.initializers)
        item.check()
        return item

    @classmethod
    def from_meta_graph(cls, meta_graph: MetaGraphDef) -> GrapplerItem:
        """Of a MetaGraphDef: placeholders are fed; what the collection train_op lists is fetched, or else the
        outputs of the signatures. Variables, their initializers, tables' and the saver's nodes are kept.
        ModelError when nothing is fetched.
        """
        module = import_graph_def(meta_graph.graph_def, ImportOptions(check_nodes=False))
        found = {entry.key: entry.value for entry in meta_graph.collection_def}
        listed = {key: tuple(value.node_list.value) for key, value in found.items()}
        fetches = listed.get("train_op") or tuple(
            output.value.name
            for entry in meta_graph.signature_def
            for output in entry.value.outputs
            if output.value.name
        )
        if not fetches:
            raise ModelError("MetaGraphDef: must have a collection train_op or signatures, got neither")
        kept = [node.name for node in _nodes(module) if node.op in ("VarHandleOp", "VariableV2", "Variable")]
        saver = meta_graph.saver_def
        item = cls(
            module,
            tuple(node.name for node in _nodes(module) if node.op in _PLACEHOLDERS),
            fetches,
            keep_ops=tuple(kept),
            init_ops=listed.get("init_op", ()) + listed.get("table_initializer", ()),
            save_op=_node_name(saver.save_tensor_name),
            restore_op=saver.restore_op_name,
        )
        item.check()
        return item

    @classmethod
    def from_function(cls, module: Module, name: str, devices: Iterable[str] = ()) -> GrapplerItem:
        """Of a function of the library: its arguments are fed, its results and control results fetched.

        ModelError when there is no such function; ValueError for a generic one, whose values have no types.
        """
        function = module.functions.get(name)
        if function is None:
            raise ModelError(f"function {name!r}: the module has none of that name")
        if function.generic:
            raise ValueError(f"function {name!r}: must have types, got a generic one: instantiate it first")
        options = ItemOptions(
            allow_pruning_stateful_and_dataset_ops=False, allow_non_differentiable_rewrites=False
        )
        return cls(module, devices=tuple(devices), options=options, function=name)

    @property
    def body(self) -> Body:
        """The graph, or the function. ModelError when it is not there."""
        body = self.module.functions.get(self.function) if self.function else self.module.graph
        if body is None:
            raise ModelError(f"item: the module must have {self.function or 'a graph'!r}, got neither")
        return body

    def nodes(self) -> Iterator[Node]:
        """The nodes of the body."""
        return iter(self.body.body)

    def nodes_to_preserve(self) -> frozenset[str]:
        """Names of nodes that keep their name and meaning; all else may go."""
        named = [*map(_node_name, (*self.feeds, *self.fetches, *self.keep_ops, *self.init_ops))]
        named += [_node_name(self.save_op), _node_name(self.restore_op)]
        for runner in self.queue_runners:
            named += [*map(_node_name, runner.enqueue_ops), runner.close_op, runner.cancel_op]
        return frozenset(name for name in named if name)

    def fetch_nodes(self) -> frozenset[str]:
        """Names of fetched nodes that are not preserved for any other reason: they may become another op of
        the same name that gives the same.
        """
        others = replace(self, fetches=()).nodes_to_preserve()
        return frozenset(map(_node_name, self.fetches)) - others

    def feed_nodes(self) -> frozenset[str]:
        """Names of fed nodes."""
        return frozenset(map(_node_name, self.feeds))

    def hide_fed_constants(self) -> dict[str, Attributes]:
        """Make fed constants placeholders, whose values nobody takes for theirs; the attributes by name."""
        fed, hidden = self.feed_nodes(), dict[str, Attributes]()
        for node in self.nodes():
            if node.op == "Const" and node.name in fed:
                hidden[node.name] = node.attributes
                node.op = "Placeholder"
                node.attributes = {key: held for key, held in node.attributes.items() if key != "value"}
        return hidden

    def restore_constants(self, hidden: Mapping[str, Attributes]) -> None:
        """Make the nodes of these names constants again."""
        for node in self.nodes():
            if node.name in hidden:
                node.op, node.attributes = "Const", hidden[node.name]

    def device_types(self) -> frozenset[str]:
        """Types of the devices that nodes name ("CPU", "GPU" ...); a node without a device is on the CPU."""
        return frozenset(device_type(node.assigned_device or node.device) or "CPU" for node in self.nodes())

    def clone(self) -> GrapplerItem:
        """The same item with a module of its own."""
        return replace(self, module=clone_module(self.module))

    def check(self) -> None:
        """ModelError when a name is of no node of the body."""
        known = {node.name for node in self.nodes()}
        missing = sorted(self.nodes_to_preserve() - known)
        if missing:
            raise ModelError(f"item: preserved nodes must be in the graph, got {missing[:8]}")


def device_type(device: str) -> str:
    """Type in a device's name ("/job:a/device:GPU:0" and "/gpu:0" are "GPU"), "" when it has none."""
    for part in reversed(device.split("/")):
        word, colon, rest = part.partition(":")
        if word.lower() == "device":
            return rest.partition(":")[0].upper()
        if word and colon and word.lower() not in ("job", "replica", "task"):
            return word.upper()
    return ""


def clone_module(module: Module) -> Module:
    """A copy that shares no node with the module."""
    made = Module()
    made.attributes, made.op_defs, made.line = dict(module.attributes), module.op_defs, module.line
    for op in module.ops:
        if isinstance(op, Graph):
            copy = Graph(op.version, dict(op.attributes))
            clone_nodes(op.body, copy.body, {})
            made.ops.append(copy)
        else:
            made.ops.append(clone_function(op) if isinstance(op, Function) else clone_module(op))
    return made


def fetched_value(block: Block, fetch: str) -> Value | None:
    """The value that a fetch names in a graph, None for a node without that result."""
    edge = parse_edge(fetch)
    node = next((node for node in block if node.name == edge.node), None)
    return None if node is None or edge.number >= len(node.results) else node.results[edge.number]


def node_count(module: Module) -> int:
    """Nodes of the graph and all functions."""
    return sum(len(body.body) for body in bodies(module))


def _node_name(text: str) -> str:
    return text.removeprefix("^").partition(":")[0]


def _nodes(module: Module) -> Iterator[Node]:
    return iter(module.graph.body) if module.graph is not None else iter(())
