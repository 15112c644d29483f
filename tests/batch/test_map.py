"""`numlite map`: sources, results, rows that fail, restarts, workers that die, and the engines."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.batch.engines import ENGINES
from numlite.batch.job import Job
from numlite.batch.parts import Part, cut
from numlite.batch.predictor import Predictor
from numlite.cli.main import cli, run_command
from numlite.lite.errors import ModelError, StateError

from .batch_models import brightness, expected

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

X = np.random.default_rng(5).integers(-9, 9, (50, 3)).astype(np.float32)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """50 rows in two files of row groups of 8; the row 20 is null."""
    folder = tmp_path / "rows"
    folder.mkdir()
    cells = [None if n == 20 else row.tolist() for n, row in enumerate(X)]
    for name, part in (("a", slice(0, 30)), ("b", slice(30, 50))):
        table = pa.table({"id": list(range(50))[part], "x": pa.array(cells[part], pa.list_(pa.float32()))})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=8)
    return folder


def run(*arguments: object) -> int:
    return run_command(cli, ["map", *map(str, arguments)])


def results(folder: Path) -> list[dict[str, Any]]:
    return [row for path in sorted(folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist()]


def check(found: list[dict[str, Any]]) -> None:
    assert [row["id"] for row in found] == list(range(50))
    for n, row in enumerate(found):
        if n == 20:
            assert row["scores"] is None and "null" in row["error"]
        else:
            np.testing.assert_array_equal(np.float32(row["scores"]), expected(X[n : n + 1])[0])
            assert row["error"] is None


def test_parts_keep_order_and_cut_across_row_groups(rows: Path) -> None:
    parts = cut(rows, 7)
    assert [part.number for part in parts] == list(range(8)) and sum(part.rows for part in parts) == 50
    ids = [n for part in parts for n in part.table()[0].column("id").to_pylist()]
    assert ids == list(range(50))


@pytest.mark.parametrize(
    "engine", ["local", *(pytest.param(name, marks=pytest.mark.long) for name in ("ray", "spark"))]
)
def test_engines_give_the_same_bytes(
    model: Path, rows: Path, tmp_path: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if engine != "local":
        pytest.importorskip({"ray": "ray", "spark": "pyspark"}[engine])
    done = tmp_path / "done"
    assert (
        run(model, "--input", rows, "--output", done, "--engine", engine, "--workers", 2, "--part-rows", 9)
        == 0
    )
    assert "50 rows, 1 failed" in capsys.readouterr().out
    check(results(done))
    (tmp_path / "alone").mkdir()
    for part in cut(rows, 9):
        Job(Predictor(model), tmp_path / "alone", "alone").do(part)
    alone = sorted((tmp_path / "alone").glob("*.parquet"))
    assert [p.read_bytes() for p in alone] == [(done / p.name).read_bytes() for p in alone]


def test_what_is_written_stays_done(
    model: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = tmp_path / "done"
    arguments = [model, "--input", rows, "--output", done, "--workers", 1, "--part-rows", 20, "--json"]
    assert run(*arguments) == 0
    (done / "part-000001.parquet").unlink()
    before = {path.name: path.stat().st_mtime_ns for path in done.glob("*.parquet")}
    capsys.readouterr()
    assert run(*arguments) == 0
    told = json.loads(capsys.readouterr().out)
    page = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text()
    section = page.split("## `numlite map --json`")[1].split("##")[0]
    assert all(f"`{field}`" in section for field in told.keys() - {"schema", "command"})
    assert (told["rows"], told["failed"], told["computed_rows"], told["parts"]) == (50, 1, 10, 3)
    assert {name: (done / name).stat().st_mtime_ns for name in before} == before
    check(results(done))


def test_what_engines_print_is_no_result(
    model: Path,
    rows: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ray says on stdout when a worker of it dies."""

    def chatty(job: Job, parts: Any, workers: int) -> Any:
        for part in parts:
            print("(raylet) A worker died")
            yield job.do(part)

    monkeypatch.setitem(ENGINES, "ray", chatty)
    arguments = ["--input", rows, "--output", tmp_path / "done", "--engine", "ray", "--json"]
    assert run(model, *arguments) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["rows"] == 50 and "A worker died" in err


def test_results_of_others_are_not_mixed(
    model: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = tmp_path / "done"
    parts = cut(rows, 20)
    Job.begun(Predictor(model), done, parts, {}).do(parts[0])
    with pytest.raises(StateError, match="another model, other settings or other rows"):
        Job.begun(Predictor(model), done, parts, {"signature": "other"})
    with pytest.raises(StateError, match="other rows"):
        Job.begun(Predictor(model), done, cut(rows, 10), {})
    with pytest.raises(StateError, match="must be empty"):
        Job.begun(Predictor(model), rows, parts, {})


class KilledOnce(Job):
    """Kills its own process at the second part, the first time."""

    def do(self, part: Part) -> Any:
        mark = self.folder / "killed"
        if part.number == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().do(part)


class KilledAlways(Job):
    def do(self, part: Part) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(
    params=[
        "local",
        pytest.param("ray", marks=pytest.mark.long),
        pytest.param("spark", marks=pytest.mark.long),
    ]
)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One that can run here; its workers find the classes of this file."""
    name: str = request.param
    if name != "local":
        pytest.importorskip({"ray": "ray", "spark": "pyspark"}[name])
    checkout = str(Path(__file__).parents[2])
    monkeypatch.syspath_prepend(checkout)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([checkout, *filter(None, [os.getenv("PYTHONPATH")])]))
    return name


def test_a_worker_that_dies_loses_nothing(engine: str, model: Path, rows: Path, tmp_path: Path) -> None:
    parts = cut(rows, 10)
    begun = Job.begun(Predictor(model), tmp_path / "done", parts, {})
    job = KilledOnce(begun.predictor, begun.folder, begun.digest)
    done = list(ENGINES[engine](job, parts, 2))
    assert (begun.folder / "killed").exists()
    assert sorted(result.number for result in done) == [0, 1, 2, 3, 4]
    check(results(begun.folder))


@pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=pytest.mark.long) for name in ("ray", "spark")], indirect=True
)
def test_workers_that_lack_a_module_say_so(
    engine: str, model: Path, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As workers of a cluster do where numlite is not installed."""
    (tmp_path / "only_here.py").write_text("from numlite.batch.job import Job\nclass Here(Job): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    parts = cut(rows, 50)
    begun = Job.begun(Predictor(model), tmp_path / "done", parts, {})
    here = importlib.import_module("only_here")
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(tmp_path)])
    with pytest.raises(StateError, match=r"workers cannot begin: .*No module named 'only_here'"):
        list(ENGINES[engine](here.Here(begun.predictor, begun.folder, begun.digest), parts, 1))


@pytest.mark.long
def test_a_ray_of_our_own_has_nobody_watching(model: Path, rows: Path, tmp_path: Path) -> None:
    """Its scaler of clusters and its reader of logs take seconds of the processor."""
    pytest.importorskip("ray")
    parts = cut(rows, 50)
    job = Job.begun(Predictor(model), tmp_path / "done", parts, {})
    running = set()
    for _ in ENGINES["ray"](job, parts, 1):
        running = {command for _, command in commands_below(os.getpid())}
    assert any("gcs_server" in command for command in running)
    assert not [command for command in running if "log_monitor" in command or "_private/monitor" in command]


def commands_below(number: int) -> Iterator[tuple[int, str]]:
    """What the process has started, itself or through others."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == number:
                yield int(folder.name), (folder / "cmdline").read_text().replace("\0", " ")
                yield from commands_below(int(folder.name))


class TaskNamed(KilledOnce):
    """Leaves a file for each task of Spark that has done a part."""

    def do(self, part: Part) -> Any:
        from pyspark import TaskContext

        result = super().do(part)
        (self.folder / f"task-{TaskContext.get().partitionId()}").touch()  # type: ignore[union-attr]
        return result


@pytest.mark.long
@pytest.mark.parametrize("engine", ["spark"], indirect=True)
def test_a_task_of_spark_does_many_parts(engine: str, model: Path, rows: Path, tmp_path: Path) -> None:
    """One that dies between two of them goes on where it was."""
    parts = cut(rows, 2)
    begun = Job.begun(Predictor(model), tmp_path / "done", parts, {})
    job = TaskNamed(begun.predictor, begun.folder, begun.digest)
    done = list(ENGINES[engine](job, parts, 1))
    assert (begun.folder / "killed").exists()
    assert sorted(result.number for result in done) == list(range(25))
    check(results(begun.folder))
    assert len(list(begun.folder.glob("task-*"))) == 8


def test_workers_that_always_die_end_it(engine: str, model: Path, rows: Path, tmp_path: Path) -> None:
    parts = cut(rows, 50)
    begun = Job.begun(Predictor(model), tmp_path / "done", parts, {})
    job = KilledAlways(begun.predictor, begun.folder, begun.digest)
    with pytest.raises(StateError, match=r"have died|has died"):
        list(ENGINES[engine](job, parts, 1))


def test_folders_of_arrays(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "arrays"
    (folder / "deep").mkdir(parents=True)
    np.savez(folder / "a.npz", x=X[0])
    np.save(folder / "deep" / "b.npy", X[1])
    (folder / "c.npz").write_bytes(b"damaged")
    np.savez(folder / "d.npz", other=X[2])
    done = tmp_path / "done"
    assert run(model, "--input", folder, "--output", done, "--workers", 1) == 0
    found = results(done)
    assert [row["file"] for row in found] == ["a.npz", "c.npz", "d.npz", "deep/b.npy"]
    np.testing.assert_array_equal(np.float32(found[0]["scores"]), expected(X[:1])[0])
    np.testing.assert_array_equal(np.float32(found[3]["scores"]), expected(X[1:2])[0])
    assert "plain arrays" in found[1]["error"] and "only other" in found[2]["error"]


def test_folders_of_pictures(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    model, folder, done = tmp_path / "m.tflite", tmp_path / "pictures", tmp_path / "done"
    model.write_bytes(brightness())
    folder.mkdir()
    pixels = np.random.default_rng(1).integers(0, 256, (4, 4, 3), np.uint8)
    image.fromarray(pixels).save(folder / "a.png")
    (folder / "b.jpg").write_bytes(b"no picture")
    image.fromarray(np.full((9, 7), 33, np.uint8)).save(folder / "c.png")
    assert run(model, "--input", folder, "--output", done, "--workers", 1) == 0
    found = results(done)
    assert found[0]["pixels"] == pixels.ravel().tolist() and found[2]["pixels"] == [33] * 48
    assert found[1]["pixels"] is None and "not a picture" in found[1]["error"]


def test_pictures_in_parquet(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    model, done = tmp_path / "m.tflite", tmp_path / "done"
    model.write_bytes(brightness())
    pixels = np.random.default_rng(2).integers(0, 256, (4, 4, 3), np.uint8)
    image.fromarray(pixels).save(tmp_path / "a.png")
    table = pa.table({"name": ["a"], "picture": [(tmp_path / "a.png").read_bytes()]})
    pq.write_table(table, tmp_path / "pictures.parquet")
    arguments = ["--input", tmp_path / "pictures.parquet", "--column", "image=picture", "--workers", 1]
    assert run(model, *arguments, "--output", done) == 0
    (row,) = results(done)
    assert row == {"name": "a", "pixels": pixels.ravel().tolist(), "error": None}


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="got nothing"):
        cut(tmp_path, 8)
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(ModelError, match="must be a parquet file"):
        cut(tmp_path, 8)
    (tmp_path / "b.png").write_text("text")
    with pytest.raises(ModelError, match=r"got files like 'a\.txt' and pictures"):
        cut(tmp_path, 8)
    (tmp_path / "c.parquet").write_text("text")
    with pytest.raises(ModelError, match=r"c\.parquet"):
        cut(tmp_path / "c.parquet", 8)


def test_wrong_requests(model: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [model, "--input", rows, "--output", tmp_path / "done"]
    assert run(*arguments, "--column", "y=x") == 1
    assert "columns: must be for inputs, x" in capsys.readouterr().err
    assert run(*arguments, "--column", "y") == 2
    assert run(*arguments, "--signature", "none") == 1
    assert "the model's signatures are none" in capsys.readouterr().err
    assert not (tmp_path / "done").exists()
