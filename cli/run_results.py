"""What a run gave, for people and for programs: values, the highest scores with their labels, JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_SHOWN, MOST_IN_JSON = 12, 4096  # values of an output


class Score(NamedTuple):
    """One of the highest values of a row: its place on the last axis, what it stands for, and its label."""

    place: int
    value: float
    label: str | None


class Output(NamedTuple):
    """An output: its array, (scale, zero point) where one pair quantizes it, and labels of its places."""

    name: str
    array: np.ndarray
    quantization: tuple[float, int] | None
    labels: Sequence[str] | None

    @property
    def real(self) -> np.ndarray:
        """The values that stored ones stand for, as float64."""
        values = self.array.astype(np.float64)
        if self.quantization is None:
            return values
        scale, zero_point = self.quantization
        return (values - zero_point) * scale

    def top(self, count: int) -> list[list[Score]]:
        """The highest values of each row along the last axis, of equal ones the first; numbers only."""
        if self.array.dtype.kind not in "fiu" or not self.array.ndim or self.array.size < 2:
            return []
        rows = self.real.reshape(-1, self.array.shape[-1])
        return [
            [self._score(row, int(place)) for place in np.argsort(-row, kind="stable")[:count]]
            for row in rows
        ]

    def _score(self, row: np.ndarray, place: int) -> Score:
        labels = self.labels
        return Score(place, float(row[place]), labels[place] if labels and place < len(labels) else None)


def outputs_of(
    details: Mapping[str, Mapping[str, Any]],
    arrays: Mapping[str, np.ndarray],
    labels: Sequence[Sequence[str] | None],
) -> list[Output]:
    """The outputs in their order; details by name, labels by place."""
    found = []
    for place, (name, array) in enumerate(arrays.items()):
        scale, zero_point = details[name]["quantization"]
        known = (float(scale), int(zero_point)) if scale else None
        found.append(Output(name, array, known, labels[place] if place < len(labels) else None))
    return found


def labels_of(model: str, file: Path | None, outputs: int) -> list[Sequence[str] | None]:
    """Each output's labels: lines of the file for all, else what the model's metadata has."""
    if file is not None:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise click.ClickException(f"{file}: must be lines of UTF-8 text ({error})") from error
        return [lines] * outputs
    from ..metadata import read

    metadata = read(model)
    return [metadata.labels(place) for place in range(min(outputs, len(metadata.outputs)))]


def values_text(array: np.ndarray) -> str:
    """The values of a small array in one line, "" of others."""
    if not 0 < array.size <= MOST_SHOWN:
        return ""
    values = array.ravel().tolist()
    return " ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in values)


def json_fields(
    model: str, inputs: Mapping[str, np.ndarray], outputs: Sequence[Output], top: int | None
) -> dict[str, Any]:
    """The run as docs/json.md describes it."""
    return {
        "model": model,
        "inputs": [described(name, array) for name, array in inputs.items()],
        "outputs": json_outputs(outputs, top),
    }


def json_outputs(outputs: Sequence[Output], top: int | None) -> list[dict[str, Any]]:
    return [_output_json(output, top) for output in outputs]


def described(name: str, array: np.ndarray) -> dict[str, Any]:
    """Name, type and shape of a value, as docs/json.md has them everywhere."""
    return {"name": name, "type": type_name(array), "shape": list(array.shape)}


def type_name(array: np.ndarray) -> str:
    """NumPy's name, and `string` for strings, whose types in NumPy tell how long they are or nothing."""
    kind = array.dtype.kind
    strings = kind in "SU" or (
        kind == "O" and all(isinstance(each, bytes | str) for each in array.ravel()[:1])
    )
    return "string" if strings else array.dtype.name


def _output_json(output: Output, top: int | None) -> dict[str, Any]:
    found = described(output.name, output.array)
    if output.quantization is not None:
        found["quantization"] = dict(zip(("scale", "zero_point"), output.quantization, strict=True))
    found["values"] = output.array.tolist() if output.array.size <= MOST_IN_JSON else None
    if top is not None:
        found["top"] = [[score._asdict() for score in row] for row in output.top(top)]
    return found
