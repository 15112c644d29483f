"""What a Keras file may be, what is refused, and that damaged files end in errors that say what is wrong."""

from __future__ import annotations

import copy
import io
import json
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import h5py
import numlite
import numpy as np
import pytest
from click.testing import CliRunner
from numlite.cli.convert_model import command
from numlite.converter.converter import Converter
from numlite.lite.errors import ModelError, PrepareError, UnsupportedError

from .recorded_models import hdf5_file, inputs_of, keras_file, lines, results, weights_file

CLEAR = (ModelError, UnsupportedError, PrepareError)
DENSE = next(line for line in lines(3) if line["name"] == "Dense")


def with_layer(change: dict, line: dict = DENSE) -> dict:
    """The line with another layer in the place of its last."""
    changed = copy.deepcopy(line)
    changed["config"]["config"]["layers"][-1].update(change)
    return changed


def refused(line: dict, **options: object) -> str:
    with pytest.raises(CLEAR) as caught:
        Converter.from_keras_file(keras_file(line), **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_unknown_layers_are_named_with_what_would_help() -> None:
    said = refused(with_layer({"class_name": "Mine", "module": "me", "registered_name": "me>Mine"}))
    assert "Mine (dense" in said and "custom_layers={'Mine': function}" in said


@pytest.mark.parametrize("name", ["AdaptiveMaxPooling3D", "AdaptiveAveragePooling1D"])
def test_parts_without_number_are_refused(name: str) -> None:
    line = copy.deepcopy(next(line for line in lines(3) if line["name"].startswith(name)))
    line["config"]["config"]["layers"][-1]["config"]["output_size"] = 1 << 20
    assert "at most 4096 windows along an axis, got 1048576" in refused(line)


@pytest.mark.parametrize("times", [1 << 30, -1])
def test_differences_without_number_are_refused(times: int) -> None:
    line = copy.deepcopy(next(line for line in lines(3) if line["name"] == "more diff"))
    _set(line["config"], "n", times)
    assert f"n must be from 0 to 256, got {times}" in refused(line)


def _set(value: object, name: str, new: object) -> None:
    """Give all that have the name another value."""
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _set(each, name, new)
    if isinstance(value, dict) and name in value:
        value[name] = new


@pytest.mark.parametrize("name", ["AdaptiveMaxPooling2D", "AdaptiveAveragePooling1D"])
def test_parts_of_nothing_are_refused(name: str) -> None:
    line = copy.deepcopy(next(line for line in lines(3) if line["name"].startswith(name)))
    line["config"]["config"]["layers"][0]["config"]["batch_shape"][1] = 0
    assert "dimensions of known sizes above 0, got [" in refused(line)


@pytest.mark.parametrize(
    ("number", "size"), [(0, 0), (0, 1 << 20), (1, (1 << 64) - 16), (1, (1 << 64) - 1), (1, 1 << 20)]
)
def test_heaps_that_never_end_are_refused(number: int, size: int) -> None:
    """The HDF5 library itself goes round for ever in some of them."""
    content = bytearray(hdf5_file(lines(2, "hdf5")[0]))
    heap = content.find(b"GCOL\1")
    content[heap + 16 : heap + 32] = struct.pack("<HHIQ", number, 0, 0, size)
    with pytest.raises(ModelError, match=f"the heap at byte {heap} is damaged"):
        Converter.from_keras_file(bytes(content))


def test_sizes_of_other_bytes_are_refused(tmp_path: Path) -> None:
    kind = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    kind.set_sizes(8, 4)
    path = tmp_path / "model.h5"
    h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, kind).close()
    with pytest.raises(UnsupportedError, match="sizes and addresses in the file must have 8 bytes"):
        Converter.from_keras_file(path.read_bytes())


@pytest.mark.parametrize("ngrams", [1 << 30, [2, 1 << 20]])
def test_words_without_number_are_refused(ngrams: object) -> None:
    line = copy.deepcopy(next(line for line in lines(3) if "ngrams" in line["name"]))
    line["config"]["config"]["layers"][-1]["config"]["ngrams"] = ngrams
    assert "ngrams: at most 4096 words in all" in refused(line)


def test_a_hook_makes_a_layer_of_an_unknown_class() -> None:
    line = with_layer({"class_name": "Mine", "module": "me", "registered_name": "me>Mine"})
    path = next(iter(line["layout"]))
    line["layout"] = {each.replace("dense", "mine"): shape for each, shape in line["layout"].items()}
    assert path.startswith("layers/dense")

    def mine(call):  # type: ignore[no-untyped-def]
        assert call.config.integer("units") == 4
        return call.make("MatMul", call.x, call.stored("0")) + call.stored("1")

    for name in ("Mine", "me>Mine", "dense"):
        converter = Converter.from_keras_file(keras_file(line), custom_layers={name: mine})
        x = inputs_of(line)[0]
        kernel, bias = (_weight(each, line) for each in ("layers/mine/vars/0", "layers/mine/vars/1"))
        np.testing.assert_allclose(results(converter, [x])[0], x @ kernel + bias, atol=1e-5)


def _weight(path: str, line: dict) -> np.ndarray:
    from .seeded import weight

    return weight(path, tuple(line["layout"][path]))


def test_lambda_never_runs_the_code_of_a_file() -> None:
    layer = {"class_name": "Lambda", "config": {"name": "dense", "function": {"class_name": "__lambda__"}}}
    line = with_layer({**layer, "module": "keras.layers"})
    line["layout"] = {}
    assert "Lambda" in refused(line) and "custom_layers={'Lambda'" in refused(line)
    converter = Converter.from_keras_file(
        keras_file(line), custom_layers={"Lambda": lambda call: call.x * 2.0}
    )
    x = inputs_of(line)[0]
    np.testing.assert_allclose(results(converter, [x])[0], x * 2)


def test_models_of_code_are_refused() -> None:
    line = copy.deepcopy(DENSE)
    line["config"] = {"class_name": "Model", "module": "me", "config": {"name": "mine"}}
    assert "made by code" in refused(line) and "SavedModel" in refused(line)


def test_states_that_outlive_a_call_are_refused() -> None:
    line = copy.deepcopy(next(line for line in lines(3) if line["name"] == "LSTM"))
    line["config"]["config"]["layers"][-1]["config"]["stateful"] = True
    assert "stateful=True" in refused(line) and "return_state" in refused(line)


def test_quantized_weights_are_refused() -> None:
    line = copy.deepcopy(DENSE)
    line["config"]["config"]["layers"][-1]["config"]["dtype"] = {"class_name": "QuantizedDTypePolicy"}
    assert "quantized by Keras" in refused(line)


def test_weights_alone_ask_for_their_config() -> None:
    with pytest.raises(ModelError, match="config"):
        Converter.from_keras_file(weights_file(DENSE))


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "empty"), (b"hello" * 9, "neither"), (b"\x08\x01\x12\x04TFL3", "not a Keras model")],
)
def test_other_files_are_named(content: bytes, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        Converter.from_keras_file(content)


def test_another_archive_is_no_model() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as parts:
        parts.writestr("data.pkl", b"x")
    with pytest.raises(ModelError, match=r"config\.json"):
        Converter.from_keras_file(archive.getvalue())


def test_the_command_converts_by_content(tmp_path: Path) -> None:
    source, model = tmp_path / "model.bin", tmp_path / "model.tflite"
    source.write_bytes(keras_file(DENSE))
    found = CliRunner().invoke(command, [str(source), "-o", str(model), "--verify", "1"])
    assert found.exit_code == 0, found.output
    assert numlite.Interpreter(model_path=str(model)).get_signature_list()


def test_the_command_takes_weights_with_their_config(tmp_path: Path) -> None:
    source, config, model = (tmp_path / name for name in ("m.weights.h5", "m.json", "m.tflite"))
    source.write_bytes(weights_file(DENSE))
    config.write_text(json.dumps(DENSE["config"]))
    found = CliRunner().invoke(command, [str(source), "--keras-config", str(config), "-o", str(model)])
    assert found.exit_code == 0 and model.exists(), found.output
    found = CliRunner().invoke(command, [str(source), "-o", str(model)])
    assert found.exit_code == 1 and "config" in str(found.exception)


def test_input_shapes_close_open_sizes() -> None:
    line = next(line for line in lines(3) if line["name"] == "Conv2D open")
    name = next(iter(Converter.from_keras_file(keras_file(line)).entries[0].inputs))
    converter = Converter.from_keras_file(keras_file(line), input_shapes={name: (1, 6, 6, 4)})
    details = numlite.Interpreter(model_content=converter.convert()).get_input_details()[0]
    assert details["shape_signature"].tolist() == [1, 6, 6, 4]
    assert "is no input" in refused(line, input_shapes={"other": (1,)})


def test_h5py_is_imported_for_such_files_alone(tmp_path: Path) -> None:
    code = (
        "import sys, numlite, numlite.converter; from numlite.converter.converter import Converter\n"
        "try: Converter.from_keras_file(b'nothing')\n"
        "except ValueError: pass\n"
        "assert 'h5py' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_without_h5py_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    content = keras_file(DENSE)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(UnsupportedError, match=r"numlite\[keras\]"):
        Converter.from_keras_file(content)


def changed_configs(value: object, count: int) -> Iterator[object]:
    """The config with one part after another made something else."""
    rng = np.random.default_rng(1)
    others = (None, -1, 1 << 40, "x", [], {}, True, 0.5, [[1]], {"class_name": "Dense"})
    paths = list(_paths(value, ()))
    for place in rng.permutation(len(paths))[:count]:
        changed = copy.deepcopy(value)
        at: object = changed
        for key in paths[place][:-1]:
            at = at[key]  # type: ignore[index]
        at[paths[place][-1]] = others[int(rng.integers(len(others)))]  # type: ignore[index]
        yield changed


def _paths(value: object, path: tuple) -> Iterator[tuple]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield (*path, key)
        yield from _paths(each, (*path, key))


HOSTILE = (
    *(
        "Conv2D options",
        "LSTM initial_state",
        "MultiHeadAttention",
        "nested models",
        "RNN of cells",
        "getitem",
    ),
    *("Bidirectional concat", "StringLookup mask", "ConvLSTM1D", "Resizing bilinear", "Dot", "transformer"),
)


def try_wrong_configs(name: str, version: int, count: int) -> None:
    for line in lines(version):
        if line["name"] != name:
            continue
        for config in changed_configs(line["config"], count):
            try:
                Converter.from_keras_file(keras_file({**line, "config": config})).convert()
            except CLEAR as error:
                assert str(error)


@pytest.mark.parametrize("name", HOSTILE)
def test_wrong_configs_end_in_clear_errors(name: str) -> None:
    try_wrong_configs(name, 3, 8)
    try_wrong_configs(name, 2, 4)


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("version", [3, 2])
def test_more_wrong_configs_end_in_clear_errors(name: str, version: int) -> None:
    try_wrong_configs(name, version, 60)


@pytest.mark.parametrize("make", [keras_file, weights_file])
def test_damaged_files_end_in_clear_errors(make: object) -> None:
    assert callable(make)
    line = next(line for line in lines(3) if line["name"] == "nested models")
    content = make(line)
    rng = np.random.default_rng(0)
    for round in range(40):
        damaged = bytearray(content)
        if round % 2:
            damaged = damaged[: int(rng.integers(1, len(damaged)))]
        else:
            for place in rng.integers(8, len(damaged), 6):
                damaged[place] = int(rng.integers(256))
        try:
            Converter.from_keras_file(bytes(damaged), config=json.dumps(line["config"])).convert()
        except CLEAR as error:
            assert str(error)


@pytest.mark.parametrize(
    ("height", "size", "words"), [(0, 8, "must have pixels"), (60_000, (1 << 31) - 1, "memory")]
)
def test_images_of_no_size_and_of_any_size(height: int, size: int, words: str) -> None:
    line = copy.deepcopy(next(line for line in lines(3) if line["name"] == "Resizing lanczos3"))
    layers = line["config"]["config"]["layers"]
    layers[0]["config"]["batch_shape"][1] = height
    layers[-1]["config"]["height"] = size
    assert words in refused(line)


def test_a_root_that_is_no_group_is_a_damaged_file() -> None:
    content = bytearray(weights_file(DENSE))
    header = int.from_bytes(content[64:72], "little")  # of the root, which the superblock names
    assert content[header + 16] == 0x11  # its first message: the table of its names
    content[header + 16] = 0
    with pytest.raises(ModelError, match="damaged HDF5 file"):
        Converter.from_keras_file(bytes(content), config=json.dumps(DENSE["config"]))


def hdf5_of(fill: object) -> bytes:
    assert callable(fill)
    stored = io.BytesIO()
    with h5py.File(stored, "w") as file:
        fill(file.create_group("layers/dense/vars"))
    return stored.getvalue()


def huge(group: h5py.Group) -> None:
    group.create_dataset("0", (1 << 20, 1 << 20), np.float32, chunks=(64, 64))
    group["1"] = np.zeros(4, np.float32)


def elsewhere(group: h5py.Group) -> None:
    group["0"] = h5py.ExternalLink("/etc/passwd", "/")
    group["1"] = np.zeros(4, np.float32)


def outside(group: h5py.Group) -> None:
    group.create_dataset("0", (6, 4), np.float32, external=[("/etc/passwd", 0, 96)])
    group["1"] = np.zeros(4, np.float32)


def texts(group: h5py.Group) -> None:
    group["0"] = "words"
    group["1"] = np.zeros(4, np.float32)


def another_shape(group: h5py.Group) -> None:
    group["0"] = np.zeros((3, 4), np.float32)
    group["1"] = np.zeros(4, np.float32)


@pytest.mark.parametrize(
    ("fill", "words"),
    [
        (huge, "stored whole"),
        (elsewhere, "link"),
        (outside, "elsewhere"),
        (texts, "numbers"),
        (another_shape, "shape"),
        (lambda group: None, "weights"),
    ],
)
def test_weights_that_are_none_are_refused(fill: object, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        Converter.from_keras_file(hdf5_of(fill), config=json.dumps(DENSE["config"]))


def test_an_archive_that_grows_is_refused() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("config.json", json.dumps(DENSE["config"]))
        parts.writestr("model.weights.h5", bytes(1000))
    content = bytearray(archive.getvalue())
    # The directory tells another size than the part has.
    at = content.rindex(b"PK\x01\x02") + 24
    content[at : at + 4] = (1 << 31).to_bytes(4, "little")
    with pytest.raises(ModelError, match="cannot hold"):
        Converter.from_keras_file(bytes(content))


def test_a_version_that_is_no_text_counts_for_nothing() -> None:
    line = next(line for line in lines(2, "hdf5") if line["name"] == "Conv2D")
    stored = io.BytesIO(hdf5_file(line))
    with h5py.File(stored, "r+") as file:
        file.attrs["keras_version"] = np.zeros(3)
    converter = Converter.from_keras_file(stored.getvalue())
    assert results(converter, inputs_of(line))[0].shape == tuple(line["outputs"][0]["shape"])


def test_names_of_weights_may_be_cut_into_parts() -> None:
    line = next(line for line in lines(3, "hdf5") if line["name"] == "Conv2D")
    stored = io.BytesIO(hdf5_file(line))
    with h5py.File(stored, "r+") as file:
        attributes = file["model_weights"].attrs
        names = attributes["layer_names"]
        attributes["layer_names0"], attributes["layer_names1"] = names[:1], names[1:]
        del attributes["layer_names"]
    converter = Converter.from_keras_file(stored.getvalue())
    assert results(converter, inputs_of(line))[0].shape == tuple(line["outputs"][0]["shape"])
