"""Whether two checkouts give the same bytes for every case of the corpus, in both numerics.

    python tests/corpus_digests.py CHECKOUT CHECKOUT [--match conv] [--corpus ../shared/corpus]

Each checkout runs in its own `.venv`, one process for all cases of one numerics. Prints the cases whose
outputs (or refusals) differ, and a digest over all outputs of each checkout. Outputs of random operators do
not count. Exits with 1 where anything differs.

A process that replays cases reads their names, and writes for each a line: the name, the digest of all its
outputs and of those that are integers; where it was refused, the error's name instead of both.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
NUMERICS = ("AUTO", "BUILTIN_REF")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkouts", nargs=2, type=Path)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--match", default="", help="only cases with this in their name")
    arguments = parser.parse_args()
    count = 0
    for numerics in NUMERICS:
        before, after = (
            digests(checkout, arguments.corpus, arguments.match, numerics) for checkout in arguments.checkouts
        )
        different = [case for case in before | after if before.get(case) != after.get(case)]
        for case in different:
            print(f"{numerics} {case}: {before.get(case, 'none')} and {after.get(case, 'none')}")
        totals = [hashlib.sha256("".join(found.values()).encode()).hexdigest() for found in (before, after)]
        print(f"{numerics}: {len(before)} cases, {len(different)} differ, all: {totals[0]} {totals[1]}")
        count += len(different)
    return 1 if count else 0


def digests(checkout: Path, corpus: Path, match: str, numerics: str) -> dict[str, str]:
    """The digest of each case's outputs in the checkout, or what it was refused with."""
    python = checkout.resolve() / ".venv" / "bin" / "python"
    # The checkout's own package, not the folder that this file lies in.
    command = [str(python), "-P", str(Path(__file__).resolve()), "--child", str(corpus), numerics]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return replayed(command, environment, [case for case in cases_of(corpus) if match in case])


def replayed(command: list[str], environment: dict[str, str], cases: Iterable[str]) -> dict[str, str]:
    """What a process of this program (`--child CORPUS NUMERICS`) writes of cases, by their names."""
    names = "\n".join(cases)
    ran = subprocess.run(command, input=names, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(line.split(" ", 1) for line in ran.stdout.splitlines())


def cases_of(corpus: Path) -> dict[str, dict[str, Any]]:
    """What the corpus tells of each case, by its name."""
    return {case["id"]: case for case in json.loads((corpus / "index.json").read_text())["cases"]}


def child(corpus: Path, numerics: str) -> None:
    cases = cases_of(corpus)
    for name in sys.stdin.read().splitlines():
        everything, integers = hashlib.sha256(), hashlib.sha256()
        try:
            for kind, content in outputs(corpus, cases[name], numerics):
                everything.update(content)
                if kind in "biu":
                    integers.update(content)
            found = f"{everything.hexdigest()[:16]} {integers.hexdigest()[:16]}"
        except (ValueError, RuntimeError) as error:
            found = type(error).__name__
        print(name, found, flush=True)


def outputs(corpus: Path, case: dict[str, Any], numerics: str) -> Iterator[tuple[str, bytes]]:
    """NumPy's kind, and type, shape and elements, of each output of each step, but of random ones."""
    import numlite
    import numpy as np

    with np.load(corpus / case["data"], allow_pickle=False) as archive:
        data = {name: archive[name] for name in archive.files}
    interpreter = numlite.Interpreter(
        str(corpus / case["model"]), experimental_op_resolver_type=numlite.OpResolverType[numerics]
    )
    is_allocated = False
    for place, step in enumerate(case["steps"]):
        prefix = f"s{place}_" if place else ""
        given = [viewed(data[f"{prefix}in_{i}"], told.get("view")) for i, told in enumerate(step["in"])]
        if step.get("signature") is not None:
            names = [told["name"] for told in step["in"]]
            made = interpreter.get_signature_runner(step["signature"])(**dict(zip(names, given, strict=True)))
            found = [np.asarray(made[told["name"]]) for told in step["out"]]
        else:
            for details, array in zip(interpreter.get_input_details(), given, strict=True):
                if tuple(details["shape"]) != array.shape:
                    interpreter.resize_tensor_input(details["index"], list(array.shape))
                    is_allocated = False
            if not is_allocated:
                interpreter.allocate_tensors()
                is_allocated = True
            for details, array in zip(interpreter.get_input_details(), given, strict=True):
                interpreter.set_tensor(details["index"], array)
            interpreter.invoke()
            found = [
                np.array(interpreter.get_tensor(each["index"])) for each in interpreter.get_output_details()
            ]
        for array, told in zip(found, step["out"], strict=True):
            if told["tol"]["kind"] != "random":
                content = repr(array.tolist()).encode() if array.dtype.kind in "SUO" else array.tobytes()
                yield array.dtype.kind, f"{array.dtype} {array.shape} ".encode() + content


def viewed(array: Any, name: str | None) -> Any:
    """The elements as a type that NumPy's files do not know."""
    if name is None:
        return array
    import ml_dtypes

    return array.view(getattr(ml_dtypes, name))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(main())
