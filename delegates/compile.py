"""Ahead of time: a delegate's partitions as custom operators of a model that carries its programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..lite.compiled_partition import class_path
from ..lite.control_edges import METADATA_NAME as CONTROL_EDGES
from ..lite.control_edges import parse_control_dependencies, serialize_control_dependencies
from ..lite.delegate import DelegateFlags, DelegateParams
from ..lite.delegate_context import SubgraphDelegateContext, has_side_effects
from ..lite.errors import ModelError, PrepareError, StateError, UnsupportedError
from ..lite.interpreter import Interpreter
from ..lite.partition_program import (
    METADATA_NAME,
    Compilation,
    PartitionProgram,
    model_digest,
    pack_compilations,
    pack_program,
    parse_compilations,
)
from ..schema import tflite
from ..schema.operator_code import CUSTOM, operator_code

if TYPE_CHECKING:
    from ..lite.delegate import Delegate
    from ..lite.model import Model
    from ..lite.node import Node
    from ..lite.subgraph import Subgraph
    from ..lite.tensor import Shape
    from .cuda.delegate import HasCore


@dataclass(frozen=True)
class CompiledPartitionReport:
    """One custom operator of a compiled model: its subgraph and place there, and what it stands for."""

    subgraph: int
    operator: int
    replaced: tuple[str, ...]
    program_bytes: int


@dataclass(frozen=True)
class CompiledModel:
    """A compiled model's file, and its custom operators."""

    content: bytes
    compilation: Compilation
    partitions: tuple[CompiledPartitionReport, ...]


def compile_model(
    interpreter: Interpreter | HasCore,
    delegate: Delegate,
    name: str = "",
    options: Mapping[str, str] | None = None,
) -> CompiledModel:
    """The interpreter's model with each partition of the delegate, which is applied, as one operator.

    name is what the compiled model asks for when it runs (the one the delegate was loaded by,
    when left out, or else its class), options what it is then made with. Everything else of the
    model stays: tensors keep their numbers, other operators their order; data that only replaced
    operators have read are dropped where the delegate's programs hold them.
    Raises StateError unless the delegate is applied, UnsupportedError when it cannot compile.
    """
    interpreter = _core(interpreter)
    if not any(applied is delegate for applied in interpreter.runtime.delegates):
        raise StateError(f"compile: delegate {delegate.name} must be applied to the interpreter first")
    path = class_path(delegate)
    compilation = Compilation(
        name or delegate.loaded_as or path,
        path,
        delegate.version,
        dict(options or {}),
        model_digest(interpreter.model.content),
    )
    for subgraph in interpreter.subgraphs:
        if subgraph.delegation is not None and subgraph.delegation.undone:
            subgraph.allocate_tensors()  # its delegates waited for shapes
    return _Rewriter(interpreter, delegate, compilation).rewritten()


def _core(interpreter: object) -> Interpreter:
    """The runtime's interpreter, or that of a numlite.Interpreter; TypeError for anything else."""
    core = getattr(interpreter, "core", interpreter)
    if not isinstance(core, Interpreter):
        raise TypeError(f"compile_model: it must be given an Interpreter, got {type(interpreter).__name__}")
    return core


class _Rewriter:
    """A model's tables on their way to a compiled model."""

    def __init__(self, interpreter: Interpreter, delegate: Delegate, compilation: Compilation) -> None:
        self._interpreter = interpreter
        self._delegate = delegate
        self._compilation = compilation
        self._tables = tflite.unpack(interpreter.model.root)
        self._partitions: list[CompiledPartitionReport] = []
        self._opcode = -1
        self._control_edges = self._model_control_edges()

    def rewritten(self) -> CompiledModel:
        _bring_data_in(self._tables, self._interpreter.model)
        for subgraph, table in zip(self._interpreter.subgraphs, self._tables.subgraphs or (), strict=True):
            self._subgraph(subgraph, table)
        _drop_unused_codes(self._tables)
        _drop_unread_data(self._tables, self._interpreter.subgraphs)
        known = parse_compilations(self._interpreter.model.metadata().get(METADATA_NAME, b"[]"))
        if self._partitions and self._compilation not in known:
            self._set_metadata(METADATA_NAME, pack_compilations([*known, self._compilation]))
        if self._control_edges:
            self._set_metadata(CONTROL_EDGES, serialize_control_dependencies(self._control_edges))
        return CompiledModel(tflite.pack(self._tables), self._compilation, tuple(self._partitions))

    def _model_control_edges(self) -> list[list[tuple[int, int]]]:
        data = self._interpreter.model.metadata().get(CONTROL_EDGES)
        if data is None:
            return []
        edges = parse_control_dependencies(data)
        if len(edges) < len(self._interpreter.subgraphs):
            raise ModelError(f"metadata {CONTROL_EDGES!r}: it must list every subgraph, got {len(edges)}")
        return edges

    def _subgraph(self, subgraph: Subgraph, table: tflite.SubGraphT) -> None:
        before, before_this = table.operators or [], len(self._partitions)
        operators: list[tflite.OperatorT] = []
        place: dict[int, int] = {}
        for n in subgraph.execution_plan:
            node = subgraph.nodes[n]
            replaced = (n,) if n < len(before) else _model_nodes(subgraph, node)
            if n >= len(before) and node.delegate is self._delegate:
                place.update(dict.fromkeys(replaced, len(operators)))
                operators.append(self._operator(subgraph, node, len(operators), replaced))
                continue
            # What other delegates have taken stays as it was, for them to take again.
            for original in replaced:
                place[original] = len(operators)
                operators.append(before[original])
        table.operators = operators
        if len(self._partitions) > before_this and not self._takes_any_shape:
            _declare_shapes(subgraph, table)
        if self._control_edges:
            moved = ((place[a], place[b]) for a, b in self._control_edges[subgraph.index])
            self._control_edges[subgraph.index] = [edge for edge in moved if edge[0] != edge[1]]

    def _operator(
        self, subgraph: Subgraph, node: Node, number: int, replaced: tuple[int, ...]
    ) -> tflite.OperatorT:
        context = SubgraphDelegateContext(subgraph, self._delegate, may_replace=False)
        params = node.options
        assert isinstance(params, DelegateParams)
        try:
            program, inputs = self._delegate.serialize_partition(context, params, node.user_data)
        finally:
            context.close()
        if not isinstance(program, bytes | bytearray | memoryview):
            raise PrepareError(
                f"{self._delegate.name}: a program must be bytes, alone or in a SerializedPartition, "
                f"got {type(program).__name__}"
            )
        self._check_inputs(subgraph, node, inputs)
        carried = PartitionProgram(
            self._compilation,
            bytes(program),
            self._shapes(subgraph, inputs),
            self._shapes(subgraph, node.outputs),
            any(has_side_effects(subgraph, subgraph.nodes[n]) for n in replaced),
        )
        names = tuple(subgraph.nodes[n].registration.name for n in replaced)
        self._partitions.append(CompiledPartitionReport(subgraph.index, number, names, len(program)))
        return tflite.OperatorT(
            opcode_index=self._custom_opcode(),
            inputs=list(inputs),
            outputs=list(node.outputs),
            custom_options=pack_program(carried),
        )

    def _check_inputs(self, subgraph: Subgraph, node: Node, inputs: tuple[int, ...]) -> None:
        missing = set(node.inputs).difference(inputs)
        varying = [t for t in missing if not subgraph.tensors[t].is_constant]
        if varying or not set(node.inputs).issuperset(inputs):
            raise StateError(
                f"{self._delegate.name}: a program must read all inputs of its partition but constants, "
                f"{node.inputs}, got {tuple(inputs)}"
            )

    @property
    def _takes_any_shape(self) -> bool:
        return bool(self._delegate.flags & DelegateFlags.ALLOW_DYNAMIC_TENSORS)

    def _shapes(self, subgraph: Subgraph, tensors: tuple[int, ...]) -> tuple[Shape, ...] | None:
        """What the program is compiled for: nothing, if the delegate does without shapes."""
        if self._takes_any_shape:
            return None
        shapes = tuple(subgraph.tensors[t].shape for t in tensors)
        for copy in self._interpreter.runtime.copies:
            if copy.index == subgraph.index and tuple(copy.tensors[t].shape for t in tensors) != shapes:
                raise UnsupportedError(
                    f"compile: subgraph {subgraph.index} is called with several shapes, which takes a "
                    f"delegate that allows dynamic tensors; {self._delegate.name} does not"
                )
        return shapes

    def _custom_opcode(self) -> int:
        codes = self._tables.operator_codes
        assert codes is not None
        if self._opcode < 0:
            self._opcode = len(codes)
            codes.append(operator_code(CUSTOM, self._compilation.custom_code))
        return self._opcode

    def _set_metadata(self, name: str, data: bytes) -> None:
        buffers, metadata = self._tables.buffers, self._tables.metadata or []
        assert buffers is not None
        metadata = [entry for entry in metadata if entry.name != name]
        buffers.append(tflite.BufferT(data=data))
        metadata.append(tflite.MetadataT(name=name, buffer=len(buffers) - 1))
        self._tables.metadata = metadata


def _declare_shapes(subgraph: Subgraph, table: tflite.SubGraphT) -> None:
    """Have the file say the shapes that the programs are compiled for: inputs may have been resized."""
    for tensor, entry in zip(subgraph.tensors, table.tensors or (), strict=False):
        declared = () if entry.shape is None else tuple(np.asarray(entry.shape).tolist())
        if declared == tensor.shape or tensor.is_constant:
            continue
        entry.shape = np.array(tensor.shape, np.int32)
        entry.shape_signature = None


def _model_nodes(subgraph: Subgraph, node: Node) -> tuple[int, ...]:
    """The model's operators that a delegate's node stands for."""
    assert isinstance(node.options, DelegateParams)
    found: list[int] = []
    for n in node.options.nodes_to_replace:
        inner = subgraph.nodes[n]
        is_replacement = inner.delegate is not None and isinstance(inner.options, DelegateParams)
        taken = inner.options.nodes_to_replace if is_replacement else ()
        found += _model_nodes(subgraph, inner) if taken else (n,)
    return tuple(found)


def _bring_data_in(tables: tflite.ModelT, model: Model) -> None:
    """Data behind the tables, whose places in the file change, become part of them."""
    for index, buffer in enumerate(tables.buffers or ()):
        if buffer.offset > 1:
            buffer.data, buffer.offset, buffer.size = model.buffer(index), 0, 0
    for subgraph, source in zip(tables.subgraphs or (), model.root.subgraphs, strict=True):
        for operator, read in zip(subgraph.operators or (), source.operators, strict=True):
            if operator.large_custom_options_offset > 1:
                operator.custom_options = model.custom_options(read)
                operator.large_custom_options_offset = operator.large_custom_options_size = 0


def _drop_unused_codes(tables: tflite.ModelT) -> None:
    """Operators that are gone must not be asked of whoever runs the model."""
    codes = tables.operator_codes or []
    operators = [operator for subgraph in tables.subgraphs or () for operator in subgraph.operators or ()]
    used = sorted({operator.opcode_index for operator in operators})
    number = {old: new for new, old in enumerate(used)}
    for operator in operators:
        operator.opcode_index = number[operator.opcode_index]
    tables.operator_codes = [codes[old] for old in used]


def _drop_unread_data(tables: tflite.ModelT, subgraphs: list[Subgraph]) -> None:
    """Constants that replaced operators have read and nobody reads now lose their data."""
    buffers = tables.buffers or []
    read = {entry.buffer for entry in tables.metadata or ()}
    read.update(np.asarray(tables.metadata_buffer if tables.metadata_buffer is not None else ()).tolist())
    dropped: set[int] = set()
    for subgraph, table in zip(subgraphs, tables.subgraphs or (), strict=True):
        used = _used_tensors(table)
        before = {t for node in subgraph.nodes for t in (*node.inputs, *node.outputs)}
        for t, tensor in enumerate(table.tensors or ()):
            (dropped if t in before and t not in used else read).add(tensor.buffer)
    for index in dropped - read:
        buffers[index].data = None


def _used_tensors(table: tflite.SubGraphT) -> set[int]:
    used: set[int] = set()
    for vector in (table.inputs, table.outputs):
        used.update(np.asarray(vector if vector is not None else ()).tolist())
    for operator in table.operators or ():
        for vector in (operator.inputs, operator.outputs, operator.intermediates):
            used.update(np.asarray(vector if vector is not None else ()).tolist())
    return used
