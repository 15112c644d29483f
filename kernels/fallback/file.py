"""Files and checkpoints, where the environment lets graphs touch them."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .dtypes import numpy_dtype, type_name
from .file_access import SavedTensor, files_of, path_of
from .kernel import KernelContext
from .registry import kernel
from .status import InvalidArgumentError


def read_file(filename: np.ndarray, *, context: KernelContext) -> bytes:
    """The content of a file."""
    return files_of(context).read(path_of("ReadFile", "filename", filename))


def write_file(filename: np.ndarray, contents: np.ndarray, *, context: KernelContext) -> None:
    """Make the contents those of a file."""
    path = path_of("WriteFile", "filename", filename)
    if contents.shape != ():
        raise InvalidArgumentError(f"WriteFile: contents must be a scalar, got {list(contents.shape)}")
    files_of(context).write(path, contents.item())


def save(
    prefix: np.ndarray,
    tensor_names: np.ndarray,
    shape_and_slices: np.ndarray,
    tensors: list[np.ndarray],
    *,
    dtypes: list[DataType],
    context: KernelContext,
) -> None:
    """Write the tensors, whole, as a checkpoint of the second format."""
    names = _texts("SaveV2", "tensor_names", tensor_names, len(tensors))
    parts = _texts("SaveV2", "shape_and_slices", shape_and_slices, len(tensors))
    if any(parts) or len(set(names)) < len(names):
        message = "tensors must be whole and their names differ"
        raise InvalidArgumentError(f"SaveV2: {message}, got {names[:5]} with parts {parts[:5]}")
    found = [SavedTensor(*entry) for entry in zip(names, dtypes, tensors, strict=True)]
    files_of(context).save(path_of("SaveV2", "prefix", prefix), found)


def restore(
    prefix: np.ndarray,
    tensor_names: np.ndarray,
    shape_and_slices: np.ndarray,
    *,
    dtypes: list[DataType],
    context: KernelContext,
) -> list[np.ndarray]:
    """Tensors of a checkpoint, or the parts of them that shape_and_slices say ("" for the whole)."""
    op = "RestoreV2"
    names = _texts(op, "tensor_names", tensor_names, len(dtypes))
    parts = _texts(op, "shape_and_slices", shape_and_slices, len(dtypes))
    files, path = files_of(context), path_of(op, "prefix", prefix)
    made = []
    for name, part, data_type in zip(names, parts, dtypes, strict=True):
        value = files.restore(path, name, part)
        if value.dtype != numpy_dtype(data_type):
            wanted = type_name(data_type)
            raise InvalidArgumentError(f"{op}: tensor {name!r} must be {wanted}, got {value.dtype}")
        made.append(value)
    return made


def _texts(op: str, name: str, value: np.ndarray, count: int) -> list[str]:
    if value.shape != (count,):
        raise InvalidArgumentError(f"{op}: {name} must be [{count}], got {list(value.shape)}")
    return [text.decode(errors="surrogateescape") for text in value.tolist()]


REGISTRATIONS = (
    kernel("ReadFile", read_file),
    kernel("WriteFile", write_file),
    kernel("SaveV2", save),
    kernel("RestoreV2", restore),
)
