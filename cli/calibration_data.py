"""Samples for calibration: .npy and .npz files whose first axis counts them, folders, and other sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from .model_inputs import named, read_inputs, settable
from .sample_sources import Sample, picture_samples, pictures_of, program_samples, random_samples

if TYPE_CHECKING:
    from ..interpreter import Interpreter
    from ..metadata import Normalization
    from .model_inputs import Detail

_PROGRAM = ".py"


def read_samples(
    model: Path | bytes,
    source: Path,
    signature: str | None = None,
    preprocess: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Iterator[Sample]:
    """The inputs of a model (a file, or what it holds) by name, one sample after another.

    With a signature they are its own, by its names, and behind its key. preprocess makes float inputs of what
    is stored.

    An .npz has an array for each input, by its name or its place (in_0, in_1 ...); an .npy is for the only
    input. Their first axis counts samples: arrays of the input's rank become samples of batch 1, those of one
    more are samples as they are. A folder has an .npy or a picture for each sample of the only input. An .npy
    is read sample by sample, however large. A Python file is run: sample_sources.program_samples. Raises
    ClickException for what does not fit.
    """
    interpreter, details = _inputs(model, signature)
    if source.suffix == _PROGRAM:
        if preprocess is not None:
            raise click.ClickException(f"--data-preprocess: {source} makes its samples itself")
        yield from program_samples(source, details, signature)
        return
    floats = {name for name, detail in details.items() if np.dtype(detail["dtype"]).kind == "f"}
    if preprocess is not None and not floats:
        raise click.ClickException("--data-preprocess: the model must have a float input, got none")
    for sample in _stored(source, details, _pixels(interpreter, signature, preprocess is not None)):
        if preprocess is not None:
            sample = {name: preprocess(v) if name in floats else v for name, v in sample.items()}
        yield sample if signature is None else (signature, sample)


def drawn_samples(model: Path | bytes) -> Iterator[Sample]:
    """Random inputs of a model, of each of its signatures where it has several."""
    interpreter, details = _inputs(model, None)
    keys = list(interpreter.core.signatures)
    if len(keys) < 2:
        yield from random_samples(details)
        return
    for key in keys:
        yield from ((key, arrays) for arrays in random_samples(_of_signature(interpreter, key)))


def _inputs(model: Path | bytes, signature: str | None) -> tuple[Interpreter, dict[str, Detail]]:
    """The model, and details of its inputs, or a signature's, by name."""
    from ..interpreter import Interpreter

    path, content = (None, model) if isinstance(model, bytes) else (str(model), None)
    interpreter = Interpreter(path, content)
    if signature is not None:
        return interpreter, _of_signature(interpreter, signature)
    return interpreter, named(settable(interpreter))


def _pixels(interpreter: Interpreter, signature: str | None, preprocessed: bool) -> Normalization | None:
    """What a picture's 0 to 255 become: themselves before --data-preprocess, else as the metadata say.

    None where these, which are of the first subgraph, say nothing.
    """
    from ..metadata import Normalization, read

    if preprocessed:
        return Normalization(np.zeros(1, np.float32), np.ones(1, np.float32))
    if signature is not None and interpreter.core.signatures[signature].subgraph_index:
        return None
    return read(interpreter.core.model).normalization()


def _of_signature(interpreter: Interpreter, key: str) -> dict[str, Detail]:
    """Details of a signature's inputs by its names; ClickException where the model has no such one."""
    known = interpreter.core.signatures
    if key not in known:
        names = ", ".join(map(repr, known)) or "none"
        raise click.ClickException(f"signature {key!r}: the model's signatures are {names}")
    return dict(interpreter.get_signature_runner(key).get_input_details())


def _stored(
    source: Path, details: dict[str, Detail], pixels: Normalization | None
) -> Iterator[dict[str, np.ndarray]]:
    """The samples as they are stored, by the names of inputs; pixels are what pictures become."""
    if source.is_dir():
        return _folder(source, details, pixels)
    if (stored := StoredRows.of(source)) is not None and len(details) == 1:
        [(name, detail)] = details.items()
        return ({name: row} for row in stored.samples(len(detail["shape"])))
    arrays = read_inputs([str(source)], list(details))
    if missing := [name for name in details if name not in arrays]:
        raise click.ClickException(f"{source}: it must have samples of every input, not of {missing[0]!r}")
    counts = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{count} of {name!r}" for name, count in counts.items())
        raise click.ClickException(f"{source}: it must have as many samples of each input, got {shown}")
    return _rows(arrays, details)


class StoredRows(NamedTuple):
    """The samples of an .npy file: where they begin, how many there are, and the type and shape of each."""

    path: Path
    begin: int
    rows: int
    dtype: np.dtype
    shape: tuple[int, ...]

    @classmethod
    def of(cls, path: Path) -> StoredRows | None:
        """None for what cannot be read row by row: other and incomplete files, other orders and types."""
        try:
            with path.open("rb") as file:
                version = np.lib.format.read_magic(file)
                if version != (1, 0):
                    return None
                shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
                (rows, *row) = shape
                found = cls(path, file.tell(), rows, dtype, tuple(row))
        except (OSError, ValueError, TypeError):
            return None
        is_whole = path.stat().st_size == found.begin + found.rows * found.row_bytes
        return found if is_whole and found.row_bytes and not by_columns and not dtype.hasobject else None

    @property
    def row_bytes(self) -> int:
        return int(self.dtype.itemsize * np.prod(self.shape, dtype=np.int64))

    def samples(self, rank: int) -> Iterator[np.ndarray]:
        """For an input of that rank: rows, or with a batch of 1 where these have one axis less."""
        with self.path.open("rb") as file:
            file.seek(self.begin)
            for _ in range(self.rows):
                row = np.frombuffer(file.read(self.row_bytes), self.dtype).reshape(self.shape)
                yield row[np.newaxis] if row.ndim == rank - 1 else row


def read_labels(source: Path) -> np.ndarray:
    """The whole numbers of an .npy file, flat; ClickException for anything else."""
    try:
        found = np.load(source, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{source}: it must be an .npy file: {error}") from error
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iu":
        raise click.ClickException(f"{source}: labels must be whole numbers")
    return found.reshape(-1)


def _rows(arrays: dict[str, np.ndarray], details: dict[str, Detail]) -> Iterator[dict[str, np.ndarray]]:
    for number in range(len(next(iter(arrays.values()), ()))):
        yield {name: _sample(array, number, len(details[name]["shape"])) for name, array in arrays.items()}


def _sample(array: np.ndarray, number: int, rank: int) -> np.ndarray:
    return array[number : number + 1] if array.ndim == rank else array[number]


def _folder(
    source: Path, details: dict[str, Detail], pixels: Normalization | None
) -> Iterator[dict[str, np.ndarray]]:
    files, pictures = sorted(source.glob("*.npy")), pictures_of(source)
    if len(details) != 1:
        raise click.ClickException(f"{source}: a folder is for models of one input, got {len(details)}")
    if bool(files) == bool(pictures):
        found = f"{len(files)} and {len(pictures)}"
        raise click.ClickException(f"{source}: a folder must hold either .npy files or pictures, got {found}")
    [(name, detail)] = details.items()
    if pictures:
        yield from picture_samples(pictures, name, detail, pixels)
    for path in files:
        array = read_inputs([str(path)], [name])[name]
        yield {name: _with_batch(array, detail["shape"])}


def _with_batch(array: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    return array[np.newaxis] if array.ndim == len(shape) - 1 else array
