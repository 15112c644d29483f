"""numlite quantize: the file, the table, and one line for every error."""

import json
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.main import run_command
from numlite.cli.quantize import command
from numlite.lite.tensor import TensorType
from numlite.schema import tflite

from ..converter.quantization.weighted_models import fully_connected


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "float.tflite"
    path.write_bytes(fully_connected())
    return path


def weight_type(path: Path) -> TensorType:
    [subgraph] = tflite.read(path.read_bytes()).subgraphs
    [kept] = [tensor for tensor in subgraph.tensors if tensor.name == "w"]
    return TensorType(kept.type)


@pytest.mark.parametrize(
    ("arguments", "type", "shown"),
    [
        ([], TensorType.INT8, "int8, inputs quantized, too"),
        (["--scheme", "float16"], TensorType.FLOAT16, "float16, dequantized"),
        (["--scheme", "weight-int8", "--per-tensor"], TensorType.INT8, "int8 per tensor, dequantized"),
        (["--scheme", "weight-int4", "--algorithm", "octav"], TensorType.INT4, "int4, dequantized"),
        (["--bits", "2", "--min-weight-elements", "9"], TensorType.INT2, "int2, inputs quantized, too"),
        (["--block", "32"], TensorType.INT4, "int4 in blocks of 32"),
        (["--skip", "y"], TensorType.FLOAT32, "the recipe leaves it as it is"),
        (["--keep-float", "FULLY_CONNECTED"], TensorType.FLOAT32, "the recipe leaves it as it is"),
        (["--min-weight-elements", "9999"], TensorType.FLOAT32, "fewer than 9999 elements"),
    ],
)
def test_schemes(
    model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], type: TensorType, shown: str
) -> None:
    output = model.with_name("small.tflite")
    assert run_command(command, [str(model), "-o", str(output), *arguments]) == 0
    assert weight_type(output) == type
    text = capsys.readouterr().out
    assert shown in text
    assert f"{output.stat().st_size:,} bytes" in text


def test_a_recipe(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, output = model.with_name("r.json"), model.with_name("small.tflite")
    recipe.write_text(json.dumps([{"regex": ".*", "operation": "*", "algorithm_key": "no_quantize"}]))
    assert run_command(command, [str(model), "-o", str(output), "--recipe", str(recipe)]) == 0
    assert weight_type(output) == TensorType.FLOAT32
    assert run_command(command, [str(model), "-o", str(output), "--recipe", str(recipe), "--bits", "4"]) == 2
    assert "--recipe: it says itself how, without --bits" in capsys.readouterr().err


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Eight samples of three rows."""
    path = tmp_path / "data.npz"
    np.savez(path, in_0=np.random.default_rng(0).standard_normal((8, 3, 64)).astype(np.float32))
    return path


def end_types(path: Path) -> list[TensorType]:
    [subgraph] = tflite.read(path.read_bytes()).subgraphs
    ends = [*subgraph.inputs, *subgraph.outputs]
    return [TensorType(subgraph.tensors[t].type) for t in ends]


def test_integers_from_data(model: Path, data: Path) -> None:
    output, ranges = model.with_name("small.tflite"), model.with_name("ranges.json")
    assert run_command(command, [str(model), "-o", str(output), "--calibrate", str(data)]) == 0
    assert weight_type(output) == TensorType.INT8
    assert end_types(output) == [TensorType.FLOAT32] * 2
    direct = output.read_bytes()
    given = [str(model), "-o", str(ranges), "--calibrate", str(data), "--only-calibrate"]
    assert run_command(command, given) == 0
    assert run_command(command, [str(model), "-o", str(output), "--ranges", str(ranges)]) == 0
    assert output.read_bytes() == direct
    assert run_command(command, [*given[:2], str(output), "--ranges", str(ranges), "--io", "uint8"]) == 0
    assert end_types(output) == [TensorType.UINT8] * 2


def test_gptq_from_data(model: Path, data: Path) -> None:
    output = model.with_name("small.tflite")
    arguments = ["--scheme", "dynamic", "--bits", "4", "--algorithm", "gptq", "--calibrate", str(data)]
    assert run_command(command, [str(model), "-o", str(output), *arguments]) == 0
    assert weight_type(output) == TensorType.INT4


def test_a_folder_of_samples(model: Path, data: Path, tmp_path: Path) -> None:
    folder, output = tmp_path / "samples", model.with_name("small.tflite")
    folder.mkdir()
    for number, values in enumerate(np.load(data)["in_0"]):
        np.save(folder / f"{number}.npy", values)
    assert run_command(command, [str(model), "-o", str(output), "--calibrate", str(folder)]) == 0
    from_folder = output.read_bytes()
    assert run_command(command, [str(model), "-o", str(output), "--calibrate", str(data)]) == 0
    assert output.read_bytes() == from_folder


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (["--scheme", "int8"], "--calibrate must name samples of the inputs", 2),
        (["--calibrate", "{data}", "--scheme", "dynamic"], "neither activations nor gptq ask", 2),
        (["--calibrate", "{data}", "--ranges", "{data}"], "only one of them can be given", 2),
        (["--scheme", "dynamic", "--algorithm", "gptq"], "--calibrate must name samples", 2),
        (["--calibrate", "{data}", "--algorithm", "gptq"], "beside integer activations", 1),
        (["--improve", "bias"], "--improve: --calibrate must name the data", 2),
        (["--only-calibrate"], "--calibrate must name the data", 2),
        (["--calibrate", "{data}", "--observer", "median"], "observer: must be one of minmax", 1),
        (["--calibrate", "{data}", "--io", "int16"], "must be of float32, int8, uint8", 1),
        (["--calibrate", "{folder}"], "a folder must hold either .npy files or pictures, got 0 and 0", 1),
        (["--ranges", "{data}"], "", 1),
    ],
)
def test_errors_of_data(
    model: Path,
    data: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
    status: int,
) -> None:
    folder, output = model.with_name("empty"), model.with_name("small.tflite")
    folder.mkdir()
    places = {"{data}": str(data), "{folder}": str(folder)}
    given = [places.get(text, text) for text in arguments]
    assert run_command(command, [str(model), "-o", str(output), *given]) == status
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1 or status == 2
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (["--scheme", "int7"], "'int7' is not one of", 2),
        (["--skip", "nowhere"], "the regex 'nowhere' must be found", 1),
        (["--keep-float", "CONV"], "operation must be a builtin operator or *, got 'CONV'", 1),
        (["--scheme", "weight-int8", "--block", "32"], "block: blocks of weights must be of 4", 1),
        (["--scheme", "float16", "--bits", "4"], "--scheme float16: it has no --bits", 2),
        (["--scheme", "float16", "--block", "32"], "block: blocks of weights must be of 4", 1),
    ],
)
def test_errors_are_one_line(
    model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str, status: int
) -> None:
    output = model.with_name("small.tflite")
    assert run_command(command, [str(model), "-o", str(output), *arguments]) == status
    error = capsys.readouterr().err
    assert message in error
    assert not output.exists()


def test_a_model_is_not_written_over(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(command, [str(model), "-o", str(model)]) == 2
    assert "--output: it is the model itself" in capsys.readouterr().err


def data_file(model: Path, name: str = "data.npy", count: int = 12) -> Path:
    path = model.with_name(name)
    np.save(path, np.random.default_rng(3).normal(size=(count, 3, 64)).astype(np.float32))
    return path


def test_a_report_and_validation(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, output, page = data_file(model), model.with_name("small.tflite"), model.with_name("r.html")
    labels = model.with_name("labels.npy")
    np.save(labels, np.zeros(36, np.int64))
    arguments = [str(model), "-o", str(output), "--calibrate", str(data), "--validate", str(data)]
    assert run_command(command, [*arguments, "--report", str(page), "--labels", str(labels)]) == 0
    text = capsys.readouterr().out
    assert "accuracy:" in text and "top-1" in text and f"{page}: 1 operator" in text
    assert "FULLY_CONNECTED" in page.read_text()
    assert run_command(command, [*arguments, "--require", "sqnr>=20"]) == 0
    assert run_command(command, [*arguments, "--require", "sqnr>=90"]) == 3
    assert "required: sqnr>=90, which does not hold" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--require", "sqnr>=30"], "--validate must name the data"),
        (["--labels", "data.npy"], "--validate must name the data"),
        (["--validate", "data.npy", "--require", "quality>=3"], "goal: must be like sqnr>=30"),
        (["--validate", "data.npy", "--labels", "data.npy"], "labels must be whole numbers"),
    ],
)
def test_validation_that_cannot_be(
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    text: str,
) -> None:
    data_file(model)
    monkeypatch.chdir(model.parent)
    assert run_command(command, [str(model), "-o", "small.tflite", *arguments]) != 0
    assert text in capsys.readouterr().err
