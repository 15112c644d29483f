"""ModelMark: what the cache tells of a model's file that has been loaded before."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from .private_file import JUST_NOW_NS, blake2b, read_private

if TYPE_CHECKING:
    from .kernel_call import CodePlace

DIGEST_BYTES = 32
_MOST_STATES = 8


class ModelMark:
    """A small file of the cache: empty for a model that was seen once.

    From then on it holds a digest of the model's bytes, and the states of the latest codes that have verified
    them: several versions may use one cache.
    It is named by what the system says of the file, which changes with every write to it.
    """

    def __init__(self, name: str, place: CodePlace) -> None:
        self._path = os.path.join(place.folder, f"model-{name}.bin")
        self._state = place.state.encode()

    @classmethod
    def of_file(cls, info: os.stat_result, place: CodePlace) -> ModelMark | None:
        """The mark of a mapped file; None for one that has changed just now, and may again."""
        if max(info.st_mtime_ns, info.st_ctime_ns) > time.time_ns() - JUST_NOW_NS:
            return None
        told = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        return cls(blake2b(repr(told).encode(), digest_size=16).hexdigest(), place)

    def was_seen(self) -> bool:
        """Whether the model was loaded before; the mark is there from now on."""
        known = read_private(self._path) is not None
        if not known:
            self._publish()
        return known

    @property
    def digest(self) -> bytes | None:
        """Of the model's bytes, None where it is not known."""
        return (read_private(self._path) or b"")[:DIGEST_BYTES] or None

    @property
    def is_verified(self) -> bool:
        """Whether this very code has verified the file, so that it can be read as it is."""
        return self._state in self._states()

    def put(self, digest: bytes) -> None:
        """Keep the digest of a model that this code has verified."""
        self._publish(digest, b"\n".join([*self._states(), self._state][-_MOST_STATES:]))

    def _states(self) -> list[bytes]:
        return (read_private(self._path) or b"")[DIGEST_BYTES:].split(b"\n")

    def _publish(self, *pieces: bytes) -> None:
        from .whole_file import publish  # what it imports takes 5 ms of a start

        with suppress(OSError):
            publish(self._path, *pieces)
