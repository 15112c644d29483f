"""SampleOptions: what the options of a command say of samples."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import click

from .calibration_data import Sample, drawn_samples, read_samples


class SampleOptions(NamedTuple):
    """Where samples come from, for which signatures, and what makes inputs of them; or random numbers."""

    sources: tuple[Path, ...]
    signatures: tuple[str, ...]
    preprocess: str | None
    is_random: bool = False

    def check(self, validate: Path | None) -> None:
        """UsageError for options that do not go together."""
        if len(self.sources) > 1 and len(self.signatures) != len(self.sources):
            raise click.UsageError(
                "--calibrate: there must be a --signature for each of several, "
                f"got {len(self.signatures)} for {len(self.sources)}"
            )
        if len(self.signatures) > max(len(self.sources), 1):
            raise click.UsageError("--signature: there must be a --calibrate for each of several")
        if not self.sources and validate is None and (self.signatures or self.preprocess):
            raise click.UsageError("--signature, --data-preprocess: --calibrate or --validate must name data")
        if validate is not None and len(self.signatures) > 1:
            raise click.UsageError("--validate: it must be for one --signature, got several")

    def samples(self, model: Path | bytes) -> Iterable[Sample] | None:
        """Those to calibrate with, None where none are given."""
        if self.is_random:
            return drawn_samples(model)
        keys = self.signatures or (None,)
        each = [self._read(model, *pair) for pair in zip(self.sources, keys, strict=False)]
        return chain.from_iterable(each) if self.sources else None

    def of(self, model: Path, source: Path) -> Iterable[Sample]:
        """Those of another source, for the only signature."""
        return self._read(model, source, next(iter(self.signatures), None))

    def _read(self, model: Path | bytes, source: Path, key: str | None) -> Iterable[Sample]:
        from .data_preprocess import DataPreprocess

        made = None if self.preprocess is None else DataPreprocess(self.preprocess)
        return read_samples(model, source, key, made)
