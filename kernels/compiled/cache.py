"""The compiled families on disk: what goes into a family's digest, and the files that hold the code.

A file is `<family>-<digest>.bin`: the image, then a checksum over digest and image. One that is
damaged, cut short or has another file's content is not read, and so gets compiled again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np

from ...lite.private_file import open_private
from .target import host_description, target

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first, which takes 2 ms
except ImportError:
    from hashlib import blake2b

_HERE = os.path.dirname(__file__)
_CHECKSUM_BYTES = 32
_FILES_KEPT_PER_FAMILY = 16

# Always part of the digest: they make the code, though no family imports them.
_COMPILER = ("compile", "elf")


# --- digests
@cache
def family_digest(family: str) -> str:
    """What a family's code depends on, as 32 hexadecimal digits.

    Its source and its siblings', the values (dtypes, constants) that they import from other
    folders, the compiler's source, the versions of Python, NumPy, Numba and llvmlite, and the
    processor.
    """
    digest = blake2b(_environment(), digest_size=16)
    waiting, seen = [family, *_COMPILER], set()
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            text, siblings, values = _source(module)
            digest.update(text)
            digest.update(values)
            waiting += siblings
    return digest.hexdigest()


@cache
def _environment() -> bytes:
    versions = (sys.version, np.__version__, _distribution("numba"), _distribution("llvmlite"))
    return repr((versions, sys.platform, host_description(), target().override)).encode()


def _distribution(package: str) -> bytes:
    """The text that states a package's version, found without importing the package."""
    for folder in sys.path:
        try:
            with open(os.path.join(folder, package, "_version.py"), "rb", buffering=0) as file:
                return file.readall()
        except OSError:
            continue
    try:
        return str(import_module(package).__version__).encode()
    except ImportError:
        return b"missing"


@cache
def _source(module: str) -> tuple[bytes, list[str], bytes]:
    """A file's text, the siblings that it imports, and the values it imports from elsewhere."""
    with open(os.path.join(_HERE, f"{module}.py"), "rb", buffering=0) as file:
        content = file.readall()
    siblings, values = [], []
    for path, names in _relative_imports(content):
        if path == ".":
            siblings += names
        elif not path.startswith(".."):
            siblings.append(path[1:])
        else:
            origin = import_module(path, __package__)
            values += [_value(origin, name) for name in names]
    return content, siblings, "\n".join(values).encode()


def _relative_imports(content: bytes) -> Iterator[tuple[str, list[str]]]:
    """(path, names) of each `from .path import names` before the first function or class."""
    ends = (content.find(word) for word in (b"\ndef ", b"\nclass ", b"\n@"))
    head = content[: min((end for end in ends if end >= 0), default=len(content))].decode()
    for statement in head.split("\nfrom .")[1:]:
        path, _, listed = statement.partition(" import ")
        listed = listed[1 : listed.index(")")] if listed[0] == "(" else listed.partition("\n")[0]
        words = ",".join(line.partition("#")[0] for line in listed.split("\n")).split(",")
        yield f".{path}", [word.split()[0] for word in words if word.strip()]


def _value(origin: object, name: str) -> str:
    """A constant by its value; anything else by the text of the file that defines it.

    Errors go into no code: only their names count.
    """
    value = getattr(origin, name)
    if isinstance(value, type) and issubclass(value, Exception):
        return name
    if name.isupper():
        return f"{name}={_text(value)}"
    module = value if isinstance(value, ModuleType) else sys.modules[value.__module__]
    with open(str(module.__file__), encoding="utf-8") as file:
        return file.read()


def _text(value: object) -> str:
    if isinstance(value, np.dtype):
        return _dtype_text(value)
    if isinstance(value, tuple | list):
        return f"({','.join(map(_text, value))})"
    if isinstance(value, dict):
        return f"{{{','.join(f'{_text(key)}:{_text(item)}' for key, item in value.items())}}}"
    if isinstance(value, set | frozenset):
        return f"{{{','.join(sorted(map(_text, value)))}}}"
    if isinstance(value, np.ndarray):
        return f"{_dtype_text(value.dtype)}{value.shape}{value.tobytes().hex()}"
    if value is None or isinstance(value, int | float | complex | str | bytes | np.generic):
        return repr(value)
    raise TypeError(f"compiled kernels can import dtypes and plain constants, got {type(value).__name__}")


def _dtype_text(dtype: np.dtype) -> str:
    if dtype.subdtype is not None:
        return f"{_dtype_text(dtype.subdtype[0])}{dtype.subdtype[1]}"
    if dtype.fields is None:
        return dtype.str
    fields = (f"{name}:{_dtype_text(field[0])}@{field[1]}" for name, field in dtype.fields.items())
    return f"{{{','.join(fields)};{dtype.itemsize};{dtype.isalignedstruct}}}"


# --- files
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
    from ...lite.whole_file import publish

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
