"""What this machine's processor can do, in Linux's words, on every system that numlite runs on."""

from __future__ import annotations

import os
import sys
from functools import cache

# Names of uname, and of Windows, for the architectures of targets.
_ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

# The bits of the auxiliary vector. Source: Linux, arch/arm64/include/uapi/asm/hwcap.h.
_AT_HWCAP, _AT_HWCAP2 = 16, 26
_HWCAP = {
    **{"fp": 0, "asimd": 1, "aes": 3, "crc32": 7, "atomics": 8, "fphp": 9, "asimdhp": 10, "asimdrdm": 12},
    **{"jscvt": 13, "fcma": 14, "lrcpc": 15, "asimddp": 20, "sve": 22},
}
_HWCAP2 = {"sve2": 1, "i8mm": 13, "bf16": 14}

# What macOS answers to sysctl, below hw.optional, and what it means.
_DARWIN_ARM = {
    **{"FEAT_DotProd": "asimddp", "FEAT_RDM": "asimdrdm", "FEAT_LSE": "atomics", "FEAT_FCMA": "fcma"},
    **{"FEAT_FP16": "asimdhp fphp", "FEAT_JSCVT": "jscvt", "FEAT_LRCPC": "lrcpc"},
    **{"FEAT_I8MM": "i8mm", "FEAT_BF16": "bf16"},
}
_DARWIN_X86 = {
    **{"supplementalsse3": "ssse3", "sse4_1": "sse4_1", "sse4_2": "sse4_2 popcnt cx16 lahf_lm"},
    **{"avx1_0": "avx xsave", "avx2_0": "avx2 abm movbe", "bmi1": "bmi1", "bmi2": "bmi2", "f16c": "f16c"},
    **{"fma": "fma", "avx512f": "avx512f", "avx512bw": "avx512bw", "avx512cd": "avx512cd"},
    **{"avx512dq": "avx512dq", "avx512vl": "avx512vl", "avx512ifma": "avx512ifma"},
    **{"avx512vbmi": "avx512vbmi"},
}

# A process must ask Linux for the registers that matrices are multiplied in.
# Source: Linux, Documentation/arch/x86/xstate.rst, and arch/x86/include/uapi/asm/prctl.h.
_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XTILE_DATA = 158, 0x1023, 18

# LLVM's words where they are others.
_SPELLING = {
    "amx-int8": "amx_int8",
    "amx-tile": "amx_tile",
    "avx512bf16": "avx512_bf16",
    "avx512bitalg": "avx512_bitalg",
    "avx512vbmi2": "avx512_vbmi2",
    "avx512vnni": "avx512_vnni",
    "avx512vpopcntdq": "avx512_vpopcntdq",
    "avxvnni": "avx_vnni",
    "bmi": "bmi1",
    "lzcnt": "abm",
    "pclmul": "pclmulqdq",
    "sahf": "lahf_lm",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
}


def machine() -> str:
    """This machine's architecture in targets' words; another one by the name that the system gives it."""
    name = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    known = _ARCHITECTURES.get(name.lower(), name)
    return known if sys.maxsize > 2**32 else f"{known} in 32 bits"


@cache
def host_words() -> frozenset[str]:
    """The instruction sets that code may use on this machine."""
    arm = machine() == "aarch64"
    if sys.platform == "linux":
        return _auxiliary_words() if arm else _cpuinfo_words()
    if sys.platform == "darwin":
        return _sysctl_words(
            _DARWIN_ARM if arm else _DARWIN_X86, "hw.optional.arm." if arm else "hw.optional."
        )
    # Every ARM processor that Windows runs on has them.
    return frozenset(["asimd"]) if arm else llvm_words() or _windows_words()


def _cpuinfo_words() -> frozenset[str]:
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            first = file.read(16384).decode(errors="replace").partition("\n\n")[0]
    except OSError:
        return llvm_words()
    for line in first.splitlines():
        name, _, words = line.partition(":")
        if name.strip() == "flags":
            return _permitted(frozenset(words.split()))
    return _permitted(llvm_words())


def _permitted(words: frozenset[str]) -> frozenset[str]:
    """The words without those of AMX where the system does not let this process use it."""
    if "amx_tile" in words:
        import ctypes

        call = ctypes.CDLL(None).syscall
        call.restype, call.argtypes = ctypes.c_long, [ctypes.c_long] * 3
        if call(_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XTILE_DATA) == 0:
            return words
    return frozenset(word for word in words if not word.startswith("amx"))


def _auxiliary_words() -> frozenset[str]:
    """What the kernel tells of all cores; /proc/cpuinfo may be another machine's in an emulated process."""
    import ctypes

    getauxval = ctypes.CDLL(None).getauxval
    getauxval.restype, getauxval.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
    found = [
        name
        for entry, bits in ((_AT_HWCAP, _HWCAP), (_AT_HWCAP2, _HWCAP2))
        for name, bit in bits.items()
        if getauxval(entry) >> bit & 1
    ]
    return frozenset(found)


def _sysctl_words(names: dict[str, str], prefix: str) -> frozenset[str]:
    import ctypes

    system = ctypes.CDLL(None)
    found = ["asimd"] if names is _DARWIN_ARM else []
    for name, words in names.items():
        value, size = ctypes.c_int(0), ctypes.c_size_t(ctypes.sizeof(ctypes.c_int))
        entry = (prefix + name).encode()
        failed = system.sysctlbyname(entry, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
        if not failed and value.value:
            found += words.split()
    return frozenset(found)


def _windows_words() -> frozenset[str]:
    """What Windows itself tells: levels, of which AVX2 stands for all that came with it."""
    if sys.platform != "win32":
        return frozenset()
    import ctypes

    from .targets import TARGETS

    present = ctypes.windll.kernel32.IsProcessorFeaturePresent
    sse4_2, avx2 = 38, 40
    levels = {sse4_2: "x86-64-v2", avx2: "x86-64-v3"}
    return frozenset(word for level, name in levels.items() if present(level) for word in TARGETS[name].needs)


def llvm_words() -> frozenset[str]:
    """What LLVM finds by asking an x86 processor itself; none where llvmlite is not installed."""
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return frozenset()
    features = llvm.get_host_cpu_features().items()
    return frozenset(_SPELLING.get(name, name) for name, on in features if on)
