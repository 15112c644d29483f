"""Samples of files: an .npy is read row by row, and others give the same."""

from pathlib import Path

import numpy as np
import pytest
from numlite.cli import calibration_data
from numlite.cli.calibration_data import StoredRows, read_samples
from numlite.schema import tflite

from ..model_builder import ModelBuilder

SHAPE = (1, 5, 3)
ROWS = np.random.default_rng(0).normal(size=(7, *SHAPE[1:])).astype(np.float32)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    made = ModelBuilder()
    x, y = made.tensor(SHAPE, name="x"), made.tensor(SHAPE, name="y")
    made.op(tflite.BuiltinOperator.RELU, [x], [y])
    path = tmp_path / "model.tflite"
    path.write_bytes(made.build([x], [y]))
    return path


@pytest.mark.parametrize("rows", [ROWS, ROWS[:, None], ROWS.astype(np.float64), ROWS[:1], ROWS[:0]])
def test_rows_of_an_npy(model: Path, rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    single, named = model.with_name("rows.npy"), model.with_name("rows.npz")
    np.save(single, rows)
    np.savez(named, x=rows)
    expected = list(read_samples(model, named))
    monkeypatch.setattr(calibration_data, "read_inputs", None)  # reads a file as a whole
    found = list(read_samples(model, single))
    assert len(found) == len(expected) == len(rows)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours["x"].shape == SHAPE
        np.testing.assert_array_equal(ours["x"], theirs["x"])


@pytest.mark.parametrize("kind", ["by columns", "cut off", "longer", "one number", "no array", "newer"])
def test_what_is_not_read_by_rows(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, {"by columns": np.asfortranarray(ROWS), "one number": ROWS[0, 0, 0]}.get(kind, ROWS))
    if kind == "newer":
        with path.open("wb") as file:
            np.lib.format.write_array(file, ROWS, (2, 0))
    content = path.read_bytes()
    path.write_bytes(
        {"cut off": content[:-1], "longer": content + b"0", "no array": b"rows"}.get(kind, content)
    )
    assert StoredRows.of(path) is None
    assert StoredRows.of(tmp_path / "missing.npy") is None


def test_other_files_are_read_as_a_whole(model: Path) -> None:
    path = model.with_name("rows.npy")
    np.save(path, np.asfortranarray(ROWS))
    assert [sample["x"].shape for sample in read_samples(model, path)] == [SHAPE] * len(ROWS)
