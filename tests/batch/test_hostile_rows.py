"""`numlite map` on damaged and odd sources, in folders of others, and where its processes are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from numlite.batch import Predictor
from numlite.batch.engines import _end_with_parent
from numlite.batch.job import Job
from numlite.batch.parts import cut
from numlite.lite.errors import StateError

from .batch_models import brightness, expected
from .test_map import results, run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

X = np.random.default_rng(6).integers(-9, 9, (40, 3)).astype(np.float32)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """40 rows in row groups of 10, whose bytes stand in the file as they are."""
    path = tmp_path / "rows.parquet"
    table = pa.table({"id": list(range(40)), "x": pa.array(X.tolist(), pa.list_(pa.float32()))})
    pq.write_table(table, path, row_group_size=10, compression="none", use_dictionary=False)
    return path


def damage(path: Path, group: int, column: int) -> None:
    """Overwrite the header of the column's page in that row group."""
    begin = pq.read_metadata(path).row_group(group).column(column).data_page_offset
    content = bytearray(path.read_bytes())
    content[begin : begin + 8] = b"\xff" * 8
    path.write_bytes(content)


@pytest.mark.parametrize("column", [0, 1], ids=["a column that is kept", "an input"])
def test_a_damaged_part_is_told_row_by_row(model: Path, rows: Path, tmp_path: Path, column: int) -> None:
    damage(rows, group=2, column=column)
    done = tmp_path / "done"
    assert run(model, "--input", rows, "--output", done, "--workers", 1, "--part-rows", 10) == 0
    found = results(done)
    assert [row["id"] for row in found] == [None if column == 0 and 20 <= n < 30 else n for n in range(40)]
    for n, row in enumerate(found):
        if 20 <= n < 30:
            assert row["error"].startswith("rows.parquet, rows 20 to 30: ")
            assert (row["scores"] is None) == (column == 1)
        else:
            np.testing.assert_array_equal(np.float32(row["scores"]), expected(X[n : n + 1])[0])
            assert row["error"] is None


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (pa.array([[1.0, None, 3.0]]), "the cell has a null among its elements"),
        (pa.array(["text"]), "must be float32, got text"),
        (pa.array([{"a": 1.0}]), "must be float32, got other objects"),
        (pa.array([[1e300, 0.0, 0.0]]), "values must fit float32"),
    ],
    ids=["a null in a list", "text", "objects", "larger than its type"],
)
def test_cells_that_are_no_numbers(
    model: Path, cells: object, said: str, recwarn: pytest.WarningsRecorder
) -> None:
    found = Predictor(model)(pa.table({"x": cells}))
    assert found.column("scores").to_pylist() == [None]
    assert said in found.column("error")[0].as_py()
    assert not recwarn.list


def test_infinities_and_nan_are_numbers(model: Path) -> None:
    found = Predictor(model)(pa.table({"x": [[float("inf"), 0.0, 0.0], [float("nan"), 0.0, 0.0]]}))
    assert found.column("error").null_count == 2


def test_pictures_that_are_none_have_the_same_error_each_time(tmp_path: Path) -> None:
    """No address of an object stands in it, which each process has another of."""
    pytest.importorskip("PIL")
    path = tmp_path / "m.tflite"
    path.write_bytes(brightness())
    errors = Predictor(path)(pa.table({"image": [b"junk", b"junk of another length"]})).column("error")
    assert (
        errors[0].as_py()
        == errors[1].as_py()
        == "not a picture that Pillow reads: of no format that it knows"
    )


def test_columns_of_one_name(model: Path) -> None:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([[1.0, 2.0, 3.0]])], names=["id", "id", "x"])
    with pytest.raises(ValueError, match="columns: must have a name each, got several of 'id'"):
        Predictor(model)(table)


def test_a_first_mistake_does_not_keep_the_folder(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, done = tmp_path / "rows.parquet", tmp_path / "done"
    pq.write_table(pa.table({"id": range(3), "features": X[:3].tolist()}), source)
    arguments = [model, "--input", source, "--output", done, "--workers", 1]
    assert run(*arguments) == 1
    assert "rows.parquet: input 'x': no column 'x'" in capsys.readouterr().err
    assert run(*arguments, "--column", "x=features") == 0
    assert [row["id"] for row in results(done)] == [0, 1, 2]


def test_two_jobs_in_one_folder_do_not_mix(model: Path, rows: Path, tmp_path: Path) -> None:
    """The first has no part yet when the second begins."""
    parts, done = cut(rows, 10), tmp_path / "done"
    first = Job.begun(Predictor(model), done, parts, {})
    second = Job.begun(Predictor(model, keep=[]), done, parts, {"keep": []})
    second.do(parts[0])
    with pytest.raises(StateError, match="holds results of another model"):
        first.do(parts[1])
    assert [path.name for path in done.glob("*part*")] == ["part-000000.parquet"]


@pytest.mark.parametrize("content", ["{", "[1]", "{}"])
def test_a_damaged_note_of_the_job(model: Path, rows: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "_numlite.json").write_text(content)
    with pytest.raises(StateError, match=r"_numlite\.json: is damaged"):
        Job.begun(Predictor(model), tmp_path / "done", cut(rows, 10), {})


def test_a_part_that_is_cut_short_is_done_again(
    model: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = tmp_path / "done"
    arguments = [model, "--input", rows, "--output", done, "--workers", 1, "--part-rows", 10, "--json"]
    assert run(*arguments) == 0
    whole = (done / "part-000001.parquet").read_bytes()
    (done / "part-000001.parquet").write_bytes(b"")
    (done / "part-000002.parquet").write_bytes(whole[:-9])
    capsys.readouterr()
    assert run(*arguments) == 0
    assert json.loads(capsys.readouterr().out)["computed_rows"] == 20
    assert (done / "part-000001.parquet").read_bytes() == whole
    assert [row["id"] for row in results(done)] == list(range(40))


def test_a_part_that_cannot_be_written_is_named_and_leaves_nothing(
    model: Path, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(table: object, path: Path, **options: object) -> None:
        path.write_bytes(b"PAR1")
        raise OSError(28, "No space left on device")

    parts = cut(rows, 10)
    job = Job.begun(Predictor(model), tmp_path / "done", parts, {})
    with monkeypatch.context() as patch:
        patch.setattr(pq, "write_table", full)
        with pytest.raises(OSError, match=r"No space left on device.*part-000000\.parquet"):
            job.do(parts[0])
    assert sorted(path.name for path in job.folder.iterdir()) == ["_numlite.json"]
    assert job.do(parts[0]).rows == 10


def test_what_killed_workers_leave_goes_an_hour_later(model: Path, rows: Path, tmp_path: Path) -> None:
    folder = tmp_path / "done"
    folder.mkdir()
    old, new = folder / ".part-000000.parquet.12", folder / ".part-000001.parquet.13"
    for path, age in ((old, 4000), (new, 0)):
        path.write_bytes(b"PAR1")
        os.utime(path, (time.time() - age,) * 2)
    Job.begun(Predictor(model), folder, cut(rows, 10), {})
    assert not old.exists() and new.exists()


def test_results_among_the_rows_are_refused(
    model: Path, rows: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows.with_name("in").mkdir()
    rows = rows.rename(rows.parent / "in" / "rows.parquet")
    for output in (rows.parent, rows.parent / "deep" / "out"):
        assert run(model, "--input", rows.parent, "--output", output) == 2
        assert "--output: must lie outside of --input" in capsys.readouterr().err
    assert [path.name for path in rows.parent.iterdir()] == ["rows.parquet"]


def test_workers_end_with_the_command_that_is_killed(tmp_path: Path) -> None:
    program = "from tests.batch.test_hostile_rows import hold_workers; hold_workers()"
    checkout = str(Path(__file__).parents[2])
    paths: Sequence[str] = [checkout, *filter(None, [os.getenv("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as held:
        assert held.stdout is not None
        held.stdout.readline()
        held.send_signal(signal.SIGKILL)
        # The workers have this pipe's other end, too: it ends when the last of them has.
        assert held.stdout.read() == ""


def hold_workers() -> None:
    """Two workers that have nothing to do, until this process is killed."""
    with ProcessPoolExecutor(2, get_context("spawn"), _end_with_parent) as pool:
        list(pool.map(abs, range(8)))
        print("held", flush=True)
        time.sleep(600)
