"""Programs that JAX exported, with what it computed; tests/record_jax.py makes them anew."""

from __future__ import annotations

import base64
import json
import lzma
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np

FILE = Path(__file__).with_name("recorded.jsonl")
TEXTS = Path(__file__).with_name("texts.b64")


@dataclass(frozen=True)
class Recorded:
    """A program, its arguments in order, and its results."""

    name: str
    program: bytes
    arguments: list[np.ndarray]
    results: list[np.ndarray]


@cache
def recorded() -> dict[str, Recorded]:
    """All cases by name."""
    found = {}
    for line in FILE.read_text().splitlines():
        case = json.loads(line)
        arrays = [[_array(each) for each in case[part]] for part in ("arguments", "results")]
        program = zlib.decompress(base64.b64decode(case["program"]))
        found[case["name"]] = Recorded(case["name"], program, *arrays)
    return found


@cache
def recorded_texts() -> dict[str, dict[str, str]]:
    """The programs' texts by name and form: "own", "generic", of some "own with places" and the like."""
    found: dict[str, dict[str, str]] = json.loads(lzma.decompress(base64.b64decode(TEXTS.read_bytes())))
    return found


def _array(held: dict) -> np.ndarray:
    data = np.frombuffer(zlib.decompress(base64.b64decode(held["data"])), held["stored"])
    type = ml_dtypes.bfloat16 if held["type"] == "bfloat16" else held["type"]
    return data.reshape(held["shape"]).astype(type)
