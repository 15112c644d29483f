"""SubgraphBuilder: makes the subgraphs of a model, with every operator resolved."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from ..schema import tflite
from ..schema.operator_code import CUSTOM, CUSTOM_CODE_PREFIX, builtin_code, operator_name
from ..schema.shown import shown_name
from .available_memory import allocate
from .errors import ModelError, UnsupportedError
from .graph import GraphParts
from .graph_check import graph_faults, index_faults
from .graph_tables import Resolved, make_value, named, read_nodes, read_tensors
from .subgraph import Subgraph
from .tensor import AllocationType, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .model import Model
    from .node import Node
    from .op_resolver import OpResolver
    from .registration import Registration
    from .runtime import Runtime

Graph: TypeAlias = "tuple[list[Tensor], list[Node], tuple[int, ...]]"  # with the graph's inputs


@contextmanager
def no_collection() -> Iterator[None]:
    """Make objects that stay, without Python's search for unreachable ones: they are thousands.

    Where the search is off it stays off. Threads share it: one that ends first turns it on for all,
    which costs the others time and nothing else.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class SubgraphBuilder:
    """Makes the model's subgraphs, each as often as a runtime asks for it.

    Raises UnsupportedError for a builtin operator that the resolver lacks, ModelError for a model without
    subgraphs. A custom operator may stay unresolved: it fails when prepared.
    """

    def __init__(self, model: Model, resolver: OpResolver) -> None:
        codes = model.root.operator_codes
        self._model = model
        self._registrations = [_resolve(n, code, resolver, model) for n, code in enumerate(codes)]
        self.count = len(model.root.subgraphs)
        if not self.count:
            raise ModelError("model: it must have at least one subgraph, got none")

    def build(self, index: int, runtime: Runtime) -> Subgraph:
        """Another instance of a subgraph, whose nodes are still to be initialized.

        Raises ModelError for a graph that makes no sense.
        """
        return _build(index, self._model, self._registrations, runtime)


def _resolve(index: int, code: tflite.OperatorCode, resolver: OpResolver, model: Model) -> Resolved:
    builtin, version = builtin_code(code), code.version
    name = operator_name(builtin)
    if builtin != CUSTOM:
        try:
            return Resolved(resolver.find_builtin(builtin, version, name), version, name)
        except UnsupportedError as error:
            raise UnsupportedError(f"{_first_use(index, model)}: {error}") from error
    custom = code.custom_code or ""
    return Resolved(resolver.find_custom(custom) or _without_resolver(custom), version, name)


def _first_use(code: int, model: Model) -> str:
    """The first node with this operator code, as errors name one."""
    for s, subgraph in enumerate(model.root.subgraphs):
        for n, operator in enumerate(subgraph.operators):
            if operator.opcode_index == code:
                text = f"node {n}" if s == 0 else f"subgraph {s}, node {n}"
                outputs = [t for t in operator.outputs.tolist() if 0 <= t < len(subgraph.tensors)]
                names = [shown_name(subgraph.tensors[t].name or "") for t in outputs[:1]]
                return ", output ".join([text, *names])
    return f"operator code {code}, which no node has"


def _without_resolver(custom_code: str) -> Registration:
    if not custom_code.startswith(CUSTOM_CODE_PREFIX):
        return _unknown(custom_code)
    from .compiled_partition import compiled_registration

    return compiled_registration(custom_code)


def _build(index: int, model: Model, registrations: Sequence[Resolved], runtime: Runtime) -> Subgraph:
    table = model.root.subgraphs[index]
    tensors, nodes, inputs = _graph(table, model, registrations, runtime.settings.compress_zero_points)
    outputs = named(tuple(table.outputs.tolist()), len(tensors))
    _settle_written_constants(tensors, nodes)
    _settle_empty_constants(tensors, nodes, inputs)
    parts = GraphParts(index, table.name or "", tensors, nodes, inputs, outputs)
    subgraph = Subgraph(parts, runtime)
    if not model.is_verified:
        faults = chain(index_faults(table), graph_faults(tensors, nodes, inputs))
        subgraph.fault = next(faults, None)
    return subgraph


def read_graph(table: tflite.SubGraph, model: Model) -> Graph:
    """A subgraph as the file has it, for who looks at it: no operator is resolved.

    Tensors that it names and does not have are left out: `index_faults` tells of them.
    """
    codes = model.root.operator_codes
    return _graph(table, model, [_unresolved(code) for code in codes])


def _unknown(name: str) -> Registration:
    from .unresolved import UnresolvedOperator  # which most models do not have

    return UnresolvedOperator(name)


def _unresolved(code: tflite.OperatorCode) -> Resolved:
    builtin = builtin_code(code)
    name = operator_name(builtin)
    operator = _unknown(code.custom_code or "" if builtin == CUSTOM else name)
    return Resolved(operator, code.version, name)


def _graph(
    table: tflite.SubGraph,
    model: Model,
    registrations: Sequence[Resolved],
    compress_zero_points: bool = False,
) -> Graph:
    count = len(table.tensors)
    nodes = read_nodes(table, model, registrations, count)
    written = {t for node in nodes for t in node.outputs}
    tensors = read_tensors(table, model, written, compress_zero_points)
    return tensors, nodes, named(tuple(table.inputs.tolist()), count)


def _settle_written_constants(tensors: list[Tensor], nodes: list[Node]) -> None:
    """What a node writes is no constant, though some converters leave a value in the file."""
    for t in {t for node in nodes for t in node.outputs}:
        if tensors[t].is_constant:
            tensors[t].sparsity = None
            make_value(tensors[t])


def _settle_empty_constants(tensors: list[Tensor], nodes: list[Node], inputs: tuple[int, ...]) -> None:
    """A tensor without elements that nothing writes is a constant, though its buffer is empty."""
    empty = {t.index for t in tensors if t.data is None and 0 in t.shape}
    if not empty:
        return
    empty.difference_update(inputs, *(node.outputs for node in nodes))
    for t in empty:
        if tensors[t].allocation_type is AllocationType.ARENA_RW:
            tensors[t].allocation_type = AllocationType.MMAP_RO
            tensors[t].bind(allocate(0))
