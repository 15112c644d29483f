"""Predictor: one model applied to batch after batch, for Ray Data, Spark and plain loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lite.errors import InvokeError, ModelError, UnsupportedError
from .forms import ERROR, Batch, Cells, columns_of, result_of

if TYPE_CHECKING:
    from .model_rows import ModelRows

SIZES = (1, 2, 4, 8, 16, 32, 64)


class Predictor:
    """A function from batches to batches: each row's outputs beside the columns that are no inputs.

        ds.map_batches(Predictor, fn_constructor_args=("model.tflite",), concurrency=4)  # Ray Data
        df.mapInArrow(Predictor("model.tflite"), "id long, scores array<float>, error string")  # Spark

    A batch is a dictionary of NumPy arrays, an Arrow table or record batch, or a pandas frame, and so is the
    result, with its rows in the same order. Given an iterator of batches it returns one, as Spark wants it. A
    cell is a number, an array, a (nested) list, or a file's bytes where the input takes pictures. A row that
    cannot be computed has the reason in the column `error` and null (zeros in arrays) in the outputs.

    The model is opened when the first batch comes, and mapped: processes of one machine share its weights.
    Rows are run together where the model leaves the first size of its inputs open, in batches of one of
    batch_sizes, else one by one. columns names the batch's column for an input where it is not the input's
    name; keep the columns to hand on (by default all that are no inputs). signature, threads, reference,
    delegate and its options are as for Interpreter.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        columns: Mapping[str, str] | None = None,
        keep: Sequence[str] | None = None,
        signature: str | None = None,
        batch_sizes: Sequence[int] = SIZES,
        threads: int = 1,
        reference: bool = False,
        delegate: str | None = None,
        delegate_options: Mapping[str, str] | None = None,
    ) -> None:
        if not batch_sizes or min(batch_sizes) < 1:
            raise ValueError(f"batch_sizes: must be positive numbers, got {list(batch_sizes)}")
        self.model = str(model)
        self._columns = dict(columns or {})
        self._keep = None if keep is None else list(keep)
        self._sizes = tuple(sorted({1, *batch_sizes}))
        self._settings: dict[str, Any] = {
            "signature": signature,
            "threads": threads,
            "reference": reference,
            "delegate": delegate,
            "delegate_options": dict(delegate_options or {}),
        }
        self._rows: ModelRows | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the interpreter: each process opens its own."""
        return {**self.__dict__, "_rows": None}

    def __call__(self, batch: Batch) -> Batch:
        """The results of one batch, or of an iterator of them.

        Raises ValueError where the batch lacks an input's column, and what opening the model raises.
        """
        if isinstance(batch, Iterator):
            return map(self._apply, batch)
        return self._apply(batch)

    @property
    def rows(self) -> ModelRows:
        """The model, opened."""
        if self._rows is None:
            from .model_rows import ModelRows

            self._rows = ModelRows(self.model, **self._settings)
        return self._rows

    def check(self) -> None:
        """Open the model, so that what is wrong with it or the settings is told now; and close it again."""
        unknown = sorted(set(self._columns).difference(self.rows.inputs))
        if unknown:
            raise ValueError(f"columns: must be for inputs, {', '.join(self.rows.inputs)}, got {unknown}")
        self._rows = None

    def _apply(self, batch: Batch) -> Batch:
        columns = columns_of(batch)
        taken = {name: self._column_of(name, columns) for name in self.rows.inputs}
        inputs = {name: columns[column] for name, column in taken.items()}
        kept = [c for c in columns if c not in taken.values()] if self._keep is None else self._keep
        missing = [name for name in kept if name not in columns]
        if missing:
            raise ValueError(f"keep: must be columns of the batch, {', '.join(columns)}, got {missing}")
        clashing = [name for name in kept if name in self.rows.outputs or name == ERROR]
        if clashing:
            raise ValueError(f"columns {clashing} have names of results: rename them, or say what to keep")
        outputs, errors = self.computed(inputs, len(next(iter(columns.values()), ())))
        return result_of(batch, kept, outputs, self.rows.output_types, errors)

    def _column_of(self, name: str, columns: Mapping[str, Cells]) -> str:
        column = self._columns.get(name, name)
        if column not in columns and name not in self._columns and len(self.rows.inputs) == len(columns) == 1:
            return next(iter(columns))
        if column not in columns:
            raise ValueError(
                f"input {name!r}: no column {column!r} in the batch, which has "
                f"{', '.join(map(repr, columns))}; columns={{input: column}}, or --column of "
                "`numlite map`, names another"
            )
        return column

    def computed(
        self, inputs: Mapping[str, Cells], count: int
    ) -> tuple[dict[str, list[np.ndarray | None]], list[str | None]]:
        """Each row's outputs by name, or why there are none. Inputs are held for rows that run together."""
        errors: list[str | None] = [None] * count
        outputs: dict[str, list[np.ndarray | None]] = {name: [None] * count for name in self.rows.outputs}
        for group in self.rows.grouped(self._values(inputs, errors), self._sizes):
            for place, found in self._run(group, errors).items():
                for name, array in found.items():
                    outputs[name][place] = array
        return outputs, errors

    def _values(
        self, inputs: Mapping[str, Cells], errors: list[str | None]
    ) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """The rows that can be read, by number, each read when it is asked for."""
        for place in range(len(errors)):
            try:
                row = {name: self.rows.value(name, cells[place]) for name, cells in inputs.items()}
            except (ModelError, UnsupportedError, ValueError, TypeError) as error:
                errors[place] = str(error)
            else:
                yield place, row

    def _run(
        self, group: Mapping[int, Mapping[str, np.ndarray]], errors: list[str | None]
    ) -> dict[int, dict[str, np.ndarray]]:
        """Results of rows that run together; where that fails, of each on its own."""
        try:
            return dict(zip(group, self.rows.run(list(group.values())), strict=True))
        except (InvokeError, RuntimeError, ValueError) as error:
            if len(group) == 1:
                errors[next(iter(group))] = str(error)
                return {}
        found: dict[int, dict[str, np.ndarray]] = {}
        for place, row in group.items():
            found |= self._run({place: row}, errors)
        return found
