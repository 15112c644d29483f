"""Whether two checkouts give the same bytes for every case of the corpus, in both numerics.

    python tests/corpus_digests.py CHECKOUT CHECKOUT [--match conv] [--corpus ../shared/corpus]

Each checkout runs in its own `.venv`, one process for all cases of one numerics. Prints the cases whose
outputs (or refusals) differ, and by how much, and a digest over all outputs of each checkout. Outputs of
random operators do not count. Exits with 1 where anything differs.

A process that replays cases reads their names, and writes for each a line: the name, the digest of all its
outputs and of those that are integers; where it was refused, the error's name instead of both. In a folder
that is named to it, it keeps the outputs themselves.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
NUMERICS = ("AUTO", "BUILTIN_REF")
# Bits of exponents, by the type of an element or of its two parts.
_EXPONENTS = {
    **{"float16": 5, "bfloat16": 8, "float32": 8, "float64": 11},
    **{"complex64": 8, "complex128": 11},
}


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
        far = distances(arguments.checkouts, arguments.corpus, different, numerics)
        for case in different:
            words = f"{before.get(case, 'none')} and {after.get(case, 'none')}"
            print(f"{numerics} {case}: {words}: {far[case]}")
        totals = [hashlib.sha256("".join(found.values()).encode()).hexdigest() for found in (before, after)]
        print(f"{numerics}: {len(before)} cases, {len(different)} differ, all: {totals[0]} {totals[1]}")
        count += len(different)
    return 1 if count else 0


def digests(checkout: Path, corpus: Path, match: str, numerics: str) -> dict[str, str]:
    """The digest of each case's outputs in the checkout, or what it was refused with."""
    return _in_checkout(checkout, corpus, numerics, [case for case in cases_of(corpus) if match in case])


def _in_checkout(
    checkout: Path, corpus: Path, numerics: str, cases: Iterable[str], *folder: str
) -> dict[str, str]:
    python = checkout.resolve() / ".venv" / "bin" / "python"
    # The checkout's own package, not the folder that this file lies in.
    command = [str(python), "-P", str(Path(__file__).resolve()), "--child", str(corpus), numerics, *folder]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return replayed(command, environment, cases)


def distances(
    checkouts: Sequence[Path], corpus: Path, cases: Collection[str], numerics: str
) -> dict[str, str]:
    """How far the outputs of each case are apart in two checkouts, in words."""
    with tempfile.TemporaryDirectory() as made:
        folders = [Path(made, str(place)) for place in range(len(checkouts))]
        for folder, checkout in zip(folders, checkouts, strict=True):
            folder.mkdir()
            if cases:
                _in_checkout(checkout, corpus, numerics, cases, str(folder))
        return {case: apart(*(_kept(folder, case) for folder in folders)) for case in cases}


def apart(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> str:
    """How far two runs' outputs are apart, in words: elements, and of floats units in the last place.

    Each output is named by its place, type and shape, and holds its elements' bits: `bits_of`.
    """
    if one.keys() != other.keys():
        return "other outputs, types or shapes"
    told = [_elements_apart(name.split(" ")[1], one[name], other[name]) for name in one]
    return "; ".join(words for words in told if words) or "the same elements when they were run again"


def _elements_apart(dtype: str, one: np.ndarray, other: np.ndarray) -> str:
    differ = np.flatnonzero(one != other)
    if not differ.size:
        return ""
    words = f"{differ.size} of {one.size} {dtype} differ"
    if dtype not in _EXPONENTS:
        return words
    nbits = 8 * one.itemsize
    largest, infinity = 2 ** (nbits - 1) - 1, (2 ** _EXPONENTS[dtype] - 1) << (nbits - 1 - _EXPONENTS[dtype])
    steps, changed = [0], 0
    for a, b in zip(one[differ].tolist(), other[differ].tolist(), strict=True):
        numbers = sum(bits & largest <= infinity for bits in (a, b))
        changed += numbers == 1
        if numbers == 2:
            # Floats are in the order of their bits, negative ones backwards.
            places = [-(bits & largest) if bits > largest else bits for bits in (a, b)]
            steps.append(abs(places[0] - places[1]))
    lost = f", {changed} NaN in one of them" if changed else ""
    return f"{words}, by {max(steps)} units in the last place at most{lost}"


def bits_of(array: np.ndarray) -> np.ndarray:
    """The elements as a row of unsigned integers, two of a complex number; text and other objects as text."""
    if array.dtype.kind in "SUO":
        return array.ravel().astype("U")
    nbytes = array.itemsize // (2 if array.dtype.kind == "c" else 1)
    return np.ascontiguousarray(array).ravel().view(f"u{nbytes}")


def _kept(folder: Path, case: str) -> dict[str, np.ndarray]:
    """A case's outputs of a run, by place, type and shape; nothing where it was refused."""
    path = folder / f"{case.replace('/', '+')}.npz"
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def replayed(command: list[str], environment: dict[str, str], cases: Iterable[str]) -> dict[str, str]:
    """What a process of this program (`--child CORPUS NUMERICS`) writes of cases, by their names."""
    names = "\n".join(cases)
    ran = subprocess.run(command, input=names, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(line.split(" ", 1) for line in ran.stdout.splitlines())


def cases_of(corpus: Path) -> dict[str, dict[str, Any]]:
    """What the corpus tells of each case, by its name."""
    return {case["id"]: case for case in json.loads((corpus / "index.json").read_text())["cases"]}


def child(corpus: Path, numerics: str, folder: Path | None = None) -> None:
    cases = cases_of(corpus)
    for name in sys.stdin.read().splitlines():
        everything, integers = hashlib.sha256(), hashlib.sha256()
        try:
            arrays = list(outputs(corpus, cases[name], numerics))
            for array in arrays:
                everything.update(content_of(array))
                if array.dtype.kind in "biu":
                    integers.update(content_of(array))
            if folder:
                bits = {
                    f"{place} {array.dtype} {array.shape}": bits_of(array)
                    for place, array in enumerate(arrays)
                }
                np.savez(folder / name.replace("/", "+"), **bits)
            found = f"{everything.hexdigest()[:16]} {integers.hexdigest()[:16]}"
        except (ValueError, RuntimeError) as error:
            found = type(error).__name__
        # At once, as other processes may write lines to the same file.
        sys.stdout.write(f"{name} {found}\n")
        sys.stdout.flush()


def content_of(array: np.ndarray) -> bytes:
    """Type, shape and elements."""
    content = repr(array.tolist()).encode() if array.dtype.kind in "SUO" else array.tobytes()
    return f"{array.dtype} {array.shape} ".encode() + content


def outputs(corpus: Path, case: dict[str, Any], numerics: str, num_threads: int = 1) -> Iterator[np.ndarray]:
    """Each output of each step, but random ones."""
    import numlite

    with np.load(corpus / case["data"], allow_pickle=False) as archive:
        data = {name: archive[name] for name in archive.files}
    interpreter = numlite.Interpreter(
        str(corpus / case["model"]),
        experimental_op_resolver_type=numlite.OpResolverType[numerics],
        num_threads=num_threads,
    )
    is_allocated = False
    for place, step in enumerate(case["steps"]):
        prefix = f"s{place}_" if place else ""
        given = [viewed(data[f"{prefix}in_{i}"], told.get("view")) for i, told in enumerate(step["in"])]
        if step.get("signature") is not None:
            names = [told["name"] for told in step["in"]]
            made = interpreter.get_signature_runner(step["signature"])(**dict(zip(names, given, strict=True)))
            found = [np.array(made[told["name"]]) for told in step["out"]]
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
                yield array


def viewed(array: Any, name: str | None) -> Any:
    """The elements as a type that NumPy's files do not know."""
    if name is None:
        return array
    import ml_dtypes

    return array.view(getattr(ml_dtypes, name))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), sys.argv[3], *map(Path, sys.argv[4:]))
    else:
        sys.exit(main())
