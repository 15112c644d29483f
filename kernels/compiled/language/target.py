"""The target of this process: what its kernels are compiled for.

`NUMLITE_CPU` names another one than the machine gets by itself (x86-64-v3, or x86-64 for the portable
kernels), so that every code path can be tested on a machine that can run them all.
Nothing here needs llvmlite on Linux: a warm start asks for the target too.
"""

from __future__ import annotations

import os
from functools import cache

from ....lite.errors import UnsupportedError
from ..driver.packs import check_named, find_pack, in_checkout, named_target
from .host import host_words, machine
from .targets import TARGETS, Target, targets_of

_given: Target | None = None
_system = ""


@cache
def target() -> Target:
    """The best target whose code this machine can run, or that of NUMLITE_CPU or NUMLITE_PACK.

    An installed package that has no pack for it takes the next one below that has a pack. All kernels of a
    process are of one target, because they share layouts of weights.
    Raises UnsupportedError when a variable names a target that is unknown, or one whose code this
    machine cannot run, and on machines that have none.
    """
    if _given is not None:
        return _given
    name, packed = os.environ.get("NUMLITE_CPU", ""), named_target()
    if packed:
        if name not in ("", packed):
            raise UnsupportedError(f"NUMLITE_PACK: must be for NUMLITE_CPU's {name}, got one for {packed}")
        found = _runnable("NUMLITE_PACK", packed)
        check_named(packed)
        return found
    if name:
        return _runnable("NUMLITE_CPU", name)
    possible = possible_targets()
    if not possible:
        architectures = ", ".join(dict.fromkeys(target.arch for target in TARGETS.values()))
        raise UnsupportedError(f"kernels: the machine must be one of {architectures}, got {machine()}")
    # Who works on a checkout wants the machine's own target, packed or not.
    return (
        possible[0] if in_checkout() else next((t for t in possible if find_pack(t.name).pack), possible[0])
    )


def possible_targets() -> list[Target]:
    """The targets that this machine can run and gets by itself, best first."""
    return [target for target in targets_of(machine()) if target.needs <= host_words()]


def compile_for(given: Target, system: str = "") -> None:
    """Have this process make code for a target, which this machine need not be able to run.

    Kernels ask for the target when they are imported: none may have been. system is one of targets.SYSTEMS
    that is not this machine's.
    """
    global _given, _system
    _given, _system = given, system
    target.cache_clear()


def other_system() -> str:
    """The system that code is made for where it is not this machine's own, else nothing."""
    return _system


def _runnable(variable: str, name: str) -> Target:
    if name not in TARGETS:
        raise UnsupportedError(f"{variable}: must be one of {', '.join(TARGETS)}, got {name}")
    found = TARGETS[name]
    if found.arch != machine():
        raise UnsupportedError(
            f"{variable}: this machine cannot run code for {name}: it is no {found.arch} but {machine()}"
        )
    missing = found.needs - host_words()
    if missing:
        lacking = ", ".join(sorted(missing))
        raise UnsupportedError(f"{variable}: this machine cannot run code for {name}: it lacks {lacking}")
    return found
