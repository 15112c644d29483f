"""`numlite warmup`: compiles every kernel."""

from __future__ import annotations

from collections.abc import Collection

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
    NUMLITE_CPU compiles for another target than this machine's own.
    """
    from ..kernels.compiled.families import all_families

    families: Collection[str] = all_families()
    if selection is not None:
        from ..kernels.selection import read_selection

        families = sorted(read_selection(selection).families)
    warmup(families)
    click.echo(f"{len(families)} kernel families are ready")


def warmup(families: Collection[str]) -> None:
    """Have the families in the cache, compiling what it lacks; ValueError for one that there is not."""
    from ..kernels.compiled.driver.library import Library
    from ..kernels.compiled.families import all_families

    unknown = set(families) - set(all_families())
    if unknown:
        known = ", ".join(sorted(all_families()))
        raise ValueError(f"warmup: families must be among {known}, got {', '.join(sorted(unknown))}")
    Library().load({family: set() for family in families})
