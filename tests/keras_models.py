"""Keras's layers: records what tests replay, compares random layers, makes the table of docs/keras.md.

    python tests/keras_models.py record --keras PYTHON
    python tests/keras_models.py random --keras PYTHON [--first N] [--count N] [--version 3]
    python tests/keras_models.py table

PYTHON has tensorflow, keras and tf_keras.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from numlite.converter.converter import Converter
from numlite.converter.keras import activations
from numlite.converter.keras.register import FAMILIES
from numlite.lite.errors import UnsupportedError

from tests.converter.keras.recorded_models import CLOSE, FOLDER, inputs_of, lines, results

DOCS = Path(__file__).parent.parent / "docs" / "keras.md"
START, END = "<!-- table: tests/keras_models.py table -->\n", "<!-- end of table -->\n"
_SIDE = FOLDER / "keras_side.py"


def record(python: str) -> None:
    """Writes the recorded files anew."""
    for version in (3, 2):
        for more in ([], ["--hdf5"]):
            subprocess.run([python, _SIDE, FOLDER, "--keras", str(version), *more], check=True)


def compare(python: str, first: int, count: int, version: int) -> int:
    """Random layers in Keras and here; the number of those that differ."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--keras", str(version), "--random", str(first), "--count", str(count)]
        subprocess.run([python, _SIDE, folder, *arguments], check=True)
        said = defaultdict(int)
        for text in (Path(folder) / f"recorded_{version}.jsonl").read_text().splitlines():
            line = json.loads(text)
            stem = line["name"].replace(" ", "_").replace("/", "_")
            wanted = np.load(Path(folder) / f"{stem}_{version}.npz")
            verdict = _verdict(Path(folder) / f"{stem}_{version}.keras", line, list(wanted.values()))
            said[verdict.split(":")[0]] += 1
            if verdict != "same":
                print(f"{line['name']} (Keras {version}): {verdict}")
                print(f"    {json.dumps(line['config']['config']['layers'][-1]['config'])}")
        print(", ".join(f"{name} {number}" for name, number in sorted(said.items())))
        return said["differs"] + said["fails"]


def _verdict(path: Path, line: dict, wanted: list[np.ndarray]) -> str:
    try:
        found = results(Converter.from_keras_file(path), inputs_of(line))
    except UnsupportedError as error:
        return f"refused: {str(error).splitlines()[-1].strip()}"
    except Exception as error:
        return f"fails: {type(error).__name__}: {error}"
    for y, z in zip(found, wanted, strict=True):
        if y.shape != z.shape:
            return f"differs: shape {y.shape}, {z.shape} wanted"
        away = np.abs(y.astype(np.float64) - z.astype(np.float64)).max(initial=0)
        if not away <= CLOSE * max(1.0, np.abs(z).max(initial=0)):
            return f"differs: by {away:.3g}"
    return "same"


def table() -> str:
    """The classes that are read, and how many recorded models have each."""
    counts = {version: _counts(version) for version in (3, 2)}
    rows = ["| layer | recorded with Keras 3 | with tf_keras |", "|---|---|---|"]
    names = [name for name in FAMILIES.names() if not name.startswith("ops.")]
    rows += [f"| {name} | {counts[3][name] or '-'} | {counts[2][name] or '-'} |" for name in names]
    functions = ", ".join(name.removeprefix("ops.") for name in FAMILIES.names() if name.startswith("ops."))
    return "\n".join(
        [
            *rows,
            "",
            f"Activation functions by name: {', '.join(activations.NAMES)}.",
            "",
            f"`keras.ops` and Python's operators, by the classes that files have for them: {functions}.",
            "",
        ]
    )


def _counts(version: int) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for line in lines(version):
        for name in classes_in(line["config"]):
            counts[name] += 1
    return counts


def classes_in(value: object) -> set[str]:
    """The classes of layers in a config; those of keras.ops have "ops." before them."""
    if isinstance(value, dict):
        own = {value["class_name"]} if isinstance(value.get("class_name"), str) else set()
        if ".ops." in f"{value.get('module')}." and own:
            own = {f"ops.{name}" for name in own}
        return own.union(*map(classes_in, value.values()))
    return set().union(*map(classes_in, value)) if isinstance(value, list) else set()


def with_table(text: str) -> str:
    """The page with the table that is true now."""
    head, rest = text.split(START)
    return f"{head}{START}\n{table()}\n{END}{rest.split(END)[1]}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("record", "random", "table"))
    parser.add_argument("--keras", default=sys.executable)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--version", type=int, default=3)
    options = parser.parse_args()
    if options.what == "record":
        record(options.keras)
    elif options.what == "random":
        sys.exit(bool(compare(options.keras, options.first, options.count, options.version)))
    else:
        DOCS.write_text(with_table(DOCS.read_text()))


if __name__ == "__main__":
    main()
