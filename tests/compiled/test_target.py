"""NUMLITE_CPU: what may be named, and that its instructions are the only ones emitted."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from numlite.kernels.compiled.language import target as module
from numlite.kernels.compiled.language.target import PROCESSORS, target
from numlite.lite.errors import UnsupportedError


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    target.cache_clear()
    yield monkeypatch
    target.cache_clear()


@pytest.mark.parametrize("name", PROCESSORS)
def test_flags_of_a_named_processor(cpu: pytest.MonkeyPatch, name: str) -> None:
    cpu.setenv("NUMLITE_CPU", name)
    cpu.setattr(module, "host_flags", lambda: frozenset().union(*PROCESSORS.values()))
    found = target()
    assert found.override == name
    assert found.avx2 == found.fma == (name not in ("x86-64", "x86-64-v2"))
    assert found.vector_bytes == (64 if found.avx512 else 32 if found.avx2 else 16)


def test_an_unknown_processor_is_refused(cpu: pytest.MonkeyPatch) -> None:
    cpu.setenv("NUMLITE_CPU", "pentium-iv")
    with pytest.raises(UnsupportedError, match=r"must be one of x86-64, .*got pentium-iv"):
        target()


def test_a_wider_processor_than_this_is_refused(cpu: pytest.MonkeyPatch) -> None:
    cpu.setenv("NUMLITE_CPU", "skylake-avx512")
    cpu.setattr(module, "host_flags", lambda: PROCESSORS["haswell"])
    with pytest.raises(UnsupportedError, match=r"skylake-avx512.* avx512bw"):
        target()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_the_host_is_as_llvm_sees_it() -> None:
    # Linux withdraws rdseed where a processor's is faulty; LLVM does not ask Linux.
    compared = PROCESSORS["znver4"] - {"rdseed"}
    assert module._flags_from_llvm() & compared == module.host_flags() & compared


def test_the_host_description_does_not_change() -> None:
    first = module.host_description()
    module.host_description.cache_clear()
    assert module.host_description() == first
    assert not re.search(r"MHz|^processor", first)


ASSEMBLY = """
from numlite.kernels.compiled.driver.compile import kernel_module, target_machine
from numlite.kernels.compiled.families import FAMILIES
print(target_machine().emit_assembly(kernel_module(FAMILIES["softmax_f32"].sources())))
"""


@pytest.mark.skipif("avx2" not in module.host_flags(), reason="needs a machine with AVX2")
@pytest.mark.parametrize(("name", "wider"), [("x86-64", "%ymm"), ("haswell", "%zmm")])
def test_no_instruction_is_wider_than_the_processor(name: str, wider: str) -> None:
    environment = os.environ | {"NUMLITE_CPU": name}
    done = subprocess.run([sys.executable, "-c", ASSEMBLY], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "%xmm" in done.stdout
    assert wider not in done.stdout
