"""The processor that kernels are compiled for: its name, features and what they allow.

`NUMLITE_CPU` overrides the machine's own (for example haswell, or x86-64 for the portable
kernels), so that every code path can be tested on any machine.
"""

from __future__ import annotations

import os
from functools import cache
from typing import NamedTuple


class Target(NamedTuple):
    """name and features are LLVM's; the flags say which vector instructions may be emitted."""

    name: str
    features: str
    avx2: bool
    fma: bool
    avx512: bool
    vnni: bool

    @property
    def vector_bytes(self) -> int:
        """Width of the widest vector register worth using."""
        return 64 if self.avx512 else 32 if self.avx2 else 16


def _known(name: str) -> dict[str, bool]:
    """Features of a named processor, as far as the kernels ask for them."""
    avx512 = name in ("skylake-avx512", "cascadelake", "icelake-server", "znver4", "znver5", "sapphirerapids")
    avx2 = avx512 or name in ("haswell", "broadwell", "skylake", "znver1", "znver2", "znver3", "x86-64-v3")
    vnni = avx512 and name != "skylake-avx512"
    return {"avx2": avx2, "fma": avx2, "avx512": avx512, "vnni": vnni}


@cache
def target() -> Target:
    """The target of this process. Imports llvmlite unless NUMLITE_CPU names the processor."""
    override = os.environ.get("NUMLITE_CPU")
    if override:
        return Target(override, "", **_known(override))
    import llvmlite.binding as llvm

    host = llvm.get_host_cpu_features()
    avx512 = all(host.get(f, False) for f in ("avx512f", "avx512bw", "avx512vl", "avx512dq"))
    return Target(
        llvm.get_host_cpu_name(),
        host.flatten(),
        avx2=host.get("avx2", False),
        fma=host.get("fma", False),
        avx512=avx512,
        vnni=avx512 and host.get("avx512vnni", False),
    )
