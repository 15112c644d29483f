"""PassRunner: one optimizer after the other, each with its record, and none that leaves half of its work."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ...lite.errors import ModelError
from ..ir.attributes import DenseAttr
from ..ir.module import Function, Graph, Module
from ..ir.node import Block, Node
from ..ir.verifier import verify
from ..transforms.bodies import Body
from ..transforms.clone import clone_function, clone_nodes
from .config import OptimizerConfig
from .external import ExternalOptimizer, GraphCheck, checked_module
from .finish import settle_names
from .item import GrapplerItem
from .register import Optimizer
from .result import CHANGED, FAILED, SKIPPED, TIME_OVER, OptimizationResult, PassRecord
from .toggle import Toggle
from .turn import Inferred, Turn


@dataclass(frozen=True)
class Pass:
    """An optimizer of the list, an external one, or a pipeline of Graph IR passes ("tfg:a,b")."""

    name: str
    level: Toggle = Toggle.DEFAULT
    optimizer: Optimizer | None = None
    external: ExternalOptimizer | None = None

    @property
    def runs_once(self) -> bool:
        return self.optimizer is not None and self.optimizer.runs_once


class State:
    """One graph on its way, what is inferred of it, and a copy that is as it was before the pass at hand."""

    def __init__(self, item: GrapplerItem) -> None:
        self.item = item
        self.inferred = Inferred(item)
        self._ops: list[Graph | Function | Module] = []
        self._copy: Body | None = None

    def keep(self) -> None:
        """Make the copy, unless the last one is still good."""
        if self._copy is None:
            self._ops = list(self.item.module.ops)
            self._copy = copy_of(self.item.body)

    def changed(self) -> None:
        """The copy is not good any more."""
        self._copy = None

    def undo(self) -> None:
        """Take the graph and the library of before."""
        assert self._copy is not None
        body = next(op for op in self._ops if _is_same(op, self.item))
        self.item.module.ops = [self._copy if op is body else op for op in self._ops]
        self._copy = None
        self.inferred.forget()


class PassRunner:
    """Runs passes and keeps their records."""

    def __init__(
        self,
        config: OptimizerConfig,
        result: OptimizationResult,
        deadline: float | None,
        check: GraphCheck | None = None,
    ) -> None:
        self.check = check
        self.config = config
        self.result = result
        self.deadline = deadline

    def start(self, item: GrapplerItem) -> State:
        return State(item)

    def run(self, each: Pass, state: State, iteration: int) -> bool:
        """Run a pass; whether it changed the graph. Its error is kept in the record, or raised if the
        config says.
        """
        item = state.item
        record = PassRecord(each.name, iteration, item.function)
        self.result.passes.append(record)
        if self.deadline is not None and time.monotonic() > self.deadline:
            record.status, record.reason = SKIPPED, TIME_OVER
            return False
        state.keep()
        record.nodes_before, record.edges_before, record.bytes_before = _size(item.body.body)
        start = time.perf_counter()
        try:
            self._work(each, state, record)
            settle_names(item)
            if self.config.inter_optimizer_verifier_config.structure_verifier == Toggle.ON:
                verify(item.module)
            if self.check is not None and record.status == CHANGED:
                self.check.check(record)
        except Exception as error:
            state.undo()
            record.status, record.reason = FAILED, f"{type(error).__name__}: {error}"
            if self.config.fail_on_optimizer_errors:
                raise
        record.ms = (time.perf_counter() - start) * 1000
        record.nodes_after, record.edges_after, record.bytes_after = _size(item.body.body)
        if record.status == CHANGED:
            state.changed()
        return record.status == CHANGED

    def _work(self, each: Pass, state: State, record: PassRecord) -> None:
        item = state.item
        if each.optimizer is not None:
            turn = Turn(item, self.config, each.level, record, state.inferred, self.deadline)
            each.optimizer.run(turn)
            record.status = CHANGED if record.rules else record.status
        elif each.external is not None:
            given = each.external.run(item.clone())
            if given is not None:
                _take(item, checked_module(item, given))
                record.status = CHANGED
                state.inferred.forget()
        else:
            # Imported for those that name one.
            from ..tfg.register import transform

            for name in each.name.removeprefix("tfg:").split(","):
                transform(name.strip()).run(item.module)
            item.check()
            record.status = CHANGED
            state.inferred.forget()


def copy_of(body: Body) -> Body:
    """A copy that shares no node with the graph or function."""
    if isinstance(body, Function):
        return clone_function(body)
    copy = Graph(body.version, dict(body.attributes))
    clone_nodes(body.body, copy.body, {})
    return copy


def _take(item: GrapplerItem, module: Module) -> None:
    """Make another module the item's own, whoever else has the item's."""
    if item.function and item.function not in module.functions:
        raise ModelError(f"optimizer: must give the function {item.function!r}, got a module without it")
    item.module.ops, item.module.attributes = module.ops, module.attributes
    item.module.op_defs = module.op_defs


def _is_same(op: object, item: GrapplerItem) -> bool:
    if item.function:
        return isinstance(op, Function) and op.name == item.function
    return isinstance(op, Graph)


def _size(block: Block) -> tuple[int, int, int]:
    """Nodes, edges, and bytes that constants take."""
    nodes = list(block)
    edges = sum(len(node.operands) + len(node.controls) for node in nodes)
    return len(nodes), edges, sum(map(_constant_bytes, nodes))


def _constant_bytes(node: Node) -> int:
    held = node.attributes.get("value") if node.op == "Const" else None
    if not isinstance(held, DenseAttr):
        return 0
    return len(held.elements) if isinstance(held.elements, bytes) else sum(map(len, held.elements))
