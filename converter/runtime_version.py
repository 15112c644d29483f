"""The oldest runtime that knows a model's operators."""

from __future__ import annotations

from collections.abc import Iterable

from ..kernels.operators import OPERATORS
from ..schema.operator_code import operator_name


def runtime_version(codes: Iterable[tuple[int, int]]) -> str:
    """The release of TensorFlow that first ran all operators (code, version); "" when none is known."""
    newest = max((_release(code, version) for code, version in codes), default=())
    return ".".join(map(str, newest))


def _release(code: int, version: int) -> tuple[int, ...]:
    """The release that brought the operator's version, as its three numbers; () where none is known."""
    facts = OPERATORS.get(operator_name(code))
    releases = facts.releases.split() if facts is not None else []
    known = releases[version - 1 : version] if version > 0 else []
    numbers = tuple(map(int, known[0].split("."))) if known and known != ["-"] else ()
    return (*numbers, 0) if len(numbers) == 2 else numbers
