"""Samples that are no arrays in files: pictures, what a Python file yields, and random numbers."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..media import IMAGE_SUFFIXES
from .model_inputs import fill_inputs

if TYPE_CHECKING:
    from ..metadata import Normalization
    from .model_inputs import Detail

Arrays = dict[str, np.ndarray]
# By the names of inputs, or the key of a signature and these.
Sample = Arrays | tuple[str, Arrays]
# How TensorFlow's guides call the function that yields samples.
FUNCTION = "representative_dataset"
_RANDOM_SAMPLES = 32


def random_samples(details: Mapping[str, Detail]) -> Iterator[Arrays]:
    """The same random inputs whenever they are asked for: model_inputs.fill_inputs's."""
    return (fill_inputs(details, {}, seed) for seed in range(_RANDOM_SAMPLES))


def pictures_of(folder: Path) -> list[Path]:
    """The pictures in a folder, by name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in IMAGE_SUFFIXES)


def picture_samples(
    pictures: Iterable[Path], name: str, detail: Detail, normalization: Normalization | None
) -> Iterator[Arrays]:
    """Pictures as values of the only input; uint8 ones need no normalization.

    ClickException for what is no picture, where it does not fit the input, and without what is needed.
    """
    from ..media import image_input

    if normalization is None and np.dtype(detail["dtype"]) != np.uint8:
        raise click.ClickException(
            f"input {name!r}: nothing says what it takes of a picture's 0 to 255: --data-preprocess does, "
            'by "x/127.5-1" say, or metadata in the model'
        )
    for path in pictures:
        try:
            yield {name: image_input(path, detail, normalization)}
        except (ValueError, RuntimeError) as error:
            raise click.ClickException(f"{path}: {error}") from error


def program_samples(source: Path, details: Mapping[str, Detail], signature: str | None) -> Iterator[Sample]:
    """What the function representative_dataset of a Python file yields: the file is run.

    A sample is a list of arrays, arrays by name, or a signature's key and such. ClickException for a file
    without the function, whatever it raises, and for other samples.
    """
    make = _function(source)
    try:
        for number, sample in enumerate(make()):
            yield _sample(sample, list(details), signature, f"{source}: sample {number}")
    except click.ClickException:
        raise
    except Exception as error:
        raise _failed(source, error) from error


def _function(source: Path) -> Callable[[], Iterable[Any]]:
    sys.path.insert(0, str(source.parent.resolve()))  # as Python does for the file that it runs
    try:
        found = runpy.run_path(str(source)).get(FUNCTION)
    except Exception as error:
        raise _failed(source, error) from error
    if not callable(found):
        raise click.ClickException(f"{source}: it must have a function {FUNCTION}() that yields samples")
    return found


def _failed(source: Path, error: Exception) -> click.ClickException:
    return click.ClickException(f"{source}: it raised {type(error).__name__}: {error}")


def _sample(sample: Any, names: list[str], signature: str | None, where: str) -> Sample:
    if isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str):
        key, values = sample
        if signature not in (None, key):
            raise click.ClickException(f"{where}: it is of {key!r}, --signature is {signature!r}")
        return key, _by_name(values, [], where)
    values = _by_name([sample] if isinstance(sample, np.ndarray) else sample, names, where)
    return values if signature is None else (signature, values)


def _by_name(values: Any, names: list[str], where: str) -> Arrays:
    if isinstance(values, Mapping):
        return {str(name): np.asarray(value) for name, value in values.items()}
    if not isinstance(values, list | tuple) or len(values) != len(names):
        raise click.ClickException(
            f"{where}: it must be arrays by name, or a list of {len(names)}, got {type(values).__name__}"
        )
    return {name: np.asarray(value) for name, value in zip(names, values, strict=True)}
