"""NUMLITE_CPU and the machine's own target: what is chosen, and that no other instructions are emitted."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from numlite.kernels.compiled.language import host
from numlite.kernels.compiled.language import target as module
from numlite.kernels.compiled.language.target import target
from numlite.kernels.compiled.language.targets import TARGETS, targets_of
from numlite.lite.errors import UnsupportedError


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Have this process run on another machine: machine(architecture, words, NUMLITE_CPU)."""

    def pretend(arch: str, words: frozenset[str], named: str = "") -> None:
        monkeypatch.setattr(module, "machine", lambda: arch)
        monkeypatch.setattr(module, "host_words", lambda: words)
        monkeypatch.setenv("NUMLITE_CPU", named)

    target.cache_clear()
    yield pretend
    target.cache_clear()


PRESENT = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "haswell", "skylake-avx512", "cascadelake"]
PRESENT += ["icelake-server", "znver4"]


@pytest.mark.parametrize("name", TARGETS)
def test_a_named_target_is_taken(machine: Any, name: str) -> None:
    named = TARGETS[name]
    machine(named.arch, named.needs, name)
    found = target()
    assert found is named
    assert found.vector_bytes == (64 if found.avx512 else 32 if found.avx2 else 16)
    assert found.avx512 or not (found.vnni or found.vbmi or found.matrices)
    assert found.traits.signed_x == (found.traits.dot in ("pmaddubsw", "smull", "sdot", "smmla"))


def test_the_names_of_processors_stay() -> None:
    assert set(PRESENT) <= set(TARGETS)
    portable = {name for name in PRESENT if not TARGETS[name].avx2}
    assert portable == {"x86-64", "x86-64-v2"} == {name for name in PRESENT if not TARGETS[name].fma}


V3 = TARGETS["x86-64-v3"].needs
PI_5 = frozenset(["asimd", "asimddp", "asimdhp", "asimdrdm", "atomics", "fphp", "lrcpc"])
MACHINES = {
    "AMD K8": ("x86_64", frozenset(["sse2"]), "x86-64"),
    "Nehalem": ("x86_64", TARGETS["x86-64-v2"].needs, "x86-64-v2"),
    "Haswell, Zen 3": ("x86_64", V3 | {"aes"}, "x86-64-v3"),
    "Alder Lake": ("x86_64", V3 | {"avx_vnni"}, "x86-64-v3-vnni"),
    "Skylake-X": ("x86_64", TARGETS["x86-64-v4"].needs, "x86-64-v4"),
    "Cascade Lake": ("x86_64", TARGETS["cascadelake"].needs, "x86-64-v4-vnni"),
    "Ice Lake": ("x86_64", TARGETS["icelake"].needs, "icelake"),
    "Sapphire Rapids": ("x86_64", TARGETS["sapphirerapids"].needs, "sapphirerapids"),
    "Zen 5, whose rdseed Linux withdrew": ("x86_64", TARGETS["znver4"].needs | {"avx_vnni"}, "icelake"),
    "Raspberry Pi 4": ("aarch64", frozenset(["fp", "asimd", "crc32"]), "aarch64"),
    "Raspberry Pi 5": ("aarch64", PI_5, "aarch64-dotprod"),
    "Graviton 3": ("aarch64", PI_5 | {"bf16", "fcma", "i8mm", "jscvt", "sve"}, "aarch64-i8mm"),
    "ARM that tells of x86": ("aarch64", V3 | {"asimd"}, "aarch64"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_gets_the_best_that_it_can_run(machine: Any, name: str) -> None:
    arch, words, expected = MACHINES[name]
    machine(arch, words)
    assert target().name == expected


def test_a_better_target_comes_first() -> None:
    """Whatever can run a target could have been given no better one that comes later."""
    for arch in ("x86_64", "aarch64"):
        found = targets_of(arch)
        for n, better in enumerate(found):
            assert not any(better.needs < later.needs for later in found[n + 1 :]), better.name


def test_an_unknown_target_is_refused(machine: Any) -> None:
    machine("x86_64", frozenset(), "pentium-iv")
    with pytest.raises(UnsupportedError, match=r"must be one of sapphirerapids, .*got pentium-iv"):
        target()


def test_a_wider_target_than_this_machine_is_refused(machine: Any) -> None:
    machine("x86_64", TARGETS["haswell"].needs, "skylake-avx512")
    with pytest.raises(UnsupportedError, match=r"skylake-avx512.* avx512bw"):
        target()


def test_a_target_of_another_architecture_is_refused(machine: Any) -> None:
    machine("x86_64", V3, "aarch64")
    with pytest.raises(UnsupportedError, match=r"code for aarch64: it is no aarch64 but x86_64"):
        target()


@pytest.mark.parametrize("arch", ["riscv64", "aarch64 in 32 bits"])
def test_other_machines_are_refused(machine: Any, arch: str) -> None:
    machine(arch, frozenset())
    with pytest.raises(UnsupportedError, match=f"must be one of x86_64, aarch64, got {arch}"):
        target()


class System:
    """The C library of another system: getauxval of Linux, sysctlbyname of macOS."""

    def __init__(self, auxiliary: dict[int, int], control: set[bytes]) -> None:
        def getauxval(entry: int) -> int:
            return auxiliary[entry]

        def sysctlbyname(name: bytes, value: Any, *rest: object) -> int:
            value._obj.value = name in control
            return 0 if name.startswith(b"hw.optional.") else -1

        self.getauxval, self.sysctlbyname = getauxval, sysctlbyname


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def told(platform: str, arch: str, auxiliary: dict[int, int], control: set[bytes]) -> frozenset[str]:
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setattr(host, "machine", lambda: arch)
        monkeypatch.setattr(ctypes, "CDLL", lambda name: System(auxiliary, control))
        host.host_words.cache_clear()
        return host.host_words()

    yield told
    host.host_words.cache_clear()


def test_arm_on_linux_tells_by_the_auxiliary_vector(words: Any) -> None:
    assert words("linux", "aarch64", {16: 1 << 1 | 1 << 20, 26: 0}, set()) == {"asimd", "asimddp"}
    assert words("linux", "aarch64", {16: 1 << 1, 26: 1 << 13 | 1 << 1}, set()) == {"asimd", "i8mm", "sve2"}


def test_macos_tells_by_sysctl(words: Any) -> None:
    names = {b"hw.optional.arm.FEAT_DotProd", b"hw.optional.arm.FEAT_FP16", b"hw.optional.avx2_0"}
    assert words("darwin", "aarch64", {}, names) == {"asimd", "asimddp", "asimdhp", "fphp"}
    assert words("darwin", "x86_64", {}, names) == {"avx2", "abm", "movbe"}


def test_a_mac_of_2020_and_of_2022(words: Any, machine: Any) -> None:
    first = ["DotProd", "RDM", "LSE", "FCMA", "FP16", "JSCVT", "LRCPC"]
    for names, expected in (first, "aarch64-dotprod"), ([*first, "I8MM", "BF16"], "aarch64-i8mm"):
        told = words("darwin", "aarch64", {}, {f"hw.optional.arm.FEAT_{name}".encode() for name in names})
        machine("aarch64", told)
        target.cache_clear()
        assert target().name == expected


@pytest.mark.parametrize(
    ("given", "known"), [("AMD64", "x86_64"), ("ARM64", "aarch64"), ("arm64", "aarch64"), ("mips", "mips")]
)
def test_an_architecture_has_one_name(monkeypatch: pytest.MonkeyPatch, given: str, known: str) -> None:
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("", "", "", "", given)), raising=False)
    assert host.machine() == known


@pytest.mark.skipif(sys.platform != "linux" or host.machine() != "x86_64", reason="reads /proc/cpuinfo")
def test_the_host_is_as_llvm_sees_it() -> None:
    compared = TARGETS["znver4"].needs
    assert host.llvm_words() & compared == host.host_words() & compared


ASSEMBLY = """
from numlite.kernels.compiled.driver.compile import kernel_module, target_machine
from numlite.kernels.compiled.families import FAMILIES
print(target_machine().emit_assembly(kernel_module(FAMILIES["softmax_f32"].sources())))
"""


@pytest.mark.skipif(sys.platform != "linux" or host.machine() != "x86_64", reason="a call of Linux on x86-64")
def test_registers_for_matrices_are_those_that_linux_permits() -> None:
    """Asked for or not: where /proc/cpuinfo names them, and where it does not."""
    words = host.host_words()
    arch_get_permitted, permitted = 0x1022, ctypes.c_uint64()
    ctypes.CDLL(None).syscall(host._ARCH_PRCTL, arch_get_permitted, ctypes.byref(permitted))
    assert ("amx_tile" in words) == bool(permitted.value >> host._XTILE_DATA & 1)
    assert host._permitted(frozenset({"avx2"})) == {"avx2"}
    asked = host._permitted(frozenset({"amx_tile", "amx_int8", "avx2"}))
    assert asked == ({"amx_tile", "amx_int8", "avx2"} if "amx_tile" in words else {"avx2"})


@pytest.mark.skipif("avx2" not in host.host_words(), reason="needs a machine with AVX2")
@pytest.mark.parametrize(("name", "wider"), [("x86-64", "%ymm"), ("haswell", "%zmm")])
def test_no_instruction_is_wider_than_the_processor(name: str, wider: str) -> None:
    environment = os.environ | {"NUMLITE_CPU": name}
    done = subprocess.run([sys.executable, "-c", ASSEMBLY], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "%xmm" in done.stdout
    assert wider not in done.stdout


MATRICES = """
import sys
from numlite.kernels.compiled.language.target import compile_for
from numlite.kernels.compiled.language.targets import TARGETS
compile_for(TARGETS["sapphirerapids"])
from numlite.kernels.compiled.driver.compile import kernel_module, only_compile, target_machine
only_compile()  # machine code of this machine has no such instructions
from numlite.kernels.compiled.families import FAMILIES
print(target_machine().emit_assembly(kernel_module(FAMILIES[sys.argv[1]].sources())))
"""


@pytest.mark.parametrize(
    ("family", "products"), [("gemm_q8", {"tdpbssd", "tdpbusd"}), ("conv_hybrid", {"tdpbusd"})]
)
def test_registers_for_matrices_are_let_go(family: str, products: set[str]) -> None:
    """Made on any machine; each function that configures them ends without."""
    command = [sys.executable, "-c", MATRICES, family]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {word for word in done.stdout.split() if word.startswith("tdp")} == products
    configuring = [text for text in done.stdout.split(".cfi_endproc") if "ldtilecfg" in text]
    assert configuring and all("tilerelease" in text for text in configuring)
