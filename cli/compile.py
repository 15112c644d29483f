"""`numlite compile`: a delegate's partitions as custom operators that carry its programs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from .console import counted, echo
from .delegate_options import delegate_option, parse_options, with_archs
from .model_options import model_argument
from .output_file import check_output


@click.command("compile")
@model_argument
@click.option("--delegate", metavar="NAME", required=True, help="Its name, or its module.")
@click.option(
    "--arch",
    "archs",
    multiple=True,
    metavar="NUMBER",
    help="A GPU to compile for, 90 for compute capability 9.0; several make one file for all of them.",
)
@delegate_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write.",
)
def command(
    model: str, delegate: str, archs: tuple[str, ...], options: tuple[str, ...], output: Path
) -> None:
    """Compile what a delegate can run of MODEL ahead of time.

    Each of its partitions becomes one custom operator that carries the delegate's program. The
    compiled model runs wherever the delegate is installed in the same version, for callers who hand the
    delegate in or trust the file (trust_compiled_code=True, --trust-compiled-code).
    With --arch the GPU need not be there.
    """
    from ..delegates.compile import compile_model
    from ..delegates.loading import load_delegate
    from ..interpreter import Interpreter
    from ..lite.whole_file import write_whole

    check_output(output, model=model)
    chosen = with_archs(parse_options(options), delegate, archs)
    loaded = load_delegate(delegate, dict(chosen))
    try:
        core = Interpreter(model, experimental_delegates=[loaded]).core
        compiled = compile_model(core, loaded, delegate, chosen)
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(f"{model}: {error}") from error
    if not compiled.partitions:
        raise click.ClickException(
            f"{model}: delegate {delegate!r} takes none of its operators; numlite inspect --delegate "
            f"{delegate} says why"
        )
    write_whole(output, [compiled.content])
    for partition in compiled.partitions:
        counts = Counter(partition.replaced)
        names = ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())
        echo(
            f"subgraph {partition.subgraph}, operator {partition.operator}: {names} "
            f"({partition.program_bytes:,} bytes)"
        )
    echo(f"{output}: {counted(len(compiled.partitions), 'partition')}, {len(compiled.content):,} bytes")
