"""Control edges: which nodes must keep their order though no tensor says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ..schema.varint import as_varint, varint
from .errors import ModelError
from .partition import ControlEdge

METADATA_NAME = "model_control_dependencies"

_VERSION = 1


def parse_control_dependencies(data: bytes) -> list[list[ControlEdge]]:
    """The control edges (node, node that follows) of each subgraph, from the model's metadata.

    ModelError when the data are damaged or of another version.
    Source: LiteRT tflite/converter/experimental/remat/metadata_util.cc.
    """
    numbers = _numbers(data)
    try:
        version = next(numbers)
        if version != _VERSION:
            raise ModelError(f"metadata {METADATA_NAME!r}: version must be {_VERSION}, got {version}")
        subgraphs = []
        for _ in range(next(numbers)):
            edges = [
                (_signed(next(numbers)), _signed(next(numbers))) for _ in range(_count(next(numbers), data))
            ]
            subgraphs.append(edges)
    except StopIteration as error:
        raise ModelError(f"metadata {METADATA_NAME!r}: it ends too early, at {len(data)} bytes") from error
    if next(numbers, None) is not None:
        raise ModelError(f"metadata {METADATA_NAME!r}: bytes follow its end")
    return subgraphs


def serialize_control_dependencies(subgraphs: Sequence[Sequence[ControlEdge]]) -> bytes:
    """The metadata that parse_control_dependencies reads."""
    numbers = [_VERSION, len(subgraphs)]
    for edges in subgraphs:
        numbers.append(len(edges))
        for edge in edges:
            numbers += [2 * n if n >= 0 else -2 * n - 1 for n in edge]
    return b"".join(map(as_varint, numbers))


def chain(nodes: Iterable[int]) -> list[ControlEdge]:
    """Edges that keep the nodes in their order."""
    return list(pairwise(nodes))


def _numbers(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        number, at = varint(data, at, len(data), f"metadata {METADATA_NAME!r}")
        if number >> 32:
            raise ModelError(f"metadata {METADATA_NAME!r}: a number must fit in 32 bits")
        yield number


def _signed(value: int) -> int:
    return -(value // 2) - 1 if value % 2 else value // 2


def _count(value: int, data: bytes) -> int:
    """How many edges follow; never more than the data have room for."""
    if value > len(data):
        raise ModelError(f"metadata {METADATA_NAME!r}: it ends too early, at {len(data)} bytes")
    return value
