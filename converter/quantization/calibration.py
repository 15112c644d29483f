"""Calibration: the ranges that were observed, which can be saved, loaded, and merged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from .float_graph import Site
from .kept_samples import KeptSamples
from .observers import MinMax, Observer, observer

Range = tuple[float, float]

_FORMAT = 1


class Calibration(Mapping[Site, Range]):
    """The range of each tensor that had a value. names are the tensors', to tell models apart.

    hessians are those of weights that GPTQ rounds, where they were asked for, samples some of those that were
    seen, for improvements; both are merged, but not saved. is_random tells that samples were random numbers.
    """

    def __init__(
        self,
        kind: str,
        observers: dict[Site, Observer],
        names: dict[Site, str],
        samples: KeptSamples | None = None,
        is_random: bool = False,
    ) -> None:
        self.kind = kind
        self.is_random = is_random
        self.samples = samples or KeptSamples()
        self.channels: dict[Site, np.ndarray] = {}
        self._observers = observers
        self.names = names
        self._ranges: dict[Site, Range] = {}
        self.hessians: dict[tuple[int, str], np.ndarray] = {}

    def __getitem__(self, site: Site) -> Range:
        if site not in self._ranges:
            self._ranges[site] = self._observers[site].range()
        return self._ranges[site]

    def __iter__(self) -> Any:
        return iter(self._observers)

    def __len__(self) -> int:
        return len(self._observers)

    def merge(self, other: Calibration) -> None:
        """Take in the ranges that were observed elsewhere of the same model; ModelError for another one."""
        if self.kind != other.kind:
            raise ModelError(f"calibrations: observers must be the same, got {self.kind} and {other.kind}")
        channels = self._merged_channels(other)
        for site, found in other._observers.items():
            name = self.names.setdefault(site, other.names[site])
            if name != other.names[site]:
                raise ModelError(
                    f"calibrations: must be of one model, got tensors {name!r} and {other.names[site]!r}"
                )
            if site in self._observers:
                self._observers[site].merge(found)
            else:
                self._observers[site] = found
        self.channels = channels
        for sample in other.samples:
            self.samples.add(sample)
        for key, hessian in other.hessians.items():
            self.hessians[key] = self.hessians[key] + hessian if key in self.hessians else hessian
        self.is_random = self.is_random or other.is_random
        self._ranges.clear()

    def add(self, inner: Mapping[Site, tuple[str, MinMax]]) -> None:
        """Ranges of what no tensor holds in a run, with the names of the tensors that stand for it."""
        for site, (name, seen) in inner.items():
            self.names[site] = name
            self._observers[site] = observer(self.kind)
            self._observers[site].update(np.array(seen.range(), np.float32), *seen.range())

    def merged(self, other: Calibration) -> Calibration:
        """Itself, after merge."""
        self.merge(other)
        return self

    def _merged_channels(self, other: Calibration) -> dict[Site, np.ndarray]:
        """Of tensors whose channels were as many, and known, wherever there were values."""
        found = {}
        for site in self.channels.keys() | other.channels.keys():
            seen = [each.channels.get(site) for each in (self, other) if site in each._observers]
            known = [ranges for ranges in seen if ranges is not None]
            if len(known) == len(seen) and len({ranges.shape for ranges in known}) == 1:
                found[site] = np.stack(
                    [np.min([r[0] for r in known], axis=0), np.max([r[1] for r in known], axis=0)]
                )
        return found

    def to_json(self) -> str:
        """UnsupportedError where there are Hessians, which are too large for it."""
        if self.hessians:
            raise UnsupportedError(
                "calibration: what GPTQ needs of the data cannot be saved; the process that has calibrated "
                "can quantize with it"
            )
        rows = [
            {"subgraph": site.graph, "tensor": site.tensor, "name": self.names[site], **found.state()}
            for site, found in sorted(self._observers.items())
        ]
        told = {"random": True} if self.is_random else {}
        head = json.dumps({"format": _FORMAT, "observer": self.kind, **told})
        # A line for each tensor, so that people can compare two files.
        lines = ",\n".join(map(json.dumps, rows))
        return f'{head[:-1]}, "tensors": [\n{lines}\n]}}\n'

    @classmethod
    def from_json(cls, text: str | bytes) -> Calibration:
        """ModelError for what is no calibration."""
        try:
            found = json.loads(text)
            if found["format"] != _FORMAT:
                raise ValueError(f"format {found['format']!r} is not known")
            kind = str(found["observer"])
            observer(kind)  # Checked even where there is no row.
            observers: dict[Site, Observer] = {}
            names: dict[Site, str] = {}
            for row in found["tensors"]:
                site = Site(int(row["subgraph"]), int(row["tensor"]))
                observers[site] = observer(kind)
                observers[site].load(row)
                names[site] = str(row["name"])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ModelError(f"calibration: must be a file that numlite has saved; {error!r}") from error
        return cls(kind, observers, names, is_random=bool(found.get("random")))

    def save(self, path: str | PathLike[str]) -> None:
        Path(path).write_text(self.to_json())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Calibration:
        return cls.from_json(Path(path).read_bytes())

    def check_model(self, names: Mapping[Site, str]) -> None:
        """ModelError unless the tensors have the names that they had in the model that was observed."""
        wrong = [site for site, name in self.names.items() if names.get(site) != name]
        if wrong:
            raise ModelError(
                f"calibration: must be of this model, got tensor {self.names[wrong[0]]!r} where it has "
                f"{names.get(wrong[0])!r}"
            )


def missing(needed: Iterable[Site], ranges: Mapping[Site, Range]) -> list[Site]:
    """The tensors that have no range."""
    return [site for site in needed if site not in ranges]
