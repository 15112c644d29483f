"""What the peak of a target is measured with: its own widest product of bytes, and as many as are counted."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from numlite.kernels.machine_peak import MATRICES, MATRIX_MACS, SUMS

EMIT = """
from numlite.kernels.compiled.language.target import compile_for
from numlite.kernels.compiled.language.targets import TARGETS
import sys
compile_for(TARGETS[sys.argv[1]])
from numlite.kernels.compiled.driver import compile
from numlite.kernels.compiled.families import all_families
from numlite.kernels.machine_peak import byte_macs
compile.only_compile()
sources = all_families()["machine_peak"].sources()
print(byte_macs())
print(compile.target_machine().emit_assembly(compile.kernel_module({"peak_i8": sources["peak_i8"]})))
"""


@pytest.mark.parametrize(
    ("target", "product", "products", "each"),
    [
        ("sapphirerapids", r"\ttdpbssd\t%tmm", MATRICES, MATRIX_MACS),
        ("icelake", r"\tvpdpbusd\t%zmm", SUMS, 64),
        ("x86-64-v3-vnni", r"\{vex\}\s+vpdpbusd\t%ymm", SUMS, 32),
        ("x86-64-v3", r"\tvpmaddwd\t%ymm", SUMS, 16),
    ],
)
def test_products_of_bytes(target: str, product: str, products: int, each: int) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMLITE_CPU"}
    command = [sys.executable, "-c", EMIT, target]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    count, assembly = done.stdout.split("\n", 1)
    # A round may have been unrolled.
    assert int(count) == products * each
    found = len(re.findall(product, assembly))
    assert found >= products and found % products == 0
