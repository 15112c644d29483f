"""FileAccess: what an environment lets its kernels do with files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ...lite.errors import UnsupportedError
from .kernel import KernelContext
from .status import InvalidArgumentError

UNTRUSTED = (
    "graphs may not touch files unless they are trusted; GraphRunner(graph, allow_files=True) lets them"
)


class SavedTensor(NamedTuple):
    """A tensor of a checkpoint, with TensorFlow's number of its type."""

    name: str
    data_type: int
    value: np.ndarray


class FileAccess(Protocol):
    """Files by path. NotFoundError where there is none, or no such tensor in a checkpoint."""

    def read(self, path: str) -> bytes: ...

    def write(self, path: str, content: bytes) -> None: ...

    def restore(self, prefix: str, name: str, part: str) -> np.ndarray:
        """A tensor of a checkpoint, or the part of it that a text such as "4 2 0,2:-" says."""

    def save(self, prefix: str, tensors: Sequence[SavedTensor]) -> None:
        """Write a checkpoint."""


def files_of(context: KernelContext) -> FileAccess:
    """The environment's files; UnsupportedError where it has none."""
    files = context.environment.files
    if files is None:
        op = context.construction.op
        raise UnsupportedError(f"{op}: {UNTRUSTED}")
    return files


def path_of(op: str, name: str, value: np.ndarray) -> str:
    """A path, given as a scalar string."""
    if value.shape != () or not isinstance(value[()], bytes):
        raise InvalidArgumentError(f"{op}: {name} must be a scalar string, got {list(value.shape)}")
    text: bytes = value.item()
    if b"\0" in text:
        raise InvalidArgumentError(f"{op}: {name} must be a path, got {text!r}")
    return text.decode(errors="surrogateescape")
