"""InterpreterBuilder: makes the subgraphs of a model, with every operator resolved."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..schema import tflite
from ..schema.operator_code import CUSTOM, CUSTOM_CODE_PREFIX, builtin_code, operator_name, options_of
from ..schema.shown import shown_name
from .errors import ModelError, PrepareError, StateError, UnsupportedError
from .graph import GraphParts
from .graph_check import graph_faults, index_faults, outside
from .memory import allocate
from .node import Node
from .quantization import Quantization, quantization_fault
from .shape_check import checked_shape
from .subgraph import Subgraph
from .tensor import AllocationType, Tensor
from .unresolved import UnresolvedOperator

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from .model import Model
    from .op_resolver import OpResolver
    from .registration import Registration
    from .runtime import Runtime

Graph: TypeAlias = "tuple[list[Tensor], list[Node], tuple[int, ...]]"  # with the graph's inputs


def build_subgraphs(model: Model, resolver: OpResolver, runtime: Runtime) -> list[Subgraph]:
    """All subgraphs of the model; they are also listed in the runtime.

    Raises UnsupportedError for a builtin operator that the resolver lacks, ModelError for a
    graph that makes no sense. A custom operator may stay unresolved: it fails when prepared.
    """
    root = model.root
    registrations = [_resolve(n, code, resolver, model) for n, code in enumerate(root.operator_codes)]
    if not len(root.subgraphs):
        raise ModelError("model: it must have at least one subgraph, got none")

    def build(index: int) -> Subgraph:
        return _build(index, root.subgraphs[index], model, registrations, runtime)

    runtime.subgraphs.extend(map(build, range(len(root.subgraphs))))
    runtime.build = build
    for subgraph in runtime.subgraphs:
        subgraph.init_nodes()
    return runtime.subgraphs


class _Resolved(NamedTuple):
    """What an operator code of the model stands for."""

    registration: Registration
    version: int
    name: str


def _resolve(index: int, code: tflite.OperatorCode, resolver: OpResolver, model: Model) -> _Resolved:
    builtin, version = builtin_code(code), code.version
    name = operator_name(builtin)
    if builtin != CUSTOM:
        try:
            return _Resolved(resolver.find_builtin(builtin, version, name), version, name)
        except UnsupportedError as error:
            raise UnsupportedError(f"{_first_use(index, model)}: {error}") from error
    custom = code.custom_code or ""
    return _Resolved(resolver.find_custom(custom) or _without_resolver(custom), version, name)


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
        return UnresolvedOperator(custom_code)
    from .compiled_partition import compiled_registration

    return compiled_registration(custom_code)


def _build(
    index: int,
    table: tflite.SubGraph,
    model: Model,
    registrations: Sequence[_Resolved],
    runtime: Runtime,
) -> Subgraph:
    tensors, nodes, inputs = _graph(table, model, registrations, runtime.settings.compress_zero_points)
    outputs = _named(table.outputs.tolist(), len(tensors))
    _settle_written_constants(tensors, nodes)
    _settle_empty_constants(tensors, nodes, inputs)
    parts = GraphParts(index, table.name or "", tensors, nodes, inputs, outputs)
    subgraph = Subgraph(parts, runtime)
    faults = chain(index_faults(table), graph_faults(tensors, nodes, inputs))
    subgraph.fault = next(faults, None)
    return subgraph


def read_graph(table: tflite.SubGraph, model: Model) -> Graph:
    """A subgraph as the file has it, for who looks at it: no operator is resolved.

    Tensors that it names and does not have are left out: `index_faults` tells of them.
    """
    codes = model.root.operator_codes
    return _graph(table, model, [_unresolved(code) for code in codes])


def _unresolved(code: tflite.OperatorCode) -> _Resolved:
    builtin = builtin_code(code)
    name = operator_name(builtin)
    operator = UnresolvedOperator(code.custom_code or "" if builtin == CUSTOM else name)
    return _Resolved(operator, code.version, name)


def _graph(
    table: tflite.SubGraph,
    model: Model,
    registrations: Sequence[_Resolved],
    compress_zero_points: bool = False,
) -> Graph:
    count = len(table.tensors)
    nodes = [_node(n, entry, registrations, model, count) for n, entry in enumerate(table.operators)]
    written = {t for node in nodes for t in node.outputs}
    tensors = [
        _tensor(t, entry, model, t in written, compress_zero_points, count)
        for t, entry in enumerate(table.tensors)
    ]
    return tensors, nodes, _named(table.inputs.tolist(), count)


def _named(indices: list[int], count: int) -> tuple[int, ...]:
    """Those that name one of that many tensors."""
    wrong = outside(indices, count)
    return tuple(t for t in indices if t not in wrong) if wrong else tuple(indices)


def _tensor(
    index: int,
    table: tflite.Tensor,
    model: Model,
    is_written: bool,
    compress_zero_points: bool,
    tensor_count: int,
) -> Tensor:
    signature = table.shape_signature
    tensor = Tensor(
        index,
        table.name or "",
        table.type,
        tuple(table.shape.tolist()),
        _quantization(table.quantization, compress_zero_points, tensor_count),
        table.is_variable,
        tuple(signature.tolist()) if len(signature) else None,
    )
    try:
        checked_shape(tensor, tensor.shape)
    except PrepareError as error:
        raise ModelError(f"tensor {index} {error}") from error
    if tensor.quantization is not None and (fault := quantization_fault(tensor.type, tensor.quantization)):
        raise ModelError(f"tensor {index} {tensor!r}: {fault}")
    if table.external_buffer:
        raise UnsupportedError(
            f"tensor {index} {tensor!r}: its values are in another file; a model that holds them would run"
        )
    data = model.buffer(table.buffer, tensor.alignment)
    if data is not None:
        tensor.sparsity = table.sparsity  # of others it says nothing
        _make_constant(tensor, data, is_written)
    elif tensor.is_variable and tensor.has_fixed_size:
        tensor.allocation_type = AllocationType.ARENA_RW_PERSISTENT
    else:
        _make_value(tensor)
    return tensor


def _make_value(tensor: Tensor) -> None:
    tensor.allocation_type = AllocationType.ARENA_RW if tensor.has_fixed_size else AllocationType.DYNAMIC
    tensor.bind(None)


def _make_constant(tensor: Tensor, data: np.ndarray, is_written: bool) -> None:
    if tensor.is_variable:
        raise ModelError(f"tensor {tensor.index} {tensor!r}: a variable must not have a buffer")
    tensor.allocation_type = AllocationType.MMAP_RO
    if is_written and not tensor.has_fixed_size:
        return  # its bytes mean nothing: _settle_written_constants
    if tensor.sparsity is not None or not tensor.has_fixed_size:
        try:
            tensor.bind(data)
        except StateError as error:
            raise ModelError(str(error)) from error
        return
    if data.size < tensor.nbytes:
        raise ModelError(
            f"tensor {tensor.index} {tensor!r}: its buffer must hold {tensor.nbytes} bytes, got {data.size}"
        )
    tensor.bind(data[: tensor.nbytes])


def _settle_written_constants(tensors: list[Tensor], nodes: list[Node]) -> None:
    """What a node writes is no constant, though some converters leave a value in the file."""
    for t in {t for node in nodes for t in node.outputs}:
        if tensors[t].is_constant:
            tensors[t].sparsity = None
            _make_value(tensors[t])


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


def _quantization(
    table: tflite.QuantizationParameters | None, compress: bool, tensor_count: int
) -> Quantization | None:
    if table is None:
        return None
    scales = table.scale
    if not scales.size:
        blocks = table.details
        if not isinstance(blocks, tflite.BlockwiseQuantization):
            return None
        if not (0 <= blocks.scales < tensor_count and -1 <= blocks.zero_points < tensor_count):
            return None  # kernels that need its scales say so
        return Quantization(
            scales,
            table.zero_point,
            table.quantized_dimension,
            blocks.block_size,
            blocks.scales,
            blocks.zero_points,
        )
    zero_points = table.zero_point
    if compress and zero_points.size and (zero_points == zero_points[0]).all():
        zero_points = zero_points[:1]  # which stands for all scales
    return Quantization(scales, zero_points, table.quantized_dimension)


def _node(
    index: int,
    operator: tflite.Operator,
    registrations: Sequence[_Resolved],
    model: Model,
    tensor_count: int,
) -> Node:
    registration, version, name = registrations[operator.opcode_index]
    return Node(
        index,
        registration,
        tuple(t if -1 <= t < tensor_count else -1 for t in operator.inputs.tolist()),
        _named(operator.outputs.tolist(), tensor_count),
        options_of(operator, name),
        model.custom_options(operator),
        tuple(t if t < tensor_count else -1 for t in operator.intermediates.tolist()),
        version,
    )
