"""The commands that tests/test_pages.py leaves out run, too: README's list, batch.md's, and indented ones."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numlite import metadata
from numlite.cli import warmup
from numlite.cli.main import run_command

from .delegates.graphs import sine_model
from .delegates.test_tutorial import TUTORIAL
from .test_pages import COMMANDS, ELSEWHERE, IMAGES, PAGES, blocks, files

__all__ = ["files"]  # the fixture
# Fetching, compiling everything, or for the developers of numlite.
_OTHERS = ("pip install", "python -m numlite.packs", "python3 -m venv")
_INDENTED = re.compile(r"^ {4}((?:numlite|convert-model) .*)$", re.MULTILINE)


class Line(NamedTuple):
    page: str
    text: str


def lines() -> list[Line]:
    """Each command that no other test of the pages runs."""
    found = []
    for page, path in PAGES.items():
        fenced = [line for kind, code in blocks(page) if kind == "sh" for line in code.splitlines()]
        here = fenced if page in ELSEWHERE or page == "README.md" else []
        found += [Line(page, line) for line in [*here, *_INDENTED.findall(path.read_text())]]
    return [line for line in found if not line.text.startswith(_OTHERS)]


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the commands name: a copy for each, since they write over one another's."""
    place = tmp_path / "here"
    shutil.copytree(files, place)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    for name in ("a", "b", "int8"):
        shutil.copy("float.tflite", f"{name}.tflite")
    for name in ("input", "x"):
        np.savez(f"{name}.npz", image=IMAGES[0])
    shutil.copy("recipe.json", "r.json")
    Path("pets.txt").write_text("\n".join(f"pet {n}" for n in range(10)))
    found = metadata.read("model.tflite")
    found.set_normalization(127.5, 127.5)
    metadata.write("model.tflite", found, "model.tflite")
    pieces = [part.split("```")[0] for part in TUTORIAL.read_text().split("```python\n")[1:]]
    for name in ("sine", "NAME"):
        Path(f"{name}.py").write_text("\n".join([*pieces, "create_delegate = CompilingSineDelegate\n"]))
    return place


def pictures(folder: Path) -> None:
    """The rows of `numlite map`: files, and a table with their bytes."""
    image, pa = pytest.importorskip("PIL.Image"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (folder / "images").mkdir()
    for n in range(3):
        image.fromarray(np.full((8, 8), 40 * n, np.uint8)).save(folder / "images" / f"{n}.jpg")
    shutil.copytree(folder / "images", folder / "pictures")
    cells = [path.read_bytes() for path in sorted((folder / "images").glob("*.jpg"))]
    parquet.write_table(pa.table({"jpeg": cells}), folder / "rows.parquet")


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"{line.page} {line.text.split('#')[0].strip()}")
def test_a_command_runs(line: Line, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, *arguments = shlex.split(line.text, comments=True)
    if "--delegate" in arguments:
        Path("model.tflite").write_bytes(sine_model())
    if arguments[0] == "map":
        pictures(folder)
    if "ray" in arguments:
        pytest.importorskip("ray")
    if "litert" in arguments:
        pytest.importorskip("ai_edge_litert")
    if arguments[0] == "warmup":  # all kernels, where the cache is empty
        monkeypatch.setattr(warmup, "warmup", lambda *families: None)
    monkeypatch.delenv("NUMLITE_PREPARED", raising=False)
    outputs = [n + 1 for n, option in enumerate(arguments) if option in ("-o", "--output")]
    written = [Path(arguments[n]) for n in outputs if arguments[n] not in arguments[: outputs[0]]]
    for path in written:
        path.unlink(missing_ok=True)
    assert run_command(COMMANDS[name], arguments) == 0
    assert all(path.exists() for path in written)


def test_the_lines_are_the_pages() -> None:
    found = lines()
    assert {"README.md", "batch.md", "delegates.md", "explore.md", "metadata.md"} <= {
        line.page for line in found
    }
    assert len([line for line in found if line.page == "README.md"]) > 20
