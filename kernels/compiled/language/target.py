"""The processor that kernels are compiled for, and the vector instructions it allows.

`NUMLITE_CPU` names another processor than the machine's own (haswell, or x86-64 for the
portable kernels), so that every code path can be tested on a machine that can run them all.
Nothing here needs llvmlite: a warm start asks for the target too.
"""

from __future__ import annotations

import os
from functools import cache

from ....lite.errors import UnsupportedError

# What code for a processor may use, in the words of /proc/cpuinfo; the names are LLVM's.
_V2 = frozenset(["cx16", "lahf_lm", "popcnt", "ssse3", "sse4_1", "sse4_2"])
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_SKYLAKE_AVX512 = _V4 | {"adx", "aes", "pclmulqdq", "rdseed"}
_ICELAKE = _SKYLAKE_AVX512 | {
    *("avx512_bitalg", "avx512_vbmi2", "avx512_vnni", "avx512_vpopcntdq", "avx512ifma", "avx512vbmi"),
    *("gfni", "sha_ni", "vaes", "vpclmulqdq"),
}
PROCESSORS: dict[str, frozenset[str]] = {
    "x86-64": frozenset(),
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": _V4,
    "haswell": _V3 | {"pclmulqdq"},
    "skylake-avx512": _SKYLAKE_AVX512,
    "cascadelake": _SKYLAKE_AVX512 | {"avx512_vnni"},
    "icelake-server": _ICELAKE,
    "znver4": _ICELAKE | {"avx512_bf16", "sse4a"},
}


# Lines of /proc/cpuinfo that differ between the cores, or from one moment to the next.
_VARYING = (
    "processor",
    "cpu MHz",
    "bogomips",
    "BogoMIPS",
    "apicid",
    "initial apicid",
    "core id",
    "physical id",
)

_CPUINFO_SPELLING = {
    "avx512bf16": "avx512_bf16",
    "avx512bitalg": "avx512_bitalg",
    "avx512vbmi2": "avx512_vbmi2",
    "avx512vnni": "avx512_vnni",
    "avx512vpopcntdq": "avx512_vpopcntdq",
    "bmi": "bmi1",
    "lzcnt": "abm",
    "pclmul": "pclmulqdq",
    "sahf": "lahf_lm",
    "sha": "sha_ni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
}


class Target:
    """override is NUMLITE_CPU's processor (LLVM's name), or empty for the machine's own.

    The flags say which vector instructions may be emitted; vnni means AVX512_VNNI,
    vbmi AVX512_VBMI.
    """

    __slots__ = ("avx2", "avx512", "fma", "override", "vbmi", "vnni")

    def __init__(self, override: str, avx2: bool, fma: bool, avx512: bool, vnni: bool, vbmi: bool) -> None:
        self.override = override
        self.avx2 = avx2
        self.fma = fma
        self.avx512 = avx512
        self.vnni = vnni
        self.vbmi = vbmi

    @property
    def vector_bytes(self) -> int:
        """Width of the widest vector register worth using."""
        return 64 if self.avx512 else 32 if self.avx2 else 16


@cache
def target() -> Target:
    """The target of this process.

    Raises UnsupportedError when NUMLITE_CPU names a processor that is unknown, or one whose
    code this machine cannot run.
    """
    override = os.environ.get("NUMLITE_CPU", "")
    flags = host_flags()
    if override:
        if override not in PROCESSORS:
            raise UnsupportedError(f"NUMLITE_CPU: must be one of {', '.join(PROCESSORS)}, got {override}")
        missing = PROCESSORS[override] - flags
        if missing:
            lacking = ", ".join(sorted(missing))
            raise UnsupportedError(
                f"NUMLITE_CPU: this machine cannot run code for {override}: it lacks {lacking}"
            )
        flags = PROCESSORS[override]
    avx512 = {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= flags
    vnni = avx512 and "avx512_vnni" in flags
    vbmi = avx512 and "avx512vbmi" in flags
    return Target(override, avx2="avx2" in flags, fma="fma" in flags, avx512=avx512, vnni=vnni, vbmi=vbmi)


@cache
def host_flags() -> frozenset[str]:
    """The machine's instruction sets, in the words of /proc/cpuinfo."""
    for line in host_description().splitlines():
        name, _, words = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(words.split())
    return _flags_from_llvm()


@cache
def host_description() -> str:
    """What tells this machine's processor from others: changes when compiled code might not run."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            first = file.read(16384).decode(errors="replace").partition("\n\n")[0]
    except OSError:
        import platform

        return f"{platform.machine()} {platform.processor()} {sorted(_flags_from_llvm())}"
    lines = (line for line in first.splitlines() if line.partition(":")[0].strip() not in _VARYING)
    return "\n".join(lines)


def _flags_from_llvm() -> frozenset[str]:
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().items()
    return frozenset(_CPUINFO_SPELLING.get(name, name) for name, on in features if on)
