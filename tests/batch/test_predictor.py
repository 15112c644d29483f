"""Predictor on batches of each form: order, rows that fail, sizes, and what engines do with it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.batch import Predictor
from numlite.batch.model_rows import ModelRows

from .batch_models import classifier, expected, gather


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.tflite"
    path.write_bytes(classifier())
    return path


def page() -> dict[str, Any]:
    """The functions of docs/batch.md."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "batch.md").read_text()
    (code,) = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    names: dict[str, Any] = {"__name__": "page"}
    exec(code, names)
    return names


X = np.arange(21, dtype=np.float32).reshape(7, 3)


def test_arrays(model: Path) -> None:
    found = Predictor(model)({"x": X, "id": np.arange(7)})
    assert list(found) == ["id", "scores", "error"]
    np.testing.assert_array_equal(found["scores"], expected(X))
    np.testing.assert_array_equal(found["id"], np.arange(7))
    assert (found["error"] == "").all() and found["scores"].dtype == np.float32


@pytest.mark.parametrize("open_batch", [True, False], ids=["batched", "one by one"])
@pytest.mark.parametrize("sizes", [(1,), (4, 2), (64,)], ids=str)
def test_rows_run_in_the_sizes_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_batch: bool, sizes: tuple[int, ...]
) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(classifier(open_batch))
    ran: list[int] = []
    run = ModelRows.run
    monkeypatch.setattr(ModelRows, "run", lambda self, rows: ran.append(len(rows)) or run(self, rows))
    found = Predictor(path, batch_sizes=sizes)({"x": X})
    np.testing.assert_array_equal(found["scores"], expected(X))
    allowed = {(4, 2): [4, 2, 1]}.get(sizes, [1] * 7)
    assert ran == (allowed if open_batch else [1] * 7)


def test_no_more_rows_are_read_than_run_together(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of pictures would need a gigabyte."""
    told: list[str] = []
    value, run = ModelRows.value, ModelRows.run
    monkeypatch.setattr(ModelRows, "value", lambda *a: told.append("read") or value(*a))
    monkeypatch.setattr(ModelRows, "run", lambda *a: told.append("run") or run(*a))
    found = Predictor(model, batch_sizes=[2])({"x": X})
    np.testing.assert_array_equal(found["scores"], expected(X))
    assert told == ["read", "read", "run"] * 3 + ["read", "run"]


def test_rows_that_fail_are_told_and_the_others_run(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(gather())
    cells = np.array([1, 7, 0, None, 2, "text", 1.5, [1, 2]], object)
    found = Predictor(path)({"index": cells})
    assert found["picked"].tolist() == [20, 0, 10, 0, 30, 0, 0, 0]
    wrong = found["error"]
    assert [bool(text) for text in wrong] == [False, True, False, True, False, True, True, True]
    assert "GATHER" in wrong[1] and "null" in wrong[3] and "int32" in wrong[5]


def test_a_column_may_have_another_name(model: Path) -> None:
    found = Predictor(model, columns={"x": "features"}, keep=["id"])(
        {"features": X, "id": np.arange(7), "more": np.arange(7)}
    )
    assert list(found) == ["id", "scores", "error"]
    np.testing.assert_array_equal(Predictor(model)({"whatever": X})["scores"], expected(X))
    with pytest.raises(ValueError, match="no column 'x'"):
        Predictor(model)({"a": X, "b": X})
    with pytest.raises(ValueError, match="keep: must be columns"):
        Predictor(model, keep=["none"])({"x": X})
    with pytest.raises(ValueError, match="names of results"):
        Predictor(model)({"x": X, "scores": X})
    with pytest.raises(TypeError, match="batch: must be"):
        Predictor(model)([1, 2])


def test_it_can_be_sent_to_other_processes(model: Path) -> None:
    predictor = Predictor(model)
    predictor({"x": X})
    sent = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(sent({"x": X})["scores"], expected(X))


def test_the_page(model: Path) -> None:
    np.testing.assert_array_equal(page()["alone"](str(model), X)["scores"], expected(X))


def test_iterators_give_iterators(model: Path) -> None:
    results = list(Predictor(model)(iter([{"x": X[:2]}, {"x": X[2:]}])))
    np.testing.assert_array_equal(np.concatenate([r["scores"] for r in results]), expected(X))


def test_no_rows(model: Path) -> None:
    found = Predictor(model)({"x": X[:0]})
    assert len(found["scores"]) == len(found["error"]) == 0


@pytest.mark.parametrize("kind", ["list", "fixed size", "flat", "chunked"])
def test_arrow(model: Path, kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = pa.array(X.tolist(), pa.list_(pa.float32()))
    if kind == "fixed size":
        rows = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)
    column = pa.chunked_array([rows[:2], rows[2:]]) if kind == "chunked" else rows
    table = pa.table({"x": column, "id": list(range(7))})
    batch = table if kind in ("chunked", "flat") else table.to_batches()[0]
    found = Predictor(model)(batch)
    assert isinstance(found, type(batch)) and found.schema.names == ["id", "scores", "error"]
    assert found.column("scores").to_pylist() == expected(X).tolist()
    assert found.schema.field("scores").type == pa.list_(pa.float32())
    assert found.column("error").null_count == 7


def test_arrow_rows_that_fail_are_null(model: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for cells in ([[1, 2, 3], None, [1, 2], [4, 5, 6]], [None, None]):
        found = Predictor(model)(pa.table({"x": pa.array(cells, pa.list_(pa.float64()))}))
        good = [
            None if cell is None or len(cell) != 3 else expected(np.float32(cell)).tolist() for cell in cells
        ]
        assert found.column("scores").to_pylist() == good
        assert [e is None for e in found.column("error").to_pylist()] == [g is not None for g in good]
        assert found.schema.field("scores").type == pa.list_(pa.float32())


def test_pandas(model: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [*X, None], "id": range(8)}, index=range(10, 18))
    found = Predictor(model)(frame)
    assert list(found.columns) == ["id", "scores", "error"] and list(found.index) == list(range(10, 18))
    np.testing.assert_array_equal(np.stack(found["scores"][:7]), expected(X))
    assert found["scores"].iloc[7] is None and "null" in found["error"].iloc[7]


@pytest.mark.long
def test_ray_data(model: Path) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order, context.enable_progress_bars = True, False
        rows = [{"x": row, "id": n} for n, row in enumerate(np.tile(X, (20, 1)))]
        found = page()["by_ray"](str(model), ray.data.from_items(rows, override_num_blocks=4)).take_all()
    finally:
        ray.shutdown()
    assert [row["id"] for row in found] == list(range(140))
    np.testing.assert_array_equal([row["scores"] for row in found], expected(np.tile(X, (20, 1))))


@pytest.mark.long
@pytest.mark.parametrize("form", ["mapInArrow", "mapInPandas"])
def test_spark(model: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    import sys

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder: Any = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    try:
        frame = session.createDataFrame(
            [(n, row.tolist()) for n, row in enumerate(X)], "id int, x array<float>"
        )
        if form == "mapInArrow":
            found = page()["by_spark"](str(model), frame).collect()
        else:
            schema = "id int, scores array<float>, error string"
            found = frame.mapInPandas(Predictor(model), schema).collect()
    finally:
        session.stop()
    found.sort(key=lambda row: row["id"])
    np.testing.assert_array_equal([row["scores"] for row in found], expected(X))
    assert all(row["error"] is None for row in found)
