"""What is known of the metadata's tables: what is in them, who can read them, and their JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import model_metadata
from .model_metadata import AssociatedFileT, AssociatedFileType, ModelMetadataT
from .objects import TableT

# The version of the format that brought a member; what is not listed was there from the start.
_SINCE = {
    ("AssociatedFile", "version"): (1, 4, 1),
    ("SubGraphMetadata", "input_process_units"): (1, 1, 0),
    ("SubGraphMetadata", "output_process_units"): (1, 1, 0),
    ("SubGraphMetadata", "input_tensor_groups"): (1, 2, 0),
    ("SubGraphMetadata", "output_tensor_groups"): (1, 2, 0),
    ("SubGraphMetadata", "custom_metadata"): (1, 5, 0),
}
_TABLE_SINCE = {
    "AudioProperties": (1, 3, 0),
    "BertTokenizerOptions": (1, 1, 0),
    "RegexTokenizerOptions": (1, 2, 1),
    "SentencePieceTokenizerOptions": (1, 1, 0),
}
_TYPE_SINCE = {AssociatedFileType.VOCABULARY: (1, 0, 1), AssociatedFileType.SCANN_INDEX_FILE: (1, 4, 0)}


def tables_in(table: TableT, kind: type[TableT] = TableT) -> Iterator[Any]:
    """The table and all inside of it, of a kind."""
    if isinstance(table, kind):
        yield table
    for field in type(table).fields:
        value = getattr(table, field.name)
        for inner in value if field.kind == "tables" and value else [value]:
            if isinstance(inner, TableT):
                yield from tables_in(inner, kind)


def least_version(metadata: ModelMetadataT) -> tuple[int, int, int]:
    """The first version of the format that has all that is set."""
    least = (1, 0, 0)
    for table in tables_in(metadata):
        name = type(table).__name__.removesuffix("T")
        found = [_TABLE_SINCE.get(name, least)]
        found += [
            since
            for (owner, field), since in _SINCE.items()
            if owner == name and getattr(table, field) is not None
        ]
        if isinstance(table, AssociatedFileT):
            found.append(_TYPE_SINCE.get(AssociatedFileType(table.type), least))
        least = max(least, *found)
    return least


_ENUMS = {
    ("AssociatedFile", "type"): "AssociatedFileType",
    ("ImageProperties", "color_space"): "ColorSpaceType",
    ("BoundingBoxProperties", "type"): "BoundingBoxType",
    ("BoundingBoxProperties", "coordinate_type"): "CoordinateType",
    ("ScoreCalibrationOptions", "score_transformation"): "ScoreTransformationType",
}


def plain_tables(value: object) -> object:
    """A table as what JSON has; what is not set is left out."""
    if isinstance(value, TableT):
        name = type(value).__name__.removesuffix("T")
        form: dict[str, object] = {}
        for field in type(value).fields:
            inner = getattr(value, field.name)
            if inner is None or (field.kind == "scalar" and inner == field.default):
                continue
            if field.kind == "scalar" and field.name.endswith("_type") and (name, field.name) not in _ENUMS:
                continue  # of a union: the table below says it
            enum = _ENUMS.get((name, field.name))
            if enum is not None:
                members = model_metadata.ENUMS[enum]
                inner = next((member for member, number in members.items() if number == inner), inner)
            key = field.name if field.kind != "union" else type(inner).__name__.removesuffix("T")
            form[key] = plain_tables(inner)
        return form
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain_tables(item) for item in value]
    return list(value) if isinstance(value, bytes | bytearray | memoryview) else value
