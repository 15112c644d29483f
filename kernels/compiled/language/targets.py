"""Targets: the processors that kernels are compiled for, as data.

A target says how LLVM calls the processor, what a machine must have to run its code, and the traits
that kernels ask for. Words of machines are Linux's, of /proc/cpuinfo and of ARM's auxiliary vector.
"""

from __future__ import annotations

from typing import NamedTuple


class Traits(NamedTuple):
    """What kernels may know of a processor."""

    vector_bytes: int  # width of the widest vector register worth using
    registers: int  # vector registers of that width
    # How sums of four products of bytes are made: pairs, pmaddubsw, vnni256, vnni512, smull, sdot, smmla.
    dot: str
    signed_x: bool  # those products take signed bytes on both sides; else x is unsigned
    fma: bool = True
    permutes: bool = False  # of bytes, over whole registers
    matrices: bool = False  # registers of 16 rows of 64 bytes, multiplied as matrices (AMX)


class Target(NamedTuple):
    """A processor to compile for. cpu and features are LLVM's words, needs those of the machine."""

    name: str
    arch: str
    cpu: str
    features: str
    needs: frozenset[str]
    traits: Traits

    @property
    def vector_bytes(self) -> int:
        """Width of the widest vector register worth using."""
        return self.traits.vector_bytes

    @property
    def fma(self) -> bool:
        return self.traits.fma

    @property
    def avx2(self) -> bool:
        return self.arch == "x86_64" and self.vector_bytes >= 32

    @property
    def avx512(self) -> bool:
        """AVX512 F, BW, DQ and VL."""
        return self.vector_bytes == 64

    @property
    def vnni(self) -> bool:
        """AVX512_VNNI."""
        return self.traits.dot == "vnni512"

    @property
    def vbmi(self) -> bool:
        """AVX512_VBMI."""
        return self.traits.permutes

    @property
    def matrices(self) -> bool:
        """AMX_INT8."""
        return self.traits.matrices


# A machine needs what LLVM may emit unasked: processors of one name lack rdseed, or keys for memory.
_V2 = frozenset(["cx16", "lahf_lm", "popcnt", "ssse3", "sse4_1", "sse4_2"])
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_V4_VNNI = _V4 | {"avx512_vnni"}
_ICELAKE = _V4_VNNI | {
    "avx512_bitalg",
    "avx512_vbmi2",
    "avx512_vpopcntdq",
    "avx512ifma",
    "avx512vbmi",
    "gfni",
}
_MATRICES = _ICELAKE | {"amx_int8", "amx_tile"}

_PORTABLE = Traits(vector_bytes=16, registers=16, dot="pairs", signed_x=False, fma=False)
_AVX2 = Traits(vector_bytes=32, registers=16, dot="pmaddubsw", signed_x=True)
_AVX2_VNNI = _AVX2._replace(dot="vnni256", signed_x=False)
_AVX512 = Traits(vector_bytes=64, registers=32, dot="pmaddubsw", signed_x=True)
_AVX512_VNNI = _AVX512._replace(dot="vnni512", signed_x=False)
_AVX512_VBMI = _AVX512_VNNI._replace(permutes=True)
_AMX = _AVX512_VBMI._replace(matrices=True)
_NEON = Traits(vector_bytes=16, registers=32, dot="smull", signed_x=True)

_DOTPROD = frozenset(["asimd", "asimddp", "asimdrdm"])
_I8MM = _DOTPROD | {"asimdhp", "atomics", "bf16", "fcma", "fphp", "i8mm", "jscvt", "lrcpc"}

# LLVM's tuning for Ice Lake keeps plain loops to 256 bits: on a Zen 5 int8 networks take 3 to 6 % longer
# by it, an LSTM a third. So the tuning is that for Zen 4, without the instructions that only AMD has.
_ZEN_4_WITHOUT_AMD = "-avx512bf16,-clzero,-mwaitx,-prfchw,-rdpru,-shstk,-sse4a,-wbnoinvd"

_TABLE = (
    # Those that machines get, best first. LLVM's schedule for generic ARM is worse than that of any core.
    Target(
        *("sapphirerapids", "x86_64", "znver4", f"{_ZEN_4_WITHOUT_AMD},+amx-int8,+amx-tile", _MATRICES, _AMX)
    ),
    Target("icelake", "x86_64", "znver4", _ZEN_4_WITHOUT_AMD, _ICELAKE, _AVX512_VBMI),
    Target("x86-64-v4-vnni", "x86_64", "cascadelake", "", _V4_VNNI, _AVX512_VNNI),
    Target("x86-64-v4", "x86_64", "x86-64-v4", "", _V4, _AVX512),
    Target("x86-64-v3-vnni", "x86_64", "x86-64-v3", "+avxvnni", _V3 | {"avx_vnni"}, _AVX2_VNNI),
    Target("x86-64-v3", "x86_64", "x86-64-v3", "", _V3, _AVX2),
    Target("x86-64-v2", "x86_64", "x86-64-v2", "", _V2, _PORTABLE),
    Target("x86-64", "x86_64", "x86-64", "", frozenset(), _PORTABLE),
    Target(
        *("aarch64-i8mm", "aarch64", "neoverse-n2", "-ete,-mte,-sve,-sve2,-sve-bitperm,-trbe"),
        *(_I8MM, _NEON._replace(dot="smmla")),
    ),
    Target(
        *("aarch64-dotprod", "aarch64", "cortex-a76", "-aes,-crc,-fullfp16,-lse,-rcpc,-sha2,-ssbs"),
        *(_DOTPROD, _NEON._replace(dot="sdot")),
    ),
    Target("aarch64", "aarch64", "cortex-a72", "-aes,-crc,-sha2", frozenset(["asimd"]), _NEON),
)
_BY_NAME_ONLY = (
    Target("haswell", "x86_64", "haswell", "", _V3 | {"pclmulqdq"}, _AVX2),
    Target("skylake-avx512", "x86_64", "skylake-avx512", "", _V4, _AVX512),
    Target("cascadelake", "x86_64", "cascadelake", "", _V4_VNNI, _AVX512_VNNI),
    Target("icelake-server", "x86_64", "icelake-server", "", _ICELAKE, _AVX512_VBMI),
    Target("znver4", "x86_64", "znver4", "", _ICELAKE | {"avx512_bf16", "sse4a"}, _AVX512_VBMI),
    # The twin of x86-64-v3-vnni on machines that have the instruction in its AVX-512 form only.
    Target(
        *("x86-64-v3-vnni-evex", "x86_64", "x86-64-v3", "+avx512vnni,+avx512vl"),
        *(_V3 | {"avx512f", "avx512bw", "avx512vl", "avx512_vnni"}, _AVX2_VNNI),
    ),
)

# Systems beside Linux that packs are made for: LLVM's words for their objects, in the one format that is
# linked here.
SYSTEMS = {
    "macos": ("aarch64", "arm64-apple-macosx11.0.0-elf"),
    "windows": ("x86_64", "x86_64-pc-windows-elf"),
}

# All that NUMLITE_CPU names.
TARGETS = {target.name: target for target in (*_TABLE, *_BY_NAME_ONLY)}


def targets_of(arch: str) -> list[Target]:
    """The targets that machines of an architecture get by themselves, best first."""
    return [target for target in _TABLE if target.arch == arch]
