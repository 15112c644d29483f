"""Targets with FMA give the same bytes, of floats too: no sum or function depends on the vectors' width."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numlite.kernels.compiled.language.host import host_words, machine
from numlite.kernels.compiled.language.targets import TARGETS

HERE = [n for n, t in TARGETS.items() if t.arch == machine() and t.fma and t.needs <= host_words()]

pytestmark = pytest.mark.long


def digests(target: str) -> dict[str, str]:
    program = Path(__file__).with_name("small_outputs.py")
    environment = os.environ | {"NUMLITE_CPU": target}
    command = [sys.executable, str(program), "1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)["digests"]
    return found


@pytest.mark.skipif(len(HERE) < 2, reason="this machine has no two targets with FMA")
def test_small_models() -> None:
    # One of each kind: with AVX2, with AVX-512, and the machine's own.
    first, *others = dict.fromkeys(
        [HERE[0], *(n for n in HERE if n in ("haswell", "x86-64-v3-vnni-evex", "cascadelake"))]
    )
    expected = digests(first)
    for other in others:
        assert digests(other) == expected, other
