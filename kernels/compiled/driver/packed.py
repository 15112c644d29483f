"""What this machine compiles and runs, and what to say where there is neither pack nor compiler."""

from __future__ import annotations

import os
import sys

from ....lite.errors import UnsupportedError
from ..language.host import host_words, machine
from ..language.target import possible_targets, target
from ..language.targets import targets_of
from .cache import cache_directory
from .packs import find_pack

_INSTALL = "pip install 'numlite[jit]'"


def can_compile() -> bool:
    """Whether Numba is installed."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and find_spec("llvmlite") is not None


def check_compiler(family: str) -> None:
    """UnsupportedError where a family that has to be compiled cannot be."""
    if can_compile():
        return
    packed = [t for t in targets_of(machine()) if find_pack(t.name).pack]
    lacking = sorted(packed[-1].needs - host_words()) if packed else []
    if lacking:
        raise UnsupportedError(
            f"{family}: this processor lacks {', '.join(lacking)}, which all compiled kernels here need: "
            f"{_INSTALL} compiles some for it, once"
        )
    raise UnsupportedError(
        f"{family}: no compiled kernels for {target().name} here: {_INSTALL} compiles them once, "
        "or install a wheel from PyPI"
    )


def machine_facts() -> dict[str, str]:
    """What this machine runs, where its kernels come from, and why, in words."""
    found = find_pack(target().name)
    names = ("NUMLITE_CPU", "NUMLITE_PACK", "NUMLITE_JIT")
    settings = [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]
    compiled = f"compiled, and kept in {cache_directory()}" if can_compile() else f"none: {_INSTALL}"
    return {
        "machine": f"{machine()}, {sys.platform}",
        "target": target().name,
        "can run": ", ".join(found.name for found in possible_targets()),
        "settings": ", ".join(settings) or "none",
        "pack": found.reason if found.pack else f"none: {found.reason}",
        "kernels of no pack": compiled,
    }
