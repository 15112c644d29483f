"""`numlite warmup`: compiles every kernel."""

from __future__ import annotations

import click


@click.command("warmup")
@click.option(
    "--selection",
    type=click.Path(exists=True, dir_okay=False),
    help="Compile only the kernels in this file of `numlite select-ops`.",
)
def command(selection: str | None) -> None:
    """Compile the kernels of all operators into the cache, so that no model has to wait for them.

    What the cache already holds is not compiled again. NUMLITE_CACHE_DIR says where it lies,
    NUMLITE_CPU compiles for another processor than this machine's.
    """
    from ..kernels import warmup

    families = None
    if selection is not None:
        from ..kernels.selection import read_selection

        families = sorted(read_selection(selection).families)
    warmup.warmup(families)
    count = len(warmup.FAMILIES if families is None else families)
    click.echo(f"{count} kernel families are ready")
