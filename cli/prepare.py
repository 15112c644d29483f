"""`numlite prepare`: what preparing a model finds, as a file that the next process maps."""

from __future__ import annotations

from pathlib import Path

import click

from .console import echo
from .model_options import model_argument, open_interpreter, prepare_options
from .output_file import check_output


@click.command("prepare")
@model_argument
@prepare_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write, for Interpreter(prepared_model=...); without it the cache keeps it.",
)
def command(model: str, threads: int, resolver: str, output: Path | None) -> None:
    """Prepare MODEL for this numlite and this kind of processor, with its weights packed.

    The cache does so by itself for a model that is loaded a second time (NUMLITE_PREPARED=off: it does not).
    A file is for those who ship: it is trusted as a program is, since kernels read and write where it says.
    """
    from ..lite.prepared_file import NotKept
    from ..lite.whole_file import write_whole

    if output is not None:
        check_output(output, model=model)
    core = open_interpreter(model, threads, resolver).core
    models = core.runtime.prepared_models
    if models is None:
        raise click.ClickException("nothing can be prepared with NUMLITE_JIT=memory or NUMLITE_PREPARED=off")
    try:
        core.allocate_tensors()
        if output is None:
            models.keep_now(core.subgraph())
            echo(f"{model}: prepared, in the cache")
        else:
            nbytes = write_whole(output, models.contents(core.subgraph()))
            echo(f"{output}: {nbytes:,} bytes")
    except NotKept as error:
        raise click.ClickException(f"{model}: it is prepared anew each time: {error}") from error
    except (ValueError, RuntimeError, OSError) as error:
        raise click.ClickException(f"{model}: {error}") from error
