"""auto_parallel: replicas of what depends on the batch, whose gradients train one set of variables."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ..graph.rule import rule
from ..ir.dense import FORMS
from ..ir.node import Node, Value
from ..ir.signature import registered
from ..transforms.clone import clone_node
from ..transforms.effects import Effect, Effects
from ..transforms.folding.tensors import constant_of_array
from ..transforms.node_rewriter import data_type
from ..transforms.purity import CONTROL_FLOW, is_reference
from ..transforms.toposort import topological_order
from .item import GrapplerItem, device_type
from .rewriter import OptimizingRewriter
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/auto_parallel.cc"
_VARIABLES = ("VariableV2", "Variable", "VarHandleOp", "_VarHandlesOp")
_KINDS = (
    *("GradientDescent", "ProximalGradientDescent", "Adadelta", "Adagrad", "AdagradV2", "ProximalAdagrad"),
    *("AdagradDA", "Ftrl", "FtrlV2", "Momentum", "KerasMomentum", "Adam", "AdamWithAmsgrad", "AdaMax"),
    *("RMSProp", "CenteredRMSProp", "AddSign", "PowerSign"),
)
_UPDATES = tuple(f"{prefix}Apply{kind}" for kind in _KINDS for prefix in ("", "Resource"))
_FLOATS = ("f16", "bf16", "f32", "f64")
# What gives another batch each time that it runs.
_BATCHES = ("QueueDequeue", "IteratorGetNext", "ReaderRead", "StagePeek", "Unstage")


class Replicas:
    """The nodes that each replica has of its own, and the copies that were made of them.

    Raises ModelError for what TensorFlow refuses, UnsupportedError for graphs in which replicas would do more
    than compute gradients.
    """

    def __init__(self, item: GrapplerItem, count: int) -> None:
        self.count = count
        self.devices = [name for name in item.devices if device_type(name) == "GPU"]
        nodes = topological_order(item.body.body)
        if count < 2:
            raise ModelError(f"auto_parallel: num_replicas must be 2 or more, got {count}")
        if not item.fetches:
            raise ModelError("auto_parallel: something must be fetched, got no fetches")
        if not any(node.op in _VARIABLES for node in nodes):
            raise ModelError("auto_parallel: the graph must have variables, got none")
        sparse = [node.name for node in nodes if "SparseApply" in node.op]
        if sparse:
            message = f"gradients must be whole tensors, got those of {sparse[:3]}"
            raise UnsupportedError(f"auto_parallel: {message}; turn auto_parallel off for this graph")
        self.own = _own(nodes, item)
        _check(self.own, Effects(item.module.functions))
        self._copies: list[dict[Value, Value]] = []

    def gradients(self, rewriter: OptimizingRewriter, gradient: Value) -> list[Value]:
        """The gradient of each replica; the first one's is the graph's own."""
        if not self._copies:
            self._copies = [self._copy(rewriter, i) for i in range(1, self.count)]
        return [gradient, *(copies.get(gradient, gradient) for copies in self._copies)]

    def _copy(self, rewriter: OptimizingRewriter, number: int) -> dict[Value, Value]:
        """What stands for the values and tokens of the nodes of replica 0."""
        known: dict[Value, Value] = {}
        for node in self.own:
            made = clone_node(node, lambda name: f"AutoParallel-Replica-{number}/{name}")
            made.device = self.device(node, number)
            rewriter.insert_before(node, made)
            rewriter.set_operands(made, [known.get(value, value) for value in node.operands])
            made.controls = [known.get(token, token) for token in node.controls]
            known |= dict(zip(node.results, made.results, strict=True)) | {node.control: made.control}
        return known

    def device(self, node: Node, number: int) -> str:
        """Replicas are spread over the GPUs that there are."""
        return self.devices[number % len(self.devices)] if self.devices else node.device


def replicate(turn: Turn) -> None:
    """Make config.auto_parallel.num_replicas of what depends on the batch and leads to a gradient.

    Each replica takes a batch of its own from the queue or iterator; what is fed is shared. Variables, what
    only they or constants lead to, and all updates are there once.
    Source: TensorFlow core/grappler/optimizers/auto_parallel.cc, whose replicas each update the variables.
    """
    replicas = Replicas(turn.item, turn.config.auto_parallel.num_replicas)
    waiting = {node for node in turn.item.nodes() if node.op in _UPDATES}
    if replicas.own:
        turn.rewrite([add_gradients], shapes=False, notes={"replicas": replicas, "updates": waiting})


@rule(*_UPDATES, keeps_bits=False, source=_SOURCE)
def add_gradients(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A variable is updated once, by the mean of the gradients of all replicas.

    Given:  g = f(batch); u = ApplyGradientDescent(v, rate, g)
    Result: h = f(another batch); s = AddN(RealDiv(g, 2), RealDiv(h, 2));
            u = ApplyGradientDescent(v, rate, s)
    """
    replicas, waiting = rewriter.notes["replicas"], rewriter.notes["updates"]
    place = gradient_place(node)
    if node not in waiting:
        return False
    waiting.discard(node)
    gradient = node.operands[place]
    kind = data_type(gradient.type)
    if gradient.owner not in replicas.own or kind.name not in _FLOATS:
        return False
    held = constant_of_array(np.array(replicas.count, FORMS[kind.name][0]), kind)
    assert held is not None
    name = f"AutoParallel-Div-{node.name}"
    count = rewriter.constant(node, f"{name}/replicas", held, ())
    parts = []
    for i, part in enumerate(replicas.gradients(rewriter, gradient)):
        divided = rewriter.add(
            node, "RealDiv", f"{name}/{i}", [part, count.results[0]], {"T": kind}, [gradient.type]
        )
        divided.device = replicas.device(node, i)
        parts.append(divided.results[0])
    whole = rewriter.add(node, "AddN", name, parts, {"T": kind, "N": len(parts)}, [gradient.type])
    rewriter.set_operand(node, place, whole.results[0])
    return True


def gradient_place(node: Node) -> int:
    """Which operand of an update is the gradient."""
    signature = registered(node.op)
    assert signature is not None
    return next(i for i, argument in enumerate(signature.inputs) if argument.name in ("grad", "delta"))


def _own(nodes: list[Node], item: GrapplerItem) -> dict[Node, None]:
    """Nodes that depend on a batch and lead to a gradient, in order."""
    needed: set[Node] = set()
    gradients = [node.operands[gradient_place(node)].owner for node in nodes if node.op in _UPDATES]
    waiting = [owner for owner in gradients if isinstance(owner, Node)]
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += node.neighbours_before()
    fed = item.feed_nodes()
    moved: set[Node] = set()
    for node in nodes:
        if node.op.startswith(_BATCHES) or node.name in fed or not moved.isdisjoint(node.neighbours_before()):
            moved.add(node)
    return {node: None for node in nodes if node in needed and node in moved and node.name not in fed}


def _check(own: dict[Node, None], effects: Effects) -> None:
    for node in own:
        writes = effects.of(node) == Effect.WRITES and not node.op.startswith(_BATCHES)
        writes |= any(is_reference(value.type) for value in node.results)
        if writes or node.op in CONTROL_FLOW or node.regions:
            message = f"what leads to gradients must only compute, got {node.op} ({node.name!r})"
            raise UnsupportedError(f"auto_parallel: {message}; turn auto_parallel off for this graph")
