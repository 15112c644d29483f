"""On emulated ARM processors, without Numba: a sample of the corpus gives x86-64's bytes.

    pytest -m qemu

Packages of Debian and wheels are fetched once (40 s), packs of what differs most between targets compiled for
three of them (40 s of CPU each, once), and what fits them runs in some 2 minutes. The whole, by hand:

    python -m numlite.benchmarks.machines bytes --on haswell --on aarch64:cortex-a72 \\
        --on aarch64-dotprod:neoverse-n1 --on aarch64-i8mm:max
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from numlite.benchmarks.machines.emulated import Emulated, UnavailableError, emulated
from numlite.benchmarks.machines.outputs import CORPUS, Place, differences, digests
from numlite.kernels.compiled.driver.pack_builder import build_pack
from numlite.kernels.compiled.language.host import host_words
from numlite.kernels.compiled.language.targets import TARGETS
from numlite.tests.corpus_digests import cases_of

pytestmark = pytest.mark.qemu

PROGRAM = Path(__file__).with_name("small_outputs.py")
CPUS = {"cortex-a72": "aarch64", "neoverse-n1": "aarch64-dotprod"}
HERE = "haswell"
# Products, windows, functions and sums, in floats and in 8 bits, and what models need beside them: a third of
# what it takes to compile all families, and half of the corpus.
FAMILIES = """
    executor reshape strided_copy fill lookup
    conv_q8 conv_sums_q8 conv_exact_q8 conv_hybrid gemm_q8 gemm_sums_q8 gemm_exact_q8 gemm_hybrid
    gemv_q8 gemv_exact_q8 gemv_hybrid batch_matmul_q8 pack_matrices_q8 pad_image_q8 quantize_rows
    depthwise_conv_q8 depthwise_conv_exact_q8 depthwise_conv_3x3_q8 depthwise_conv_3x3_wide_q8
    depthwise_conv_3x3_exact_q8 depthwise_conv_5x5_q8 conv_f32 winograd_f32 gemm_f32 depthwise_conv_f32
    pack_f32 batch_matmul_f32 lstm_f32 lstm_q8 svdf normalization softmax_f32 softmax_q8
    activations elementwise unary_math prelu binary_q8 quantize pool_f32 pool_i8 reduce_f32 reduce_q8
"""


@pytest.fixture(scope="module")
def machine() -> Emulated:
    """Skips where Debian's packages or the wheels cannot be had."""
    try:
        return emulated()
    except UnavailableError as error:
        assert re.fullmatch(r"the emulated machine: \S.*", str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """A target's pack of FAMILIES."""
    folder = str(tmp_path_factory.mktemp("packs"))
    return cache(lambda target: build_pack(TARGETS[target], folder, FAMILIES.split())[0])


def run(command: list[str], environment: dict[str, str]) -> dict[str, dict[str, str]]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def expected(machine: Emulated, pack: Callable[[str], str]) -> dict[str, str]:
    """What this machine computes for HERE."""
    if not TARGETS[HERE].needs <= host_words():
        pytest.skip(f"this machine cannot run code for {HERE}")
    environment = os.environ | {"NUMLITE_CPU": HERE, "NUMLITE_PACK": pack(HERE)}
    return run([sys.executable, str(PROGRAM), "1"], environment)["digests"]


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("num_threads", [1, 4])
def test_operators_give_the_bytes_of_x86_without_a_compiler(
    machine: Emulated, pack: Callable[[str], str], expected: dict[str, str], cpu: str, num_threads: int
) -> None:
    environment = machine.environment("runtime", NUMLITE_PACK=pack(CPUS[cpu]))
    found = run(machine.command(cpu, [str(PROGRAM), str(num_threads)]), environment)
    assert found["compilers"] == []
    assert found["digests"] == expected


def test_the_machines_own_words_choose_the_target(machine: Emulated, tmp_path: Path) -> None:
    """Without a pack the error names what the processor would have got."""
    for cpu, target in CPUS.items():
        environment = machine.environment("runtime", NUMLITE_PACK="off", NUMLITE_CACHE_DIR=str(tmp_path))
        done = subprocess.run(
            machine.command(cpu, [str(PROGRAM), "1"]),
            env=environment, capture_output=True, text=True, timeout=1200,
        )  # fmt: skip
        said = done.stderr.splitlines()[-1]
        assert f"no compiled kernels for {target} here: pip install 'numlite[jit]'" in said


@pytest.mark.skipif(not CORPUS.exists(), reason="no ../shared beside the repository")
@pytest.mark.parametrize(
    ("cpu", "numerics", "every", "least"),
    [("cortex-a72", "AUTO", 4, 300), ("neoverse-n1", "AUTO", 8, 150), ("cortex-a72", "BUILTIN_REF", 16, 60)],
)
def test_a_sample_of_the_corpus_gives_the_bytes_of_x86(
    machine: Emulated, pack: Callable[[str], str], cpu: str, numerics: str, every: int, least: int
) -> None:
    if not TARGETS[HERE].needs <= host_words():
        pytest.skip(f"this machine cannot run code for {HERE}")
    found = digests(Place(CPUS[cpu], cpu), list(cases_of(CORPUS))[::every], numerics, pack(CPUS[cpu]))
    # There is no compiler: cases that want other families are refused, and no others are.
    ran = {case: outputs for case, outputs in found.items() if outputs != "UnsupportedError"}
    assert len(ran) >= least
    assert differences(digests(Place(HERE), ran, numerics, pack(HERE)), ran) == []
