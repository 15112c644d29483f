"""Fixtures that tests of several folders share."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from .shared_folder import SHARED

# Tests look at how models are prepared: what an earlier run has kept must not stand in for it. Children, too.
os.environ["NUMLITE_PREPARED"] = "off"

# Tables are whole where nobody says how wide a line is; pytest's workers say so.
os.environ.pop("COLUMNS", None)

# No test asserts a time: neither how long an example takes, nor how long one is drawn.
settings.register_profile("numlite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("numlite")

MOST_WORKERS = 8  # of some 900 MB each


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """What `pytest -n auto` starts: a worker a processor, while memory allows it."""
    return min(os.cpu_count() or 1, MOST_WORKERS)


SHARED_MODELS = SHARED / "models"
MODEL_PATHS = sorted(SHARED_MODELS.glob("*.tflite"))


@pytest.fixture
def litert() -> Any:
    """ai_edge_litert.interpreter; skips where it is not installed."""
    if find_spec("ai_edge_litert") is None:
        pytest.skip("ai-edge-litert is not installed")
    return import_module("ai_edge_litert.interpreter")


@pytest.fixture(params=MODEL_PATHS or [None], ids=lambda path: path.stem if path else "none")
def model_path(request: pytest.FixtureRequest) -> Path:
    """Each of the real models beside the repository; skips where there are none."""
    if request.param is None:
        pytest.skip("no ../shared/models beside the repository")
    path: Path = request.param
    return path
