"""Metadata: what a model says of itself, its inputs and its outputs, and the files that it carries.

    found = numlite.metadata.read("mobilenet.tflite")
    found.labels()                      # of the first output that has some
    found.normalization()               # of the first input: mean and std, a number or one for each channel
    found.model.subgraph_metadata[0].input_tensor_metadata[0].description
    found.files["labels.txt"]           # bytes

    found.set_labels(["cat", "dog"])
    numlite.metadata.write("mobilenet.tflite", found, "pets.tflite")

The format is that of TFLite: `model` is the ModelMetadata table of numlite.schema.model_metadata, which has
the other tables and the enums, and the files are a zip archive behind the model. Source: TensorFlow Lite
Support, metadata_schema.fbs, version 1.5.0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .lite.associated_files import read_files, with_files
from .lite.errors import ModelError
from .lite.model import Model
from .lite.whole_file import write_whole
from .schema import model_metadata, tflite
from .schema.metadata_tables import least_version, plain_tables, tables_in
from .schema.model_metadata import (
    AssociatedFileT,
    AssociatedFileType,
    AudioPropertiesT,
    ModelMetadataT,
    NormalizationOptionsT,
    ProcessUnitT,
    ScoreThresholdingOptionsT,
    SubGraphMetadataT,
    TensorMetadataT,
)
from .schema.objects import TableT
from .schema.verifier import verify_metadata

__all__ = ["Metadata", "Normalization", "read", "with_metadata", "write"]

NAME = "TFLITE_METADATA"  # of the model's buffer
_LABELS = (AssociatedFileType.TENSOR_AXIS_LABELS, AssociatedFileType.TENSOR_VALUE_LABELS)


class Normalization(NamedTuple):
    """An input is (x - mean) / std of what people have (an image's 0 to 255, say).

    float32 [1] or [channels] each.
    """

    mean: np.ndarray
    std: np.ndarray


class Metadata:
    """model is the ModelMetadata table, and may be changed; files are the contents by name.

    In a model without metadata there are an empty table and no files.
    """

    def __init__(self, model: ModelMetadataT | None = None, files: Mapping[str, bytes] | None = None) -> None:
        self.model = ModelMetadataT() if model is None else model
        self.files = dict(files or {})
        self._read: tuple[bytes, bytes] | None = (
            None  # as it was in the file, and as we would have written it
        )

    @property
    def is_given(self) -> bool:
        """Whether a model that it was read from has any."""
        return self._read is not None or bool(self.files)

    @property
    def inputs(self) -> list[TensorMetadataT]:
        """Of the first subgraph."""
        return [] if self._main is None else self._main.input_tensor_metadata or []

    @property
    def outputs(self) -> list[TensorMetadataT]:
        """Of the first subgraph."""
        return [] if self._main is None else self._main.output_tensor_metadata or []

    @property
    def _main(self) -> SubGraphMetadataT | None:
        return self.model.subgraph_metadata[0] if self.model.subgraph_metadata else None

    def labels(self, output: int | None = None, locale: str | None = None) -> list[str] | None:
        """The labels of an output (of the first that has some), None where there are none.

        Of several files the first, or that of the locale. Raises ModelError when the file is not there,
        IndexError when the output is not.
        """
        for tensor in self.outputs if output is None else [self.outputs[output]]:
            for file in tensor.associated_files or []:
                if file.type in _LABELS and (locale is None or file.locale == locale):
                    return self.text(file.name or "").splitlines()
        return None

    def text(self, name: str) -> str:
        """A file as text in UTF-8; ModelError when there is none of that name."""
        if name not in self.files:
            raise ModelError(
                f"metadata: the file {name!r} must be in the model, which has {sorted(self.files) or 'none'}"
            )
        return self.files[name].decode("utf-8", "replace")

    def normalization(self, input: int = 0) -> Normalization | None:
        """How the values of an input are normalized, None where nothing says so."""
        if input >= len(self.inputs):
            return None
        for unit in self.inputs[input].process_units or []:
            if isinstance(unit.options, NormalizationOptionsT):
                mean, std = (np.asarray(v, np.float32) for v in (unit.options.mean, unit.options.std))
                return Normalization(mean, std) if mean.ndim and std.ndim else None
        return None

    def sample_rate(self, input: int = 0) -> int:
        """The rate of the sound that an input takes, in Hz, 0 where nothing says so."""
        content = self.inputs[input].content if input < len(self.inputs) else None
        properties = None if content is None else content.content_properties
        return properties.sample_rate if isinstance(properties, AudioPropertiesT) else 0

    def score_threshold(self, output: int = 0) -> float | None:
        """What an output's scores should pass, None where nothing says so."""
        if output >= len(self.outputs):
            return None
        for unit in self.outputs[output].process_units or []:
            if isinstance(unit.options, ScoreThresholdingOptionsT):
                return unit.options.global_score_threshold
        return None

    def set_labels(self, labels: Sequence[str], output: int = 0, name: str = "labels.txt") -> None:
        """Give an output one label for each place of its last axis, in the place of those that it has.

        ValueError for a label that is more than one line.
        """
        broken = [label for label in labels if len(label.splitlines()) > 1]
        if isinstance(labels, str) or broken:
            raise ValueError(
                f"labels: must be a list of single lines, got {labels if not broken else broken[0]!r}"
            )
        tensor = self._tensor("output_tensor_metadata", output)
        kept = [file for file in tensor.associated_files or [] if file.type not in _LABELS]
        gone = {file.name for file in tensor.associated_files or []} - {file.name for file in kept}
        file = AssociatedFileT(name=name, type=AssociatedFileType.TENSOR_AXIS_LABELS)
        tensor.associated_files = [*kept, file]
        named = {each.name for each in tables_in(self.model, AssociatedFileT)}
        self.files = {key: content for key, content in self.files.items() if key not in gone or key in named}
        self.files[name] = "".join(f"{label}\n" for label in labels).encode()

    def set_normalization(
        self, mean: float | Sequence[float], std: float | Sequence[float], input: int = 0
    ) -> None:
        """Say how the values of an input are normalized: by numbers for all channels, or one for each."""
        unit = NormalizationOptionsT(
            mean=np.atleast_1d(np.asarray(mean, np.float32)), std=np.atleast_1d(np.asarray(std, np.float32))
        )
        self._set_unit(self._tensor("input_tensor_metadata", input), unit)

    def set_score_threshold(self, threshold: float, output: int = 0) -> None:
        """Say what an output's scores should pass."""
        unit = ScoreThresholdingOptionsT(global_score_threshold=threshold)
        self._set_unit(self._tensor("output_tensor_metadata", output), unit)

    def describe_input(self, input: int = 0, name: str | None = None, description: str | None = None) -> None:
        """Give an input a name and a description; None leaves what there is."""
        _describe(self._tensor("input_tensor_metadata", input), name, description)

    def describe_output(
        self, output: int = 0, name: str | None = None, description: str | None = None
    ) -> None:
        """Give an output a name and a description; None leaves what there is."""
        _describe(self._tensor("output_tensor_metadata", output), name, description)

    def add_file(self, name: str, content: bytes, description: str | None = None) -> None:
        """Put a file behind the model, in the place of one of that name, and list it as the model's."""
        listed = [file for file in self.model.associated_files or [] if file.name != name]
        if description is not None or not any(f.name == name for f in tables_in(self.model, AssociatedFileT)):
            listed.append(AssociatedFileT(name=name, description=description))
            self.model.associated_files = listed
        self.files[name] = content

    def _set_unit(self, tensor: TensorMetadataT, options: TableT) -> None:
        kept = [unit for unit in tensor.process_units or [] if type(unit.options) is not type(options)]
        tensor.process_units = [*kept, ProcessUnitT(options=options)]

    def _tensor(self, field: str, index: int) -> TensorMetadataT:
        """The table of an input or output, made where it is not there."""
        if not self.model.subgraph_metadata:
            self.model.subgraph_metadata = [SubGraphMetadataT()]
        main = self.model.subgraph_metadata[0]
        tensors: list[TensorMetadataT] = getattr(main, field) or []
        tensors += [TensorMetadataT() for _ in range(index + 1 - len(tensors))]
        setattr(main, field, tensors)
        return tensors[index]

    def to_json(self) -> str:
        """All fields that are set, by the schema's names; enums by name, files with their sizes."""
        form = {
            "metadata": plain_tables(self.model),
            "files": {name: len(data) for name, data in self.files.items()},
        }
        return json.dumps(form, indent=2, ensure_ascii=False)

    def packed(self) -> bytes:
        """The metadata's own flatbuffer, with the least version that its readers need.

        What was read and not changed since is as it was, byte for byte.
        """
        written = self._written()
        if self._read is not None and self._read[1] == written:
            return self._read[0]
        self.model.min_parser_version = ".".join(map(str, least_version(self.model)))
        return self._written()

    def _written(self) -> bytes:
        return model_metadata.pack(self.model)


def read(model: str | os.PathLike[str] | bytes | bytearray | memoryview | Model) -> Metadata:
    """The metadata of a model: of a file, of its bytes, or of a Model.

    Raises ModelError when the model, its metadata or the archive behind it cannot be read.
    """
    opened = _opened(model)
    packed = opened.metadata().get(NAME)
    if packed is None:
        return Metadata(files=read_files(opened.content))
    verify_metadata(packed)
    found = Metadata(model_metadata.unpack(model_metadata.read(packed)), read_files(opened.content))
    found._read = packed, found._written()
    return found


def with_metadata(model: bytes | bytearray | memoryview | Model, metadata: Metadata) -> bytes:
    """The model's bytes with this metadata, in the place of what it had; its graph stays as it is.

    Of metadata and files that it has already, all of its bytes as they are.
    Raises ModelError for what is no model, ValueError when more inputs or outputs are described than it has.
    """
    opened = _opened(model)
    _check_counts(opened, metadata)
    packed = metadata.packed()
    if packed == opened.metadata().get(NAME) and metadata.files == read_files(opened.content):
        return bytes(opened.content)
    return with_files(with_entry(opened, NAME, packed), metadata.files)


def with_entry(opened: Model, name: str, content: bytes) -> bytes:
    """The model's bytes with content as its metadata of that name, in the place of what it had."""
    root = tflite.unpack(opened.root)
    buffers, entries = root.buffers or [], list(root.metadata or [])
    buffer = tflite.BufferT(data=content)
    known = next((entry for entry in entries if entry.name == name), None)
    if known is not None:
        buffers[known.buffer] = buffer
    else:
        buffers = [*(buffers or [tflite.BufferT()]), buffer]
        entries.append(tflite.MetadataT(name=name, buffer=len(buffers) - 1))
    root.buffers, root.metadata = buffers, entries
    return _packed(root, opened)


def write(
    model: str | os.PathLike[str] | bytes | bytearray | memoryview | Model,
    metadata: Metadata,
    path: str | os.PathLike[str],
) -> None:
    """Write the model with this metadata to a file, which may be the model's own; see with_metadata."""
    opened = _opened(model)
    write_whole(path, [with_metadata(opened, metadata)])


def _describe(tensor: TensorMetadataT, name: str | None, description: str | None) -> None:
    tensor.name = tensor.name if name is None else name
    tensor.description = tensor.description if description is None else description


def _opened(model: str | os.PathLike[str] | bytes | bytearray | memoryview | Model) -> Model:
    if isinstance(model, Model):
        return model
    return Model.from_path(model) if isinstance(model, str | os.PathLike) else Model(bytes(model))


def _packed(root: tflite.ModelT, opened: Model) -> bytes:
    """The model; buffers that lie behind it, outside of the flatbuffer, come along."""
    outside = [buffer for buffer in root.buffers or [] if buffer.offset > 1]
    options = [
        operator
        for subgraph in root.subgraphs or []
        for operator in subgraph.operators or []
        if operator.large_custom_options_offset > 1
    ]
    if not outside and not options:
        return tflite.pack(root)
    contents = [opened.content[b.offset : b.offset + b.size] for b in outside]
    contents += [
        opened.content[o.large_custom_options_offset :][: o.large_custom_options_size] for o in options
    ]
    at = len(tflite.pack(root))  # numbers that are not 0 take the same room, whatever they are
    pieces = [b""]
    places = []
    for piece in contents:
        padding = bytes(-at % 16)
        places.append(at + len(padding))
        pieces += [padding, bytes(piece)]
        at += len(padding) + len(piece)
    for buffer, place in zip(outside, places, strict=False):
        buffer.offset = place
    for operator, place in zip(options, places[len(outside) :], strict=True):
        operator.large_custom_options_offset = place
    pieces[0] = tflite.pack(root)
    return b"".join(pieces)


def _check_counts(model: Model, metadata: Metadata) -> None:
    for number, subgraph in enumerate(metadata.model.subgraph_metadata or []):
        if number >= len(model.root.subgraphs):
            raise ValueError(
                f"metadata: describes subgraph {number}, the model has {len(model.root.subgraphs)}"
            )
        has = model.root.subgraphs[number]
        for what, said, there in (
            ("inputs", subgraph.input_tensor_metadata, len(has.inputs)),
            ("outputs", subgraph.output_tensor_metadata, len(has.outputs)),
        ):
            if len(said or []) > there:
                raise ValueError(f"metadata: describes {len(said or [])} {what}, the model has {there}")
