"""Caches' files, which may be code: read only where nobody but this process's user can have written them."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from ..schema.named_tuple import NamedTuple

try:
    from _blake2 import blake2b as blake2b  # of caches' keys; hashlib loads OpenSSL first, which takes 2 ms
except ImportError:
    from hashlib import blake2b as blake2b

# Windows keeps a user's caches in the user's profile, which others cannot write.
_OWNED = hasattr(os, "geteuid")
_WRITE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ANY_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO
CACHE_SUFFIXES = (".bin", ".cubin", ".json", ".so")  # of what caches keep
_SUBFOLDERS = ("cuda",)
DIGEST_BYTES = 32  # of contents and keys
RECENT_S = 3600  # within which it does not matter when a file was used
JUST_NOW_NS = 2_000_000_000  # a file that changes again so soon may keep its size and times


class CodePlace(NamedTuple):
    """The cache's folder, and what all code of the process depends on."""

    folder: str
    state: str


_said: set[tuple[int, int]] = set()  # device and inode of the folders that something was refused in


def open_private(path: str | os.PathLike[str]) -> int | None:
    """A descriptor of a cache's file, or None where there is none that can be trusted.

    The file must be a plain one of this user that others can neither read nor write (0600), in a
    folder of this user that others cannot write (0700); the descriptor itself is asked, so that what is
    read or mapped through it is what was checked. A link is not followed. What others could only
    read is made private; what is refused is said in the log, once for each folder.
    """
    if not _OWNED:
        return _opened(path, None)
    folder, name = os.path.split(os.fspath(path))
    try:
        place = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fault = _folder_fault(place)
        if fault:
            _say_once(place, folder, fault)
            return None
        handle = _opened(name, place)
        fault = None if handle is None else _file_fault(handle)
        if handle is not None and fault:
            os.close(handle)
            _say_once(place, os.fspath(path), fault)
            return None
        return handle
    finally:
        os.close(place)


def read_private(path: str | os.PathLike[str]) -> bytes | None:
    """What is in a cache's file, or None where there is none that can be trusted."""
    handle = open_private(path)
    if handle is None:
        return None
    with open(handle, "rb", buffering=0) as file:
        try:
            return file.readall()
        except OSError:
            return None


def others_may_write(info: os.stat_result) -> bool:
    """Whether a user but this one and the system's may write to a file, or anybody.

    Through a mapping that needs not change what the system says of it.
    """
    return _OWNED and (info.st_uid not in (0, os.geteuid()) or bool(info.st_mode & stat.S_IWOTH))


def told_of(info: os.stat_result) -> tuple[int, ...]:
    """What the system says of a file that changes with every write to it."""
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def make_private_folder(path: str) -> None:
    """Have a folder that only this user can use, and all above it that are missing.

    Raises OSError where it cannot be made, or is there and not this user's alone.
    """
    try:
        os.mkdir(path, 0o700)
        return
    except FileNotFoundError:
        make_private_folder(os.path.dirname(path))
        return make_private_folder(path)
    except FileExistsError:
        pass
    if not _OWNED:
        return
    place = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fault = _folder_fault(place)
    finally:
        os.close(place)
    if fault:
        raise OSError(errno.EPERM, f"a cache's folder must be its user's alone, {fault}", path)


def _opened(name: str | os.PathLike[str], place: int | None) -> int | None:
    # A pipe of that name must not keep us waiting.
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        return os.open(name, flags, dir_fd=place)
    except OSError:
        return None


def _folder_fault(place: int) -> str | None:
    info = os.fstat(place)
    fault = _owner_fault(info)
    if fault or not info.st_mode & _ANY_BY_OTHERS:
        return fault
    if not info.st_mode & stat.S_ISVTX and _is_only_a_cache(place):
        _make_private(place, 0o700)
    mode = os.fstat(place).st_mode
    return f"its mode is {stat.S_IMODE(mode):o}" if mode & _WRITE_BY_OTHERS else None


def _is_only_a_cache(place: int) -> bool:
    """Whether nothing else lies in a folder: only then its mode is ours to change."""
    # What is being written is called .<name>-<letters>.
    names = (name.rpartition("-")[0] if name.startswith(".") else name for name in os.listdir(place))
    return all(name.endswith(CACHE_SUFFIXES) or name in _SUBFOLDERS for name in names)


def _file_fault(handle: int) -> str | None:
    info = os.fstat(handle)
    if not stat.S_ISREG(info.st_mode):
        return "it is not a plain file"
    fault = _owner_fault(info)
    if fault:
        return fault
    if info.st_mode & _WRITE_BY_OTHERS:
        return f"its mode is {stat.S_IMODE(info.st_mode):o}"
    if info.st_mode & _ANY_BY_OTHERS:
        _make_private(handle, 0o600)
    return None


def _owner_fault(info: os.stat_result) -> str | None:
    user = os.geteuid()
    return None if info.st_uid == user else f"user {info.st_uid} owns it, not user {user}"


def _make_private(handle: int, mode: int) -> None:
    with suppress(OSError):  # a disk that can only be read: the caller looks at what is there
        os.fchmod(handle, mode)


def _say_once(place: int, path: str, fault: str) -> None:
    info = os.fstat(place)
    key = (info.st_dev, info.st_ino)
    if key in _said:
        return
    import logging

    _said.add(key)
    logging.getLogger("numlite").warning(
        "%s is not used and what it caches is made anew: others may have written it (%s)", path, fault
    )
