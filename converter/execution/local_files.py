"""Files of this machine: all of them, for graphs that may touch them, or a SavedModel's assets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...kernels.fallback.file_access import UNTRUSTED, SavedTensor
from ...kernels.fallback.status import InvalidArgumentError, NotFoundError
from ...lite.errors import ModelError, UnsupportedError
from ..saved_model.checkpoint import load_checkpoint
from ..saved_model.model_folder import ModelFolder
from ..saved_model.tensor_slice import parse_spec
from .checkpoint_writer import write_checkpoint


class AssetFiles:
    """Implements FileAccess for a SavedModel that may read its own assets and touch nothing else."""

    def __init__(self, folder: ModelFolder) -> None:
        self._folder = folder

    def read(self, path: str) -> bytes:
        try:
            return self._folder.asset(path, "graph")
        except ModelError as error:
            raise NotFoundError(str(error)) from error

    def write(self, path: str, content: bytes) -> None:
        raise UnsupportedError(f"{path}: {UNTRUSTED}")

    def restore(self, prefix: str, name: str, part: str) -> np.ndarray:
        raise UnsupportedError(f"{prefix}: {UNTRUSTED}")

    def save(self, prefix: str, tensors: Sequence[SavedTensor]) -> None:
        raise UnsupportedError(f"{prefix}: {UNTRUSTED}")


class LocalFiles:
    """Implements FileAccess."""

    def read(self, path: str) -> bytes:
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise NotFoundError(f"{path}: {error.strerror}") from error

    def write(self, path: str, content: bytes) -> None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(content)
        except OSError as error:
            raise NotFoundError(f"{path}: {error.strerror}") from error

    def restore(self, prefix: str, name: str, part: str) -> np.ndarray:
        try:
            checkpoint = load_checkpoint(prefix)
            stored = checkpoint.read(name)
            if part:
                shape, ranges = parse_spec(part)
                if shape != stored.shape:
                    message = f"tensor {name!r}: shape must be {list(shape)}, got {list(stored.shape)}"
                    raise InvalidArgumentError(f"{prefix}: {message}")
                stored = stored.part(ranges)
        except (ModelError, OSError) as error:
            raise NotFoundError(f"{prefix}: {error}") from error
        array = stored.array()
        dtype = numpy_dtype(stored.dtype)
        # The types that NumPy lacks are stored as their bits.
        return array if array.dtype == dtype else array.view(dtype)

    def save(self, prefix: str, tensors: Sequence[SavedTensor]) -> None:
        try:
            Path(prefix).parent.mkdir(parents=True, exist_ok=True)
            write_checkpoint(Path(prefix), tensors)
        except OSError as error:
            raise NotFoundError(f"{prefix}: {error.strerror}") from error
