"""Samples for calibration: .npy and .npz files whose first axis counts them, or folders of .npy files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from .model_inputs import named, read_inputs, settable

if TYPE_CHECKING:
    from ..interpreter import Interpreter
    from .model_inputs import Detail

# By the names of inputs, or the key of a signature and these.
Sample = dict[str, np.ndarray] | tuple[str, dict[str, np.ndarray]]


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
    more are samples as they are. A folder has an .npy for each sample of the only input. An .npy is read
    sample by sample, however large. Raises ClickException for what does not fit.
    """
    from ..interpreter import Interpreter

    path, content = (None, model) if isinstance(model, bytes) else (str(model), None)
    interpreter = Interpreter(path, content)
    details = named(settable(interpreter)) if signature is None else _of_signature(interpreter, signature)
    floats = {name for name, detail in details.items() if np.dtype(detail["dtype"]).kind == "f"}
    if preprocess is not None and not floats:
        raise click.ClickException("--data-preprocess: the model must have a float input, got none")
    for sample in _stored(source, details):
        if preprocess is not None:
            sample = {name: preprocess(v) if name in floats else v for name, v in sample.items()}
        yield sample if signature is None else (signature, sample)


def _of_signature(interpreter: Interpreter, key: str) -> dict[str, Detail]:
    """Details of a signature's inputs by its names; ClickException where the model has no such one."""
    known = interpreter.core.signatures
    if key not in known:
        names = ", ".join(map(repr, known)) or "none"
        raise click.ClickException(f"signature {key!r}: the model's signatures are {names}")
    return dict(interpreter.get_signature_runner(key).get_input_details())


def _stored(source: Path, details: dict[str, Detail]) -> Iterator[dict[str, np.ndarray]]:
    """The samples as they are stored, by the names of inputs."""
    if source.is_dir():
        return _folder(source, details)
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


def _folder(source: Path, details: dict[str, Detail]) -> Iterator[dict[str, np.ndarray]]:
    files = sorted(source.glob("*.npy"))
    if len(details) != 1:
        raise click.ClickException(f"{source}: a folder is for models of one input, got {len(details)}")
    [(name, detail)] = details.items()
    for path in files:
        array = read_inputs([str(path)], [name])[name]
        yield {name: _with_batch(array, detail["shape"])}


def _with_batch(array: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    return array[np.newaxis] if array.ndim == len(shape) - 1 else array
