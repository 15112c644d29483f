"""Packs: all kernels compiled for a target, in one shared object that comes with the package.

A pack is `<target>.pack` in the package's folder `packs/`, or what `NUMLITE_PACK` names (`off`: none). It
says itself of which version of numlite it is, and from which sources each family was made.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

from ....lite.environment import VERSION
from ....lite.errors import UnsupportedError
from ....schema.named_tuple import NamedTuple
from .image import SharedObject

SUFFIX, INDEX_FILE = ".pack", "index.json"
# The exported text: version and target, then a line for each family with its sources' digest and its kernels.
ID_KERNEL = "pack_id"

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
PACKAGE_FOLDER = os.path.join(_PACKAGE, "packs")


class Pack(NamedTuple):
    """A loaded pack. families holds the digest of each family's sources, and then its kernels' names."""

    path: str
    code: SharedObject
    families: dict[str, list[str]]


class Found(NamedTuple):
    """A target's pack, or None and the reason."""

    pack: Pack | None
    reason: str


def pack_text(target: str, families: dict[str, list[str]]) -> bytes:
    """What a pack says of itself."""
    lines = [f"{VERSION} {target}", *(" ".join([name, *words]) for name, words in sorted(families.items()))]
    return "\n".join(lines).encode() + b"\0"


def in_checkout() -> bool:
    """Whether the package's sources are a checkout's, which may have changed since its packs were made."""
    return os.path.exists(os.path.join(_PACKAGE, "pyproject.toml"))


def named_target() -> str:
    """The target whose pack NUMLITE_PACK names, or nothing. UnsupportedError where it names no pack."""
    text = os.environ.get("NUMLITE_PACK", "")
    if text in ("", "off") or os.environ.get("NUMLITE_JIT"):
        return ""
    if not text.endswith(SUFFIX) or not os.path.isfile(text):
        raise UnsupportedError(f"NUMLITE_PACK: must be 'off' or a file TARGET{SUFFIX}, got {text!r}")
    return os.path.basename(text).removesuffix(SUFFIX)


def check_named(target: str) -> None:
    """UnsupportedError where NUMLITE_PACK's pack, of this target, cannot be used."""
    found = find_pack(target)
    if found.pack is None:
        raise UnsupportedError(f"NUMLITE_PACK: must be a pack that can be used here, got {found.reason}")


@cache
def find_pack(target: str) -> Found:
    """The pack of a target: NUMLITE_PACK's, else the package's."""
    named = os.environ.get("NUMLITE_PACK", "")
    if named == "off" or os.environ.get("NUMLITE_JIT"):
        return Found(None, "NUMLITE_PACK or NUMLITE_JIT asks for none")
    folder = os.path.dirname(os.path.abspath(named)) if named else PACKAGE_FOLDER
    path = os.path.join(folder, target + SUFFIX)
    if not os.path.exists(path):
        return Found(None, f"there is no {path}")
    return _opened(path, target)


def _opened(path: str, target: str) -> Found:
    try:
        code = SharedObject(path)
        text = ctypes.string_at(code.address(ID_KERNEL)).decode()
    except OSError as error:
        return _refused(f"{path}, which the system does not load ({error})")
    except KeyError:
        return _refused(f"{path}, which is no pack of numlite's")
    first, *lines = text.splitlines()
    if first != f"{VERSION} {target}":
        return _refused(f"{path} of numlite {first}, where this is {VERSION} {target}")
    words = [line.split(" ") for line in lines]
    return Found(Pack(path, code, {name: rest for name, *rest in words}), path)


def _refused(reason: str) -> Found:
    if not named_target():  # of which an error tells
        import logging

        logging.getLogger("numlite").warning("packs: must be usable here, got %s", reason)
    return Found(None, reason)
