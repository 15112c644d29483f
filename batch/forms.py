"""Batches as engines hand them over: dictionaries of NumPy arrays, Arrow tables, pandas frames."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# What was given is given back; Arrow and pandas are looked up only where a caller has imported them.
Batch = Any
Cells = Sequence[Any] | np.ndarray

ERROR = "error"


def columns_of(batch: Batch) -> dict[str, Cells]:
    """The columns by name, each with a cell for every row: numbers, arrays, nested lists, bytes, None.

    TypeError for what is no batch, ValueError where columns share a name.
    """
    if isinstance(batch, Mapping):
        return dict(batch)
    arrow, pandas = sys.modules.get("pyarrow"), sys.modules.get("pandas")
    if arrow is not None and isinstance(batch, arrow.Table | arrow.RecordBatch):
        _check_names(batch.schema.names)
        return {name: _cells(batch.column(name)) for name in batch.schema.names}
    if pandas is not None and isinstance(batch, pandas.DataFrame):
        _check_names([str(name) for name in batch.columns])
        return {str(name): batch[name].to_numpy() for name in batch.columns}
    raise TypeError(
        f"batch: must be a dictionary of arrays, an Arrow table or a pandas frame, got {type(batch).__name__}"
    )


def _check_names(names: Sequence[str]) -> None:
    shared = sorted({name for name in names if names.count(name) > 1})
    if shared:
        raise ValueError(f"columns: must have a name each, got several of {', '.join(map(repr, shared))}")


def _cells(column: Any) -> Cells:
    """An Arrow column as an array where its rows are numbers, or lists of one length without a null."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    lengths, values = [len(column)], column
    while isinstance(values, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray) and len(values):
        inner = values.flatten()
        length = len(inner) // len(values)
        if values.null_count or any(n.as_py() != length for n in values.value_lengths().unique()):
            return list(column.to_pylist())
        lengths.append(length)
        values = inner
    if values.null_count or not (pa.types.is_primitive(values.type) or pa.types.is_boolean(values.type)):
        return list(column.to_pylist())
    found: np.ndarray = values.to_numpy(zero_copy_only=False).reshape(lengths)
    return found


def result_of(
    batch: Batch,
    kept: Sequence[str],
    outputs: Mapping[str, Sequence[np.ndarray | None]],
    types: Mapping[str, tuple[np.dtype, int]],
    errors: Sequence[str | None],
) -> Batch:
    """A batch of the given one's form: its kept columns, the outputs, and the column `error`.

    A row that has failed has its reason there and null in the outputs; a dictionary of arrays has zeros.
    """
    if isinstance(batch, Mapping):
        made = {name: _stacked(rows, *types[name]) for name, rows in outputs.items()}
        return {**{name: batch[name] for name in kept}, **made, ERROR: np.array([e or "" for e in errors])}
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(batch, arrow.Table | arrow.RecordBatch):
        names = [*kept, *outputs, ERROR]
        columns = [batch.column(name) for name in kept]
        columns += [arrow_column(rows, *types[name]) for name, rows in outputs.items()]
        return type(batch).from_arrays([*columns, arrow.array(errors, arrow.string())], names=names)
    import pandas as pd

    made = {
        name: _objects([None if r is None else _plain(r) for r in rows]) for name, rows in outputs.items()
    }
    frame = pd.DataFrame({**made, ERROR: _objects(list(errors))}, index=batch.index)
    return pd.concat([batch[list(kept)], frame], axis=1)


def _stacked(rows: Sequence[np.ndarray | None], dtype: np.dtype, rank: int) -> np.ndarray:
    shapes = {row.shape for row in rows if row is not None}
    if len(shapes) > 1:
        return _objects(list(rows))
    shape = shapes.pop() if shapes else (0,) * rank
    if dtype.kind not in "iufbc":
        return _objects(list(rows))
    found = np.zeros((len(rows), *shape), dtype)
    for place, row in enumerate(rows):
        if row is not None:
            found[place] = row
    return found


def _objects(cells: list[Any]) -> np.ndarray:
    found = np.empty(len(cells), object)
    for place, cell in enumerate(cells):
        found[place] = cell
    return found


def _plain(row: np.ndarray | None) -> Any:
    """A cell of a frame: a number, a vector, or nested lists."""
    if row is None:
        return None
    return row.item() if row.ndim == 0 else row if row.ndim == 1 else row.tolist()


def arrow_column(rows: Sequence[np.ndarray | None], dtype: np.dtype, rank: int) -> Any:
    """Numbers, or (nested) lists of them; null for rows that are None. Of strings their bytes."""
    import pyarrow as pa

    known = [row for row in rows if row is not None]
    element = pa.from_numpy_dtype(dtype) if dtype.kind in "iufb" else pa.binary()
    if dtype.kind not in "iufb" or rank == 0:
        kind = element
        for _ in range(rank):
            kind = pa.list_(kind)
        return pa.array([None if row is None else row.tolist() for row in rows], kind)
    values: Any = pa.array(np.concatenate([row.ravel() for row in known] or [np.zeros(0, dtype)]), element)
    for axis in range(rank - 1, 0, -1):
        counts = [np.full(int(np.prod(row.shape[:axis])), row.shape[axis]) for row in known]
        values = pa.ListArray.from_arrays(pa.array(_offsets(counts)), values)
    lengths = [np.array([0 if row is None else row.shape[0] for row in rows])]
    missing = pa.array([row is None for row in rows], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(_offsets(lengths)), values, mask=missing)


def _offsets(lengths: Sequence[np.ndarray]) -> np.ndarray:
    found: np.ndarray = np.cumsum(np.concatenate([[0], *lengths])).astype(np.int32)
    return found
