"""The oldest runtime that knows a model's operators."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ..schema.tflite import BuiltinOperator

# A line for each operator: its name, then the release that brought each of its versions, "-" for none.
# Source: LiteRT tflite/converter/tools/versioning/runtime_version.cc.
DATA_FILE = Path(__file__).with_name("runtime_versions.txt")


def runtime_version(codes: Iterable[tuple[int, int]]) -> str:
    """The release of TensorFlow that first ran all operators (code, version); "" when none is known."""
    table = _table()
    return max((table[code] for code in codes if code in table), key=_parts, default="")


@lru_cache(1)
def _table() -> dict[tuple[int, int], str]:
    found = {}
    for line in DATA_FILE.read_text().splitlines():
        name, *releases = line.split()
        for version, release in enumerate(releases, 1):
            if release != "-":
                found[int(BuiltinOperator[name]), version] = release
    return found


def _parts(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
