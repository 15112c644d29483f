"""The target of this process: what its kernels are compiled for.

`NUMLITE_CPU` names another one than the machine gets by itself (x86-64-v3, or x86-64 for the portable
kernels), so that every code path can be tested on a machine that can run them all.
Nothing here needs llvmlite on Linux: a warm start asks for the target too.
"""

from __future__ import annotations

import os
from functools import cache

from ....lite.errors import UnsupportedError
from .host import host_words, machine
from .targets import TARGETS, Target, targets_of


@cache
def target() -> Target:
    """The best target whose code this machine can run, or NUMLITE_CPU's.

    Raises UnsupportedError when NUMLITE_CPU names a target that is unknown, or one whose code this
    machine cannot run, and on machines that have none.
    """
    name = os.environ.get("NUMLITE_CPU", "")
    if name:
        return _named(name)
    found = possible_targets()
    if not found:
        architectures = ", ".join(dict.fromkeys(target.arch for target in TARGETS.values()))
        raise UnsupportedError(f"kernels: the machine must be one of {architectures}, got {machine()}")
    return found[0]


def possible_targets() -> list[Target]:
    """The targets that this machine can run and gets by itself, best first."""
    return [target for target in targets_of(machine()) if target.needs <= host_words()]


def _named(name: str) -> Target:
    if name not in TARGETS:
        raise UnsupportedError(f"NUMLITE_CPU: must be one of {', '.join(TARGETS)}, got {name}")
    found = TARGETS[name]
    if found.arch != machine():
        raise UnsupportedError(
            f"NUMLITE_CPU: this machine cannot run code for {name}: it is no {found.arch} but {machine()}"
        )
    missing = found.needs - host_words()
    if missing:
        lacking = ", ".join(sorted(missing))
        raise UnsupportedError(f"NUMLITE_CPU: this machine cannot run code for {name}: it lacks {lacking}")
    return found
