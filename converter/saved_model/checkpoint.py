"""Checkpoints: variables by name, from an index and data files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Protocol

from ...lite.errors import ModelError
from .stored_tensor import StoredTensor
from .tensor_slice import TensorInfo


class Checkpoint(Protocol):
    """The tensors of a checkpoint, by name."""

    @property
    def tensors(self) -> dict[str, TensorInfo]: ...

    def read(self, name: str) -> StoredTensor:
        """The whole tensor; ModelError when there is none or it is damaged."""
        ...


def load_checkpoint(prefix: str | PathLike[str]) -> Checkpoint:
    """The checkpoint whose files start with that path, of the second format or of the first.

    Of the second there are `<prefix>.index` and `<prefix>.data-00000-of-00002` and so on; of the
    first there is one file of that name, or `<prefix>-00000-of-00002` and so on.
    """
    from .bundle import Bundle
    from .slice_file import SliceFiles

    path = Path(prefix)
    index = path.with_name(path.name + ".index")
    if index.is_file():
        return Bundle(path)
    files = [path] if path.is_file() else sorted(path.parent.glob(f"{_escaped(path.name)}-?????-of-?????"))
    if not files:
        raise ModelError(f"{path}: no checkpoint, neither {index.name} nor a file of that name is there")
    return SliceFiles(files)


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
