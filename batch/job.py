"""Job: a model over parts, whose results are a parquet file for each; what is written stays done."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
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
        """A new one, or one that is gone on with; StateError where the folder holds results of another."""
        hashed = hashlib.sha256(Path(predictor.model).read_bytes())
        hashed.update(json.dumps([settings, [_described(part) for part in parts]]).encode())
        digest = hashed.hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        manifest = folder / _MANIFEST
        if manifest.exists():
            if json.loads(manifest.read_text()).get("digest") != digest:
                raise StateError(
                    f"{folder}: holds results of another model, other settings or other rows: choose another"
                )
        elif any(folder.glob("*.parquet")):
            raise StateError(f"{folder}: must be empty, or hold the first part of the same results")
        else:
            _write(manifest, json.dumps({"format": 1, "digest": digest, "parts": len(parts)}).encode())
        return cls(predictor, folder, digest)

    def is_done(self, part: Part) -> bool:
        return self._path(part).exists()

    def do(self, part: Part) -> PartResult:
        """Compute a part and write it, whole or not at all; of one that is there, its counts."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        path = self._path(part)
        if path.exists():
            errors = pq.read_table(path, columns=[ERROR]).column(ERROR)
        else:
            table = self._results(_predictors.setdefault(self.digest, self.predictor), part)
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            pq.write_table(table, temporary, use_dictionary=_repeating(table.schema))
            os.replace(temporary, path)
            errors = table.column(ERROR)
        return PartResult(part.number, part.rows, pc.sum(pc.is_valid(errors)).as_py() or 0)

    def _results(self, predictor: Predictor, part: Part) -> pyarrow.Table:
        import pyarrow as pa

        if part.is_table:
            return predictor(part.table())
        rows = predictor.rows
        columns = part.columns(rows.inputs)
        outputs, errors = predictor.computed({name: columns[name] for name in rows.inputs}, part.rows)
        arrays = {name: arrow_column(cells, *rows.output_types[name]) for name, cells in outputs.items()}
        return pa.table({FILE: columns[FILE], **arrays, ERROR: pa.array(errors, pa.string())})

    def _path(self, part: Part) -> Path:
        return self.folder / f"part-{part.number:06}.parquet"


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
