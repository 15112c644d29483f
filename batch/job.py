"""Job: a model over parts, whose results are a parquet file for each; what is written stays done."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..lite.errors import StateError
from .forms import ERROR, arrow_column
from .parts import FILE, Part

if TYPE_CHECKING:
    import pyarrow

    from .predictor import Predictor

_MANIFEST = "_numlite.json"
_HOUR_S = 3600


class PartResult(NamedTuple):
    """A part that is done: its rows, and how many of them have an error."""

    number: int
    rows: int
    failed: int


# Of this process, by the job's digest: a worker opens its model once.
_predictors: dict[str, Predictor] = {}


@dataclass(frozen=True)
class Job:
    """digest names what is computed: from the model's bytes, the settings and the parts."""

    predictor: Predictor
    folder: Path
    digest: str

    @classmethod
    def begun(cls, predictor: Predictor, folder: Path, parts: Sequence[Part], settings: Any) -> Job:
        """A new one, or one that is gone on with; StateError where the folder holds results of another.

        One that ended before it had any leaves the folder to the next.
        """
        hashed = hashlib.sha256(Path(predictor.model).read_bytes())
        hashed.update(json.dumps([settings, [_described(part) for part in parts]]).encode())
        digest = hashed.hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        holder = _holder(folder)
        if holder != digest:
            if any(folder.glob("*.parquet")):
                raise (
                    _other(folder)
                    if holder
                    else StateError(f"{folder}: must be empty, or hold parts of the same results")
                )
            content = json.dumps({"format": 1, "digest": digest, "parts": len(parts)}).encode()
            _write(folder / _MANIFEST, content)
        _remove_leftovers(folder)
        return cls(predictor, folder, digest)

    def is_done(self, part: Part) -> bool:
        """Whether its file is there and whole, which it may not be after the machine has lost power."""
        import pyarrow.parquet as pq

        path = self._path(part)
        try:
            return path.exists() and bool(pq.read_metadata(path).num_rows == part.rows)
        except Exception:  # Arrow's own types
            return False

    def do(self, part: Part) -> PartResult:
        """Compute a part and write it, whole or not at all; of one that is there, its counts.

        Raises OSError, which names the file, where it cannot be written, and StateError where the folder has
        become another job's.
        """
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        if self.is_done(part):
            errors = pq.read_table(self._path(part), columns=[ERROR]).column(ERROR)
        else:
            table = self._results(_predictors.setdefault(self.digest, self.predictor), part)
            self._write(table, self._path(part))
            errors = table.column(ERROR)
        return PartResult(part.number, part.rows, pc.sum(pc.is_valid(errors)).as_py() or 0)

    def _write(self, table: pyarrow.Table, path: Path) -> None:
        import pyarrow.parquet as pq

        if _holder(self.folder) not in (None, self.digest):
            raise _other(self.folder)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            pq.write_table(table, temporary, use_dictionary=_repeating(table.schema))
            os.replace(temporary, path)
        except OSError as error:
            raise OSError(error.errno, str(error), str(path)) from error
        finally:
            temporary.unlink(missing_ok=True)

    def _results(self, predictor: Predictor, part: Part) -> pyarrow.Table:
        import pyarrow as pa

        if part.is_table:
            table, damage = part.table()
            try:
                found = predictor(table)
            except ValueError as error:
                raise ValueError(f"{part.root / part.files[0]}: {error}") from error
            if damage is None:
                return found
            return found.set_column(found.num_columns - 1, ERROR, pa.array([damage] * part.rows, pa.string()))
        rows = predictor.rows
        columns = part.columns(rows.inputs)
        outputs, errors = predictor.computed({name: columns[name] for name in rows.inputs}, part.rows)
        arrays = {name: arrow_column(cells, *rows.output_types[name]) for name, cells in outputs.items()}
        return pa.table({FILE: columns[FILE], **arrays, ERROR: pa.array(errors, pa.string())})

    def _path(self, part: Part) -> Path:
        return self.folder / f"part-{part.number:06}.parquet"


def _holder(folder: Path) -> str | None:
    """The digest of the job whose results the folder is for; StateError where what says it is damaged."""
    manifest = folder / _MANIFEST
    if not manifest.exists():
        return None
    try:
        return str(json.loads(manifest.read_text())["digest"])
    except (ValueError, KeyError, TypeError) as error:
        raise StateError(f"{manifest}: is damaged: choose another folder, or empty this one") from error


def _other(folder: Path) -> StateError:
    return StateError(
        f"{folder}: holds results of another model, other settings or other rows: choose another folder"
    )


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed workers had not written to the end, once it is an hour old."""
    for path in folder.glob(".part-*.parquet.*"):
        with suppress(OSError):  # another run may be doing the same
            if path.stat().st_mtime < time.time() - _HOUR_S:
                path.unlink()


def _repeating(schema: pyarrow.Schema) -> list[str]:
    """The columns that a dictionary may make smaller, as parquet names them: not those of floats."""
    import pyarrow as pa

    found = []
    for field in schema:
        path, kind = field.name, field.type
        while pa.types.is_list(kind):
            path, kind = f"{path}.list.element", kind.value_type
        if not pa.types.is_floating(kind):
            found.append(path)
    return found


def _described(part: Part) -> list[Any]:
    """What tells a part from others: also a file that has changed since."""
    states = [(part.root / name).stat() for name in part.files]
    files = [(n, s.st_size, s.st_mtime_ns) for n, s in zip(part.files, states, strict=True)]
    return [part.begin, part.end, files]


def _write(path: Path, content: bytes) -> None:
    from ..lite.whole_file import write_whole

    write_whole(path, [content])
