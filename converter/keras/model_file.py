"""Keras models from files: .keras, .h5, and .weights.h5 with its config."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from ...lite.available_memory import check_room
from ...lite.errors import ModelError, UnsupportedError
from ...lite.foreign_file import what_it_is
from ...schema.shown import shown
from .hdf5 import open_hdf5
from .layer import Model
from .weights import asset_paths, fill

_ZIP, _HDF5 = b"PK\x03\x04", b"\x89HDF\r\n\x1a\n"
_CONFIG, _METADATA, _WEIGHTS, _ASSETS = "config.json", "metadata.json", "model.weights.h5", "assets/"
# What deflate can make of one byte.
_MOST_GROWTH = 1100
_ZIP_FAULTS = (
    zipfile.BadZipFile,
    OSError,
    RuntimeError,
    ValueError,
    EOFError,
    zlib.error,
    NotImplementedError,
)

Source = str | PathLike[str] | bytes
ModelConfig = str | PathLike[str] | Mapping[str, object]


def read_model(source: Source, config: ModelConfig | None = None) -> Model:
    """The model with its weights.

    source is a file or its content: a .keras archive, a .h5 file of a whole model, or weights alone; for
    those config tells the model (model.to_json(), a file of it, or what it holds). Raises ModelError for
    what is damaged or no such file, UnsupportedError where h5py is missing or code would have to run.
    """
    if isinstance(source, bytes):
        name, content = "model", source
    else:
        name = Path(source).name
        with open(source, "rb") as file:
            content = file.read()
    if content.startswith(_HDF5):
        return _of_hdf5(content, name, config)
    if content.startswith(_ZIP):
        return _of_archive(content, name, config)
    known = what_it_is(content)
    fault = f"it is {known}" if known else "neither a zip archive nor an HDF5 file"
    raise ModelError(f"{name}: not a Keras model ({fault})")


def is_keras(path: Path, start: bytes) -> bool:
    """Whether a file, whose first bytes are given, is a Keras model: HDF5, or an archive with its parts."""
    if start.startswith(_HDF5):
        return True
    if not start.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return _CONFIG in archive.namelist()
    except _ZIP_FAULTS:
        return path.suffix == ".keras"


def _described(config: str | bytes) -> Model:
    # All layers are imported for files that are models; others are only looked at.
    from .model_config import model_of

    return model_of(config)


def _of_hdf5(content: bytes, name: str, config: ModelConfig | None) -> Model:
    root = open_hdf5(content, name)
    stored = root.attribute("model_config")
    if config is None and stored is None:
        raise ModelError(
            f"{name}: it holds weights alone; the model must be told by config (what model.to_json() gives)"
        )
    text = _text(config) if config is not None else stored
    if not isinstance(text, str | bytes):
        raise ModelError(f"{name}: model_config must be a text, got {type(text).__name__}")
    model = _described(text)
    model.version = _version(root.attribute("keras_version")) or model.version
    fill(model, root.group("model_weights") or root)
    return model


def _text(config: ModelConfig) -> str | bytes:
    if isinstance(config, Mapping):
        return json.dumps(config)
    if isinstance(config, str) and config.lstrip().startswith("{"):
        return config
    return Path(config).read_bytes()


def _of_archive(content: bytes, name: str, config: ModelConfig | None) -> Model:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
            if _CONFIG not in names:
                raise ModelError(
                    f"{name}: not a .keras file: it must hold {_CONFIG}, got {len(names)} other files"
                )
            model = _described(_member(archive, _CONFIG) if config is None else _text(config))
            if _METADATA in names:
                model.version = _version_of(_member(archive, _METADATA)) or model.version
            if _WEIGHTS in names:
                fill(model, open_hdf5(_member(archive, _WEIGHTS), f"{name}/{_WEIGHTS}"))
            elif any(layer.own or layer.still for layer in model.all()):
                sharded = "model.weights.json" in names
                error = UnsupportedError if sharded else ModelError
                raise error(
                    f"{name}: it must hold {_WEIGHTS}, got {'weights in shards' if sharded else 'none'}"
                )
            assets = {each: _member(archive, each) for each in names if each.startswith(_ASSETS)}
    except _ZIP_FAULTS as error:
        if isinstance(error, ModelError | UnsupportedError):
            raise
        raise ModelError(f"{name}: damaged archive ({shown(error)})") from error
    _give_assets(model, {path.removeprefix(_ASSETS): data for path, data in assets.items()})
    return model


def _version(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else ""


def _version_of(metadata: bytes) -> str:
    try:
        found = json.loads(metadata)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{_METADATA}: it must be JSON") from error
    return _version(found.get("keras_version")) if isinstance(found, dict) else ""


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > _MOST_GROWTH * info.compress_size + 4096:
        raise ModelError(f"{shown(name)}: {info.compress_size} bytes cannot hold {info.file_size}")
    check_room(info.file_size)
    return archive.read(name)


def _give_assets(model: Model, files: Mapping[str, bytes]) -> None:
    for path, layer in asset_paths(model):
        for name, data in files.items():
            if name.startswith(path) and "/" not in name.removeprefix(path):
                layer.assets[name.removeprefix(path)] = data
