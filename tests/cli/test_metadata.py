"""`numlite metadata`: shows, changes and extracts; names lead nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from numlite import Interpreter, metadata
from numlite.cli.main import cli, run_command

from .. import small_models


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.tflite"
    path.write_bytes(small_models.chain())
    return path


def test_shows_changes_and_extracts(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["metadata", str(model)]) == 0
    assert capsys.readouterr().out == "no metadata\n"
    (tmp_path / "names.txt").write_text("cat\ndog\n" + "more\n" * 4)
    out = tmp_path / "out.tflite"
    options = ["--set-labels", str(tmp_path / "names.txt"), "--set-normalization", "127.5", "128"]
    options += ["--set-score-threshold", "0.5", "--set-name", "Pets", "-o", str(out)]
    assert run_command(cli, ["metadata", str(model), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "name: Pets",
        "input 0: [(x - 127.5) / 128]",
        "output 0: [scores above 0.5; 6 labels: cat, dog, more, more, more, ...]",
        "file names.txt: 28 bytes",
    ]
    assert run_command(cli, ["metadata", str(out), "--json", "--extract", str(tmp_path / "files")]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["metadata"]["name"] == "Pets" and form["files"] == {"names.txt": 28}
    assert (tmp_path / "files" / "names.txt").read_text().startswith("cat\n")
    assert run_command(cli, ["inspect", str(out)]) == 0
    assert "  name: Pets" in capsys.readouterr().out


def test_labels_that_are_more_or_fewer_than_places(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are written, and it is said: a model may leave places without a name."""
    places = int(Interpreter(str(model)).get_output_details()[0]["shape"][-1])
    for count, told in (
        (places, ""),
        (places + 1, f"has {places} places on its last axis, and gets {places + 1} labels"),
    ):
        (tmp_path / "names.txt").write_text("name\n" * count)
        out = tmp_path / f"{count}.tflite"
        arguments = ["metadata", str(model), "--set-labels", str(tmp_path / "names.txt"), "-o", str(out)]
        assert run_command(cli, arguments) == 0
        err = capsys.readouterr().err
        assert told in err and bool(told) == bool(err)
        assert len(metadata.read(out).labels() or []) == count


def test_names_descriptions_and_files(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "terms.txt").write_text("free\n")
    out = tmp_path / "out.tflite"
    options = ["--set-input-name", "sound", "--set-output-name", "level", "--set-output-description", "in dB"]
    options += ["--set-score-threshold", "0.5", "--add-file", str(tmp_path / "terms.txt"), "-o", str(out)]
    assert run_command(cli, ["metadata", str(model), *options]) == 0
    shown = ["input 0: sound", "output 0: level: in dB [scores above 0.5]", "file terms.txt: 5 bytes"]
    assert capsys.readouterr().out.splitlines() == shown
    # What is not named stays, and a file takes the place of one of its name.
    (tmp_path / "terms.txt").write_text("paid\n")
    options = ["--set-output-description", "loudness", "--add-file", str(tmp_path / "terms.txt")]
    again = tmp_path / "again.tflite"
    assert run_command(cli, ["metadata", str(out), *options, "-o", str(again)]) == 0
    found = metadata.read(again)
    assert (found.outputs[0].name, found.outputs[0].description) == ("level", "loudness")
    assert found.files == {"terms.txt": b"paid\n"}
    assert [file.name for file in found.model.associated_files or []] == ["terms.txt"]


@pytest.mark.parametrize(
    "options",
    (["--set-name", "a"], ["-o", "out.tflite"], ["--add-file", __file__], ["--set-input-name", "x"]),
)
def test_changes_need_an_output(model: Path, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["metadata", str(model), *options]) == 2
    assert "-o and the --set options go together" in capsys.readouterr().err


@pytest.mark.parametrize("name", ("../outside", "/outside", "a/../../outside", "C:outside", "..\\outside"))
def test_files_stay_in_their_folder(
    model: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    metadata.write(model, metadata.Metadata(files={"good": b"", name: b"bad"}), model)
    assert run_command(cli, ["metadata", str(model), "--extract", str(tmp_path / "files")]) == 1
    assert "must be a name inside the folder" in capsys.readouterr().err
    assert not (tmp_path / "outside").exists() and not (tmp_path / "files").exists()
