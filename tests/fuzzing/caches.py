"""Damaged files of caches: compiled kernels and what delegates keep. They are read whole, or made anew."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from numlite.delegates.serialization import SerializationEntry
from numlite.kernels.compiled.driver import cache

from tests.fuzzing.folders import in_folder, save
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import damaged_bytes

_FAMILY, _DIGEST, _FINGERPRINT = "pad", "0123456789abcdef" * 2, 4711
_KERNELS, _ENTRY = f"{_FAMILY}-{_DIGEST}.bin", f"1_{_FINGERPRINT}.bin"
_CONTENT = bytes(range(256)) * 5
_PRIVATE, _READABLE = 0o600, 0o644  # what can be read by others is made private


def seeds(given: Sequence[Path]) -> list[Seed]:
    """A file of each cache."""
    kernels = _CONTENT + cache._checksum(_DIGEST, _CONTENT)
    return [Seed("kernels", {_KERNELS: kernels}), Seed("entry", {_ENTRY: _entry()})]


def _entry() -> bytes:
    kept = []
    with mock.patch("numlite.delegates.serialization.publish", lambda path, content: kept.append(content)):
        SerializationEntry(Path(_ENTRY), _FINGERPRINT).set_data(_CONTENT)
    return bytes(kept[0])


def damage(seed: Seed, draw: random.Random) -> Mutant:
    """Bytes changed, the content of another cache, or none; by the draw others may write the file, too."""
    ((name, content),) = seed.content.items()
    how = draw.random()
    if how < 0.7:
        content = damaged_bytes(content, draw)
    elif how < 0.75:
        content = draw.choice((b"", _entry(), content + content, content[:-32] + bytes(32)))
    return Mutant({name: content}, f"damaged {seed.name}", draw=draw.getrandbits(32))


def read(folder: Path, mutant: Mutant) -> str:
    """What the cache gives of the file: all that was kept or nothing, and then what is kept anew."""
    draw = random.Random(mutant.draw)
    ((name, content),) = mutant.content.items()
    path = folder / name
    is_whole = {name: content} in [seed.content for seed in seeds(())]
    mode = draw.choice((_PRIVATE, _PRIVATE, _PRIVATE, _READABLE, 0o666, 0o620))
    path.chmod(mode)
    if draw.random() < 0.1:
        path.rename(folder / "elsewhere")
        path.symlink_to("elsewhere")
        mode = 0
    if draw.random() < 0.1:
        folder.chmod(0o777)  # a folder of caches alone is made private
    with mock.patch.object(cache, "cache_directory", lambda: os.fspath(folder)):
        found = _read(path)
        if found is not None:
            return "read" if found == _CONTENT and is_whole and mode in (_PRIVATE, _READABLE) else "trusted"
        if is_whole and mode == _PRIVATE:
            return "lost"
        folder.chmod(0o700)
        _write(path)
        return "made anew" if _read(path) == _CONTENT else "not kept"


def _read(path: Path) -> bytes | None:
    if path.name == _KERNELS:
        return cache.read(_FAMILY, _DIGEST)
    return SerializationEntry(path, _FINGERPRINT).get_data()


def _write(path: Path) -> None:
    if path.name == _KERNELS:
        cache.write(_FAMILY, _DIGEST, _CONTENT)
    else:
        SerializationEntry(path, _FINGERPRINT).set_data(_CONTENT)


CACHES = Kind("caches", seeds, damage, in_folder(read), frozenset({"read", "made anew"}), "", save)
