"""`numlite demo`: a trained classifier, converted and run on images it has not seen."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import numpy as np

    from ..interpreter import Interpreter

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
GRAPH = EXAMPLES / "digits.pb"
IMAGES = EXAMPLES / "digits_test.csv"
SECONDS = 0.5


@click.command("demo")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Keep the converted model here."
)
def command(output: Path | None) -> None:
    """Convert a small classifier of handwritten digits from TensorFlow's format, run it, show how it did."""
    from ..interpreter import Interpreter

    with tempfile.TemporaryDirectory() as folder:
        path = output or Path(folder) / "digits.tflite"
        click.echo(_convert(path))
        interpreter = Interpreter(path, num_threads=1)
        interpreter.allocate_tensors()
        click.echo(_classify(interpreter))
        _measure(interpreter)


def _convert(path: Path) -> str:
    from ..converter.conversion import convert
    from ..converter.ir.graph_def_file import read_graph

    conversion = convert(read_graph(GRAPH))
    path.write_bytes(conversion.model)
    return (
        f"converted: {GRAPH.name}, {len(conversion.outcomes)} nodes, {GRAPH.stat().st_size:,} bytes"
        f" -> {path.name}, {len(conversion.model):,} bytes"
    )


def _classify(interpreter: Interpreter) -> str:
    images, labels = _held_out_images()
    x, y = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    right = 0
    for image, label in zip(images, labels, strict=True):
        interpreter.set_tensor(x["index"], image.reshape(x["shape"]))
        interpreter.invoke()
        right += int(interpreter.get_tensor(y["index"]).argmax() == label)
    return f"accuracy:  {right / len(labels):.1%}, {right} of {len(labels)} images it was not trained on"


def _held_out_images() -> tuple[np.ndarray, np.ndarray]:
    """Images as rows of 64 pixels from 0 to 16, and their labels."""
    import numpy as np

    table = np.loadtxt(IMAGES, delimiter=",", dtype=np.float32)
    return table[:, :-1], table[:, -1].astype(np.int64)


def _measure(interpreter: Interpreter) -> None:
    from .console import make_console
    from .op_table import node_table, profile_runs
    from .timing import Spread, in_words, time_in_turns

    latency = Spread.of(time_in_turns([interpreter.invoke], SECONDS)[:, 0])
    report = interpreter.memory_report()
    console = make_console()
    console.print(f"latency:   {in_words(latency.median)} for an image, one thread")
    console.print(
        f"arena:     {report.arena_bytes:,} bytes, at least {report.lower_bound_bytes:,} are needed"
    )
    runs = profile_runs(latency.median, len(interpreter.core.subgraph().nodes))
    console.print(node_table(interpreter.profile(runs)))
