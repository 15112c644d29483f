"""Runs LiteRT's Python tests and ai-edge-quantizer's twice: on LiteRT's interpreter and on numlite's.

    python tests/client_suites.py --litert SOURCES --quantizer SOURCES
    python tests/client_suites.py --quantizer SOURCES --only add_test.py

Run by hand. SOURCES are folders that hold `tflite/` and `ai_edge_quantizer/`; this Python must have
tensorflow, ai-edge-litert, ai-edge-quantizer's requirements, pytest, and numba. Each difference is printed;
it ends with 1 where one is not named in REASONS, or where a test passes that is named there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.client_suites_models import write_models
from tests.client_suites_reasons import REASONS

CHILD = Path(__file__).with_name("client_suites_child.py")
MOST_CRASHES = 50


class Outcome(NamedTuple):
    """passed, failed, skipped or crashed, and the failure's text."""

    outcome: str
    text: str


Outcomes = dict[str, Outcome]


class Suite(NamedTuple):
    name: str
    folder: Path
    files: list[str]


def suites(arguments: argparse.Namespace, work: Path) -> Iterator[Suite]:
    """The suites asked for, copied into the work folder: their files, by --only."""
    if arguments.litert:
        tflite = work / "litert" / "tflite"
        shutil.copytree(arguments.litert / "tflite", tflite)
        write_models(tflite / "python" / "testdata")
        debugging = tflite / "tools" / "optimize" / "debugging" / "python"
        tests = [tflite / "python" / "interpreter_test.py", *debugging.glob("*_test.py")]
        yield _suite("LiteRT", work / "litert", tests, arguments.only)
    if arguments.quantizer:
        package = work / "quantizer" / "ai_edge_quantizer"
        shutil.copytree(arguments.quantizer / "ai_edge_quantizer", package)
        tests = sorted(package.rglob("*_test.py"))
        yield _suite("ai-edge-quantizer", work / "quantizer", tests, arguments.only)


def _suite(name: str, folder: Path, tests: Sequence[Path], only: str) -> Suite:
    return Suite(name, folder, [str(test) for test in tests if only in str(test)])


def run(suite: Suite, interpreter: str, work: Path) -> Outcomes:
    """What each test of the suite did; after a crash the others go on in another process."""
    notes = work / f"{suite.folder.name}-{interpreter}.jsonl"
    notes.touch()
    command = [sys.executable, str(CHILD), interpreter, str(notes), str(suite.folder), *suite.files]
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_beside(work)), os.environ.get("PYTHONPATH")))),
    }
    for _ in range(MOST_CRASHES):
        with (work / "output.txt").open("a") as output:
            ended = subprocess.run(command, env=environment, cwd=suite.folder, stdout=output, stderr=output)
        if ended.returncode in (0, 1, 2, 5):  # pytest's own; all else ended the process
            return outcomes(notes)
        if ended.returncode in (3, 4):  # pytest could not begin: something is missing
            break
    last = "\n".join((work / "output.txt").read_text(errors="replace").splitlines()[-20:])
    raise RuntimeError(f"{suite.name} on {interpreter} does not come to its end:\n{last}")


def _beside(work: Path) -> Path:
    """A folder that holds this checkout under the package's name."""
    folder = work / "packages"
    folder.mkdir(exist_ok=True)
    link = folder / "numlite"
    if not link.exists():
        link.symlink_to(Path(__file__).resolve().parents[1])
    return folder


def outcomes(notes: Path) -> Outcomes:
    """The last word on each test; a failure stands, whatever follows."""
    found: Outcomes = {}
    for line in notes.read_text().splitlines():
        note = json.loads(line)
        before = found.get(note["test"])
        if before is None or before.outcome != "failed":
            found[note["test"]] = Outcome(note["outcome"], note["text"])
    return found


def last_line(text: str) -> str:
    """The error of a failure as pytest prints it."""
    errors = [line for line in text.splitlines() if line.startswith("E ")]
    return (errors or text.splitlines() or [""])[-1].removeprefix("E").strip()


def compare(theirs: Outcomes, ours: Outcomes) -> Iterator[tuple[str, str, str]]:
    """(kind, test, text) of each test that does not pass on numlite, or does though it is in REASONS."""
    for test in sorted({*theirs, *ours}):
        their, our = theirs.get(test, Outcome("missing", "")), ours.get(test, Outcome("missing", ""))
        reason = next((reason for name, reason in REASONS.items() if test.endswith(name)), None)
        if our.outcome == their.outcome == "skipped" or (our.outcome == "passed" and reason is None):
            continue
        if our.outcome == "passed":
            yield "unexpected pass", test, f"REASONS has: {reason}"
        elif their.outcome == our.outcome:
            yield "fails in LiteRT, too", test, f"{last_line(their.text)} | numlite: {last_line(our.text)}"
        elif reason is not None and reason.text in our.text:
            yield "named", test, reason.why
        else:
            yield f"not named: {their.outcome} in LiteRT, {our.outcome} in numlite", test, last_line(our.text)


def report(suite: Suite, theirs: Outcomes, ours: Outcomes) -> bool:
    """Print the differences; whether all are named."""
    found = list(compare(theirs, ours))
    for kind, test, text in found:
        print(f"{kind}\n  {test}\n    {text}")
    for name, results in (("LiteRT", theirs), ("numlite", ours)):
        counts = Counter(result.outcome for result in results.values())
        print(f"{suite.name} on {name}: {', '.join(f'{counts[kind]} {kind}' for kind in sorted(counts))}")
    kinds = Counter(kind for kind, _, _ in found)
    print(f"{suite.name}: {', '.join(f'{kinds[kind]} {kind}' for kind in sorted(kinds)) or 'no difference'}")
    return set(kinds) <= {"fails in LiteRT, too", "named"}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--litert", type=Path, help="LiteRT's sources: the folder that holds tflite/")
    parser.add_argument("--quantizer", type=Path, help="ai-edge-quantizer's sources")
    parser.add_argument("--only", default="", help="files whose paths hold this text")
    arguments = parser.parse_args()
    if not arguments.litert and not arguments.quantizer:
        parser.error("--litert or --quantizer: one of them must be given")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        found = (suite for suite in suites(arguments, work) if suite.files)
        results = [report(suite, run(suite, "litert", work), run(suite, "numlite", work)) for suite in found]
    if not results:
        parser.error(f"--only: a file of the suites must hold the text, got {arguments.only!r}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
