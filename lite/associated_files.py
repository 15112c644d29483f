"""The files that a model carries: a zip archive behind its flatbuffer."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from .available_memory import available_bytes
from .errors import ModelError

_END = b"PK\x05\x06"
_LONGEST_END = 22 + 0xFFFF  # the archive's last record, with its comment
_DATE = (1980, 1, 1, 0, 0, 0)  # the same files make the same bytes


def read_files(model: memoryview) -> dict[str, bytes]:
    """Contents by name, none where no archive is behind the model.

    Raises ModelError for an archive that is damaged, encrypted, or larger than there is memory for.
    """
    if _END not in bytes(model[-_LONGEST_END:]):
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(model)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            total = sum(entry.file_size for entry in entries)
            if total > available_bytes() // 2:
                raise ModelError(f"associated files: must fit into memory, got {total:,} bytes")
            return {entry.filename: _content(archive, entry) for entry in entries}
    except ModelError:
        raise
    except Exception as error:  # of damaged archives zipfile raises whatever it stumbles over
        raise ModelError(f"associated files: the archive behind the model is damaged: {error}") from error


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """A file, which holds no more than the archive says."""
    with archive.open(entry) as file:
        content = file.read(entry.file_size)
        if len(content) != entry.file_size or file.read(1):
            raise ModelError(f"associated files: {entry.filename!r} must have {entry.file_size:,} bytes")
    return content


def with_files(model: bytes, files: Mapping[str, bytes]) -> bytes:
    """The model with these files behind it, uncompressed, so that readers may map them."""
    if not files:
        return model
    out = io.BytesIO(model)
    with zipfile.ZipFile(out, "a") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content)
    return out.getvalue()
