"""On emulated ARM processors, without Numba: a sample of the corpus gives x86-64's bytes.

    pytest -m qemu

Packages of Debian and wheels are fetched once (40 s), packs of what differs most between targets compiled for
three of them (40 s of CPU each, once; for a fourth, of products only), and what fits them runs in some 2
minutes. The whole, by hand:

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

import numpy as np
import pytest
from numlite.benchmarks.machines.emulated import Emulated, UnavailableError, emulated
from numlite.benchmarks.machines.outputs import CORPUS, Place, differences, digests
from numlite.kernels.compiled.driver.linker.shared_object import shared_object
from numlite.kernels.compiled.driver.pack_builder import build_pack
from numlite.kernels.compiled.language.host import host_words
from numlite.kernels.compiled.language.targets import TARGETS
from numlite.tests.compiled.test_operations import compiled, emit_all, lanes, made_for, meanings
from numlite.tests.corpus_digests import cases_of

__all__ = ["made_for"]

pytestmark = pytest.mark.qemu

PROGRAM = Path(__file__).with_name("small_outputs.py")
BLOCKS = Path(__file__).with_name("product_outputs.py")
FORMS = Path(__file__).with_name("operation_results.py")
CPUS = {"cortex-a72": "aarch64", "neoverse-n1": "aarch64-dotprod"}
EVERY_CPU = CPUS | {"max": "aarch64-i8mm"}
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
# All that products of bytes need.
PRODUCTS = """
    executor conv_q8 conv_sums_q8 conv_exact_q8 conv_hybrid gemm_q8 gemm_sums_q8 gemm_exact_q8 gemm_hybrid
    gemv_q8 gemv_exact_q8 gemv_hybrid batch_matmul_q8 batch_matmul_exact_q8 pack_matrices_q8 pad_image_q8
    quantize_rows rows_by_matrices_q8
"""
ROUNDS = 200


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
    """A target's pack of FAMILIES or, of those, PRODUCTS."""
    folder = str(tmp_path_factory.mktemp("packs"))

    def built(target: str, families: str = FAMILIES) -> str:
        return build_pack(TARGETS[target], os.path.join(folder, str(len(families))), families.split())[0]

    return cache(built)


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
    for cpu, target in EVERY_CPU.items():
        environment = machine.environment("runtime", NUMLITE_PACK="off", NUMLITE_CACHE_DIR=str(tmp_path))
        done = subprocess.run(
            machine.command(cpu, [str(PROGRAM), "1"]),
            env=environment, capture_output=True, text=True, timeout=1200,
        )  # fmt: skip
        said = done.stderr.splitlines()[-1]
        assert f"no compiled kernels for {target} here: pip install 'numlite[jit]'" in said


@pytest.fixture(scope="module")
def products(machine: Emulated, pack: Callable[[str, str], str]) -> dict[str, str]:
    """What this machine computes of products for HERE."""
    if not TARGETS[HERE].needs <= host_words():
        pytest.skip(f"this machine cannot run code for {HERE}")
    environment = os.environ | {"NUMLITE_CPU": HERE, "NUMLITE_PACK": pack(HERE, PRODUCTS)}
    return run([sys.executable, str(BLOCKS), "70"], environment)


@pytest.mark.parametrize("cpu", EVERY_CPU)
def test_products_of_all_sizes_give_the_bytes_of_x86(
    machine: Emulated, pack: Callable[[str, str], str], products: dict[str, str], cpu: str
) -> None:
    environment = machine.environment("runtime", NUMLITE_PACK=pack(EVERY_CPU[cpu], PRODUCTS))
    found = run(machine.command(cpu, [str(BLOCKS), "70"]), environment)
    ran = {name: digest for name, digest in found.items() if digest != "UnsupportedError"}
    assert len(ran) >= 90
    assert ran == {name: products[name] for name in ran}


@pytest.mark.parametrize("cpu", EVERY_CPU)
def test_operations_on_the_ends_of_ranges(
    machine: Emulated, made_for: Callable[[str], None], tmp_path: Path, cpu: str
) -> None:
    """Each form of the target's gives what NumPy gives."""
    made_for(EVERY_CPU[cpu])
    parsed, processor = compiled(emit_all)
    image = shared_object([processor.emit_object(parsed)], ["operations"], ())
    (tmp_path / "operations.so").write_bytes(image)
    given = [lanes(round_) for round_ in range(ROUNDS)]
    np.savez(tmp_path / "given.npz", *(np.stack(each) for each in zip(*given, strict=True)))
    command = machine.command(cpu, [str(FORMS), str(tmp_path)])
    subprocess.run(command, env=machine.environment("runtime"), check=True, timeout=600)
    for arrays, out in zip(given, np.load(tmp_path / "results.npy"), strict=True):
        for place, (operation, expected) in zip(out, meanings(*arrays), strict=False):
            found = place.view(expected.dtype)[: expected.size]
            same = np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
            assert same, (operation, found, expected)


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
