"""Parts: the rows of parquet files, or the files of a folder, cut into pieces that are done at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lite.errors import ModelError, UnsupportedError
from ..media import IMAGE_SUFFIXES

if TYPE_CHECKING:
    import pyarrow

_ARRAY_SUFFIXES = frozenset((".npy", ".npz"))
FILE = "file"  # the column that names a row's file


@dataclass(frozen=True)
class Part:
    """Rows begin to end of a parquet file; or files, each a row, whose names count from root."""

    number: int
    root: Path
    files: tuple[str, ...]
    begin: int = 0
    end: int = 0

    @property
    def is_table(self) -> bool:
        return self.end > 0

    @property
    def rows(self) -> int:
        return self.end - self.begin if self.is_table else len(self.files)

    def table(self) -> tuple[pyarrow.Table, str | None]:
        """The rows of a parquet file, read alone as far as its row groups allow, and what is damaged of them.

        Columns that cannot be read are null.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.root / self.files[0]
        with pq.ParquetFile(path) as file:
            groups: list[int] = []
            first = skipped = 0
            for group in range(file.num_row_groups):
                last = first + file.metadata.row_group(group).num_rows
                if first < self.end and last > self.begin:
                    skipped = first if not groups else skipped
                    groups.append(group)
                first = last
            try:
                return file.read_row_groups(groups).slice(self.begin - skipped, self.rows), None
            except Exception as error:  # Arrow's own types
                damage = f"{path.name}, rows {self.begin} to {self.end}: {error}"
            columns: dict[str, Any] = {}
            for field in file.schema_arrow:
                try:
                    read = file.read_row_groups(groups, columns=[field.name])
                    columns[field.name] = read.column(0).slice(self.begin - skipped, self.rows)
                except Exception:  # as above
                    columns[field.name] = pa.nulls(self.rows, field.type)
            return pa.table(columns), damage

    def columns(self, inputs: list[str]) -> dict[str, Any]:
        """The files as rows: their names, and a cell for each input, an error for what cannot be read."""
        columns: dict[str, list[Any]] = {FILE: list(self.files), **{name: [] for name in inputs}}
        for name in self.files:
            for key, cell in _cells(self.root / name, inputs).items():
                columns[key].append(cell)
        return columns


def _cells(path: Path, inputs: list[str]) -> dict[str, Any]:
    """What a file gives each input: the picture's path, or arrays by name (in_0, in_1 ... by place)."""
    if path.suffix.lower() in IMAGE_SUFFIXES:
        return dict.fromkeys(inputs, path)
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return dict.fromkeys(inputs, loaded)
        with loaded:
            arrays = {name: loaded[name] for name in loaded.files}
    except Exception as error:  # of a damaged file NumPy raises nearly anything
        return dict.fromkeys(inputs, ModelError(f"not a file of plain arrays: {error}"))
    found: dict[str, Any] = {}
    for place, name in enumerate(inputs):
        keys = [key for key in (name, f"in_{place}", f"arr_{place}") if key in arrays]
        missing = ModelError(f"input {name!r}: the file has only {', '.join(arrays) or 'nothing'}")
        found[name] = arrays[keys[0]] if keys else missing
    return found


def cut(source: Path, rows: int) -> list[Part]:
    """The parts of a parquet file, of a folder of them, or of a folder of pictures or arrays, in order.

    Each has at most that many rows. ModelError for a source that holds none, or files of several kinds.
    """
    if source.is_file():
        files = [source.name]
        root = source.parent
    else:
        root = source
        files = sorted(
            str(path.relative_to(source))
            for path in source.rglob("*")
            if path.is_file() and not any(part[:1] in "._" for part in path.relative_to(source).parts)
        )
    kinds = {_kind(name) for name in files}
    if len(kinds) != 1:
        named = sorted(kinds)
        what = " and ".join([*named[:3], "others"] if len(named) > 3 else named) or "nothing"
        raise ModelError(f"{source}: must hold parquet files, pictures or .npz and .npy arrays, got {what}")
    return list(_tables(root, files, rows) if kinds == {"parquet"} else _listed(root, files, rows))


def _kind(name: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix == ".parquet":
        return "parquet"
    if suffix in IMAGE_SUFFIXES:
        return "pictures"
    return "arrays" if suffix in _ARRAY_SUFFIXES else f"files like {Path(name).name!r}"


def _tables(root: Path, files: list[str], rows: int) -> Iterator[Part]:
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UnsupportedError("parquet needs pyarrow: pip install numlite[batch]") from error
    number = 0
    for name in files:
        try:
            count = pq.read_metadata(root / name).num_rows
        except Exception as error:  # Arrow's own types
            raise ModelError(f"{root / name}: {error}") from error
        for begin in range(0, count, rows):
            yield Part(number, root, (name,), begin, min(begin + rows, count))
            number += 1


def _listed(root: Path, files: list[str], rows: int) -> Iterator[Part]:
    if _kind(files[0]).startswith("files"):
        raise ModelError(f"{root}: must be a parquet file, or a folder of these, of pictures or of arrays")
    for number, begin in enumerate(range(0, len(files), rows)):
        yield Part(number, root, tuple(files[begin : begin + rows]))
