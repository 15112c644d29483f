"""Results as lines of JSON, each on disk before the next measurement begins."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

Value = str | int | float | bool | list[str] | None
Record = dict[str, Value]


class Records:
    """Appends to a file; several processes may, one after the other."""

    def __init__(self, path: Path, section: str, run: str) -> None:
        self.path, self._section, self._run = path, section, run

    def add(self, kind: str, **values: Value) -> None:
        """One line, on disk when this returns; it is printed, too."""
        record: Mapping[str, Value] = {"run": self._run, "section": self._section, "kind": kind, **values}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
        print(kind, " ".join(f"{name}={_short(value)}" for name, value in values.items()), flush=True)

    def begun(self) -> set[str]:
        """The units of this section that this run has begun, in whatever process."""
        return {
            str(record["unit"])
            for record in read_records(self.path)
            if (record["run"], record["section"], record["kind"]) == (self._run, self._section, "begin")
        }


def _short(value: Value) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def read_records(path: Path) -> list[Record]:
    """All lines but a last one that was cut short; none of a file that is not there."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records
