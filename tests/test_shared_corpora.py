"""The corpora beside the repository, replayed in every mode; long, so run by .ci/run."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numlite.kernels.compiled.language.host import host_words
from numlite.kernels.compiled.language.targets import TARGETS

from .shared_folder import SHARED

RUNNER = SHARED / "tools" / "run_corpus.py"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not RUNNER.exists(), reason="no ../shared beside the repository"),
]

MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "reference": {"resolver": "BUILTIN_REF"},
    "two-threads": {"num_threads": 2},
    "preserve-all": {"experimental_preserve_all_tensors": True},
}


def replay(corpus: str, mode: str, cpu: str = "") -> str:
    """What the runner prints of a whole corpus."""
    command = [
        sys.executable,
        str(RUNNER),
        str(SHARED / corpus),
        "--quiet",
        "--jobs",
        "2",
        "--timeout",
        "300",
    ]
    command += ["--interp", "numlite.interpreter:Interpreter", "--kwargs", json.dumps(MODES[mode])]
    environment = {**os.environ, "NUMLITE_CPU": cpu} if cpu else None
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False).stdout


def passed(printed: str) -> tuple[int, int]:
    found = re.search(r"passed (\d+) of (\d+)", printed)
    assert found, printed
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("corpus", ["models", "corpus"])
def test_every_case_passes(corpus: str, mode: str) -> None:
    printed = replay(corpus, mode)
    right, count = passed(printed)
    assert right == count, printed


# All kernels are compiled anew for each: the nearest to the machine's own only when all is run.
@pytest.mark.parametrize(
    "cpu", [pytest.param("haswell", marks=pytest.mark.full), "x86-64", "x86-64-v3-vnni-evex"]
)
def test_models_pass_on_other_processors(cpu: str) -> None:
    if missing := TARGETS[cpu].needs - host_words():
        pytest.skip(f"this machine cannot run code for {cpu}: it has no {' '.join(sorted(missing))}")
    right, count = passed(replay("models", "default", cpu))
    assert right == count


def runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_corpus", RUNNER)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def integer_outputs(tool: Any, make: Any, case: dict[str, Any], data: Any) -> Iterator[np.ndarray]:
    for outputs in tool.execute(make, str(SHARED / "corpus" / case["model"]), case, data):
        yield from (y for y in outputs if y.dtype.kind in "iub")


@pytest.mark.skipif(importlib.util.find_spec("ai_edge_litert") is None, reason="no ai-edge-litert")
def test_integer_outputs_are_litert_defaults_to_the_bit() -> None:
    """Over the whole corpus, with the default resolver of both."""
    tool: Any = runner()
    ours = tool.make_factory("numlite.interpreter:Interpreter", {})
    theirs = tool.make_factory("ai_edge_litert.interpreter:Interpreter", {})
    different: set[str] = set()
    compared = 0
    for case in json.loads((SHARED / "corpus" / "index.json").read_text())["cases"]:
        random = any(o["tol"]["kind"] == "random" for step in case["steps"] for o in step["out"])
        if random or case["flex_ops"] or case["status"]["AUTO"] != "ok":
            continue
        data = tool.load_npz(SHARED / "corpus" / case["data"])
        pairs = zip(
            integer_outputs(tool, ours, case, data), integer_outputs(tool, theirs, case, data), strict=True
        )
        for mine, expected in pairs:
            compared += 1
            if mine.shape != expected.shape or not np.array_equal(mine, expected):
                different.add(case["id"])
    assert compared > 1500
    assert not different


def test_damaged_models_never_crash() -> None:
    script = Path(__file__).parent / "fuzz_models.py"
    done = subprocess.run(
        [sys.executable, str(script), "--count", "10000"], stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
