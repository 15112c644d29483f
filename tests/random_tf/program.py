"""A random program of TensorFlow functions: its inputs, and what stands for sizes that are open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# A size: a number, or the letter of one that is open and changes from run to run.
Size = int | str


@dataclass(frozen=True)
class Input:
    """One input: its sizes, TensorFlow's name of its type, and the range of its values."""

    shape: tuple[Size, ...]
    type: str = "float32"
    low: float = -2.0
    high: float = 2.0


@dataclass(frozen=True)
class Program:
    """A function of tensors; old is one that is traced with TensorFlow 1's control flow."""

    function: Callable[..., Any]
    inputs: tuple[Input, ...]
    old: bool = False


def opened(draw: Any, **sizes: int) -> dict[str, Size]:
    """Each size by its name, some left open: then the name stands for it."""
    return {name: name if draw.chance(0.35) else size for name, size in sizes.items()}
