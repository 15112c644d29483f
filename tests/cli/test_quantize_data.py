"""numlite quantize: samples of signatures, and what is done to samples before they are inputs."""

from pathlib import Path

import click
import numpy as np
import pytest
from numlite.cli.data_preprocess import DataPreprocess
from numlite.cli.main import run_command
from numlite.cli.quantize import command
from numlite.interpreter import Interpreter
from numlite.schema import tflite

from ..model_builder import ModelBuilder

Op = tflite.BuiltinOperator
SHAPE = (1, 4)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Two signatures: x doubled and relu, and a + b and relu."""
    builder = ModelBuilder()
    x, twice, y = (builder.tensor(SHAPE, name=name) for name in ("x", "twice", "y"))
    builder.op(Op.MUL, [x, builder.constant(np.array(2, np.float32))], [twice])
    builder.op(Op.RELU, [twice], [y])
    other = builder.add_subgraph("other")
    a, b, total, z = (other.tensor(SHAPE, name=name) for name in ("a", "b", "total", "z"))
    other.op(Op.ADD, [a, b], [total])
    other.op(Op.RELU, [total], [z])
    other.finish([a, b], [z])
    root = tflite.unpack(tflite.read(builder.build([x], [y], {"one": ({"features": x}, {"y": y})})))
    names = [tflite.TensorMapT(name=name, tensor_index=t) for name, t in (("left", a), ("right", b))]
    ends = [tflite.TensorMapT(name="sum", tensor_index=z)]
    root.signature_defs.append(
        tflite.SignatureDefT(signature_key="two", inputs=names, outputs=ends, subgraph_index=other.index)
    )
    path = tmp_path / "float.tflite"
    path.write_bytes(tflite.pack(root))
    return path


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    """What --calibrate and --signature are given: values of 0 to 255."""
    random = np.random.default_rng(0)
    x, a, b = (random.integers(0, 256, (20, *SHAPE)).astype(np.uint8) for _ in range(3))
    np.savez(tmp_path / "one.npz", features=x)
    np.savez(tmp_path / "two.npz", left=a, right=b)
    found = []
    for key in ("one", "two"):
        found += ["--signature", key, "--calibrate", str(tmp_path / f"{key}.npz")]
    return found


def scales(path: Path) -> dict[str, float]:
    root = tflite.unpack(tflite.read(path.read_bytes()))
    return {
        tensor.name: float(tensor.quantization.scale[0])
        for graph in root.subgraphs
        for tensor in graph.tensors
        if tensor.type == tflite.TensorType.INT8
    }


def test_each_signature_has_samples_of_its_own(model: Path, data: list[str]) -> None:
    output = model.with_name("q.tflite")
    given = [str(model), "-o", str(output), *data, "--improve", "none"]
    assert run_command(command, [*given, "--io", "int8"]) == 0
    found = scales(output)
    assert found["x"] == pytest.approx(1, abs=0.03)
    assert found["y"] == pytest.approx(2, abs=0.06)
    assert found["z"] == pytest.approx(2, abs=0.2)
    runner = Interpreter(str(output)).get_signature_runner("two")
    assert runner.get_input_details()["left"]["dtype"] == np.int8


def test_samples_are_made_inputs_of(model: Path, data: list[str]) -> None:
    output = model.with_name("q.tflite")
    given = [str(model), "-o", str(output), *data, "--improve", "none", "--io", "int8"]
    assert run_command(command, [*given, "--data-preprocess", "x / 127.5 - 1"]) == 0
    assert scales(output)["x"] == pytest.approx(2 / 255, abs=0.0005)
    assert scales(output)["a"] == pytest.approx(2 / 255, abs=0.0005)


def test_validation_takes_the_signature_and_the_same_inputs(
    model: Path, data: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(model), "-o", str(model.with_name("q.tflite")), *data[4:], "--skip", "^(twice|y)$"]
    given += ["--validate", data[7], "--data-preprocess", "x/127.5-1"]
    assert run_command(command, [*given, "--require", "sqnr>=30"]) == 0
    assert "│ z" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("x/127.5-1", [[0, 255]], [[-1, 1]]),
        ("(x - [1, 2]) / 2", [[3, 6]], [[1, 2]]),
        ("-x ** 2 + +1", [[2, 3]], [[-3, -8]]),
        ("0.5 * x", [[1, 3]], [[0.5, 1.5]]),
        ("x", [[1, 3]], [[1, 3]]),
    ],
)
def test_expressions(text: str, x: list[list[int]], expected: list[list[float]]) -> None:
    found = DataPreprocess(text)(np.array(x, np.uint8))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


@pytest.mark.parametrize(
    "text", ["", "x +", "x.shape", "exp(x)", "y", "1 + 2", "x @ x", "[x, x]", "x if 1 else 2"]
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(click.UsageError, match=r"--data-preprocess .*: it must be made of x, numbers"):
        DataPreprocess(text)


def test_what_does_not_fit_the_samples() -> None:
    with pytest.raises(click.ClickException, match=r"must fit the samples, got \(1, 2\)"):
        DataPreprocess("x - [1, 2, 3]")(np.zeros((1, 2)))
    with pytest.raises(click.ClickException, match=r"must have the samples' shape \(2, 1\), got \(2, 3\)"):
        DataPreprocess("x - [1, 2, 3]")(np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--signature", "one"], "--calibrate or --validate must name data"),
        (["--data-preprocess", "x/2"], "--calibrate or --validate must name data"),
        (
            ["--calibrate", "one.npz", "--calibrate", "two.npz"],
            "a --signature for each of several, got 0 for 2",
        ),
        (["--signature", "one", "--signature", "two", "--calibrate", "one.npz"], "a --calibrate for each"),
        (["--calibrate", "one.npz", "--signature", "three"], "signature 'three': the model's signatures are"),
        (["--calibrate", "one.npz", "--signature", "two"], "the model's inputs are 'left', 'right'"),
        (["--calibrate", "one.npz", "--data-preprocess", "open(x)"], "it must be made of x, numbers"),
    ],
)
def test_options_that_do_not_go_together(
    model: Path,
    data: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    text: str,
) -> None:
    monkeypatch.chdir(model.parent)
    assert run_command(command, ["float.tflite", "-o", "q.tflite", *arguments]) != 0
    assert text in " ".join(capsys.readouterr().err.split())


def test_several_signatures_are_not_validated_at_once(
    model: Path, data: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(model), "-o", str(model.with_name("q.tflite")), *data, "--validate", data[3]]
    assert run_command(command, given) == 2
    assert "--validate: it must be for one --signature" in capsys.readouterr().err
