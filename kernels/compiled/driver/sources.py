"""Sources: what a family's code is made from, and the digest that changes with any of it.

A module's imports, those inside functions too, are found in its syntax tree, which takes a millisecond a
file. What was found is kept in the cache by the file's content, so that a second start parses nothing; the
digests are kept by the package's state, so that it reads no source either.
An import whose module's name is put together at run time is not seen: kernels have none.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np

from ....lite.private_file import JUST_NOW_NS, blake2b
from ....schema.named_tuple import NamedTuple
from ..language.target import target
from ..language.targets import Target
from .cache import read, write

_PACKAGE = __package__.rpartition(".")[0]
_FOLDER = os.path.dirname(os.path.dirname(__file__))
_ROOT = os.path.dirname(os.path.dirname(_FOLDER))
# Always part of the digest: they make the code, though no kernel imports them.
_COMPILER = (
    *(f"{_PACKAGE}.driver.compile", f"{_PACKAGE}.driver.linker.shared_object"),
    f"{_PACKAGE}.language.targets",
)
# Never: which target is chosen, and how, is in no code. The target itself is part of the digest.
_CHOICE = (f"{_PACKAGE}.language.target", f"{_PACKAGE}.language.host")

# The file of imports: its family and digest in the cache, and how many sources it tells of.
_IMPORTS = ("imports", "0" * 32)
_MOST_SOURCES = 500
# Where all is that kernels are made of or prepared by, besides kernels/compiled itself. TensorFlow's ops
# (kernels/fallback) are run by Python: nothing of theirs is kept.
_FOLDERS = ("schema", "lite", "kernels", "kernels/contraction")


@cache
def family_digest(family: str, made_for: Target | None = None) -> str:
    """What a family's code for a target (this process's) depends on, as 32 hexadecimal digits.

    Its sources, the versions of Python, NumPy, Numba and llvmlite, and the target; nothing else of a machine.
    """
    digest = blake2b(_environment(made_for or target()), digest_size=16)
    digest.update(source_digest(family).encode())
    return digest.hexdigest()


@cache
def source_digest(family: str) -> str:
    """What a family is made from, as 32 hexadecimal digits.

    Which kernels of its module it has, the module's source and those of all that it imports, the values
    (dtypes, constants) that they import from other folders, and the compiler's source.
    """
    state = code_state()
    if state is None:
        return _computed_digest(family)
    known = _digests(state)
    if family not in known:
        known[family] = _computed_digest(family)
        known.update(_kept_digests(state))  # by other processes, since
        lines = [f"{name} {digest}" for name, digest in known.items()]
        with suppress(OSError):
            write("digests", state, "\n".join(lines).encode())
    return known[family]


def cache_key(family: str) -> tuple[str, str]:
    """What the cache calls a family's file for this process's target, and its digest."""
    return f"{family}-{target().name}", family_digest(family)


@cache
def code_state() -> str | None:
    """What all code of this process depends on: the package's state, the versions and the target.

    None where the state cannot be told.
    """
    state = _package_state()
    return None if state is None else blake2b(state + _environment(target()), digest_size=16).hexdigest()


@cache
def _package_state() -> bytes | None:
    """A digest of the names, sizes and times of all sources; None where one has changed just now."""
    youngest = time.time_ns() - JUST_NOW_NS
    lines = list[str]()
    folders = [os.path.join(_ROOT, *folder.split("/")) for folder in _FOLDERS]
    for folder in (*folders, _FOLDER, *_folders_in(_FOLDER)):
        for name, info in sorted(_files_of(folder)):
            if info.st_mtime_ns > youngest:
                return None
            lines.append(f"{name} {info.st_size} {info.st_mtime_ns}")
    return blake2b("\n".join([_FOLDER, *lines]).encode(), digest_size=16).digest()


def _folders_in(folder: str) -> list[str]:
    """All folders below a folder."""
    with os.scandir(folder) as entries:
        found = sorted(entry.path for entry in entries if entry.is_dir() and entry.name[0] != "_")
    return [path for each in found for path in (each, *_folders_in(each))]


def _files_of(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.name, entry.stat()


@cache
def _digests(state: str) -> dict[str, str]:
    """The digests of families' sources that this process knows for a state."""
    return _kept_digests(state)


def _kept_digests(state: str) -> dict[str, str]:
    """Those that the cache knows."""
    return dict(line.split() for line in (read("digests", state) or b"").decode().splitlines())


def _computed_digest(family: str) -> str:
    from ..families import FAMILIES  # no use for it where the digests are known

    digest = blake2b(FAMILIES[family].kernels.encode(), digest_size=16)
    for module in _needed(_module(family), *_COMPILER):
        digest.update(_source(module).digest)
    return digest.hexdigest()


def source_bytes(family: str) -> int:
    """Bytes of all sources that a family is made from."""
    return sum(len(_content(module) or b"") for module in _needed(_module(family)))


def _module(family: str) -> str:
    from ..families import FAMILIES

    return f"{_PACKAGE}.{FAMILIES[family].module}"


def _needed(*modules: str) -> list[str]:
    """These modules and all that they import, each once."""
    waiting, seen = list(modules), dict[str, None]()
    while waiting:
        module = waiting.pop()
        if module not in seen and module not in _CHOICE:
            seen[module] = None
            waiting += _source(module).needed
    _keep_imports()
    return list(seen)


@cache
def _environment(made_for: Target) -> bytes:
    versions = (sys.version, np.__version__, _distribution("numba"), _distribution("llvmlite"))
    processor = (made_for.name, made_for.cpu, made_for.features, made_for.traits)
    return repr((versions, sys.platform, processor)).encode()


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


# --- modules
class _Source(NamedTuple):
    """A module's digest, with the values that it imports, and the modules that it imports."""

    digest: bytes
    needed: list[str]


@cache
def _source(module: str) -> _Source:
    content = _content(module)
    assert content is not None, module
    key = blake2b(content, digest_size=16)
    values, needed = list[str](), list[str]()
    for origin, names in _imports(key.hexdigest(), module, content):
        if not _is_ours(origin):
            _sort_values(import_module(origin), names, values, needed)
        elif _content(origin) is not None:
            needed.append(origin)
        else:
            needed += (f"{origin}.{name}" for name in names)
    return _Source(key.digest() + blake2b("\n".join(values).encode(), digest_size=16).digest(), needed)


def _is_ours(module: str) -> bool:
    return f"{module}.".startswith(f"{_PACKAGE}.")


@cache
def _content(module: str) -> bytes | None:
    """The text of a module's file, None for a package of ours."""
    if _is_ours(module):
        path = _FOLDER + module.removeprefix(_PACKAGE).replace(".", os.sep) + ".py"
    else:
        path = str(sys.modules[module].__file__)
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall()
    except FileNotFoundError:
        return None


def _sort_values(origin: ModuleType, names: Iterable[str], values: list[str], needed: list[str]) -> None:
    """A constant counts by its value, anything else by the module that defines it.

    Errors go into no code: only their names count.
    """
    for name in names:
        value = getattr(origin, name)
        if isinstance(value, type) and issubclass(value, Exception):
            values.append(name)
        elif name.isupper():
            values.append(f"{name}={_text(value)}")
        else:
            needed.append(value.__name__ if isinstance(value, ModuleType) else value.__module__)


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


# --- imports
_known: dict[str, str] | None = None  # of the cache: "module:name,name module:name" by the source's digest
_found: dict[str, str] = {}  # what the cache did not know


def _imports(key: str, module: str, content: bytes) -> Iterator[tuple[str, list[str]]]:
    """The package's own modules that a source imports, wherever in it, and the names taken from them."""
    global _known
    if _known is None:
        lines = (read(*_IMPORTS) or b"").decode().splitlines()
        _known = dict(line.partition(" ")[::2] for line in lines)
    # The same text means other modules in another folder.
    key = f"{key}@{module.rpartition('.')[0]}"
    if key not in _known:
        _known[key] = _found[key] = " ".join(_parsed(module, content))
    for word in _known[key].split():
        origin, _, names = word.partition(":")
        yield origin, names.split(",")


def _parsed(module: str, content: bytes) -> list[str]:
    import ast

    words = list[str]()
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.ImportFrom) and node.level:
            origin = ".".join([*module.split(".")[: -node.level], *filter(None, [node.module])])
            words.append(f"{origin}:{','.join(alias.name for alias in node.names)}")
    return words


def _keep_imports() -> None:
    """Add what was found to the cache's file; what another process adds meanwhile is found again."""
    if _found and _known is not None:
        lines = [f"{key} {words}" for key, words in _known.items()][-_MOST_SOURCES:]
        _found.clear()
        with suppress(OSError):
            write(*_IMPORTS, "\n".join(lines).encode())
