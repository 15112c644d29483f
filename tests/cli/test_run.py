"""`numlite run`: where inputs come from and outputs go."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numlite import metadata
from numlite.cli.main import cli, run_command
from numlite.schema import tflite

from ..model_builder import ModelBuilder

BIAS = np.float32([1, 2, 3, 4])


def run(*arguments: object) -> int:
    return run_command(cli, ["run", *map(str, arguments)])


def test_random_inputs_are_the_same_for_the_same_seed(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run(model, "--seed", seed, "-o", tmp_path / f"{name}.npz") == 0
    a, b, c = (np.load(tmp_path / f"{name}.npz")["y"] for name in "abc")
    assert np.array_equal(a, b) and not np.array_equal(a, c)
    shown = capsys.readouterr().out
    assert "x[0]:0" in shown and "1x4" in shown


@pytest.mark.parametrize("key", ["x[0]:0", "in_0", "arr_0"])
def test_inputs_from_npz(model: Path, tmp_path: Path, key: str) -> None:
    x = np.float32([[-5, -1, 0, 1]])
    np.savez(tmp_path / "in.npz", **{key: x})
    assert run(model, "-i", tmp_path / "in.npz", "-o", tmp_path / "out.npz") == 0
    assert np.array_equal(np.load(tmp_path / "out.npz")["y"], np.abs(x + BIAS))


@pytest.mark.parametrize("prefix", ["", "x[0]:0="])
def test_inputs_from_npy_resize_the_model(model: Path, tmp_path: Path, prefix: str) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.save(tmp_path / "x.npy", x)
    assert run(model, "-i", f"{prefix}{tmp_path / 'x.npy'}", "-o", tmp_path / "out.npz") == 0
    assert np.array_equal(np.load(tmp_path / "out.npz")["y"], x + BIAS)


def test_signature(model: Path, tmp_path: Path) -> None:
    x = np.float32([[1, 2, 3, 4]])
    np.savez(tmp_path / "in.npz", left=x)
    status = run(model, "--signature", "abs", "-i", tmp_path / "in.npz", "-o", tmp_path / "out.npz")
    assert status == 0
    assert np.array_equal(np.load(tmp_path / "out.npz")["right"], x + BIAS)


def wrong_type(folder: Path) -> list[object]:
    np.save(folder / "x.npy", np.zeros((1, 4)))
    return ["-i", folder / "x.npy"]


def unknown_name(folder: Path) -> list[object]:
    np.savez(folder / "x.npz", z=np.float32([[0, 0, 0, 0]]))
    return ["-i", folder / "x.npz"]


def too_many(folder: Path) -> list[object]:
    np.save(folder / "x.npy", np.float32([[0, 0, 0, 0]]))
    return ["-i", folder / "x.npy", "-i", folder / "x.npy"]


def no_array(folder: Path) -> list[object]:
    (folder / "x.npy").write_text("nothing")
    return ["-i", folder / "x.npy"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (wrong_type, "must be float32, got float64"),
        (unknown_name, "'z'"),
        (too_many, "all of them given"),
        (no_array, "not an .npy"),
        (lambda folder: ["-i", folder / "missing.npy"], "No such file"),
        (lambda folder: ["--signature", "other"], "'abs'"),
        (lambda folder: ["-o", folder / "no" / "out.npz"], "No such file"),
    ],
)
def test_errors(
    model: Path, tmp_path: Path, arguments, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(model, *arguments(tmp_path)) == 1
    shown = capsys.readouterr().err
    assert says in shown and shown.count("\n") == 1


@pytest.mark.parametrize("seed", ["-1", "x"])
def test_a_seed_must_be_a_natural_number(model: Path, seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(model, "--seed", seed) == 2
    assert "Invalid value for '--seed'" in capsys.readouterr().err


def test_the_model_is_never_overwritten(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = model.read_bytes()
    assert run(model, "-o", model) == 2
    assert "--output: it is the model itself" in capsys.readouterr().err
    assert model.read_bytes() == content


def test_a_failed_write_leaves_the_old_file(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **arrays: object) -> None:
        raise OSError(28, "No space left on device")

    out = tmp_path / "out.npz"
    out.write_bytes(b"old")
    monkeypatch.setattr(np, "savez", full)
    assert run(model, "-o", out) == 1
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.tflite", "out.npz"]


def test_a_delegate_runs_what_it_takes(model: Path, tmp_path: Path) -> None:
    x = np.float32([[-5, -1, 0, 1]])
    np.save(tmp_path / "x.npy", x)
    chosen = ("--delegate", "cuda", "--option", "fallback=true")
    assert run(model, "-i", tmp_path / "x.npy", *chosen, "-o", tmp_path / "out.npz") == 0
    assert np.array_equal(np.load(tmp_path / "out.npz")["y"], np.abs(x + BIAS))


def test_a_delegate_that_is_not_there(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(model, "--delegate", "no_such_delegate") != 0
    assert "neither a module nor one of the installed delegates" in capsys.readouterr().err
    assert run(model, "--option", "precision=tf32") != 0
    assert "which --delegate names" in capsys.readouterr().err


def test_inputs_that_are_constants_are_left(model: Path, tmp_path: Path) -> None:
    tables = tflite.unpack(tflite.read(model.read_bytes()))
    tables.subgraphs[0].inputs = [0, 1]
    unusual = tmp_path / "unusual.tflite"
    unusual.write_bytes(tflite.pack(tables))
    np.savez(tmp_path / "in.npz", **{"x[0]:0": np.float32([[-5, -1, 0, 1]])})
    assert run(unusual, "-i", tmp_path / "in.npz", "-o", tmp_path / "out.npz") == 0
    assert np.load(tmp_path / "out.npz")["y"].tolist() == [[4, 1, 3, 5]]


def test_small_outputs_are_shown_with_their_values(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", np.float32([[0.5, -1.25, 100, -1e10]]))
    assert run(model, "-i", tmp_path / "x.npy") == 0
    shown = capsys.readouterr().out
    assert "1.5 0.75 103 1e+10" in shown and "highest" not in shown


def test_the_highest_values_with_labels(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", np.float32([[6, 0, 4, 0], [0, 0, 0, 0]]))
    (tmp_path / "labels.txt").write_text("cat\n[dog]\nbird\n")
    assert run(model, "-i", tmp_path / "x.npy", "--top", 2, "--labels", tmp_path / "labels.txt") == 0
    lines = [line.split("│")[1:-1] for line in capsys.readouterr().out.split("highest")[1].splitlines()[4:-1]]
    rows = [[cell.strip() for cell in line] for line in lines]
    assert rows == [
        ["0", "0", "7", "cat"],
        ["0", "2", "7", "bird"],
        ["1", "3", "4", ""],
        ["1", "2", "3", "bird"],
    ]


def test_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.float32([[1, 0, np.inf, np.nan]]))
    out = tmp_path / "out.npz"
    assert run(model, "-i", tmp_path / "x.npy", "--json", "--top", 1, "-o", out) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {
        "schema": 1,
        "command": "run",
        "model": str(model),
        "inputs": [{"name": "x[0]:0", "type": "float32", "shape": [1, 4]}],
        "outputs": [
            {
                "name": "y",
                "type": "float32",
                "shape": [1, 4],
                "values": [[2, 2, "inf", "nan"]],
                "top": [[{"place": 2, "value": "inf", "label": None}]],
            }
        ],
    }
    assert captured.err == f"wrote {out}\n" and out.exists()


def test_labels_and_scales_come_from_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 3), np.int8, scale=0.5, zero_point=-2, name=name) for name in "xy")
    builder.op(tflite.BuiltinOperator.ABS, [x], [y])
    found = metadata.Metadata()
    found.set_labels(["cat", "dog", "bird"])
    path = tmp_path / "labelled.tflite"
    metadata.write(builder.build([x], [y]), found, path)
    np.save(tmp_path / "x.npy", np.int8([[-2, 8, 0]]))
    assert run(path, "-i", tmp_path / "x.npy", "--top", 2, "--json") == 0
    (output,) = json.loads(capsys.readouterr().out)["outputs"]
    assert output["quantization"] == {"scale": 0.5, "zero_point": -2} and output["values"] == [[-2, 8, 0]]
    assert output["top"] == [
        [{"place": 1, "value": 5, "label": "dog"}, {"place": 2, "value": 1, "label": "bird"}]
    ]


def test_large_outputs_are_left_out_of_json(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", np.zeros((1025, 4), np.float32))
    assert run(model, "-i", tmp_path / "x.npy", "--json") == 0
    (output,) = json.loads(capsys.readouterr().out)["outputs"]
    assert output["values"] is None and "top" not in output


def test_labels_must_be_text(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "labels.txt").write_bytes(b"\xff\xfe")
    assert run(model, "--top", 1, "--labels", tmp_path / "labels.txt") == 1
    assert "must be lines of UTF-8 text" in capsys.readouterr().err
