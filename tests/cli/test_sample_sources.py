"""Samples of pictures, of a Python file, and random ones."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.calibration_data import read_samples
from numlite.cli.convert_model import command as convert_command
from numlite.cli.main import run_command
from numlite.cli.quantize import command
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.model import Model
from numlite.schema import tflite

from ..converter.quantization.float_models import operators
from ..model_builder import ModelBuilder

NOTE = "numlite_calibration"


def picture_model(dtype: str = "float32") -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((1, 4, 6, 3), dtype, name="x"), g.tensor((1, 4, 6, 3), dtype, name="y")
    g.op(tflite.BuiltinOperator.RELU, [x], [y])
    return g.build([x], [y], {"main": ({"image": x}, {"y": y})})


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "float.tflite"
    path.write_bytes(picture_model())
    return path


@pytest.fixture
def pictures(tmp_path: Path) -> tuple[Path, np.ndarray]:
    """A folder of three, two of the model's size, and these two's pixels."""
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "pictures"
    folder.mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (2, 4, 6, 3), np.uint8)
    for name, each in zip("ab", pixels, strict=True):
        image.fromarray(each).save(folder / f"{name}.png")
    image.fromarray(np.full((9, 7), 200, np.uint8)).save(folder / "c.bmp")
    return folder, pixels


def quantized(model: Path, *arguments: str) -> tuple[int, Path]:
    output = model.with_name("q.tflite")
    return run_command(command, [str(model), "-o", str(output), *arguments]), output


def test_pictures_are_computed_with(model: Path, pictures: tuple[Path, np.ndarray]) -> None:
    folder, pixels = pictures
    samples = list(read_samples(model, folder, preprocess=lambda x: x / 127.5 - 1))
    np.testing.assert_allclose([s["x"][0] for s in samples[:2]], pixels / 127.5 - 1, atol=1e-6)
    assert samples[2]["x"].shape == (1, 4, 6, 3)
    np.testing.assert_allclose(samples[2]["x"], 200 / 127.5 - 1, atol=1e-6)
    status, output = quantized(model, "--calibrate", str(folder), "--data-preprocess", "x/127.5-1")
    assert status == 0
    [x, *_] = [t for t in tflite.unpack(Model(output.read_bytes()).root).subgraphs[0].tensors if t.type == 9]
    assert x.quantization.scale[0] == pytest.approx(np.ptp(pixels.astype(float)) / 127.5 / 255, rel=1e-5)


def test_metadata_say_what_pictures_are(model: Path, pictures: tuple[Path, np.ndarray]) -> None:
    from numlite.cli.metadata import command as metadata_command

    told = model.with_name("told.tflite")
    arguments = [str(model), "--set-normalization", "127.5", "127.5", "-o", str(told)]
    assert run_command(metadata_command, arguments) == 0
    samples = list(read_samples(told, pictures[0]))
    np.testing.assert_allclose(samples[0]["x"][0], pictures[1][0] / 127.5 - 1, atol=1e-6)


def test_bytes_are_taken_as_they_are(tmp_path: Path, pictures: tuple[Path, np.ndarray]) -> None:
    samples = list(read_samples(picture_model("uint8"), pictures[0]))
    np.testing.assert_array_equal(samples[1]["x"][0], pictures[1][1])


def test_pictures_of_a_signature(model: Path, pictures: tuple[Path, np.ndarray]) -> None:
    key, sample = next(iter(read_samples(model, pictures[0], "main", lambda x: x)))
    assert key == "main"
    np.testing.assert_array_equal(sample["image"][0], pictures[1][0])


def test_a_folder_that_cannot_be(
    model: Path, pictures: tuple[Path, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = pictures
    status, _ = quantized(model, "--calibrate", str(folder))
    assert (status, "--data-preprocess does" in capsys.readouterr().err) == (1, True)
    np.save(folder / "d.npy", np.zeros((1, 4, 6, 3), np.float32))
    status, _ = quantized(model, "--calibrate", str(folder), "--data-preprocess", "x/255")
    assert (status, "either .npy files or pictures, got 1 and 3" in capsys.readouterr().err) == (1, True)
    (folder / "d.npy").unlink()
    (folder / "d.png").write_bytes(b"no picture")
    status, _ = quantized(model, "--calibrate", str(folder), "--data-preprocess", "x/255")
    assert (status, "d.png: not a picture that Pillow reads" in capsys.readouterr().err) == (1, True)
    empty = model.with_name("empty")
    empty.mkdir()
    status, _ = quantized(model, "--calibrate", str(empty))
    assert (status, "either .npy files or pictures, got 0 and 0" in capsys.readouterr().err) == (1, True)


PROGRAM = """
import numpy as np
from beside import LEAST
def representative_dataset():
    for number in range(5):
        yield {}
"""


def program(model: Path, sample: str) -> Path:
    (model.parent / "beside.py").write_text("LEAST = -1.0\n")
    path = model.with_name("samples.py")
    path.write_text(PROGRAM.format(sample))
    return path


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "beside", raising=False)


VALUE = "np.full((1, 4, 6, 3), LEAST + number, np.float32)"


@pytest.mark.parametrize(
    "sample", [f"[{VALUE}]", VALUE, f"{{'x': {VALUE}}}", f"('main', {{'image': {VALUE}}})"]
)
def test_a_program_yields_samples(model: Path, sample: str) -> None:
    status, output = quantized(model, "--calibrate", str(program(model, sample)))
    assert status == 0
    assert operators(output.read_bytes()) == ["QUANTIZE", "RELU", "DEQUANTIZE"]
    [x, *_] = [t for t in tflite.unpack(Model(output.read_bytes()).root).subgraphs[0].tensors if t.type == 9]
    assert x.quantization.scale[0] == np.float32(4 / 255)


@pytest.mark.parametrize(
    ("sample", "arguments", "text"),
    [
        ("[1 / 0]", [], "samples.py: it raised ZeroDivisionError: division by zero"),
        ("[1, 2]", [], "samples.py: sample 0: it must be arrays by name, or a list of 1, got list"),
        ("3", [], "must be arrays by name, or a list of 1, got int"),
        (
            f"('other', {{'image': {VALUE}}})",
            ["--signature", "main"],
            "it is of 'other', --signature is 'main'",
        ),
        (f"[{VALUE}]", ["--data-preprocess", "x/2"], "makes its samples itself"),
    ],
)
def test_a_program_that_fails(
    model: Path, sample: str, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, output = quantized(model, "--calibrate", str(program(model, sample)), *arguments)
    assert (status, output.exists()) == (1, False)
    assert text in capsys.readouterr().err


def test_a_program_without_the_function(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = model.with_name("empty.py")
    path.write_text("samples = []\n")
    assert quantized(model, "--calibrate", str(path))[0] == 1
    assert "it must have a function representative_dataset() that yields samples" in capsys.readouterr().err


def test_random_calibration_is_told(model: Path) -> None:
    report = model.with_name("report.html")
    status, output = quantized(model, "--random-calibration", "--report", str(report))
    assert status == 0
    assert operators(output.read_bytes()) == ["QUANTIZE", "RELU", "DEQUANTIZE"]
    assert Model(output.read_bytes()).metadata()[NOTE] == b"random"
    assert "Ranges come from random numbers" in report.read_text()
    status, again = quantized(model, "--random-calibration", "--report", str(report.with_suffix(".json")))
    assert again.read_bytes() == output.read_bytes()
    assert json.loads(report.with_suffix(".json").read_text())["is_random"] is True


def test_random_ranges_that_were_saved_are_told(model: Path) -> None:
    ranges = model.with_name("ranges.json")
    arguments = [str(model), "-o", str(ranges), "--random-calibration", "--only-calibrate"]
    assert run_command(command, arguments) == 0
    status, output = quantized(model, "--ranges", str(ranges))
    assert (status, Model(output.read_bytes()).metadata().get(NOTE)) == (0, b"random")


def test_samples_are_not_told_as_random(model: Path) -> None:
    report = model.with_name("report.html")
    path = program(model, f"[{VALUE}]")
    _, output = quantized(model, "--calibrate", str(path), "--report", str(report))
    assert NOTE not in Model(output.read_bytes()).metadata()
    assert "random numbers" not in report.read_text()


def test_every_signature_gets_random_samples(tmp_path: Path) -> None:
    g = ModelBuilder()
    ends = []
    for graph in (g, g.add_subgraph("other")):
        x, y = graph.tensor((1, 5), name="x"), graph.tensor((1, 5), name="y")
        graph.op(tflite.BuiltinOperator.RELU, [x], [y])
        graph.finish([x], [y])
        ends.append((x, y))
    content = g.build(*([t] for t in ends[0]), {"a": ({"x": 0}, {"y": 1}), "b": ({"x": 0}, {"y": 1})})
    root = tflite.unpack(Model(content).root)
    root.signature_defs[1].subgraph_index = 1
    path = tmp_path / "two.tflite"
    path.write_bytes(tflite.pack(root))
    status, output = quantized(path, "--random-calibration")
    assert status == 0
    kinds = [t.type for s in tflite.unpack(Model(output.read_bytes()).root).subgraphs for t in s.tensors]
    assert kinds.count(tflite.TensorType.INT8) == 4


@pytest.mark.parametrize("other", ["--calibrate", "--ranges"])
def test_random_numbers_are_not_given_beside_others(
    model: Path, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert quantized(model, "--random-calibration", other, str(model))[0] == 2
    assert "only one of them can be given" in capsys.readouterr().err


def test_convert_model_takes_them_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g = GraphBuilder()
    g.node("Relu", "y", g.placeholder("x", [1, 4, 6, 3]))
    path, output = tmp_path / "graph.pb", tmp_path / "q.tflite"
    path.write_bytes(g.graph_def.SerializeToString())
    asked = [str(path), "-o", str(output), "--quantize", "int8"]
    assert run_command(convert_command, [*asked, "--random-calibration"]) == 0
    assert Model(output.read_bytes()).metadata()[NOTE] == b"random"
    assert run_command(convert_command, [*asked, "--calibrate", str(program(path, f"[{VALUE}]"))]) == 0
    assert NOTE not in Model(output.read_bytes()).metadata()
    capsys.readouterr()
    assert run_command(convert_command, [*asked, "--data-preprocess", "x/2"]) == 2
    assert "--data-preprocess: --calibrate must name the data" in capsys.readouterr().err
    plain = [str(path), "-o", str(output), "--random-calibration"]
    assert run_command(convert_command, plain) == 2
    assert "only with --quantize" in capsys.readouterr().err
