"""A hundred damaged files of some kinds, more of each where tests may be long; see tests/fuzz_models.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzz_models.py")
KINDS = (
    *("graphs", "graph texts", "tfg", "saved models", "checkpoints", "onnx", "stablehlo", "stablehlo texts"),
    *("keras", "arrays", "selections", "recipes", "metadata", "caches"),
)


MODELS = ("models", "strings", "flex", "descriptions", "compiled")


def fuzz(kind: str, *options: str) -> str:
    command = [sys.executable, str(SCRIPT), "--kind", kind, "--children", "1", "--timeout", "60", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


MUTANTS = """
import hashlib, runpy, sys
sys.path[:] = {path!r}
kinds = runpy.run_path({script!r})["KINDS"]
for kind in (kinds[name] for name in {names!r}):
    seeds = [seed for seed in kind.seeds([]) if len(repr(seed.content)) < 200000][-12:]
    made = repr([(seed, kind.mutate(seed, __import__("random").Random(n))) for n, seed in enumerate(seeds)])
    print(kind.name, len(seeds), hashlib.sha256(made.encode()).hexdigest())
"""


@pytest.mark.long
def test_a_number_is_the_same_mutant_in_each_process() -> None:
    code = MUTANTS.format(path=sys.path, script=str(SCRIPT), names=KINDS)
    told = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert told[0] == told[1] and told[0].count("\n") == len(KINDS)


def test_damaged_caches_are_made_anew() -> None:
    printed = fuzz("caches", "--count", "100")
    assert "100 mutants" in printed and "made anew" in printed and "  read" in printed


@pytest.mark.parametrize(
    "kind", ["graphs", "tfg", "saved models", "onnx", "stablehlo", "stablehlo texts", "keras", "recipes"]
)
def test_damaged_files_end_in_errors(kind: str) -> None:
    printed = fuzz(kind, "--count", "100")
    assert "100 mutants" in printed and "ModelError" in printed


@pytest.mark.long
@pytest.mark.parametrize("kind", MODELS)
def test_more_damaged_models(kind: str) -> None:
    assert f"{kind}: " in fuzz(kind, "--seconds", "20", "--first", "1000")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_more_damaged_files(kind: str) -> None:
    assert f"{kind}: " in fuzz(kind, "--seconds", "10", "--first", "1000")
