"""Pictures and sound as inputs of a model, as its metadata say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..media import AUDIO_SUFFIXES, IMAGE_SUFFIXES, audio_input, image_input

if TYPE_CHECKING:
    import numpy as np

    from ..interpreter import Interpreter
    from ..metadata import Metadata


def is_media(path: str) -> bool:
    return Path(path).suffix.lower() in IMAGE_SUFFIXES | AUDIO_SUFFIXES


class MediaReader:
    """Reads files for the inputs of one subgraph, whose details are by name."""

    def __init__(
        self, interpreter: Interpreter, details: Mapping[str, Mapping[str, Any]], subgraph_index: int = 0
    ) -> None:
        self._interpreter = interpreter
        self._details = details
        self._is_described = subgraph_index == 0  # the metadata are of the main graph's inputs

    @cached_property
    def _metadata(self) -> Metadata:
        from ..metadata import read

        return read(self._interpreter.core.model)

    def read(self, name: str, path: str) -> np.ndarray:
        """The file as the value of the input; ClickException where it cannot be that."""
        detail = self._details[name]
        normalization, rate = None, 0
        try:
            if self._is_described:
                place = list(self._interpreter.core.subgraph().inputs).index(detail["index"])
                normalization = self._metadata.normalization(place)
                rate = self._metadata.sample_rate(place)
            if Path(path).suffix.lower() in AUDIO_SUFFIXES:
                return audio_input(Path(path), detail, normalization, rate)
            return image_input(Path(path), detail, normalization)
        except (ValueError, RuntimeError) as error:
            raise click.ClickException(f"{path}: {error}") from error
