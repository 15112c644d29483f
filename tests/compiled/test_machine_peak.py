"""What the peak of a target is measured with: its own widest product of bytes, and as many as are counted."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from numlite.kernels.machine_peak import SUMS

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
    ("target", "product", "each"),
    [
        ("icelake", r"\tvpdpbusd\t%zmm", 64),
        ("x86-64-v3-vnni", r"\{vex\}\s+vpdpbusd\t%ymm", 32),
        ("x86-64-v3", r"\tvpmaddwd\t%ymm", 16),
    ],
)
def test_products_of_bytes(target: str, product: str, each: int) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMLITE_CPU"}
    command = [sys.executable, "-c", EMIT, target]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    count, assembly = done.stdout.split("\n", 1)
    # A round may have been unrolled.
    assert int(count) == SUMS * each
    found = len(re.findall(product, assembly))
    assert found >= SUMS and found % SUMS == 0
