"""The compiled families on disk.

A file is `<family>-<target>-<digest>.bin`: the image, then a checksum over digest and image. One that is
damaged, cut short or has another file's content is not read, and so gets compiled again.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache

from ....lite.private_file import blake2b, open_private

_CHECKSUM_BYTES = 32
_FILES_KEPT_PER_FAMILY = 16


@cache
def cache_directory() -> str:
    """`NUMLITE_CACHE_DIR`, else numlite's folder among the user's caches."""
    override = os.environ.get("NUMLITE_CACHE_DIR")
    if override:
        return os.path.abspath(override)
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "numlite")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", home), "numlite", "Cache")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "numlite")


def file_path(family: str, digest: str) -> str:
    return os.path.join(cache_directory(), f"{family}-{digest}.bin")


def _checksum(digest: str, image: bytes) -> bytes:
    return blake2b(image, key=digest.encode(), digest_size=_CHECKSUM_BYTES).digest()


def open_image(family: str, digest: str) -> tuple[bytes, int] | None:
    """A family's image and a descriptor of the file that begins with it, for the caller to close.

    None where there is no whole file, or none that only this user can have written.
    """
    handle = open_private(file_path(family, digest))
    if handle is None:
        return None
    try:
        with open(handle, "rb", buffering=0, closefd=False) as file:
            content = file.readall()
    except OSError:
        content = b""
    image, checksum = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
    if image and checksum == _checksum(digest, image):
        return image, handle
    os.close(handle)
    return None


def read(family: str, digest: str) -> bytes | None:
    """A family's image, or None as for open_image."""
    found = open_image(family, digest)
    if found is None:
        return None
    os.close(found[1])
    return found[0]


def write(family: str, digest: str, image: bytes) -> None:
    """Keep a family's image. Readers see the old file or the new one, never a part of it.

    Raises OSError where the cache cannot be written.
    """
    from ....lite.whole_file import publish

    publish(file_path(family, digest), image + _checksum(digest, image))
    _forget_old_files(family)


def _forget_old_files(family: str) -> None:
    """Other sources and machines may use older files, so that only the oldest of many go."""
    files = list[tuple[float, str]]()
    # Another process may be doing the same.
    with suppress(OSError), os.scandir(cache_directory()) as entries:
        files += [(e.stat().st_mtime, e.path) for e in entries if e.name.rpartition("-")[0] == family]
    for _, path in sorted(files, reverse=True)[_FILES_KEPT_PER_FAMILY:]:
        with suppress(OSError):
            os.unlink(path)
