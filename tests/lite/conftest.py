"""A cache for prepared models, and a model that is worth keeping."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from numlite.kernels.compiled.driver.library import Library
from numlite.lite import prepared_model, prepared_models
from numlite.lite.prepared_start import PreparedStart
from numlite.lite.private_file import CodePlace

from .prepared_files import layers


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for prepared models only, which also takes files that have changed just now."""
    place = tmp_path / "cache"
    place.mkdir(0o700)
    monkeypatch.delenv("NUMLITE_PREPARED")
    monkeypatch.setattr(prepared_models, "JUST_NOW_NS", 0)
    monkeypatch.setattr(Library, "place", staticmethod(lambda: CodePlace(str(place), "state")))
    return place


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "model.tflite"
    file.write_bytes(layers())
    return str(file)


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets an entry whenever a graph is restored, or run from its start."""
    seen = list[int]()
    restore, allocate = prepared_model.restore, PreparedStart._allocate

    def counted(graph: Any, mapped: Any, arena: Any = None) -> None:
        restore(graph, mapped, arena)
        if arena is None:
            seen.append(graph.index)

    def counted_start(start: PreparedStart) -> bool:
        is_done = allocate(start)
        seen.extend([0] * is_done)
        return is_done

    monkeypatch.setattr(prepared_model, "restore", counted)
    monkeypatch.setattr(PreparedStart, "_allocate", counted_start)
    return seen
