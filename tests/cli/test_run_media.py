"""`numlite run` on pictures, sounds and folders of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numlite import metadata
from numlite.cli.main import cli, run_command
from numlite.schema import tflite
from numlite.schema.model_metadata import AudioPropertiesT, ContentT

from ..model_builder import ModelBuilder
from ..test_media import PIXELS, RAMP, picture, write_wav
from .test_json import documented, undocumented


def negated(shape: list[int], path: Path, rate: int = 0, normalized: bool = False) -> Path:
    """y = -x, with metadata where there is something to say."""
    model = ModelBuilder()
    x, y = model.tensor(shape, name="x"), model.tensor(shape, name="y")
    model.op(tflite.BuiltinOperator.NEG, [x], [y])
    content = model.build([x], [y], {"serve": ({"x": x}, {"y": y})})
    told = metadata.Metadata()
    if normalized:
        told.set_normalization(100, 50)
    if rate:
        told.set_normalization(0, 1)
        told.inputs[0].content = ContentT(content_properties=AudioPropertiesT(sample_rate=rate, channels=1))
    path.write_bytes(metadata.with_metadata(content, told) if rate or normalized else content)
    return path


def run(*arguments: object) -> int:
    return run_command(cli, ["run", *map(str, arguments)])


@pytest.mark.parametrize("signature", [(), ("--signature", "serve")], ids=["", "signature"])
def test_a_sound(tmp_path: Path, signature: tuple[str, ...]) -> None:
    model, sound = negated([1, 7], tmp_path / "m.tflite", 16000), write_wav(tmp_path / "a.wav", RAMP)
    assert run(model, "-i", sound, "-o", tmp_path / "out.npz", *signature) == 0
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"][0], -RAMP[:, 0], atol=1e-4)


def test_a_sound_of_another_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, sound = negated([1, 7], tmp_path / "m.tflite", 8000), write_wav(tmp_path / "a.wav", RAMP)
    assert run(model, "-i", f"x={sound}") == 1
    assert "must be of 8000 Hz, got 16000" in capsys.readouterr().err


def test_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = picture(tmp_path, PIXELS)
    model = negated([1, 4, 6, 3], tmp_path / "m.tflite", normalized=True)
    assert run(model, "-i", path, "-o", tmp_path / "out.npz") == 0
    np.testing.assert_allclose(
        np.load(tmp_path / "out.npz")["y"][0], (100 - PIXELS.astype(float)) / 50, atol=1e-6
    )
    plain = negated([1, 4, 6, 3], tmp_path / "plain.tflite")
    assert run(plain, "-i", path) == 1
    assert "metadata must say" in capsys.readouterr().err


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    model = negated([1, 7], tmp_path / "m.tflite")
    write_wav(folder / "a.wav", RAMP)
    np.save(folder / "b.npy", np.arange(7, dtype=np.float32)[None])
    (folder / "notes.txt").write_text("no input")
    assert run(model, "-i", folder, "--top", 1) == 0
    shown = capsys.readouterr().out
    assert "a.wav" in shown and "b.npy" in shown and "notes" not in shown and "0 0.89" in shown
    (folder / "c.wav").write_bytes(b"damaged")
    assert run(model, "-i", folder, "--json") == 1
    content = json.loads(capsys.readouterr().out)
    assert undocumented(content, documented("numlite run") | {"files[].outputs"}) == []
    a, b, c = content["files"]
    assert b["outputs"][0]["values"] == [[0, -1, -2, -3, -4, -5, -6]] and "error" not in a
    assert "not a WAV file" in c["error"]
    assert run(model, "-i", folder) == 1
    assert "failed: " in capsys.readouterr().out


def test_folders_that_cannot_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = negated([1, 7], tmp_path / "m.tflite")
    (tmp_path / "empty").mkdir()
    assert run(model, "-i", tmp_path / "empty") == 1
    assert "must hold pictures" in capsys.readouterr().err
    assert run(model, "-i", tmp_path / "empty", "-i", "x.npy") == 2
    assert run(model, "-i", tmp_path / "empty", "-o", tmp_path / "o.npz") == 2
    assert "numlite map" in capsys.readouterr().err
