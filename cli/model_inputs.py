"""Inputs for a model: from .npy and .npz files, or random ones."""

from __future__ import annotations

import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..lite import available_memory
from .media_inputs import MediaReader, is_media

if TYPE_CHECKING:
    from ..interpreter import Interpreter, SignatureRunner

Detail = Mapping[str, Any]
_BEGINNINGS = (b"\x93N", b"PK")  # of .npy and .npz files

# What zipfile, zlib and NumPy's reader of headers, which are Python texts, raise for damaged files.
_DAMAGED = (
    *(ArithmeticError, EOFError, LookupError, NotImplementedError, RuntimeError, SyntaxError, TypeError),
    *(ValueError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


def read_inputs(
    sources: Sequence[str], names: Sequence[str], media: MediaReader | None = None
) -> dict[str, np.ndarray]:
    """Arrays by input name, from `file.npz`, `file.npy` or `name=file.npy`.

    With media also from `[name=]picture.jpg` and `[name=]sound.wav`.

    names are the model's inputs in order. Keys of an .npz are these names, or in_0, in_1 ... for the
    place of an input, or arr_0, arr_1 ... as NumPy calls arrays that nobody named. A bare .npy belongs
    to the first input that has no array yet.
    """
    found: dict[str, np.ndarray] = {}
    for source in sources:
        path = file_of(source)
        name = source.removesuffix(path).removesuffix("=")
        if media is not None and is_media(path):
            place = _known(name, names) if name else _first_free(names, found, path)
            found[place] = media.read(place, path)
            continue
        loaded = _load(path)
        if isinstance(loaded, np.ndarray):
            found[_known(name, names) if name else _first_free(names, found, path)] = loaded
        elif name:
            raise click.ClickException(f"{path}: an .npz names its arrays itself, got {source!r}")
        else:
            found |= {_known(key, names): array for key, array in loaded.items()}
    return found


def settable(interpreter: Interpreter) -> list[Detail]:
    """Details of the inputs that take a value: not of constants, which some models list as inputs."""
    details = interpreter.get_input_details()
    return [detail for detail in details if not interpreter.core.tensor(detail["index"]).is_constant]


def signature_inputs(
    interpreter: Interpreter, key: str, sources: Sequence[str], seed: int
) -> tuple[SignatureRunner, dict[str, np.ndarray]]:
    """The signature's runner, and an array for each of its inputs by name."""
    known = list(interpreter.get_signature_list())
    if key not in known:
        names = ", ".join(map(repr, known)) or "none"
        raise click.ClickException(f"signature {key!r}: the model's signatures are {names}")
    runner = interpreter.get_signature_runner(key)
    details = runner.get_input_details()
    index = interpreter.core.signatures[key].subgraph_index
    media = MediaReader(interpreter, details, index)
    return runner, fill_inputs(details, read_inputs(sources, list(details), media), seed)


def file_of(source: str) -> str:
    """The file in `file.npz` or `name=file.npy`; a path that is there may hold `=` itself."""
    paths = [source, *(source[at + 1 :] for at, letter in enumerate(source) if letter == "=")]
    return next((path for path in paths if os.path.exists(path)), paths[-1])


def named(details: Sequence[Detail]) -> dict[str, Detail]:
    """Details by tensor name; a name that occurs again gets its place appended (`x`, `x#1`)."""
    found: dict[str, Detail] = {}
    for place, detail in enumerate(details):
        name = detail["name"] or f"#{place}"
        found[f"{name}#{place}" if name in found else name] = detail
    return found


def fill_inputs(
    details: Mapping[str, Detail], given: Mapping[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """An array for every input: the given one where there is one, else random values.

    details are the interpreter's input details by name. Floats are uniform in [-1, 1), 8-bit
    integers use their whole range, wider ones are 0 or 1 (they are often indices).
    """
    random = np.random.default_rng(seed)
    arrays = {}
    for name, detail in details.items():
        drawn = _random_array(name, detail, random)
        arrays[name] = _checked(name, detail, given[name]) if name in given else drawn
    return arrays


def folder_of(sources: Sequence[str]) -> Path | None:
    """The folder, where that is what is given; UsageError for one beside others."""
    folders = [source for source in sources if Path(file_of(source)).is_dir()]
    if folders and len(sources) > 1:
        raise click.UsageError(f"--input {folders[0]}: a folder must be the only --input")
    return Path(file_of(folders[0])) if folders else None


def _load(path: str) -> np.ndarray | dict[str, np.ndarray]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return dict(_arrays(loaded))
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from error
    except MemoryError as error:
        raise click.ClickException(f"{path}: its arrays take more memory than is left ({error})") from error
    except _DAMAGED as error:
        why = f" ({error})" if _is_array_file(path) else ""  # of others NumPy speaks of pickles
        raise click.ClickException(f"{path}: not an .npy or .npz file of plain arrays{why}") from error


def _is_array_file(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) in _BEGINNINGS


def _arrays(archive: np.lib.npyio.NpzFile) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of an .npz; MemoryError when unpacked they would take more than is left."""
    assert archive.zip is not None
    nbytes = sum(entry.file_size for entry in archive.zip.infolist())
    if nbytes > available_memory.available_bytes():
        raise MemoryError(f"{nbytes:,} bytes")
    for key in archive.files:
        array = archive[key]
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{key!r} is no array")
        yield key, array


def _known(name: str, names: Sequence[str]) -> str:
    if name in names:
        return name
    place = name.removeprefix("in_").removeprefix("arr_")
    if name != place and place.isdigit() and int(place) < len(names):
        return names[int(place)]
    raise click.ClickException(f"input {name!r}: the model's inputs are {', '.join(map(repr, names))}")


def _first_free(names: Sequence[str], found: Mapping[str, np.ndarray], path: str) -> str:
    for name in names:
        if name not in found:
            return name
    raise click.ClickException(f"{Path(path).name}: the model has {len(names)} inputs, all of them given")


def _checked(name: str, detail: Detail, array: np.ndarray) -> np.ndarray:
    wanted = np.dtype(detail["dtype"])
    if wanted.kind == "S" and array.dtype.kind in "SU":
        return array.astype(np.bytes_)
    if array.dtype != wanted:
        raise click.ClickException(f"input {name!r}: must be {wanted.name}, got {array.dtype.name}")
    return array


def _random_array(name: str, detail: Detail, random: np.random.Generator) -> np.ndarray:
    shape = tuple(int(extent) for extent in detail["shape"])
    dtype = np.dtype(detail["dtype"])
    if dtype.kind == "f":
        return random.uniform(-1, 1, shape).astype(dtype)
    if dtype.kind == "c":
        return (random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)).astype(dtype)
    if dtype.kind in "iu" and dtype.itemsize == 1:
        smallest, largest = (-128, 127) if dtype.kind == "i" else (0, 255)
        return random.integers(smallest, largest, shape, dtype, endpoint=True)
    if dtype.kind in "iub":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "S":
        return np.full(shape, b"text")
    raise click.ClickException(f"input {name!r}: cannot draw random values of type {dtype.name}; use --input")
