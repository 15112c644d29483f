"""Damaged StableHLO programs and their texts: they convert, or end in an error that says why."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from numlite.converter import Converter

from tests.converter.stablehlo.recorded import recorded, recorded_texts
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import damaged_bytes
from tests.fuzzing.text_changes import damaged_text

# Small ones of many operations: damage hits something more often.
_NAMES = ("mlp", "embedding", "sort", "gather_scatter", "control", "windows", "open_shapes", "mlp export")


def _seeds(given: Sequence[Path]) -> list[Seed]:
    """The given files, else programs that JAX exported."""
    if given:
        return [Seed(path.name, path.read_bytes()) for path in given]
    return [Seed(name, recorded()[name].program) for name in _NAMES]


def _damage(seed: Seed, draw: random.Random) -> Mutant:
    if draw.random() < 0.4:
        return Mutant(damaged_bytes(seed.content, draw), "damaged bytes")
    # One number, so that most of the rest is still understood.
    content = bytearray(seed.content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        content[draw.randrange(len(content))] = draw.choice((0, 1, 3, 0x7F, 0xFF, draw.randrange(256)))
    return Mutant(bytes(content), "changed bytes")


def _attempt(mutant: Mutant) -> str:
    Converter.from_stablehlo(mutant.content).convert()
    return "converted"


def _text_seeds(given: Sequence[Path]) -> list[Seed]:
    """The given files, else programs that JAX printed."""
    if given:
        return [Seed(path.name, path.read_text()) for path in given]
    texts = recorded_texts()
    return [
        Seed(f"{name} {form}", text) for name in _NAMES if name in texts for form, text in texts[name].items()
    ]


def _damage_text(seed: Seed, draw: random.Random) -> Mutant:
    text = damaged_text(seed.content, draw).encode(errors="surrogateescape")
    if draw.random() < 0.05:
        text = damaged_bytes(text, draw)
    return Mutant(text, "damaged text")


STABLEHLO = Kind(
    "stablehlo", _seeds, _damage, _attempt, frozenset({"converted"}), ".stablehlo", runs_models=False
)
STABLEHLO_TEXTS = Kind(
    "stablehlo texts",
    _text_seeds,
    _damage_text,
    _attempt,
    frozenset({"converted"}),
    ".mlir",
    runs_models=False,
)
