"""Features of serialized SequenceExamples, many or one: of their contexts, and of each of their steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ...schema.example import SequenceExample
from .attributes import DataType, PartialShape
from .dtypes import numpy_dtype
from .kernel import checked_shape
from .parse_example import (
    Arrays,
    array_of,
    dense_features,
    keys_of,
    ragged_feature,
    sparse_features,
    values_of,
)
from .registry import kernel
from .status import InvalidArgumentError

# For each example the elements of each of its steps.
_Steps = list[list[Sequence[object]]]


@dataclass(frozen=True, kw_only=True)
class ContextTypes:
    """Types and shapes of the context's features."""

    context_sparse_types: list[DataType]
    Tcontext_dense: list[DataType]
    context_dense_shapes: list[PartialShape]


@dataclass(frozen=True, kw_only=True)
class StepTypes:
    """Types and shapes of the steps' features."""

    feature_list_sparse_types: list[DataType]
    feature_list_dense_types: list[DataType]
    feature_list_dense_shapes: list[PartialShape]


@dataclass(frozen=True, kw_only=True)
class RaggedTypes:
    """Types of ragged features, and of their splits."""

    context_ragged_value_types: list[DataType]
    context_ragged_split_types: list[DataType]
    feature_list_ragged_value_types: list[DataType]
    feature_list_ragged_split_types: list[DataType]


@dataclass(frozen=True)
class _Keys:
    """Names of the features, and which dense lists may be missing."""

    context_sparse: list[str]
    context_dense: list[str]
    sparse: list[str]
    dense: list[str]
    may_lack: list[bool]


def _examples(serialized: np.ndarray) -> list[Any]:
    found = []
    for index, content in enumerate(serialized.reshape(-1)):
        try:
            found.append(SequenceExample.FromString(content))
        except DecodeError as error:
            raise InvalidArgumentError(f"Could not parse example input {index}: {error}") from None
    return found


def _steps(examples: Sequence[Any], key: str, type: int, may_lack: bool) -> _Steps:
    """Of one feature; an example without it has no steps, where it may."""
    found: _Steps = []
    for index, example in enumerate(examples):
        lists = example.feature_lists.feature_list
        if key not in lists and not may_lack:
            message = f"feature list {key!r} is required but could not be found in example {index}"
            raise InvalidArgumentError(f"Name: <unknown>, {message}")
        features = lists[key].feature if key in lists else ()
        found.append([values_of({key: feature}, key, type) or [] for feature in features])
    return found


def _sparse_steps(found: _Steps, type: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices [n, 3] of example, step and place, the values, and the shape."""
    places = [
        (i, j, k) for i, steps in enumerate(found) for j, row in enumerate(steps) for k in range(len(row))
    ]
    values = array_of([x for steps in found for row in steps for x in row], numpy_dtype(type))
    longest = max((len(row) for steps in found for row in steps), default=0)
    shape = np.array([len(found), max(map(len, found), default=0), longest], np.int64)
    return np.array(places, np.int64).reshape(-1, 3), values, shape


def _dense_steps(found: _Steps, key: str, type: int, shape: PartialShape) -> tuple[np.ndarray, np.ndarray]:
    """[examples, most steps, shape ...], filled with zeros or empty strings, and the numbers of steps."""
    dtype, sizes = numpy_dtype(type), tuple(shape or ())
    count = prod(sizes)
    most = max(map(len, found), default=0)
    empty: object = b"" if dtype.kind == "O" else 0
    made = np.full(checked_shape((len(found), most, count), dtype), empty, dtype)
    for i, steps in enumerate(found):
        for j, row in enumerate(steps):
            if len(row) != count:
                message = f"Key: {key}, Index: {j}. Number of values must be {count}, got {len(row)}"
                raise InvalidArgumentError(f"{message} in example {i}")
            made[i, j] = array_of(row, dtype)
    return made.reshape(len(found), most, *sizes), np.array(list(map(len, found)), np.int64)


def _ragged_steps(found: _Steps, type: int, splits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, splits between examples, counted in steps, and splits between steps."""
    out = numpy_dtype(splits)
    rows = [row for steps in found for row in steps]
    values = array_of([x for row in rows for x in row], numpy_dtype(type))
    return values, np.cumsum([0, *map(len, found)]).astype(out), np.cumsum([0, *map(len, rows)]).astype(out)


def _parsed(
    examples: Sequence[Any], keys: _Keys, defaults: Arrays, context_types: ContextTypes, step_types: StepTypes
) -> tuple[list[Arrays], list[Arrays]]:
    """Sparse and dense outputs of the contexts, then those of the steps."""
    rows = [example.context.feature for example in examples]
    sparse = sparse_features(rows, keys.context_sparse, context_types.context_sparse_types)
    types, shapes = context_types.Tcontext_dense, context_types.context_dense_shapes
    dense = dense_features(rows, keys.context_dense, defaults, types, shapes)
    sparse_types = zip(keys.sparse, step_types.feature_list_sparse_types, strict=True)
    lists = [_sparse_steps(_steps(examples, key, type, True), type) for key, type in sparse_types]
    told = zip(
        *(
            keys.dense,
            step_types.feature_list_dense_types,
            step_types.feature_list_dense_shapes,
            keys.may_lack,
        ),
        strict=True,
    )
    filled = [
        _dense_steps(_steps(examples, key, type, may_lack), key, type, shape)
        for key, type, shape, may_lack in told
    ]
    of_steps = [[part[i] for part in lists] for i in range(3)] + [
        [part[i] for part in filled] for i in range(2)
    ]
    return [*sparse, dense], of_steps


def parse_sequence_example(
    serialized: np.ndarray,
    debug_name: np.ndarray,
    context_dense_defaults: list[np.ndarray],
    *,
    context_types: ContextTypes,
    step_types: StepTypes,
    context_sparse_keys: list[str],
    context_dense_keys: list[str],
    feature_list_sparse_keys: list[str],
    feature_list_dense_keys: list[str],
    feature_list_dense_missing_assumed_empty: list[str],
) -> tuple[Arrays, ...]:
    """Sparse and dense features of a vector of SequenceExamples; debug_name only serves messages."""
    del debug_name
    if serialized.ndim != 1:
        got = list(serialized.shape)
        raise InvalidArgumentError(f"ParseSequenceExample: serialized must be a vector, got {got}")
    may_lack = [key in feature_list_dense_missing_assumed_empty for key in feature_list_dense_keys]
    keys = _Keys(
        *(context_sparse_keys, context_dense_keys, feature_list_sparse_keys, feature_list_dense_keys),
        may_lack,
    )
    of_context, of_steps = _parsed(
        _examples(serialized), keys, context_dense_defaults, context_types, step_types
    )
    return *of_context, *of_steps


def parse_sequence_example_v2(
    serialized: np.ndarray,
    debug_name: np.ndarray,
    context_sparse_keys: np.ndarray,
    context_dense_keys: np.ndarray,
    context_ragged_keys: np.ndarray,
    feature_list_sparse_keys: np.ndarray,
    feature_list_dense_keys: np.ndarray,
    feature_list_ragged_keys: np.ndarray,
    feature_list_dense_missing_assumed_empty: np.ndarray,
    context_dense_defaults: list[np.ndarray],
    *,
    context_types: ContextTypes,
    step_types: StepTypes,
    ragged_types: RaggedTypes,
) -> tuple[Arrays, ...]:
    """Sparse, dense and ragged features of a vector of SequenceExamples, or of one: then without its axis."""
    del debug_name
    if serialized.ndim > 1:
        got = list(serialized.shape)
        raise InvalidArgumentError(
            f"ParseSequenceExampleV2: serialized must be a vector or a scalar, got {got}"
        )
    examples = _examples(serialized)
    keys = _Keys(
        keys_of(context_sparse_keys),
        keys_of(context_dense_keys),
        keys_of(feature_list_sparse_keys),
        keys_of(feature_list_dense_keys),
        feature_list_dense_missing_assumed_empty.reshape(-1).tolist(),
    )
    of_context, of_steps = _parsed(examples, keys, context_dense_defaults, context_types, step_types)
    rows = [example.context.feature for example in examples]
    told = zip(
        keys_of(context_ragged_keys),
        ragged_types.context_ragged_value_types,
        ragged_types.context_ragged_split_types,
        strict=True,
    )
    of_rows = [ragged_feature(rows, *feature) for feature in told]
    told = zip(
        keys_of(feature_list_ragged_keys),
        ragged_types.feature_list_ragged_value_types,
        ragged_types.feature_list_ragged_split_types,
        strict=True,
    )
    of_lists = [_ragged_steps(_steps(examples, key, type, True), type, splits) for key, type, splits in told]
    ragged_rows = [[part[i] for part in of_rows] for i in range(2)]
    ragged_lists = [[part[i] for part in of_lists] for i in range(3)]
    if serialized.ndim == 0:
        of_context, of_steps = _of_one(of_context), _of_one(of_steps)
        ragged_rows[1] = [np.zeros((), splits.dtype) for splits in ragged_rows[1]]
        ragged_lists[1] = [np.zeros((), splits.dtype) for splits in ragged_lists[1]]
    return *of_context, *ragged_rows, *of_steps, *ragged_lists


def _of_one(parts: list[Arrays]) -> list[Arrays]:
    """Outputs of one example, without the axis of examples: sparse ones, the dense one, and counts."""
    indices, values, shapes, dense, *counts = parts
    without = [[x[:, 1:] for x in indices], values, [x[1:] for x in shapes], [x[0] for x in dense]]
    return [*without, *([x[0] for x in count] for count in counts)]


REGISTRATIONS = (
    kernel("ParseSequenceExample", parse_sequence_example),
    kernel("ParseSequenceExampleV2", parse_sequence_example_v2),
)
