"""Files of ../shared that tests of the graph IR read; a checkout without them skips those tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..shared_folder import SHARED

TFG = SHARED / "tfg"
GRAPHIR = SHARED / "convert" / "graphir"

needs_tfg = pytest.mark.skipif(not TFG.is_dir(), reason="needs ../shared/tfg")
needs_graphir = pytest.mark.skipif(not GRAPHIR.is_dir(), reason="needs ../shared/convert/graphir")


def tfg_files(kind: str, folder: str = "") -> list[str]:
    """Files of a kind in ../shared/tfg, empty without it."""
    return [e["file"] for e in _index(TFG) if e["kind"] == kind and e["file"].startswith(folder)]


def tfg_entry(file: str) -> dict[str, Any]:
    return next(entry for entry in _index(TFG) if entry["file"] == file)


def graphir_entries(valid: bool) -> list[dict[str, Any]]:
    """Entries of ../shared/convert/graphir, empty without it."""
    return [entry for entry in _index(GRAPHIR) if entry["valid"] == valid]


def _index(folder: Path) -> list[dict[str, Any]]:
    path = folder / "index.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
