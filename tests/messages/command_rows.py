"""Messages of the commands."""

from __future__ import annotations

import os
from pathlib import Path

import click
import numpy as np
from numlite.cli.convert_model import command as convert_model
from numlite.cli.main import cli
from numlite.cli.output_file import write_npz
from numlite.lite.errors import ModelError, StateError

from ..small_models import chain
from .converter_rows import graph
from .rows import Row


def files(folder: Path) -> None:
    """A model, an input for it, a graph and another one, and a SavedModel's folder."""
    os.chdir(folder)  # so that messages have no folder in them
    Path("model.tflite").write_bytes(chain())
    Path("graph.pb").write_bytes(graph().SerializeToString())
    Path("other.pb").write_bytes(graph().SerializeToString())
    np.save("x.npy", np.zeros((1, 4), np.float32))
    Path("link.pb").symlink_to("other.pb")
    Path("damaged").mkdir()
    Path("damaged/_numlite.json").write_text("[]")
    Path("saved/variables").mkdir(parents=True)
    Path("saved/saved_model.pb").write_bytes(b"")


def run(folder: Path, line: str, command: click.Command = cli) -> None:
    before = Path.cwd()
    try:
        files(folder)
        command.main(line.split(), standalone_mode=False)
    finally:
        os.chdir(before)


def convert(folder: Path, line: str) -> None:
    run(folder, line, convert_model)


ROWS = {
    "an .npz of strings that end in NUL": Row(
        lambda folder: write_npz(folder / "out.npz", {"y": np.array([b"a\0", b"b"], object)}),
        click.ClickException,
        "output 'y': an .npz holds no strings that end in NUL, and no objects",
    ),
    "a report over the graph": Row(
        lambda folder: convert(folder, "graph.pb -o new.tflite --report graph.pb"),
        click.UsageError,
        "--report: it is the graph itself, graph.pb",
    ),
    "a report over the model": Row(
        lambda folder: convert(folder, "graph.pb -o new.tflite --report ./new.tflite"),
        click.UsageError,
        "--report: it is the file of output itself, new.tflite",
    ),
    "differences over the other graph": Row(
        lambda folder: run(folder, "graph graph.pb --diff other.pb -o other.pb"),
        click.UsageError,
        "--output: it is the other graph itself, other.pb",
    ),
    "differences over a link to the other graph": Row(
        lambda folder: run(folder, "graph graph.pb --diff other.pb -o link.pb"),
        click.UsageError,
        "--output: it is the other graph itself, link.pb",
    ),
    "text over a SavedModel's file": Row(
        lambda folder: run(folder, "graph saved --text -o saved/variables/../saved_model.pb"),
        click.UsageError,
        "--output: it is a file of the graph saved, saved/variables/../saved_model.pb",
    ),
    "a model over a SavedModel's variables": Row(
        lambda folder: convert(folder, "saved -o saved/variables/variables.index"),
        click.UsageError,
        "--output: it is a file of the graph saved, saved/variables/variables.index",
    ),
    "outputs over an input": Row(
        lambda folder: run(folder, "run model.tflite -i x=x.npy -o x.npy"),
        click.UsageError,
        "--output: it is the input itself, x.npy",
    ),
    "a selection that is a model": Row(
        lambda folder: run(folder, "warmup --selection model.tflite"),
        ModelError,
        "model.tflite: it must be a selection that select-ops wrote: it is a model; numlite select-ops "
        "MODEL -o "
        "FILE writes the selection of one",
    ),
    "a selection that is no text": Row(
        lambda folder: run(folder, "warmup --selection x.npy"),
        ModelError,
        "x.npy: it must be a selection that select-ops wrote: it is no text (...)",
    ),
    "results among the rows": Row(
        lambda folder: run(folder, "map model.tflite --input saved --output saved/variables/out"),
        click.UsageError,
        "--output: must lie outside of --input, whose files are all rows, got saved/variables/out",
    ),
    "results whose note is damaged": Row(
        lambda folder: run(folder, "map model.tflite --input x.npy --output damaged"),
        StateError,
        "damaged/_numlite.json: is damaged: choose another folder, or empty this one",
    ),
    "a delegate by its file": Row(
        lambda folder: run(folder, "run model.tflite --delegate ./mine.py"),
        click.ClickException,
        "model.tflite: Failed to load delegate from ./mine.py: it is a path; a delegate is named by its "
        "module: "
        "have '.' in PYTHONPATH, and name it 'mine'",
    ),
}
