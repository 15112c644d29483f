"""What tests of `numlite map` share."""

from __future__ import annotations

from pathlib import Path

import pytest

from .batch_models import classifier


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A file of the classifier."""
    path = tmp_path / "model.tflite"
    path.write_bytes(classifier())
    return path
