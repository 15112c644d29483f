"""InterpreterBuilder: makes the subgraphs of a model, with every operator resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema import tflite
from ..schema.operator_code import builtin_code
from .arena import allocate
from .errors import ModelError, PrepareError, UnsupportedError
from .graph_check import check_graph
from .node import Node
from .quantization import Quantization, quantization_fault
from .subgraph import Subgraph, checked_shape
from .tensor import AllocationType, Tensor
from .unresolved import UnresolvedOperator

if TYPE_CHECKING:
    import numpy as np

    from .model import Model
    from .op_resolver import OpResolver
    from .registration import Registration
    from .runtime import Runtime

CUSTOM = 32
CUSTOM_CODE_PREFIX = "numlite-delegate:"  # of operators in compiled models; a delegate's name follows


def build_subgraphs(model: Model, resolver: OpResolver, runtime: Runtime) -> list[Subgraph]:
    """All subgraphs of the model; they are also listed in the runtime.

    Raises UnsupportedError for a builtin operator that the resolver lacks, ModelError for a
    graph that makes no sense. A custom operator may stay unresolved: it fails when prepared.
    """
    root = model.root
    registrations = [_resolve(code, resolver) for code in root.operator_codes]
    if not len(root.subgraphs):
        raise ModelError("model: it must have at least one subgraph, got none")

    def build(index: int) -> Subgraph:
        return _build(index, root.subgraphs[index], model, registrations, runtime)

    runtime.subgraphs.extend(map(build, range(len(root.subgraphs))))
    runtime.build = build
    _check_signatures(model, runtime.subgraphs)
    for subgraph in runtime.subgraphs:
        subgraph.init_nodes()
    return runtime.subgraphs


def _resolve(code: tflite.OperatorCode, resolver: OpResolver) -> tuple[Registration, int]:
    builtin, version = builtin_code(code), code.version
    if builtin != CUSTOM:
        return resolver.find_builtin(builtin, version, operator_name(builtin)), version
    name = code.custom_code or ""
    return resolver.find_custom(name) or _without_resolver(name), version


def _without_resolver(custom_code: str) -> Registration:
    if not custom_code.startswith(CUSTOM_CODE_PREFIX):
        return UnresolvedOperator(custom_code)
    from .compiled_partition import compiled_registration

    return compiled_registration(custom_code)


def operator_name(builtin: int) -> str:
    for name, value in tflite.ENUMS["BuiltinOperator"].items():
        if value == builtin:
            return name
    return f"UNKNOWN_{builtin}"


def _build(
    index: int,
    table: tflite.SubGraph,
    model: Model,
    registrations: list[tuple[Registration, int]],
    runtime: Runtime,
) -> Subgraph:
    tensors = [_tensor(t, entry, model) for t, entry in enumerate(table.tensors)]
    nodes = [_node(n, operator, registrations, model) for n, operator in enumerate(table.operators)]
    inputs, outputs = tuple(table.inputs.tolist()), tuple(table.outputs.tolist())
    name = table.name or ""
    try:
        check_graph(tensors, nodes, inputs, outputs)
    except ModelError as error:
        raise ModelError(f"subgraph {index} {name!r}: {error}") from error
    _settle_empty_constants(tensors, nodes, inputs)
    return Subgraph(index, name, tensors, nodes, inputs, outputs, runtime)


def _tensor(index: int, table: tflite.Tensor, model: Model) -> Tensor:
    signature = table.shape_signature
    tensor = Tensor(
        index,
        table.name or "",
        table.type,
        tuple(table.shape.tolist()),
        _quantization(table.quantization),
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
    tensor.sparsity = table.sparsity
    data = model.buffer(table.buffer)
    if data is not None:
        _make_constant(tensor, data)
    elif tensor.is_variable:
        tensor.allocation_type = AllocationType.ARENA_RW_PERSISTENT
    elif tensor.has_fixed_size:
        tensor.allocation_type = AllocationType.ARENA_RW
    else:
        tensor.allocation_type = AllocationType.DYNAMIC
    return tensor


def _make_constant(tensor: Tensor, data: np.ndarray) -> None:
    if tensor.is_variable:
        raise ModelError(f"tensor {tensor.index} {tensor!r}: a variable must not have a buffer")
    if tensor.has_fixed_size and tensor.sparsity is None and data.size != tensor.nbytes:
        raise ModelError(
            f"tensor {tensor.index} {tensor!r}: its buffer must hold {tensor.nbytes} bytes, got {data.size}"
        )
    tensor.allocation_type = AllocationType.MMAP_RO
    tensor.bind(data)


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


def _quantization(table: tflite.QuantizationParameters | None) -> Quantization | None:
    if table is None:
        return None
    scales = table.scale
    if not scales.size:
        blocks = table.details
        if not isinstance(blocks, tflite.BlockwiseQuantization):
            return None
        return Quantization(
            scales, table.zero_point, table.quantized_dimension, blocks.block_size, blocks.scales
        )
    return Quantization(scales, table.zero_point, table.quantized_dimension)


def _node(
    index: int, operator: tflite.Operator, registrations: list[tuple[Registration, int]], model: Model
) -> Node:
    code = operator.opcode_index
    if code >= len(registrations):
        raise ModelError(f"node {index}: operator code must be under {len(registrations)}, got {code}")
    registration, version = registrations[code]
    return Node(
        index,
        registration,
        tuple(operator.inputs.tolist()),
        tuple(operator.outputs.tolist()),
        operator.builtin_options or operator.builtin_options_2,
        model.custom_options(operator),
        tuple(operator.intermediates.tolist()),
        version,
    )


def _check_signatures(model: Model, subgraphs: list[Subgraph]) -> None:
    for signature in model.signatures().values():
        if signature.subgraph_index >= len(subgraphs):
            raise ModelError(
                f"signature {signature.key!r}: subgraph must be under {len(subgraphs)}, "
                f"got {signature.subgraph_index}"
            )
        count = len(subgraphs[signature.subgraph_index].tensors)
        for name, t in (*signature.inputs.items(), *signature.outputs.items()):
            if not 0 <= t < count:
                raise ModelError(
                    f"signature {signature.key!r}, {name!r}: tensor must be under {count}, got {t}"
                )
