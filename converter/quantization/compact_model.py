"""A changed model as a file: what nothing uses any longer is left out, equal contents are there once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ...lite.control_edges import METADATA_NAME, parse_control_dependencies, serialize_control_dependencies
from ...schema import tflite
from ..flatbuffer import RUNTIME_VERSION, ModelFile, runtime_version_content
from ..same_content import SameContent


def compact(
    root: tflite.ModelT,
    contents: Sequence[np.ndarray | None],
    old_operators: Sequence[Sequence[tflite.OperatorT]],
) -> ModelFile:
    """The file of a model without buffers; contents are theirs by number.

    old_operators are each subgraph's, in the order that the metadata's control edges count by.
    """
    for number, subgraph in enumerate(root.subgraphs or []):
        _drop_tensors(root, number, subgraph)
    _drop_operator_codes(root)
    buffers = _Buffers(contents)
    for subgraph in root.subgraphs or []:
        for tensor in subgraph.tensors or []:
            tensor.buffer = buffers.shared(tensor.buffer)
    _write_metadata(root, buffers, old_operators)
    return ModelFile(root, buffers.contents)


class _Buffers:
    """The file's buffers; the first is that of tensors without data."""

    def __init__(self, contents: Sequence[np.ndarray | None]) -> None:
        self.contents = [np.empty(0, np.uint8)]
        self._given = contents
        self._known = SameContent()
        self._places: list[int] = []

    def given(self, number: int) -> np.ndarray | None:
        return self._given[number] if number else None

    def shared(self, number: int) -> int:
        """The buffer of a given number's content, one for all equal ones."""
        content = self.given(number)
        if content is None:
            return 0
        place = self._known.number(content)
        if place == len(self._places):
            self._places.append(self.own(content))
        return self._places[place]

    def own(self, content: np.ndarray) -> int:
        self.contents.append(content)
        return len(self.contents) - 1


def _drop_tensors(root: tflite.ModelT, number: int, subgraph: tflite.SubGraphT) -> None:
    """Take out the tensors that no operator, input, output, signature or tensor names."""
    tensors = subgraph.tensors or []
    maps = [
        entry
        for definition in root.signature_defs or []
        if definition.subgraph_index == number
        for entry in (*(definition.inputs or ()), *(definition.outputs or ()))
    ]
    named = {int(i) for vector in _vectors(subgraph) for i in vector} | {entry.tensor_index for entry in maps}
    for index in sorted(named & set(range(len(tensors)))):
        details = _blocks(tensors[index])
        named |= {details.scales, details.zero_points} if details is not None else set()
    kept = [index for index in range(len(tensors)) if index in named]
    if len(kept) == len(tensors):
        return
    places = {old: new for new, old in enumerate(kept)}
    _renumber(subgraph, lambda index: places.get(index, index))
    for entry in maps:
        entry.tensor_index = places.get(entry.tensor_index, entry.tensor_index)
    subgraph.tensors = [tensors[index] for index in kept]
    for tensor in subgraph.tensors:
        if (details := _blocks(tensor)) is not None:
            details.scales = places.get(details.scales, details.scales)
            details.zero_points = places.get(details.zero_points, details.zero_points)


def _vectors(subgraph: tflite.SubGraphT) -> Iterable[Iterable[int]]:
    yield subgraph.inputs if subgraph.inputs is not None else ()
    yield subgraph.outputs if subgraph.outputs is not None else ()
    for operator in subgraph.operators or []:
        for vector in (operator.inputs, operator.outputs, operator.intermediates):
            yield vector if vector is not None else ()


def _renumber(subgraph: tflite.SubGraphT, place: Callable[[int], int]) -> None:
    def moved(vector: Iterable[int] | None) -> list[int] | None:
        return None if vector is None else [place(int(index)) for index in vector]

    subgraph.inputs, subgraph.outputs = moved(subgraph.inputs), moved(subgraph.outputs)
    for operator in subgraph.operators or []:
        operator.inputs, operator.outputs = moved(operator.inputs), moved(operator.outputs)
        operator.intermediates = moved(operator.intermediates)


def _blocks(tensor: tflite.TensorT) -> tflite.BlockwiseQuantizationT | None:
    details = None if tensor.quantization is None else tensor.quantization.details
    return details if isinstance(details, tflite.BlockwiseQuantizationT) else None


def _drop_operator_codes(root: tflite.ModelT) -> None:
    operators = [operator for subgraph in root.subgraphs or [] for operator in subgraph.operators or []]
    kept = sorted({operator.opcode_index for operator in operators})
    places = {old: new for new, old in enumerate(kept)}
    for operator in operators:
        operator.opcode_index = places[operator.opcode_index]
    codes = root.operator_codes or []
    root.operator_codes = [codes[index] for index in kept]


def _write_metadata(
    root: tflite.ModelT, buffers: _Buffers, old_operators: Sequence[Sequence[tflite.OperatorT]]
) -> None:
    """Metadata as they were, but for the runtime that is needed and the operators' numbers."""
    entries = [entry for entry in root.metadata or [] if entry.name != RUNTIME_VERSION]
    for entry in entries:
        content = buffers.given(entry.buffer)
        if content is not None and entry.name == METADATA_NAME:
            content = _renumbered_edges(root, content, old_operators)
        entry.buffer = 0 if content is None else buffers.own(content)
    version = buffers.own(runtime_version_content(root.operator_codes or []))
    root.metadata = [tflite.MetadataT(name=RUNTIME_VERSION, buffer=version), *entries]


def _renumbered_edges(
    root: tflite.ModelT, content: np.ndarray, old_operators: Sequence[Sequence[tflite.OperatorT]]
) -> np.ndarray:
    """Control edges by the places that operators have now."""
    found = []
    for subgraph, old, edges in zip(
        root.subgraphs or [], old_operators, parse_control_dependencies(content.tobytes()), strict=False
    ):
        places = {id(operator): place for place, operator in enumerate(subgraph.operators or [])}
        now = [places.get(id(operator)) for operator in old]
        moved = [(now[a], now[b]) for a, b in edges]
        found.append([(a, b) for a, b in moved if a is not None and b is not None])
    return np.frombuffer(serialize_control_dependencies(found), np.uint8)
